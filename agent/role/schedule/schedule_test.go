package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/config"
	"feedmesh/embedded"
	"feedmesh/embedded/embeddedtest"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// A testbed is a real server with helpers for tests of the schedule.
type testbed struct {
	t     *testing.T
	conn  *nats.Conn
	js    jetstream.JetStream
	mesh  *mesh.Mesh // used by the tests
	now   atomic.Int64
	newID atomic.Int64
	serve *embedded.Server
}

func newTestbed(t *testing.T) *testbed {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: runs a NATS server for seconds")
	}
	t.Parallel()
	r := &testbed{t: t, serve: embeddedtest.Start(t)}
	r.now.Store(noon.UnixMicro())
	r.mesh, r.conn = r.join("tests")
	js, err := jetstream.New(r.conn)
	if err != nil {
		t.Fatal(err)
	}
	r.js = js
	return r
}

func (r *testbed) join(agent string) (*mesh.Mesh, *nats.Conn) {
	r.t.Helper()
	conn := embeddedtest.Connect(r.t, r.serve)
	return meshtest.Join(r.t, conn, agent), conn
}

// clock is the time of all schedules, which the tests advance.
func (r *testbed) clock() time.Time        { return time.UnixMicro(r.now.Load()) }
func (r *testbed) advance(d time.Duration) { r.now.Add(d.Microseconds()) }

func (r *testbed) env(m *mesh.Mesh) *Env {
	return &Env{
		Config: config.Config{Schedule: config.Schedule{Policy: policy.KindTiers}},
		Mesh:   m, Clock: r.clock, Log: slog.New(slog.DiscardHandler), Metrics: metrics(),
		CheckDiskSpace: func() error { return nil },
	}
}

// schedule runs the role until the test ends or stop is called.
func (r *testbed) schedule(agent string, store storage.Store) (env *Env, stop func()) {
	r.t.Helper()
	m, _ := r.join(agent)
	env = r.env(m)
	env.Store = store
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := Schedule.Run(ctx, env); err != nil {
			r.t.Error(err)
		}
	})
	stop = func() { cancel(); wait.Wait() }
	r.t.Cleanup(stop)
	return env, stop
}

