package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

const (
	leaseInterval = 1500 * time.Millisecond // interval of renewals, of their retries, and of checks by standbys, all at ticks
	leaseExpiry   = 6 * time.Second         // timeout of a lease: without an observed renewal for so long it is free
	leaseDeadline = 4 * time.Second         // timeout of renewals, after which a holder steps down
	maxHang       = 45 * time.Second        // timeout of Alive: a holder that stops calling it loses its lease

	// The same for a process that is alone: no standby observes its renewals, only its own check of progress, within 20 seconds. A new
	// report is published at the next tick.
	aloneTick     = 2 * time.Second
	aloneInterval = 10 * time.Second
)

// leaseTimes returns the interval of ticks of a holder, and the time by which its renewals may be later than those that standbys observe.
func (c *client) leaseTimes() (tick, slack time.Duration) {
	if c.alone {
		return aloneTick, aloneInterval
	}
	return leaseInterval, 0
}

// A holding is the state of a lease in the process that holds it. The context of run contains it.
type holding struct {
	expiry   time.Duration             // from the start of the last successful renewal
	before   subjects.Lease            // as the last holder published it
	alive    atomic.Pointer[time.Time] // last call of [Alive]; nil before the first
	renewed  atomic.Pointer[time.Time] // start of the last successful renewal
	lost     atomic.Bool
	limit    atomic.Pointer[string]         // see ReportLimit
	schedule atomic.Pointer[ScheduleReport] // see ReportSchedule
}

// holdingKey is the context key of the holding.
type holdingKey struct{}

// Alive reports that the actor that was called with ctx, or with a context of it, does its work. An actor that
// called it once must call it again within 45 seconds each time: otherwise it hangs, and its lease goes to another
// agent.
func Alive(ctx context.Context) {
	if h, ok := ctx.Value(holdingKey{}).(*holding); ok {
		now := time.Now()
		h.alive.Store(&now)
	}
}

// checkLease returns an error if ctx is that of a holder whose lease may have expired: no other agent acquires it within
// leaseExpiry of the start of a successful renewal. The monotonic clock does not advance while the machine is
// suspended; the next renewal, which fails, detects that.
func checkLease(ctx context.Context) error {
	if h, ok := ctx.Value(holdingKey{}).(*holding); ok && (h.lost.Load() || time.Since(*h.renewed.Load()) >= h.expiry) {
		return errLost
	}
	return nil
}

// holds reports whether ctx is that of the holder of a lease.
func holds(ctx context.Context) bool {
	_, is := ctx.Value(holdingKey{}).(*holding)
	return is
}

// ReportLimit sets what the lease whose run was called with ctx publishes of a limit that its actor has reached; empty: none.
func ReportLimit(ctx context.Context, limit string) {
	if h, ok := ctx.Value(holdingKey{}).(*holding); ok {
		h.limit.Store(&limit)
	}
}

// Notices returns the notices that the holder before published in the lease whose run was called with ctx.
func Notices(ctx context.Context) []subjects.Notice {
	if h, ok := ctx.Value(holdingKey{}).(*holding); ok {
		if s := h.before.Schedule; s != nil {
			return s.Notices
		}
	}
	return nil
}

// leases are the leases of the mesh.
type leases struct {
	*client
	competition *competition
}

// Single runs an actor that must be active only once in the mesh. It waits on standby until it holds the
// named lease, calls run, whose ctx ends when the lease is lost, and waits again. It returns when ctx has
// ended and run has returned.
//
// A lease is free when no renewal was observed for six seconds by the standby's own clock, so agents' clocks
// need not agree. The lease can't stop a holder that hangs and resumes: writes of run must be fenced as well. The
// tasks that run takes by [Serve] with its ctx are left to the next holder once the lease is lost. A run that calls
// [Alive] loses the lease when it hangs.
//
// Leases are spread over the agents that compete for them: an agent releases a lease that was assigned to another for 15
// seconds, and leaves a free one to the agent of its assignment for six. An agent whose run failed does not compete for five
// minutes, unless it is the only one.
func (a *leases) Single(ctx context.Context, name string, run func(ctx context.Context) error) error {
	a.metrics.active.WithLabelValues(name).Set(0)
	a.competition.compete(name, time.Now())
	defer a.competition.withdraw(name)
	moves := &leaseMoves{competition: a.competition, lease: name}
	for ctx.Err() == nil {
		l, err := a.acquire(ctx, name, moves)
		if err != nil {
			if ctx.Err() == nil {
				a.log.Warn("acquire lease failed", "lease", name, "err", err)
				sleep(ctx, leaseInterval)
			}
			continue
		}
		a.log.Debug("active", "lease", name, "reason", l.value.Reason)
		switch err := l.hold(ctx, run); {
		case errors.Is(err, errMoved):
			a.log.Info("lease moved", "lease", name, "to", l.value.Next)
		case err != nil:
			a.log.Warn("stepped down", "lease", name, "err", err)
			if !errors.Is(err, errLost) {
				a.competition.compete(name, time.Now().Add(failureDelay))
			}
			sleep(ctx, leaseInterval)
		}
	}
	return nil
}

