package role

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/plan"
	"feedmesh/agent/policy"
	"feedmesh/agent/trace"
	"feedmesh/agent/websub"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Schedule decides when feeds are due and hands them out.
var Schedule = Role{
	Name:  "schedule",
	Does:  "decides when each feed is due, and hands due feeds out; one is active in the mesh, others stand by",
	Store: true,
	Run: func(ctx context.Context, env *Env) error {
		return env.Mesh.Single(ctx, subjects.ScheduleLease, func(ctx context.Context) error {
			err := newScheduler(env).run(ctx)
			if err != nil && ctx.Err() == nil {
				env.Metrics.stepDowns.Inc()
			}
			return err
		})
	},
}

const (
	dispatchEvery  = 100 * time.Millisecond
	reconcileEvery = 10 * time.Minute
	fitEvery       = 5 * time.Minute
	spendEvery     = time.Minute
	growEvery      = time.Second
	countsEvery    = 500 * time.Millisecond
	measureEvery   = 5 * time.Second
	keepEvery      = 5 * time.Second
	keepAllEvery   = time.Minute

	// crawlAhead is how many crawl tasks may wait: enough to keep many crawlers
	// busy, and few enough to be done long before InFlight is over.
	crawlAhead = 64
)

// scheduler is the one active schedule. What it changes it writes under the
// revision it knew; when that fails, its memory may be wrong, or another has
// taken over: it steps down, and begins anew when it is its turn.
type scheduler struct {
	mesh    *mesh.Mesh
	store   storage.Store
	clock   Clock // that feeds are due by
	wall    Clock // that work takes its time by: the real one
	room    func() error
	log     *slog.Logger
	metrics *Metrics
	trace   *trace.Tracer
	hubs    websub.Options // with no Base: none is asked

	states *stateWriter
	mu     sync.Mutex // of plan and last
	plan   *plan.Plan
	last   subjects.FeedState // names the tasks handed out last, if they may not have been published

	fill       float64       // of the fullest queue behind the crawl, 0 to 1
	crawlTasks uint64        // that wait
	queuesBorn time.Time     // when the youngest queue on a document's way was made, as last seen
	waits      time.Duration // for how long documents have waited on their way of late
	outage     bool          // the network seemed to be down when it was last looked at
}

func newScheduler(env *Env) *scheduler {
	s := &scheduler{
		mesh: env.Mesh, store: env.Store, clock: env.Clock, room: env.Room, log: env.Log, metrics: env.Metrics, trace: env.Trace,
		hubs: hubOptions(env),
		plan: plan.New(plan.Options{
			Policy:  policy.New(policySettings(env.Config)),
			Budget:  env.Config.RequestsPerSecond,
			Spacing: env.Config.Schedule.HostSpacing,
		}),
	}
	s.states = newStateWriter(env.Mesh, &s.mu)
	return s
}

func policySettings(c config.Config) policy.Settings {
	s := policy.Settings{
		Kind: c.Schedule.Policy, Interval: c.Schedule.Interval, Budget: c.RequestsPerSecond, Floor: c.Schedule.Floor,
		Tiers: policy.TierSettings(c.Schedule.Tiers),
	}
	if s.Interval > 0 {
		s.Kind = policy.KindUniform
	}
	return s
}

func (s *scheduler) run(ctx context.Context) error {
	defer s.metrics.forget()
	defer s.mesh.TellCounts(nil)
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.log.Debug("schedule is active", "feeds", s.plan.Len())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.listen(ctx) })
	group.Go(func() error { return s.askHubs(ctx) })
	for _, job := range []struct {
		every time.Duration
		do    func(context.Context) error
	}{
		{dispatchEvery, s.dispatch}, {countsEvery, s.tellCounts},
		{measureEvery, s.recallIfSeen}, {measureEvery, s.measure},
		{keepEvery, s.keepLearned}, {keepAllEvery, s.keepAllLearned}, {keepEvery, s.move},
		{probeEvery, s.probe}, {spendEvery, s.spend}, {growEvery, s.fitIfOutgrown}, {fitEvery, s.fit}, {reconcileEvery, s.reconcile},
	} {
		group.Go(func() error { return every(ctx, job.every, job.do) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	// All that was handed out has been published: nobody has to do it again.
	s.last.State.Crawl = ""
	return s.states.write(ctx, changes{states: []*subjects.FeedState{&s.last}})
}

// begin loads what was known, and makes it agree with the store and the queues.
func (s *scheduler) begin(ctx context.Context) error {
	if err := s.mesh.LoadStates(ctx, s.plan.Load); err != nil {
		return err
	}
	if err := s.mesh.LoadHosts(ctx, s.plan.LoadHost); err != nil {
		return err
	}
	if err := s.mesh.LoadProxies(ctx, s.plan.LoadProxy); err != nil {
		// Probes will find it out anew. NATS servers that were set up for an older
		// version do not let us.
		s.log.Warn("what was known of proxies can't be read", "err", err)
	}
	for _, do := range []func(context.Context) error{s.reconcile, s.fit, s.recall, s.resume} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// resume publishes the tasks that were handed out last once more: whoever was
// active before may have died between writing their states and publishing them. If
// one still waits on its queue, the queue drops the second one; if it is done, its
// feeds are no longer out.
func (s *scheduler) resume(ctx context.Context) (err error) {
	if s.last, err = s.mesh.LastTask(ctx); err != nil {
		return err
	}
	for _, id := range strings.Fields(s.last.State.Crawl) {
		task, out := s.plan.Again(id, s.clock.Now())
		if !out {
			continue
		}
		if err := subjects.Publish(ctx, s.mesh, subjects.Crawls, task); err != nil {
			return err
		}
	}
	return nil
}

// listen takes observations into account until ctx ends or a write fails.
func (s *scheduler) listen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &listener{scheduler: s, stop: cancel}
	if err := mesh.ServeBatch(ctx, s.mesh, subjects.Observes, "", l, 1); err != nil {
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
	seen, err := s.see(ctx, tasks)
	if err != nil {
		return err
	}
	return s.states.write(ctx, seen)
}

// see takes observations into account and returns what they change.
func (s *scheduler) see(ctx context.Context, tasks []subjects.Observe) (seen changes, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	changed := map[string]*subjects.FeedState{}
	for _, t := range tasks {
		for _, o := range t.Observations {
			var f *plan.Feed
			switch o.Outcome {
			case subjects.Added:
				f = s.plan.Add(storage.Feed{ID: o.FeedID, URL: o.URL}, now)
			case subjects.Removed:
				s.plan.Remove(o.FeedID)
				seen.gone = append(seen.gone, o.FeedID)
			case subjects.Changed:
				f, err = s.reread(ctx, o.FeedID, now)
			case subjects.Probed:
				s.plan.ObserveProbe(o, now)
			default:
				f = s.plan.Observe(o, now)
			}
			if err != nil {
				return changes{}, err
			}
			if f != nil {
				changed[f.FeedID] = &f.FeedState
			} else if !s.plan.Has(o.FeedID) {
				delete(changed, o.FeedID)
			}
		}
	}
	seen.states = slices.Collect(maps.Values(changed))
	return seen, nil
}

// statesOf returns the states of feeds.
func statesOf(feeds []*plan.Feed) []*subjects.FeedState {
	states := make([]*subjects.FeedState, len(feeds))
	for i, f := range feeds {
		states[i] = &f.FeedState
	}
	return states
}
