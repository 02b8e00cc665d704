package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/trace"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Schedule decides when feeds are due and hands them out.
var Schedule = Role{
	Name:  "schedule",
	Does:  "decides when each feed is due, and hands due feeds out; one is active in the mesh, others stand by",
	Store: true,
	Run: func(ctx context.Context, env *Env) error {
		return env.Mesh.Single(ctx, "schedule", func(ctx context.Context) error {
			s := &scheduler{
				mesh: env.Mesh, feeds: env.Store, clock: env.Clock,
				room: env.Room, log: env.Log, metrics: env.Metrics, trace: env.Trace, plan: newPlan(env.Config.Schedule.Interval),
			}
			err := s.run(ctx)
			if err != nil && ctx.Err() == nil {
				env.Metrics.stepDowns.Inc()
			}
			return err
		})
	},
}

const (
	dispatchEvery  = 200 * time.Millisecond
	reconcileEvery = 10 * time.Minute
	measureEvery   = 5 * time.Second

	// crawlAhead is how many crawl tasks may wait: enough to keep many crawlers
	// busy, and few enough to be done long before InFlight is over.
	crawlAhead = 64
)

// scheduler is the one active schedule. What it changes it writes under the
// revision it knew; when that fails, its memory may be wrong, or another has
// taken over: it steps down, and begins anew when it is its turn.
type scheduler struct {
	mesh    *mesh.Mesh
	feeds   storage.Feeds
	clock   Clock
	room    func() error
	log     *slog.Logger
	metrics *Metrics
	trace   *trace.Tracer

	mu   sync.Mutex // of plan
	plan *plan
	last *planned // names the task handed out last, if it may not have been published

	fill       float64       // of the fullest queue behind the crawl, 0 to 1
	crawlTasks uint64        // that wait
	queuesBorn time.Time     // when the youngest queue on a document's way was made, as last seen
	waits      time.Duration // for how long documents have waited on their way of late
}

func (s *scheduler) run(ctx context.Context) error {
	defer s.metrics.forget()
	if err := s.mesh.LoadStates(ctx, s.plan.load); err != nil {
		return err
	}
	if err := s.reconcile(ctx); err != nil {
		return err
	}
	if err := s.recall(ctx); err != nil {
		return err
	}
	if err := s.resume(ctx); err != nil {
		return err
	}
	s.log.Debug("schedule is active", "feeds", len(s.plan.feeds))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.listen(ctx) })
	group.Go(func() error { return every(ctx, dispatchEvery, s.dispatch) })
	group.Go(func() error { return every(ctx, reconcileEvery, s.reconcile) })
	group.Go(func() error {
		return every(ctx, measureEvery, func(ctx context.Context) error {
			if err := s.recall(ctx); !errors.Is(err, errUnseen) {
				return err
			}
			return nil // dispatch tells of it
		})
	})
	group.Go(func() error { return every(ctx, measureEvery, s.measure) })
	if err := group.Wait(); err != nil {
		return err
	}
	// All that was handed out has been published: nobody has to do it again.
	s.last.State.Crawl = ""
	return s.write(context.WithoutCancel(ctx), []*planned{s.last})
}

// resume publishes the task that was handed out last once more: whoever was
// active before may have died between writing its states and publishing it. If
// it still waits on its queue, the queue drops the second one; if it is done,
// its feeds are no longer out.
func (s *scheduler) resume(ctx context.Context) error {
	last, err := s.mesh.LastTask(ctx)
	if err != nil {
		return err
	}
	s.last = &planned{FeedState: last}
	task, out := s.plan.task(s.last.State.Crawl)
	if !out {
		return nil
	}
	return subjects.Publish(ctx, s.mesh, subjects.Crawls, task)
}

// listen takes observations into account until ctx ends or a write fails.
func (s *scheduler) listen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &listener{scheduler: s, stop: cancel}
	if err := mesh.ServeBatch(ctx, s.mesh, subjects.Observes, "", l, 200); err != nil {
		return err
	}
	return l.failed
}

// A listener is the actor of observations. After a write failed it takes no
// more: whoever is active next will.
type listener struct {
	*scheduler
	stop   func()
	failed error
}

var errSteppedDown = errors.New("this schedule has stepped down")

func (l *listener) ReceiveAll(ctx context.Context, tasks []subjects.Observe) error {
	if l.failed != nil {
		return mesh.Later(time.Second, errSteppedDown)
	}
	if err := l.observe(ctx, tasks); err != nil {
		l.failed = err
		l.stop()
		return mesh.Later(time.Second, err)
	}
	return nil
}

func (s *scheduler) observe(ctx context.Context, tasks []subjects.Observe) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	changed := map[string]*planned{}
	for _, t := range tasks {
		for _, o := range t.Observations {
			if o.Outcome == subjects.Removed {
				s.plan.remove(o.FeedID)
				delete(changed, o.FeedID)
				if err := s.mesh.DropState(ctx, o.FeedID); err != nil {
					return err
				}
				continue
			}
			if f := s.plan.observe(o, now); f != nil {
				changed[f.FeedID] = f
			}
		}
	}
	feeds := make([]*planned, 0, len(changed))
	for _, f := range changed {
		feeds = append(feeds, f)
	}
	return s.write(ctx, feeds)
}

