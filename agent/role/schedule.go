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
				room: env.Room, log: env.Log, metrics: env.Metrics, plan: newPlan(),
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

	mu   sync.Mutex // of plan
	plan *plan
	last *planned // names the task handed out last, if it may not have been published

	fill       float64 // of the fullest queue behind the crawl, 0 to 1
	crawlTasks uint64  // that wait
}

func (s *scheduler) run(ctx context.Context) error {
	if err := s.mesh.LoadStates(ctx, s.plan.load); err != nil {
		return err
	}
	if err := s.reconcile(ctx); err != nil {
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
			f.Revision = states[i].Revision
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

// measure sets the gauges.
func (s *scheduler) measure(context.Context) error {
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
	s.metrics.overdue.Set(float64(overdue))
	return nil
}
