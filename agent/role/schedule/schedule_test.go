package schedule

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// A testbed has helpers for tests of the schedule.
type testbed struct {
	*worktest.Testbed
	newID atomic.Int64
}

func newTestbed(t *testing.T) *testbed {
	t.Helper()
	return &testbed{Testbed: worktest.NewTestbed(t)}
}

// schedule runs the role until the test ends or stop is called.
func (r *testbed) schedule(agent string, store storage.Store) (env *work.Env, stop func()) {
	r.T.Helper()
	m, _ := r.Join(agent)
	env = r.Env(m)
	env.Store = store
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := Run(ctx, env); err != nil {
			r.T.Error(err)
		}
	})
	stop = func() { cancel(); wait.Wait() }
	r.T.Cleanup(stop)
	return env, stop
}

// scheduler returns a schedule without background jobs, with its states loaded.
func (r *testbed) scheduler(store storage.Store) *scheduler {
	r.T.Helper()
	env := r.Env(r.Mesh)
	env.Store = store
	s := newScheduler(env, newMetrics(env.Metrics), 0, 1)
	s.wall = env.Clock
	if err := s.load(r.T.Context()); err != nil {
		r.T.Fatal(err)
	}
	return s
}

// crawls returns the tasks in the crawl queue.
func (r *testbed) crawls() []subjects.Crawl {
	r.T.Helper()
	stream, err := r.JS.Stream(r.T.Context(), subjects.CrawlQueue.Name)
	if err != nil {
		r.T.Fatal(err)
	}
	var tasks []subjects.Crawl
	state := stream.CachedInfo().State
	for seq := max(1, state.FirstSeq); seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(r.T.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			r.T.Fatal(err)
		}
		task, err := subjects.CrawlQueue.Decode(msg.Data)
		if err != nil || msg.Subject != "crawl."+task.Tier {
			r.T.Fatalf("got a task of tier %s on %s, %v", task.Tier, msg.Subject, err)
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// feedsIn returns the number of feeds in tasks, and fails on duplicates.
func (r *testbed) feedsIn(tasks []subjects.Crawl) int {
	r.T.Helper()
	seen := map[string]bool{}
	for _, task := range tasks {
		for _, f := range task.Feeds {
			if seen[f.FeedID] {
				r.T.Fatalf("feed %s was dispatched twice", f.FeedID)
			}
			seen[f.FeedID] = true
		}
	}
	return len(seen)
}

// purge empties the crawl queue, as if all tasks were finished or lost.
func (r *testbed) purge() {
	r.T.Helper()
	stream, err := r.JS.Stream(r.T.Context(), subjects.CrawlQueue.Name)
	if err == nil {
		err = stream.Purge(r.T.Context())
	}
	if err != nil {
		r.T.Fatal(err)
	}
}

// observe publishes observations.
func (r *testbed) observe(observations ...subjects.Observation) {
	r.T.Helper()
	from := fmt.Sprint("tests/", r.newID.Add(1))
	if err := subjects.Publish(r.T.Context(), r.Mesh, subjects.ObserveQueue, subjects.Observe{Source: from, Observations: observations}); err != nil {
		r.T.Fatal(err)
	}
}

// answer reports all feeds of a task as unchanged.
func (r *testbed) answer(task subjects.Crawl) {
	r.T.Helper()
	var seen []subjects.Observation
	for _, f := range task.Feeds {
		seen = append(seen, about(f.FeedID, subjects.Unchanged, task.ID(), r.Clock()))
	}
	r.observe(seen...)
}

func about(feedID string, outcome subjects.Outcome, crawl string, at time.Time) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID, Crawl: crawl, Fetched: at, Status: 304, ETag: `"1"`, BodyHash: "h"}, Outcome: outcome}
}

// states returns the states in the bucket, by feed.
func (r *testbed) states() map[string]subjects.FeedState {
	r.T.Helper()
	states := map[string]subjects.FeedState{}
	if err := r.Mesh.LoadStates(r.T.Context(), func(s subjects.FeedState) { states[s.FeedID] = s }); err != nil {
		r.T.Fatal(err)
	}
	return states
}

// state returns the state of one feed, or the zero State if it has none. Unlike states, it tolerates
// concurrent writes.
func (r *testbed) state(feedID string) subjects.State {
	r.T.Helper()
	found, err := r.Mesh.StatesOf(r.T.Context(), feedID)
	if err != nil {
		r.T.Fatal(err)
	}
	if s := found[feedID]; s != nil {
		return *s
	}
	return subjects.State{}
}

