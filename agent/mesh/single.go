package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

const (
	leaseBeat = 1500 * time.Millisecond // how often a lease is renewed and watched
	leaseOver = 6 * time.Second         // without a renewal seen for so long, it is free
	leaseSafe = 4 * time.Second         // without a renewal done for so long, its holder stops
)

// Single runs what only one actor in the mesh may do at a time: it waits until
// it holds the lease of that name, runs run, whose ctx ends when the lease is
// lost, and waits again. It returns when ctx has ended and run has returned.
//
// A lease is free when nobody has been seen to renew it for six seconds, by the
// watcher's own clock, so agents' clocks need not agree. That alone can't stop
// a holder that hangs and wakes up: what run writes must be fenced as well.
func (m *Mesh) Single(ctx context.Context, name string, run func(ctx context.Context) error) error {
	m.metrics.active.WithLabelValues(name).Set(0)
	for ctx.Err() == nil {
		l, err := m.acquire(ctx, name)
		if err != nil {
			if ctx.Err() == nil {
				m.log.Warn("can't get a lease", "lease", name, "err", err)
				sleep(ctx, leaseBeat)
			}
			continue
		}
		m.log.Debug("active", "lease", name)
		if err := l.hold(ctx, run); err != nil {
			m.log.Warn("stepped down", "lease", name, "err", err)
			sleep(ctx, leaseBeat)
		}
	}
	return nil
}

// A lease is one held by this agent.
type lease struct {
	mesh     *Mesh
	kv       jetstream.KeyValue
	name     string
	value    subjects.Lease
	revision uint64
}

// acquire returns when the lease is ours, or with an error.
func (m *Mesh) acquire(ctx context.Context, name string) (*lease, error) {
	kv, err := m.bucket(ctx, subjects.LeaseBucket)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	l := &lease{mesh: m, kv: kv, name: name, value: subjects.Lease{
		Agent: m.agent, Host: host,
	}}
	var seen uint64 // revision, and when it was new to us
	var since time.Time
	for {
		entry, err := kv.Get(ctx, name)
		l.value.Since = time.Now().UTC().Format(time.RFC3339)
		var held subjects.Lease
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			l.revision, err = kv.Create(ctx, name, l.encode())
		case err != nil:
		case json.Unmarshal(entry.Value(), &held) == nil && held.Agent != "" && entry.Revision() != seen:
			seen, since = entry.Revision(), time.Now()
			err = errHeld
		case held.Agent != "" && time.Since(since) < leaseOver:
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
		if !sleep(ctx, leaseBeat) {
			return nil, ctx.Err()
		}
	}
}

var (
	errHeld = errors.New("held by another agent")
	errLost = errors.New("the lease was lost")
)

// TellCounts has the schedule's lease say how many feeds are how, from its next
// renewal on; nil takes that back.
func (m *Mesh) TellCounts(feeds *subjects.Counts) { m.counts.Store(feeds) }

func (l *lease) encode() []byte {
	l.value.Beat++
	if l.name == subjects.ScheduleLease {
		l.value.Feeds = l.mesh.counts.Load()
	}
	data, _ := json.Marshal(l.value) // a struct of strings and numbers always encodes
	return data
}

// hold runs run while it renews the lease, and gives the lease back after it.
func (l *lease) hold(ctx context.Context, run func(ctx context.Context) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	active := l.mesh.metrics.active.WithLabelValues(l.name)
	active.Set(1)
	defer active.Set(0)
	done := make(chan error, 1)
	go func() { done <- run(inner) }()
	renewed := time.Now()
	for {
		select {
		case err := <-done:
			l.release()
			return err
		case <-time.After(leaseBeat):
		}
		switch err := l.renew(ctx); { // also while run is finishing its work in hand
		case err == nil:
			renewed = time.Now()
		case isStale(err) || time.Since(renewed) > leaseSafe:
			cancel(errLost)
			active.Set(0) // whatever run has in hand still
			return errors.Join(errLost, err, <-done)
		}
	}
}

// renew says that we live. If the last renewal came to nothing as far as we know,
// it may have been kept all the same: then the key is newer than we knew, and
// still ours.
func (l *lease) renew(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), leaseBeat)
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

// release lets another agent take over at once.
func (l *lease) release() {
	l.value.Agent = ""
	ctx, cancel := context.WithTimeout(context.Background(), leaseBeat)
	defer cancel()
	if _, err := l.kv.Update(ctx, l.name, l.encode(), l.revision); err != nil {
		l.mesh.log.Debug("can't give back a lease; it runs out by itself", "lease", l.name, "err", err)
	}
}

// isStale reports whether a write was refused because its key has a newer
// revision than the writer knew.
func isStale(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