// lease is a lease held by this agent.
type lease struct {
	leases   *leases
	kv       jetstream.KeyValue
	name     string
	moves    *leaseMoves
	before   subjects.Lease // as the last holder published it
	holding  *holding       // nil until it is held
	value    subjects.Lease
	revision uint64
}

// acquire blocks until this agent holds the lease, or fails.
func (a *leases) acquire(ctx context.Context, name string, moves *leaseMoves) (*lease, error) {
	kv, err := a.bucket(ctx, subjects.LeaseBucket)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	l := &lease{leases: a, kv: kv, name: name, moves: moves, value: subjects.Lease{
		Agent: a.agent, Host: host,
	}}
	var seen uint64 // last observed revision, and the time when it was observed
	var since, free time.Time
	for {
		entry, held, err := a.read(ctx, kv, name)
		l.value.Since = time.Now().UTC().Format(time.RFC3339)
		l.before = held
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			err = errHeld
			if a.mayAcquire(name, held, &free, moves) {
				l.revision, err = kv.Create(ctx, name, l.encode())
			}
		case err != nil:
		case held.Agent == a.agent: // no renewal before the timeout; its holder has ended
			l.revision, err = kv.Update(ctx, name, l.encode(), entry.Revision())
		case held.Agent != "" && entry.Revision() != seen:
			seen, since, free = entry.Revision(), time.Now(), time.Time{}
			err = errHeld
		case held.Agent != "" && time.Since(since) < leaseExpiry:
			err = errHeld
		case !a.mayAcquire(name, held, &free, moves):
			err = errHeld
		default:
			l.revision, err = kv.Update(ctx, name, l.encode(), entry.Revision())
		}
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, errHeld) && !errors.Is(err, jetstream.ErrKeyExists) {
			return nil, err
		}
		if !sleep(ctx, UntilTick(leaseInterval)) {
			return nil, ctx.Err()
		}
	}
}

// mayAcquire reports whether this process may acquire a lease that is free: it is assigned to it, or was free for its
// assignee too long. free is the time since when this process has seen it free, zero at first. The last holder, which released
// the lease or did not renew it, is not its assignee, also if its last heartbeat lists the lease.
func (a *leases) mayAcquire(name string, held subjects.Lease, free *time.Time, moves *leaseMoves) bool {
	if free.IsZero() {
		*free = time.Now()
	}
	assignee := held.Next
	if assignee == "" && held.Agent != "" {
		assignee, _ = a.competition.assignee(name, held.Agent)
	} else if assignee == "" {
		assignee, _ = moves.assignee()
	}
	if assignee == a.agent {
		return true
	}
	if time.Since(*free) < yieldDelay {
		return false
	}
	moves.refused, moves.refusedAt = assignee, time.Now()
	return true
}

// read returns a lease, which is free if its value is unreadable: that is stored in the quarantine.
func (a *leases) read(ctx context.Context, kv jetstream.KeyValue, name string) (entry jetstream.KeyValueEntry, held subjects.Lease, err error) {
	entry, err = kv.Get(ctx, name)
	if err != nil {
		return nil, held, err
	}
	if damage := json.Unmarshal(entry.Value(), &held); damage != nil {
		return entry, subjects.Lease{}, a.quarantineValue(ctx, subjects.LeaseBucket, name, entry.Revision(), entry.Value(), damage)
	}
	return entry, held, nil
}

var (
	errHeld = errors.New("held by another agent")
	errLost = errors.New("lease lost")
	errHung = errors.New("the actor hangs, its lease goes to another agent")

	errMoved = errors.New("the lease is assigned to another agent")
)

// A ScheduleReport is what the lease of a partition of the schedule publishes of its holder.
type ScheduleReport struct {
	Feeds    *subjects.ScheduleCounts // nil: not known any more
	Progress subjects.ScheduleProgress
}

// ReportSchedule sets what the lease whose run was called with ctx publishes from its next renewal on; nil removes it.
func ReportSchedule(ctx context.Context, r *ScheduleReport) {
	if h, ok := ctx.Value(holdingKey{}).(*holding); ok {
		h.schedule.Store(r)
	}
}

// report returns what the lease publishes of its holder, or nil. While the holder has reported nothing it publishes the notices of
// the one before.
func (l *lease) report() (*subjects.ScheduleCounts, *subjects.ScheduleProgress) {
	if l.holding != nil {
		if r := l.holding.schedule.Load(); r != nil {
			return r.Feeds, &r.Progress
		}
	}
	if s := l.before.Schedule; s != nil && s.Notices != nil {
		return nil, &subjects.ScheduleProgress{Notices: s.Notices}
	}
	return nil, nil
}

