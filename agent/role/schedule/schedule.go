// Package schedule is the role that decides when feeds are due and dispatches them.
package schedule

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/schedule/plan"
	"feedmesh/agent/role/work"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Run schedules the feeds of the partitions for which this process is the active one in the mesh, and maintains the streams,
// until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	m := newMetrics(env.Metrics)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return env.Mesh.MaintainStreams(ctx) })
	group.Go(func() error {
		for ctx.Err() == nil {
			if err := runPartitions(ctx, env, m); err != nil && ctx.Err() == nil {
				env.Log.Error("schedule unavailable, retry pending", "err", err)
				work.Sleep(ctx, partitionsRetry)
			}
		}
		return nil
	})
	return group.Wait()
}

// partitionsRetry is the interval at which the number of partitions is read again after a failure.
const partitionsRetry = 5 * time.Second

// runPartitions competes for the partitions of the schedule until ctx ends or their number changes.
func runPartitions(ctx context.Context, env *work.Env, m *metrics) error {
	n, err := env.Mesh.Partitions(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group errgroup.Group
	for i := range n {
		group.Go(func() error {
			return env.Mesh.Single(ctx, subjects.ScheduleLease(i), func(ctx context.Context) error {
				s := newScheduler(env, m, i, n)
				err := s.run(ctx, &hubs{s, hubOptions(env, i, n)})
				if errors.Is(err, errPartitionsChanged) {
					cancel(err)
				}
				if err != nil && ctx.Err() == nil {
					m.stepDowns.Inc()
				}
				return err
			})
		})
	}
	return errors.Join(group.Wait(), context.Cause(ctx))
}

// errPartitionsChanged reports that the schedule bucket was created again with another number of partitions.
var errPartitionsChanged = errors.New("the number of partitions of the schedule has changed")

func (s *scheduler) run(ctx context.Context, hubs *hubs) error {
	defer s.metrics.clear(s.partition)
	s.notices = mesh.Notices(ctx)
	if err := s.load(ctx); err != nil {
		return err
	}
	defer s.reportEnd(ctx)
	defer s.mesh.ServeStates(s.partition, s.partitions, s)()
	s.log.Debug("schedule active", "partition", s.partition, "feeds", s.plan.Len())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.serveObservations(ctx) })
	group.Go(func() error { return s.dispatchAll(ctx) })
	group.Go(func() error { return hubs.maintain(ctx) })
	for _, job := range []struct {
		every time.Duration
		do    func(context.Context) error
	}{
		{reportEvery, s.report},
		{measureEvery, s.recallIfReadable}, {measureEvery, s.observeRegions}, {checkStoreEvery, s.checkStore}, {measureEvery, s.measure},
		{saveStatesEvery, s.WriteStates}, {saveEvery, s.saveHistory}, {saveAllEvery, s.saveAllHistory}, {saveEvery, s.move},
		{recordPollsEvery, s.recordPolls}, {checkGrowthEvery, s.recalibrateIfGrown}, {recalibrateEvery, s.recalibrate}, {recalibrateEvery, s.clampDueTimes}, {reconcileEvery, s.reconcile},
	} {
		group.Go(func() error { return work.RepeatEvery(ctx, job.every, job.do) })
	}
	if s.partition == 0 {
		group.Go(func() error { return work.RepeatEvery(ctx, probeEvery, s.probe) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if s.mesh.IsAlone() {
		s.markInFlight()
	}
	if err := s.WriteStates(ctx); err != nil {
		return err
	}
	// All dispatched tasks are published: a successor need not repeat them.
	s.last.State.Crawl = ""
	return s.states.write(ctx, changes{states: []*subjects.FeedState{&s.last}})
}

// load restores the stored states and reconciles them with the store and the queues.
func (s *scheduler) load(ctx context.Context) error {
	n, err := s.mesh.Partitions(ctx)
	if err != nil {
		return err
	}
	if n != s.partitions {
		return errPartitionsChanged
	}
	if s.partition == 0 {
		if err := s.mesh.RemoveBeyond(ctx, n); err != nil {
			return err
		}
	}
	if s.states.journal, err = s.mesh.OpenJournal(ctx, s.partition, n, s.plan.Load); err != nil {
		return err
	}
	if err := s.mesh.LoadHosts(ctx, s.partition, n, s.plan.LoadHost); err != nil {
		return err
	}
	if err := s.mesh.LoadProxies(ctx, s.plan.LoadProxy); err != nil {
		// Probes will restore them. NATS servers that were set up for an older version deny access.
		s.log.Warn("proxy states unreadable", "err", err)
	}
	for _, do := range []func(context.Context) error{s.clampDueTimes, s.reconcile, s.recalibrate, s.recall, s.resume} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// now returns the time of due times. It moves them with a jump of the system clock: otherwise feeds would be due
// too early or, until the clock is right again, not at all. s.mu must be locked.
func (s *scheduler) now() time.Time {
	now := s.clock.Now()
	if s.uptime == nil {
		return now // a clock of tests or simulations, which jumps on purpose
	}
	if d := s.watch.jump(now, s.uptime()); d != 0 {
		s.plan.Shift(d)
		s.log.Warn("system clock jumped, due times moved with it", "by", d.Round(time.Second))
		s.notice("the system clock jumped by %v, due times moved with it", d.Round(time.Second))
	}
	return now
}

// resume publishes the last dispatched tasks again: the previous schedule may have failed between writing
// their states and publishing them. A duplicate is dropped by the queue; the feeds of a finished task are no
// longer in flight.
func (s *scheduler) resume(ctx context.Context) error {
	s.last = s.states.journal.LastDispatch()
	for _, id := range strings.Fields(s.last.State.Crawl) {
		s.mu.Lock()
		task, out := s.plan.Reissue(id, s.now())
		s.mu.Unlock()
		if !out {
			continue
		}
		if err := subjects.Publish(ctx, s.mesh, subjects.CrawlQueue, task); err != nil {
			return err
		}
	}
	return nil
}

// serveObservations processes observations until ctx ends or a write fails.
func (s *scheduler) serveObservations(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &observer{scheduler: s, stop: cancel}
	if err := mesh.ServeBatch(ctx, s.mesh, subjects.ObserveQueue, subjects.PartitionName(s.partition), l, 1); err != nil {
		return err
	}
	return l.failed
}

// An observer is the actor of observations. After a failed write it returns all tasks to the queue for the
// next active schedule.
type observer struct {
	*scheduler
	stop   func()
	failed error // protected by observing
}

var errSteppedDown = errors.New("schedule stepped down")

func (l *observer) ReceiveAll(ctx context.Context, tasks []subjects.Observe) error {
	l.observing.Lock()
	defer l.observing.Unlock()
	if l.failed != nil {
		return mesh.RetryAfter(time.Second, errSteppedDown)
	}
	if err := l.observe(ctx, tasks); err != nil {
		l.failed = err
		l.stop()
		return mesh.RetryAfter(time.Second, err)
	}
	return nil
}

func (s *scheduler) observe(ctx context.Context, tasks []subjects.Observe) error {
	if s.partition == 0 && s.partitions > 1 {
		if err := s.passOn(ctx, tasks); err != nil {
			return err
		}
	}
	seen, err := s.applyObservations(ctx, tasks)
	if err != nil {
		return err
	}
	if !mesh.IsRepeatable(ctx) || len(seen.removed) > 0 {
		return s.states.write(ctx, seen)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range seen.states {
		s.unwritten[f.FeedID] = true
	}
	return nil
}

// WriteStates implements [mesh.StateSource]: it writes the states of feeds that were polled since the last call. After a
// crash before it these feeds are polled again.
func (s *scheduler) WriteStates(ctx context.Context) error {
	for {
		if more, err := s.writeSomeStates(ctx); err != nil || !more {
			return err
		}
	}
}

// writeSomeStates writes up to [mesh.MaxEntry] of these states. Observations wait for as long, not for all of them.
func (s *scheduler) writeSomeStates(ctx context.Context) (more bool, err error) {
	s.observing.Lock()
	defer s.observing.Unlock()
	s.mu.Lock()
	var results changes
	for id := range s.unwritten {
		if len(results.states) == mesh.MaxEntry {
			break
		}
		delete(s.unwritten, id)
		if f := s.plan.State(id); f != nil { // not removed since
			results.states = append(results.states, f)
		}
	}
	more = len(s.unwritten) > 0
	s.mu.Unlock()
	return more, s.states.write(ctx, results)
}

// markInFlight makes WriteStates write the states of feeds in flight, whose tasks become messages when their workers stop:
// so the next start does not repeat them.
func (s *scheduler) markInFlight() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.plan.InFlight() {
		s.plan.State(id).State.InMemory = false
		s.unwritten[id] = true
	}
}

// States implements [mesh.StateSource].
func (s *scheduler) States(each func(subjects.FeedState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.EachState(each)
}

// State implements [mesh.StateSource].
func (s *scheduler) State(feedID string) *subjects.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.plan.State(feedID); f != nil {
		state := *f.State
		return &state
	}
	return nil
}

// applyObservations updates the plan with observations and returns the changes to write.
func (s *scheduler) applyObservations(ctx context.Context, tasks []subjects.Observe) (seen changes, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	changed := map[string]*subjects.FeedState{}
	for _, t := range tasks {
		for _, o := range t.Observations {
			var f *plan.Feed
			switch o.Outcome {
			case subjects.Added:
				if s.owns(o.URL) {
					f = s.plan.Add(storage.Feed{ID: o.FeedID, URL: o.URL}, now)
				}
			case subjects.Removed:
				if s.plan.Has(o.FeedID) { // another partition may have it
					s.plan.Remove(o.FeedID)
					seen.removed = append(seen.removed, o.FeedID)
				}
			case subjects.Changed:
				f, err = s.reload(ctx, o.FeedID, now)
			case subjects.Probed:
				s.plan.ObserveProbe(o, now)
			default:
				f = s.plan.Observe(o, now)
			}
			if o.Outcome == subjects.Stored && !slices.Contains(s.stored, o.FeedID) {
				s.stored = append(s.stored[max(0, len(s.stored)+1-maxStored):], o.FeedID)
			}
			if err != nil {
				return changes{}, err
			}
			s.secrets.observe(o)
			if f != nil {
				changed[f.FeedID] = &f.FeedState
			} else if !s.plan.Has(o.FeedID) {
				delete(changed, o.FeedID)
			}
		}
	}
	seen.states = slices.Collect(maps.Values(changed))
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return seen, nil
}