// scheduler returns a schedule without background jobs, with its states loaded.
func (r *testbed) scheduler(store storage.Store) *scheduler {
	r.t.Helper()
	env := r.env(r.mesh)
	env.Store = store
	s := newScheduler(env)
	s.wall = env.Clock
	if err := s.load(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// crawls returns the tasks in the crawl queue.
func (r *testbed) crawls() []subjects.Crawl {
	r.t.Helper()
	stream, err := r.js.Stream(r.t.Context(), subjects.CrawlQueue.Name)
	if err != nil {
		r.t.Fatal(err)
	}
	var tasks []subjects.Crawl
	state := stream.CachedInfo().State
	for seq := max(1, state.FirstSeq); seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(r.t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			r.t.Fatal(err)
		}
		task, err := subjects.CrawlQueue.Decode(msg.Data)
		if err != nil || msg.Subject != "crawl."+task.Tier {
			r.t.Fatalf("got a task of tier %s on %s, %v", task.Tier, msg.Subject, err)
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// feedsIn returns the number of feeds in tasks, and fails on duplicates.
func (r *testbed) feedsIn(tasks []subjects.Crawl) int {
	r.t.Helper()
	seen := map[string]bool{}
	for _, task := range tasks {
		for _, f := range task.Feeds {
			if seen[f.FeedID] {
				r.t.Fatalf("feed %s was dispatched twice", f.FeedID)
			}
			seen[f.FeedID] = true
		}
	}
	return len(seen)
}

// purge empties the crawl queue, as if all tasks were finished or lost.
func (r *testbed) purge() {
	r.t.Helper()
	stream, err := r.js.Stream(r.t.Context(), subjects.CrawlQueue.Name)
	if err == nil {
		err = stream.Purge(r.t.Context())
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// observe publishes observations.
func (r *testbed) observe(observations ...subjects.Observation) {
	r.t.Helper()
	from := fmt.Sprint("tests/", r.newID.Add(1))
	if err := subjects.Publish(r.t.Context(), r.mesh, subjects.ObserveQueue, subjects.Observe{Source: from, Observations: observations}); err != nil {
		r.t.Fatal(err)
	}
}

// answer reports all feeds of a task as unchanged.
func (r *testbed) answer(task subjects.Crawl) {
	r.t.Helper()
	var seen []subjects.Observation
	for _, f := range task.Feeds {
		seen = append(seen, about(f.FeedID, subjects.Unchanged, task.ID(), r.clock()))
	}
	r.observe(seen...)
}

func about(feedID string, outcome subjects.Outcome, crawl string, at time.Time) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID, Crawl: crawl, Fetched: at, Status: 304, ETag: `"1"`, BodyHash: "h"}, Outcome: outcome}
}

// states returns the states in the bucket, by feed.
func (r *testbed) states() map[string]subjects.FeedState {
	r.t.Helper()
	states := map[string]subjects.FeedState{}
	if err := r.mesh.LoadStates(r.t.Context(), func(s subjects.FeedState) { states[s.FeedID] = s }); err != nil {
		r.t.Fatal(err)
	}
	return states
}

// state returns the state of one feed, or the zero State if it has none. Unlike states, it tolerates
// concurrent writes.
func (r *testbed) state(feedID string) subjects.State {
	r.t.Helper()
	s, err := r.mesh.State(r.t.Context(), feedID)
	if err != nil {
		r.t.Fatal(err)
	}
	if s == nil {
		return subjects.State{}
	}
	return *s
}

func (r *testbed) active() string { return r.lease().Agent }

func (r *testbed) lease() subjects.Lease {
	leases, err := r.mesh.Leases(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return leases["schedule"]
}

// feedURL returns the URL of the i-th feed, on its own host.
func feedURL(i int) string { return fmt.Sprintf("http://host%d.example/feed", i) }

// manyFeeds returns a store with n feeds, each on its own host.
func manyFeeds(t *testing.T, n int) storage.Store {
	t.Helper()
	urls := make([]string, n)
	for i := range urls {
		urls[i] = feedURL(i)
	}
	return storeWith(t, urls...)
}

func TestSchedule_FillsEmptyBucket(t *testing.T) {
	r := newTestbed(t)
	_, stop := r.schedule("a", manyFeeds(t, 250))
	var tasks []subjects.Crawl
	eventually(t, "all feeds are dispatched", func() bool { tasks = r.crawls(); return r.feedsIn(tasks) == 250 })
	for i, task := range tasks {
		if task.Tier != subjects.Warm || len(tasks) != 3 || len(task.Feeds) > subjects.MaxFeeds {
			t.Errorf("task %d of %d has %d feeds of tier %s, want three of at most %d warm feeds", i, len(tasks), len(task.Feeds), task.Tier, subjects.MaxFeeds)
		}
	}
	r.answer(tasks[0])
	first := tasks[0].Feeds[0].FeedID
	eventually(t, "the response is stored", func() bool { return r.state(first).ETag == `"1"` })
	s := r.state(first)
	if wait := s.Next.Sub(noon); s.Crawl != "" || wait < 19*time.Minute || wait > 42*time.Minute || s.URL == "" {
		t.Errorf("got %+v, want the feed due in 20 to 40 minutes", s)
	}
	stop()
	if r.active() != "" {
		t.Errorf("got lease holder %q after the stop, want the lease released", r.active())
	}
}

func TestSchedule_PublishesCounts(t *testing.T) {
	r := newTestbed(t)
	store := manyFeeds(t, 20)
	reported := func(want subjects.ScheduleCounts) func() bool {
		return func() bool { got := r.lease().Feeds; return got != nil && *got == want }
	}
	_, stop := r.schedule("a", store)
	eventually(t, "all feeds are reported in flight", reported(subjects.ScheduleCounts{InFlight: 20}))
	task := r.crawls()[0]
	of := func(i int, outcome subjects.Outcome) subjects.Observation {
		return about(task.Feeds[i].FeedID, outcome, task.ID(), r.clock())
	}
	r.observe(of(0, subjects.Unchanged), of(1, subjects.Failed), of(2, subjects.Gone))
	want := subjects.ScheduleCounts{Polled: 3, Failing: 1, Gone: 1, InFlight: 17}
	eventually(t, "three responses are reported", reported(want))
	stop()
	if got := r.lease().Feeds; got != nil {
		t.Errorf("got counts %+v of a stopped schedule, want none", got)
	}
	r.schedule("b", store)
	eventually(t, "the next active schedule reports the same", reported(want))
}

func TestSchedule_TakeoverDispatchesNothingTwice(t *testing.T) {
	r := newTestbed(t)
	store := manyFeeds(t, 150)
	_, stopA := r.schedule("a", store)
	eventually(t, "all feeds are dispatched", func() bool { return r.feedsIn(r.crawls()) == 150 })
	r.schedule("b", store)
	if r.active() != "a" {
		t.Errorf("got %q active, want a", r.active())
	}
	tasks := r.crawls()
	r.answer(tasks[0])
	stopA()
	eventually(t, "b is active", func() bool { return r.active() == "b" })

	// The new feed's dispatch shows that b has dispatched everything due.
	r.observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "new"}, URL: "http://new.example/", Outcome: subjects.Added})
	eventually(t, "the new feed is dispatched", func() bool { return len(r.crawls()) > len(tasks) })
	if got := r.feedsIn(r.crawls()); got != 151 {
		t.Errorf("got %d feeds dispatched, want 151, each once", got)
	}
	// Observations that arrive late at b count, whichever schedule dispatched the task.
	r.answer(tasks[1])
	eventually(t, "the second response is stored", func() bool { return r.state(tasks[1].Feeds[0].FeedID).ETag == `"1"` })

	r.purge()
	r.advance(2 * time.Hour)
	eventually(t, "all feeds are dispatched again", func() bool { return r.feedsIn(r.crawls()) >= 150 })
}

// crash writes the states of a task, the last of two, without publishing it, like a schedule that crashed in
// between.
func (r *testbed) crash(store storage.Store) subjects.Crawl {
	r.t.Helper()
	s := r.scheduler(store)
	popped := s.plan.PopDue(policy.Warm, noon)
	task := s.plan.Task(policy.Warm, popped, noon)
	s.last.State.Crawl = "another " + task.ID() // a task that finished long ago
	if err := s.states.write(r.t.Context(), changes{states: append(statesOf(popped), &s.last), atomic: true}); err != nil {
		r.t.Fatal(err)
	}
	return task
}

func TestSchedule_ResumesUnpublishedTask(t *testing.T) {
	for _, state := range []string{"never published", "still on the queue", "done in part"} {
		t.Run(state, func(t *testing.T) {
			r := newTestbed(t)
			store := manyFeeds(t, 20)
			want := r.crash(store)
			tasks := 1
			switch state {
			case "still on the queue":
				if err := subjects.Publish(t.Context(), r.mesh, subjects.CrawlQueue, want); err != nil {
					t.Fatal(err)
				}
			case "done in part":
				tasks = 0
				s := r.scheduler(store)
				r.purge()
				if err := s.observe(t.Context(), []subjects.Observe{{Observations: []subjects.Observation{
					about(want.Feeds[3].FeedID, subjects.Unchanged, want.ID(), noon),
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
	env, _ := r.schedule("a", manyFeeds(t, 5))
	eventually(t, "all feeds are dispatched", func() bool { return r.feedsIn(r.crawls()) == 5 })
	r.purge()
	var changed subjects.FeedState
	for _, changed = range r.states() {
		break
	}
	changed.State.LastModified = "changed by another"
	changed.State.Failures = 7
	if err := r.mesh.PutStates(t.Context(), []subjects.FeedState{changed}); err != nil {
		t.Fatal(err)
	}
	r.observe(about(changed.FeedID, subjects.Failed, changed.State.Crawl, noon))
	eventually(t, "the observation counts on top of the change", func() bool {
		s := r.state(changed.FeedID)
		return s.Failures == 8 && s.LastModified == "changed by another"
	})
	if got := counted(t, env.Metrics.stepDowns); got != 1 {
		t.Errorf("got %v step-downs, want 1", got)
	}
}

// counted returns the value of a counter.
func counted(t *testing.T, c prometheus.Collector) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		for _, m := range f.Metric {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum
}

func TestSchedule_RefillsDeletedBucket(t *testing.T) {
	r := newTestbed(t)
	store := manyFeeds(t, 30)
	r.schedule("a", store)
	eventually(t, "all feeds are dispatched", func() bool { return r.feedsIn(r.crawls()) == 30 })
	r.purge()
	if err := r.js.DeleteStream(t.Context(), "KV_"+subjects.ScheduleBucket); err != nil {
		t.Fatal(err)
	}
	r.advance(time.Second)
	r.observe(about(storage.FeedID(feedURL(3)), subjects.Refresh, "", noon))
	eventually(t, "all feeds are dispatched again", func() bool { return r.feedsIn(r.crawls()) == 30 })
	if got := len(r.states()); got != 30 {
		t.Errorf("got %d states, want 30", got)
	}
}

// A partialStore store has feeds that are missing in its list.
type partialStore struct {
	storage.Store
	hidden string
}

func (f partialStore) ListFeeds(ctx context.Context, after string, limit int) ([]storage.Feed, error) {
	page, err := f.Store.ListFeeds(ctx, after, limit)
	return slices.DeleteFunc(page, func(feed storage.Feed) bool { return feed.URL == f.hidden }), err
}

func TestSchedule_ReconcilesWithTheStore(t *testing.T) {
	r := newTestbed(t)
	store := partialStore{manyFeeds(t, 1100), ""} // more than a page
	s := r.scheduler(store)
	if got := len(r.states()); got != 1100 {
		t.Fatalf("got %d states, want 1100", got)
	}
	lost, gone, hidden := "http://lost.example/", feedURL(7), feedURL(8)
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
	if next := r.state(storage.FeedID(lost)).Next; next.IsZero() || next.After(noon) {
		t.Errorf("got the next poll at %v, want the unannounced feed due immediately", next)
	}
}

func TestSchedule_AddedAndRemovedFeed(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(manyFeeds(t, 3))
	id, url := storage.FeedID(feedURL(1)), feedURL(1)
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
		{[]subjects.Observation{about(id, subjects.Refresh, "", noon), removed}, false},
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
	stream, err := r.js.Stream(t.Context(), subjects.StoreQueue.Name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxMsgs = 10
	if _, err := r.js.UpdateStream(t.Context(), cfg); err != nil {
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
			if err := r.mesh.Publish(t.Context(), subjects.Message{Subject: "store", ID: fmt.Sprint(waiting), Data: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
		}
		s := r.scheduler(enginetest.Store(t))
		for i, tier := range subjects.Tiers {
			// With other IDs: they are new in the bucket, too.
			s.plan.Load(subjects.FeedState{FeedID: fmt.Sprint("f", i, "-", waiting), State: &subjects.State{
				URL: feedURL(i), Tier: tier, Next: noon.Add(-time.Minute),
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
		if held := counted(t, s.metrics.dispatchHolds); (held == 0) != (strings.Count(test.want, " ") == 3) {
			t.Errorf("with %d of 10 tasks on a queue: got %v tiers paused", waiting, held)
		}
		r.purge()
	}
}

func TestDispatch_BoundsQueuedTasks(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(manyFeeds(t, 0))
	for i := range 70 * subjects.MaxFeeds {
		s.plan.Add(storage.Feed{ID: fmt.Sprint("f", i), URL: feedURL(i)}, noon)
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
	if err := s.dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(r.crawls()); got != 70-maxQueuedCrawls {
		t.Errorf("got %d tasks below the limit, want the other %d", got, 70-maxQueuedCrawls)
	}
}

func TestDispatch_PausesOnFullDisk(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(manyFeeds(t, 3))
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
	store := manyFeeds(t, 5)
	deposed, heir := r.scheduler(store), r.scheduler(store)
	r.advance(time.Second)
	if err := heir.dispatch(t.Context()); err != nil || len(r.crawls()) != 1 {
		t.Fatalf("got %v and %d tasks of the successor, want 1", err, len(r.crawls()))
	}
	if err := deposed.dispatch(t.Context()); !errors.Is(err, mesh.ErrStale) || len(r.crawls()) != 1 {
		t.Errorf("got %v and %d tasks, want ErrStale and no task of the old schedule", err, len(r.crawls()))
	}
	l := &observer{scheduler: deposed, stop: func() {}}
	seen := []subjects.Observe{{Source: "x", Observations: []subjects.Observation{about(storage.FeedID(feedURL(1)), subjects.Refresh, "", noon)}}}
	for range 2 {
		if err := l.ReceiveAll(t.Context(), seen); err == nil || !errors.Is(l.failed, mesh.ErrStale) {
			t.Errorf("got %v, failed %v; want observations rejected", err, l.failed)
		}
	}
}

// Two agents would export the same gauges, or the former active one stale values.
func TestMetrics_OnlyTheActiveScheduleExportsGauges(t *testing.T) {
	r := newTestbed(t)
	store := manyFeeds(t, 4)
	first, stop := r.schedule("first", store)
	eventually(t, "the first schedule exports gauges", func() bool { return exportedGauges(first) > 0 })
	second, _ := r.schedule("second", store)
	if n := exportedGauges(second); n != 0 {
		t.Errorf("got %d gauges of the standby schedule, want none", n)
	}
	stop()
	if n := exportedGauges(first); n != 0 {
		t.Errorf("got %d gauges of the stopped schedule, want none", n)
	}
	eventually(t, "the second schedule exports gauges", func() bool { return exportedGauges(second) > 0 })
}

// exportedGauges returns the number of gauges exported by an agent that only the active one may export.
func exportedGauges(env *Env) int {
	registry := prometheus.NewRegistry()
	registry.MustRegister(env.Metrics.feeds, env.Metrics.overdue, env.Metrics.queuePending, env.Metrics.queueOldest)
	families, _ := registry.Gather()
	return len(families)
}

func TestMetrics_FeedGauges(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(manyFeeds(t, 4))
	popped := s.plan.PopDue(policy.Warm, noon)
	for i, outcome := range []subjects.Outcome{subjects.Failed, subjects.Unchanged, subjects.Refresh} {
		s.plan.Observe(about(popped[i].FeedID, outcome, popped[i].State.Crawl, noon), noon)
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
		"feedmesh_feeds failing warm": 1, "feedmesh_feeds waiting warm": 2, "feedmesh_feeds out warm": 1,
		"feedmesh_feeds waiting cold": 0, "feedmesh_overdue_feeds": 1,
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
			store := manyFeeds(t, 30)
			s := r.scheduler(store)
			if err := errors.Join(s.dispatch(t.Context()), s.recall(t.Context())); err != nil {
				t.Fatal(err)
			}
			if n := s.plan.Overdue(r.clock()); n != 0 || r.feedsIn(r.crawls()) != 30 {
				t.Fatalf("got %d feeds due, want all 30 dispatched", n)
			}
			if err := r.js.DeleteStream(t.Context(), subjects.PrepareQueue.Name); err != nil {
				t.Fatal(err)
			}
			if err := subjects.Declare(t.Context(), r.js, 1); err != nil {
				t.Fatal(err)
			}
			if takeOver {
				s = r.scheduler(store)
			} else if err := s.recall(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := s.plan.Overdue(r.clock()); n != 30 {
				t.Errorf("got %d feeds due after a queue was lost, want 30", n)
			}
		})
	}
}

// A document that vanished from its queue counts as lost after more than the current processing time; a
// document on a queue does not.
func TestRecall_FeedsInFlightTooLong(t *testing.T) {
	r := newTestbed(t)
	s := r.scheduler(manyFeeds(t, 30))
	if err := s.dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	due := func(after time.Duration) int {
		t.Helper()
		r.advance(after)
		if err := s.recall(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.plan.Overdue(r.clock())
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