func (r *testbed) active() string { return r.lease().Agent }

func (r *testbed) lease() subjects.Lease {
	leases, err := r.Mesh.Leases(r.T.Context())
	if err != nil {
		r.T.Fatal(err)
	}
	return leases["schedule"]
}

func TestSchedule_FillsEmptyBucket(t *testing.T) {
	r := newTestbed(t)
	_, stop := r.schedule("a", worktest.ManyFeeds(t, 250))
	var tasks []subjects.Crawl
	worktest.Eventually(t, "all feeds are dispatched", func() bool { tasks = r.crawls(); return r.feedsIn(tasks) == 250 })
	for i, task := range tasks {
		if task.Tier != subjects.Warm || len(tasks) != 3 || len(task.Feeds) > subjects.MaxFeeds {
			t.Errorf("task %d of %d has %d feeds of tier %s, want three of at most %d warm feeds", i, len(tasks), len(task.Feeds), task.Tier, subjects.MaxFeeds)
		}
	}
	r.answer(tasks[0])
	first := tasks[0].Feeds[0].FeedID
	worktest.Eventually(t, "the response is stored", func() bool { return r.state(first).ETag == `"1"` })
	s := r.state(first)
	if wait := s.Next.Sub(worktest.Noon); s.Crawl != "" || wait < 19*time.Minute || wait > 42*time.Minute || s.URL == "" {
		t.Errorf("got %+v, want the feed due in 20 to 40 minutes", s)
	}
	stop()
	if r.active() != "" {
		t.Errorf("got lease holder %q after the stop, want the lease released", r.active())
	}
}

func TestSchedule_PublishesCounts(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 20)
	reported := func(want subjects.ScheduleCounts) func() bool {
		return func() bool { got := r.lease().Feeds; return got != nil && *got == want }
	}
	_, stop := r.schedule("a", store)
	worktest.Eventually(t, "all feeds are reported in flight", reported(subjects.ScheduleCounts{InFlight: 20}))
	task := r.crawls()[0]
	of := func(i int, outcome subjects.Outcome) subjects.Observation {
		return about(task.Feeds[i].FeedID, outcome, task.ID(), r.Clock())
	}
	r.observe(of(0, subjects.Unchanged), of(1, subjects.Failed), of(2, subjects.Gone))
	want := subjects.ScheduleCounts{Polled: 3, Failing: 1, Gone: 1, InFlight: 17}
	worktest.Eventually(t, "three responses are reported", reported(want))
	stop()
	if got := r.lease().Feeds; got != nil {
		t.Errorf("got counts %+v of a stopped schedule, want none", got)
	}
	r.schedule("b", store)
	worktest.Eventually(t, "the next active schedule reports the same", reported(want))
}

func TestSchedule_TakeoverDispatchesNothingTwice(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 150)
	_, stopA := r.schedule("a", store)
	worktest.Eventually(t, "all feeds are dispatched", func() bool { return r.feedsIn(r.crawls()) == 150 })
	r.schedule("b", store)
	if r.active() != "a" {
		t.Errorf("got %q active, want a", r.active())
	}
	tasks := r.crawls()
	r.answer(tasks[0])
	stopA()
	worktest.Eventually(t, "b is active", func() bool { return r.active() == "b" })

	// The new feed's dispatch shows that b has dispatched everything due.
	r.observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "new"}, URL: "http://new.example/", Outcome: subjects.Added})
	worktest.Eventually(t, "the new feed is dispatched", func() bool { return len(r.crawls()) > len(tasks) })
	if got := r.feedsIn(r.crawls()); got != 151 {
		t.Errorf("got %d feeds dispatched, want 151, each once", got)
	}
	// Observations that arrive late at b count, whichever schedule dispatched the task.
	r.answer(tasks[1])
	worktest.Eventually(t, "the second response is stored", func() bool { return r.state(tasks[1].Feeds[0].FeedID).ETag == `"1"` })

	r.purge()
	r.Advance(2 * time.Hour)
	worktest.Eventually(t, "all feeds are dispatched again", func() bool { return r.feedsIn(r.crawls()) >= 150 })
}