// hasNewReport reports whether the holder has reported something else since the last renewal.
func (l *lease) hasNewReport() bool {
	feeds, progress := l.report()
	return l.limit() != l.value.Limit || !reflect.DeepEqual(feeds, l.value.Feeds) || !reflect.DeepEqual(progress, l.value.Schedule)
}

// limit returns the limit that the actor has reported, or "".
func (l *lease) limit() string {
	if l.holding != nil {
		if limit := l.holding.limit.Load(); limit != nil {
			return *limit
		}
	}
	return ""
}

func (l *lease) encode() []byte {
	l.value.Renewals++
	l.value.Feeds, l.value.Schedule = l.report()
	l.value.Limit = l.limit()
	l.value.Reason = l.moves.reason()
	data, _ := json.Marshal(l.value) // a struct of strings and numbers always encodes
	return data
}

// hold calls run while it renews the lease, and releases the lease afterwards.
func (l *lease) hold(ctx context.Context, run func(ctx context.Context) error) error {
	tick, slack := l.leases.leaseTimes()
	h, acquired := &holding{expiry: leaseExpiry + slack, before: l.before}, time.Now()
	h.renewed.Store(&acquired)
	l.holding = h
	inner, cancel := context.WithCancelCause(context.WithValue(ctx, holdingKey{}, h))
	defer cancel(nil)
	active := l.leases.metrics.active.WithLabelValues(l.name)
	active.Set(1)
	defer active.Set(0)
	lose := func(err error) { // even while run still finishes
		h.lost.Store(true)
		cancel(err)
		active.Set(0)
	}
	done := make(chan error, 1)
	go func() { done <- run(inner) }()
	renewed := acquired // end of the last successful renewal
	var next string     // agent to which the lease moves
	for {
		select {
		case err := <-done:
			if next != "" {
				l.release(next)
				return errMoved
			}
			l.release(l.successor())
			return err
		case <-time.After(UntilTick(tick)):
		}
		if next == "" {
			if next = l.moves.due(); next != "" {
				cancel(errMoved) // and renew the lease until run has returned
			}
		}
		if at := h.alive.Load(); at != nil && time.Since(*at) > maxHang {
			lose(errHung)
			l.leases.log.Error("actor hangs, lease released", "lease", l.name, "since", at)
			l.leases.competition.compete(l.name, time.Now().Add(failureDelay))
			l.release(l.successor())
			return errors.Join(errHung, <-done)
		}
		if time.Since(renewed) < slack-tick && !l.hasNewReport() {
			continue
		}
		started := time.Now()
		switch err := l.renew(ctx); { // also while run finishes its work
		case err == nil:
			renewed = time.Now()
			h.renewed.Store(&started)
		case isStale(err) || time.Since(renewed) > leaseDeadline+slack:
			lose(errLost)
			return errors.Join(errLost, err, <-done)
		}
	}
}

// renew renews the lease. A renewal whose acknowledgement was lost may have been stored: then the key has a
// newer revision that still names this agent, and renew continues from it.
func (l *lease) renew(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), leaseInterval)
	defer stop()
	revision, err := l.kv.Update(ctx, l.name, l.encode(), l.revision)
	if isStale(err) {
		entry, getErr := l.kv.Get(ctx, l.name)
		var held subjects.Lease
		if getErr != nil || json.Unmarshal(entry.Value(), &held) != nil || held.Agent != l.value.Agent || held.Since != l.value.Since {
			return err
		}
		revision, err = l.kv.Update(ctx, l.name, l.encode(), entry.Revision())
	}
	if err == nil {
		l.revision = revision
	}
	return err
}

// successor returns the agent to which the lease is assigned without this one, or "" if no other competes for it.
func (l *lease) successor() string {
	if agent, others := l.leases.competition.assignee(l.name, l.leases.agent); others {
		return agent
	}
	return ""
}

// release frees the lease, so that the next agent takes over immediately; any does if next is empty.
func (l *lease) release(next string) {
	l.value.Agent, l.value.Next = "", next
	ctx, cancel := context.WithTimeout(context.Background(), leaseInterval)
	defer cancel()
	if _, err := l.kv.Update(ctx, l.name, l.encode(), l.revision); err != nil {
		l.leases.log.Debug("release lease failed, it expires by itself", "lease", l.name, "err", err)
	}
}

// Leases returns the leases by name.
func (a *leases) Leases(ctx context.Context) (map[string]subjects.Lease, error) {
	return values[subjects.Lease]{client: a.client, bucket: subjects.LeaseBucket}.all(ctx)
}