// write keeps the feeds' states in the bucket.
func (s *scheduler) write(ctx context.Context, feeds []*planned) error {
	for chunk := range slices.Chunk(feeds, mesh.MaxStates) {
		states := make([]mesh.FeedState, len(chunk))
		for i, f := range chunk {
			states[i] = f.FeedState
		}
		if err := s.mesh.PutStates(ctx, states); err != nil {
			return err
		}
		for i, f := range chunk {
			f.Revision, f.Written = states[i].Revision, time.Time{}
		}
	}
	return nil
}

// reconcile makes the plan agree with the store, which is the truth: feeds
// without a state get one, states without a feed go. It also draws the lines
// between the tiers anew.
func (s *scheduler) reconcile(ctx context.Context) error {
	stored := map[string]bool{}
	var missing []storage.Feed
	known := func(id string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.plan.feeds[id] != nil
	}
	for after := ""; ; {
		page, err := s.feeds.ListFeeds(ctx, after, 1000)
		if err != nil {
			return fmt.Errorf("read the feeds to schedule: %w", err)
		}
		if len(page) == 0 {
			break
		}
		for _, f := range page {
			stored[f.ID] = true
			if !known(f.ID) {
				missing = append(missing, f)
			}
		}
		after = page[len(page)-1].URL
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var added []*planned
	for _, f := range missing {
		if p := s.plan.add(f.ID, f.URL, f.Rate, s.clock.Now()); p != nil {
			added = append(added, p)
		}
	}
	for _, id := range s.plan.missing(stored) {
		// It may be newer than the list we read.
		if _, err := s.feeds.Feed(ctx, id); !errors.Is(err, storage.ErrNotFound) {
			continue
		}
		s.plan.remove(id)
		if err := s.mesh.DropState(ctx, id); err != nil {
			return err
		}
	}
	s.plan.fit()
	return s.write(ctx, added)
}

// recall has feeds that are out polled again if their documents must have been
// lost on their way, and nobody would tell for as long as InFlight: if a queue is
// younger than their hand-out, as it was lost and made anew, or if they are out
// for much longer than anything takes at present.
func (s *scheduler) recall(ctx context.Context) error {
	born, waits, err := s.way(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	var feeds []*planned
	if born.After(s.queuesBorn) {
		s.queuesBorn = born
		feeds = s.plan.recall(now, func(f *planned) bool { return f.Written.Before(born) })
	}
	// What has waited long a while ago may have been followed by what waits now.
	s.waits = max(waits, s.waits-measureEvery/2)
	grace := leastGrace + 2*s.waits
	feeds = append(feeds, s.plan.recall(now, func(f *planned) bool { return now.Sub(f.handedOut()) > grace })...)
	if len(feeds) > 0 {
		s.log.Warn("documents were lost on their way: they are fetched again", "feeds", len(feeds))
	}
	return s.write(ctx, feeds)
}

// leastGrace is how long a feed may be out, at least, before it is taken for lost.
const leastGrace = 45 * time.Second

// way looks at the queues on a document's way: when the youngest of them was made,
// and how long the oldest tasks of all of them have waited, together. While a
// document is on its way, a task of it is always on one of them.
func (s *scheduler) way(ctx context.Context) (born time.Time, waits time.Duration, err error) {
	depths, err := s.mesh.Depths(ctx)
	if err != nil {
		return born, 0, fmt.Errorf("%w: %w", errUnseen, err)
	}
	for _, d := range depths {
		if d.Queue == subjects.Indexes.Name || d.Queue == subjects.QuarantineStream {
			continue
		}
		if d.Created.After(born) {
			born = d.Created
		}
		waits += time.Duration(d.Oldest * float64(time.Second))
	}
	return born, waits, nil
}

// errUnseen says that the queues can't be looked at just now.
var errUnseen = errors.New("can't see the queues")

// measure sets the gauges of what the mesh has only one of. The active schedule
// tells them alone, so that they may be summed over all agents.
func (s *scheduler) measure(ctx context.Context) error {
	s.measureFeeds()
	ctx, cancel := context.WithTimeout(ctx, measureEvery)
	defer cancel()
	depths, err := s.mesh.Depths(ctx)
	if err != nil {
		s.metrics.forgetQueues() // readiness tells of it
		return nil
	}
	for _, d := range depths {
		s.metrics.queuePending.WithLabelValues(d.Queue).Set(float64(d.Tasks))
		s.metrics.queueOldest.WithLabelValues(d.Queue).Set(d.Oldest)
	}
	return nil
}

func (s *scheduler) measureFeeds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	overdue := 0
	for i, tier := range subjects.Tiers {
		states := map[string]int{"waiting": 0, "out": 0, "failing": 0}
		for _, f := range s.plan.due[i] {
			switch {
			case f.State.Crawl != "":
				states["out"]++
			case f.State.Failures > 0:
				states["failing"]++
			default:
				states["waiting"]++
			}
			if f.State.Crawl == "" && !f.State.Next.After(now) {
				overdue++
			}
		}
		for state, n := range states {
			s.metrics.feeds.WithLabelValues(tier, state).Set(float64(n))
		}
	}
	s.metrics.overdue.WithLabelValues().Set(float64(overdue))
}