// crash writes the states of a task, the last of two, without publishing it, like a schedule that crashed in
// between.
func (r *testbed) crash(store storage.Store) subjects.Crawl {
	r.T.Helper()
	s := r.scheduler(store)
	popped := s.plan.PopDue(policy.Warm, worktest.Noon)
	task := s.plan.Tasks(policy.Warm, popped, worktest.Noon)[0]
	s.last.State.Crawl = "another " + task.ID() // a task that finished long ago
	if err := s.states.write(r.T.Context(), changes{states: append(statesOf(popped), &s.last)}); err != nil {
		r.T.Fatal(err)
	}
	return task
}

func TestSchedule_ResumesUnpublishedTask(t *testing.T) {
	for _, state := range []string{"never published", "still on the queue", "done in part"} {
		t.Run(state, func(t *testing.T) {
			r := newTestbed(t)
			store := worktest.ManyFeeds(t, 20)
			want := r.crash(store)
			tasks := 1
			switch state {
			case "still on the queue":
				if err := subjects.Publish(t.Context(), r.Mesh, subjects.CrawlQueue, want); err != nil {
					t.Fatal(err)
				}
			case "done in part":
				tasks = 0
				s := r.scheduler(store)
				r.purge()
				if err := s.observe(t.Context(), []subjects.Observe{{Observations: []subjects.Observation{
					about(want.Feeds[3].FeedID, subjects.Unchanged, want.ID(), worktest.Noon),
				}}}); err != nil {
					t.Fatal(err)
				}
			}
			r.scheduler(store)
			got := r.crawls()
			if len(got) != tasks || tasks > 0 && (got[0].ID() != want.ID() || !reflect.DeepEqual(got[0].Feeds, want.Feeds)) {
				t.Errorf("got %d tasks, want the same %d", len(got), tasks)
			}
		})
	}
}

func TestSchedule_StepsDownOnConflict(t *testing.T) {
	r := newTestbed(t)
	env, _ := r.schedule("a", worktest.ManyFeeds(t, 5))
	worktest.Eventually(t, "all feeds are dispatched", func() bool { return r.feedsIn(r.crawls()) == 5 })
	r.purge()
	var changed subjects.FeedState
	for _, changed = range r.states() {
		break
	}
	changed.State.LastModified = "changed by another"
	changed.State.Failures = 7
	meshtest.PutStates(t, r.Mesh, changed)
	r.observe(about(changed.FeedID, subjects.Failed, changed.State.Crawl, worktest.Noon))
	worktest.Eventually(t, "the observation counts on top of the change", func() bool {
		s := r.state(changed.FeedID)
		return s.Failures == 8 && s.LastModified == "changed by another"
	})
	if got := worktest.Counted(t, newMetrics(env.Metrics).stepDowns); got != 1 {
		t.Errorf("got %v step-downs, want 1", got)
	}
}

func TestSchedule_RefillsDeletedBucket(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 30)
	r.schedule("a", store)
	worktest.Eventually(t, "all feeds are dispatched", func() bool { return r.feedsIn(r.crawls()) == 30 })
	r.purge()
	polled := storage.FeedID(worktest.FeedURL(3))
	crawl := r.state(polled).Crawl
	if err := r.JS.DeleteStream(t.Context(), "KV_"+subjects.ScheduleBucket); err != nil {
		t.Fatal(err)
	}
	r.Advance(time.Second)
	r.observe(about(polled, subjects.Unchanged, crawl, worktest.Noon)) // its write fails; its retry is about an earlier task
	worktest.Eventually(t, "all feeds are dispatched again", func() bool { return r.feedsIn(r.crawls()) == 30 })
	if got := len(r.states()); got != 30 {
		t.Errorf("got %d states, want 30", got)
	}
}

// A partialStore store has feeds that are missing in its list.
type partialStore struct {
	storage.Store
	hidden string
}

func (f partialStore) FindFeeds(ctx context.Context, query storage.FeedQuery) ([]storage.Feed, error) {
	page, err := f.Store.FindFeeds(ctx, query)
	return slices.DeleteFunc(page, func(feed storage.Feed) bool { return feed.URL == f.hidden }), err
}

func TestSchedule_ReconcilesWithTheStore(t *testing.T) {
	r := newTestbed(t)
	store := partialStore{worktest.ManyFeeds(t, 1100), ""} // more than a page
	s := r.scheduler(store)
	if got := len(r.states()); got != 1100 {
		t.Fatalf("got %d states, want 1100", got)
	}
	lost, gone, hidden := "http://lost.example/", worktest.FeedURL(7), worktest.FeedURL(8)
	if _, err := store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(lost), URL: lost}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.RemoveFeed(t.Context(), storage.FeedID(gone)); err != nil {
		t.Fatal(err)
	}
	store.hidden = hidden // as if it had been added during the listing
	s.store = store
	for range 2 {
		if err := s.reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		states := r.states()
		for url, want := range map[string]bool{lost: true, gone: false, hidden: true} {
			if _, got := states[storage.FeedID(url)]; got != want || s.plan.Has(storage.FeedID(url)) != want {
				t.Errorf("%s: got state %t, want %t, in bucket and plan", url, got, want)
			}
		}
		if len(states) != 1100 {
			t.Errorf("got %d states, want 1100", len(states))
		}
	}
	if next := r.state(storage.FeedID(lost)).Next; next.IsZero() || next.After(worktest.Noon) {
		t.Errorf("got the next poll at %v, want the unannounced feed due immediately", next)
	}
}

func TestSchedule_AddedAndRemovedFeed(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(worktest.ManyFeeds(t, 3))
	id, url := storage.FeedID(worktest.FeedURL(1)), worktest.FeedURL(1)
	added := subjects.Observation{Receipt: subjects.Receipt{FeedID: id}, URL: url, Outcome: subjects.Added}
	removed := subjects.Observation{Receipt: subjects.Receipt{FeedID: id}, Outcome: subjects.Removed}
	for i, step := range []struct {
		observations []subjects.Observation
		want         bool
	}{
		{[]subjects.Observation{removed}, false},
		{[]subjects.Observation{removed}, false},
		{[]subjects.Observation{added}, true},
		{[]subjects.Observation{added, removed}, false},
		{[]subjects.Observation{removed, added, removed, added}, true},
		{[]subjects.Observation{removed, added}, true},
		{[]subjects.Observation{about(id, subjects.Refresh, "", worktest.Noon), removed}, false},
	} {
		if err := s.observe(t.Context(), []subjects.Observe{{Source: "x", Observations: step.observations}}); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		state, got := r.states()[id]
		if got != step.want || got && state.State.URL != url || s.plan.Has(id) != step.want {
			t.Errorf("step %d: got state %t, want %t", i, got, step.want)
		}
	}
}

func TestSchedule_MovesAFeedOnRequest(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 3)
	s := r.scheduler(store)
	id, to := storage.FeedID(worktest.FeedURL(1)), "https://new.example/feed"
	move := subjects.Observation{Receipt: subjects.Receipt{FeedID: id}, URL: to, Outcome: subjects.Move}
	if err := s.observe(t.Context(), []subjects.Observe{{Source: "x", Observations: []subjects.Observation{move, move}}}); err != nil {
		t.Fatal(err)
	}
	unavailable, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{unavailable, t.Context()} { // the first attempt fails
		if err := s.move(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Feed(t.Context(), storage.FeedID(to)); err != nil || !s.plan.Has(storage.FeedID(to)) || s.plan.Has(id) {
		t.Errorf("got %v at the new address, polled there: %t, and at the old one: %t", err, s.plan.Has(storage.FeedID(to)), s.plan.Has(id))
	}
	if moves := s.plan.TakeMoves(); len(moves) > 0 {
		t.Errorf("%v will be repeated", moves)
	}
}

// waitingTiers returns the tiers of the waiting tasks, hot ones first, each followed by a space.
func (r *testbed) waitingTiers() string {
	tiers := ""
	waiting := r.crawls()
	for _, tier := range subjects.Tiers {
		for _, task := range waiting {
			if task.Tier == tier {
				tiers += tier + " "
			}
		}
	}
	return tiers
}

func TestDispatch_HoldsColdFeedsFirst(t *testing.T) {
	r := newTestbed(t)
	stream, err := r.JS.Stream(t.Context(), subjects.StoreQueue.Name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxMsgs = 10
	if _, err := r.JS.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	waiting := 0
	for _, test := range []struct {
		waiting int
		want    string
	}{
		{0, "hot warm cold "}, {4, "hot warm cold "}, {5, "hot warm "}, {6, "hot warm "}, {7, "hot "}, {8, "hot "}, {9, ""}, {10, ""},
	} {
		for ; waiting < test.waiting; waiting++ {
			if err := r.Mesh.Publish(t.Context(), subjects.Message{Subject: "store", ID: fmt.Sprint(waiting), Data: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
		}
		s := r.scheduler(enginetest.Store(t))
		for i, tier := range subjects.Tiers {
			// With other IDs: they are new in the bucket, too.
			s.plan.Load(subjects.FeedState{FeedID: fmt.Sprint("f", i, "-", waiting), State: &subjects.State{
				URL: worktest.FeedURL(i), Tier: tier, Next: worktest.Noon.Add(-time.Minute),
			}})
		}
		for range 2 { // retries held tasks, but no dispatched ones
			if err := s.dispatch(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.waitingTiers(); got != test.want {
			t.Errorf("with %d of 10 tasks on a queue: got tasks of %q, want %q", waiting, got, test.want)
		}
		if held := worktest.Counted(t, s.metrics.dispatchHolds); (held == 0) != (strings.Count(test.want, " ") == 3) {
			t.Errorf("with %d of 10 tasks on a queue: got %v tiers paused", waiting, held)
		}
		s.mu.Lock()
		reason := s.held(s.now())
		s.mu.Unlock()
		first := "" // tier that waits
		if got := strings.Count(test.want, " "); got < len(subjects.Tiers) {
			first = subjects.Tiers[got]
		}
		if (reason == "") != (first == "") || !strings.Contains(reason, first) {
			t.Errorf("with %d of 10 tasks on a queue: got %q, want that the tier %q waits", waiting, reason, first)
		}
		r.purge()
	}
}

func TestDispatch_BoundsQueuedTasks(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(worktest.ManyFeeds(t, 0))
	for i := range 70 * subjects.MaxFeeds {
		s.plan.Add(storage.Feed{ID: fmt.Sprint("f", i), URL: worktest.FeedURL(i)}, worktest.Noon)
	}
	for range 2 {
		if err := s.dispatch(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(r.crawls()); got != maxQueuedCrawls {
			t.Fatalf("got %d tasks, want %d", got, maxQueuedCrawls)
		}
	}
	r.purge()
	worktest.Eventually(t, "the other tasks are queued below the limit", func() bool {
		if err := s.dispatch(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(r.crawls()) == 70-maxQueuedCrawls
	})
}

func TestDispatch_PausesOnFullDisk(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(worktest.ManyFeeds(t, 3))
	full := errors.New("the disk is full")
	s.checkDiskSpace = func() error { return full }
	if err := s.dispatch(t.Context()); err != nil || len(r.crawls()) != 0 {
		t.Errorf("got %v and %d tasks with a full disk, want none", err, len(r.crawls()))
	}
	full = nil
	if err := s.dispatch(t.Context()); err != nil || len(r.crawls()) != 1 {
		t.Errorf("got %v and %d tasks with free space, want 1", err, len(r.crawls()))
	}
}

func TestDispatch_FencedScheduleDispatchesNothing(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 5)
	deposed, heir := r.scheduler(store), r.scheduler(store)
	r.Advance(time.Second)
	if err := heir.dispatch(t.Context()); err != nil || len(r.crawls()) != 1 {
		t.Fatalf("got %v and %d tasks of the successor, want 1", err, len(r.crawls()))
	}
	if err := deposed.dispatch(t.Context()); !errors.Is(err, mesh.ErrStale) || len(r.crawls()) != 1 {
		t.Errorf("got %v and %d tasks, want ErrStale and no task of the old schedule", err, len(r.crawls()))
	}
	l := &observer{scheduler: deposed, stop: func() {}}
	seen := []subjects.Observe{{Source: "x", Observations: []subjects.Observation{about(storage.FeedID(worktest.FeedURL(1)), subjects.Refresh, "", worktest.Noon)}}}
	for range 2 {
		if err := l.ReceiveAll(t.Context(), seen); err == nil || !errors.Is(l.failed, mesh.ErrStale) {
			t.Errorf("got %v, failed %v; want observations rejected", err, l.failed)
		}
	}
}

// Two agents would export the same gauges, or the former active one stale values.
func TestMetrics_OnlyTheActiveScheduleExportsGauges(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 4)
	first, stop := r.schedule("first", store)
	worktest.Eventually(t, "the first schedule exports gauges", func() bool { return exportedGauges(first) > 0 })
	second, _ := r.schedule("second", store)
	if n := exportedGauges(second); n != 0 {
		t.Errorf("got %d gauges of the standby schedule, want none", n)
	}
	stop()
	if n := exportedGauges(first); n != 0 {
		t.Errorf("got %d gauges of the stopped schedule, want none", n)
	}
	worktest.Eventually(t, "the second schedule exports gauges", func() bool { return exportedGauges(second) > 0 })
}

// exportedGauges returns the number of gauges exported by an agent that only the active one may export.
func exportedGauges(env *work.Env) int {
	registry := prometheus.NewRegistry()
	m := newMetrics(env.Metrics)
	registry.MustRegister(m.feeds, m.overdue, m.queuePending, m.queueOldest)
	families, _ := registry.Gather()
	return len(families)
}

func TestMetrics_FeedGauges(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(worktest.ManyFeeds(t, 4))
	popped := s.plan.PopDue(policy.Warm, worktest.Noon)
	for i, outcome := range []subjects.Outcome{subjects.Failed, subjects.Unchanged, subjects.Refresh} {
		s.plan.Observe(about(popped[i].FeedID, outcome, popped[i].State.Crawl, worktest.Noon), worktest.Noon)
	}
	if err := s.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.metrics.feeds, s.metrics.overdue)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			got[name] = m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"feedmesh_feeds 0 failing warm": 1, "feedmesh_feeds 0 waiting warm": 2, "feedmesh_feeds 0 out warm": 1,
		"feedmesh_feeds 0 waiting cold": 0, "feedmesh_overdue_feeds 0": 1,
	} {
		if got[name] != want {
			t.Errorf("got %v of %s, want %v", got[name], name, want)
		}
	}
}

// Feeds on a deleted queue are fetched again as soon as the deletion is detected, by the active schedule or
// its successor, and not only after the in-flight timeout.
func TestRecall_LostDocuments(t *testing.T) {
	for _, takeOver := range []bool{false, true} {
		t.Run(fmt.Sprintf("taken over: %t", takeOver), func(t *testing.T) {
			r := newTestbed(t)
			store := worktest.ManyFeeds(t, 30)
			s := r.scheduler(store)
			if err := errors.Join(s.dispatch(t.Context()), s.recall(t.Context())); err != nil {
				t.Fatal(err)
			}
			if n := s.plan.Overdue(r.Clock()); n != 0 || r.feedsIn(r.crawls()) != 30 {
				t.Fatalf("got %d feeds due, want all 30 dispatched", n)
			}
			if err := r.JS.DeleteStream(t.Context(), subjects.PrepareQueue.Name); err != nil {
				t.Fatal(err)
			}
			if err := subjects.Declare(t.Context(), r.JS, 1, 1); err != nil {
				t.Fatal(err)
			}
			if takeOver {
				s = r.scheduler(store)
			} else if err := s.recall(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := s.plan.Overdue(r.Clock()); n != 30 {
				t.Errorf("got %d feeds due after a queue was lost, want 30", n)
			}
		})
	}
}

// A document that vanished from its queue counts as lost after more than the current processing time; a
// document on a queue does not.
func TestRecall_FeedsInFlightTooLong(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(worktest.ManyFeeds(t, 30))
	if err := s.dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	due := func(after time.Duration) int {
		t.Helper()
		r.Advance(after)
		if err := s.recall(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.plan.Overdue(r.Clock())
	}
	s.waits = time.Hour // as if the oldest task were that old
	if n := due(time.Minute); n != 0 {
		t.Errorf("got %d feeds due while tasks wait for long, want none", n)
	}
	r.purge()
	s.waits = 0
	if n := due(-time.Minute + minGrace); n != 0 {
		t.Errorf("got %d feeds due after %v, want none yet", n, minGrace)
	}
	if n := due(10 * time.Second); n != 30 {
		t.Errorf("got %d feeds due after their documents were lost, want 30", n)
	}
}

func TestDispatch_IgnoresThePageQueue(t *testing.T) {
	r := newTestbed(t)
	stream, err := r.JS.Stream(t.Context(), subjects.PageQueue.Name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxMsgs = 1
	if _, err := r.JS.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := subjects.Publish(t.Context(), r.Mesh, subjects.PageQueue, subjects.Page{Document: subjects.Document{Receipt: worktest.ReceiptOf("f")}}); err != nil {
		t.Fatal(err)
	}
	s := r.scheduler(enginetest.Store(t))
	s.plan.Load(subjects.FeedState{FeedID: "f", State: &subjects.State{URL: worktest.FeedURL(0), Tier: subjects.Cold, Next: worktest.Noon.Add(-time.Minute)}})
	if err := s.dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.waitingTiers(); got != "cold " {
		t.Errorf("got dispatched tasks of %q, want cold", got)
	}
}
