package schedule

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// An aloneNode is a process alone with a schedule and a crawler of tests.
type aloneNode struct {
	env  *work.Env
	stop func()

	mu    sync.Mutex
	tasks []subjects.Crawl
}

func (n *aloneNode) Receive(ctx context.Context, task subjects.Crawl) error {
	n.mu.Lock()
	n.tasks = append(n.tasks, task)
	n.mu.Unlock()
	o := make([]subjects.Observation, len(task.Feeds))
	for i, f := range task.Feeds {
		o[i] = about(f.FeedID, subjects.Unchanged, task.ID(), n.env.Clock())
	}
	return subjects.Publish(ctx, n.env.Mesh, subjects.ObserveQueue, subjects.Observe{Source: task.ID(), Observations: o})
}

func (n *aloneNode) crawled() []subjects.Crawl {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.tasks)
}

// alone runs a process alone until the test ends or its stop is called.
func (r *testbed) alone(store storage.Store) *aloneNode {
	r.T.Helper()
	env := r.Env(r.JoinAlone("alone"))
	env.Store = store
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	n := &aloneNode{env: env, stop: func() { cancel(); wait.Wait() }}
	for _, tier := range subjects.Tiers {
		wait.Go(func() { _ = mesh.Serve(ctx, env.Mesh, subjects.CrawlQueue, tier, n, 1) })
	}
	worktest.Eventually(r.T, "crawlers serve", func() bool { return env.Mesh.PassesInMemory(subjects.CrawlQueue.Name) })
	wait.Go(func() {
		if err := Run(ctx, env); err != nil {
			r.T.Error(err)
		}
	})
	r.T.Cleanup(n.stop)
	return n
}

// Tasks and results of a process alone write nothing but the states with the results, and readers in it get the states of
// the moment.
func TestSchedule_AloneWritesResultsOnly(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 250)
	n := r.alone(store)
	polled := func(states map[string]subjects.FeedState) (polled int) {
		for _, s := range states {
			if s.State.Outcome == subjects.Unchanged && s.State.Crawl == "" {
				polled++
			}
		}
		return polled
	}
	atOnce := func() map[string]subjects.FeedState {
		states := map[string]subjects.FeedState{}
		if err := n.env.Mesh.LoadStates(t.Context(), func(s subjects.FeedState) { states[s.FeedID] = s }); err != nil {
			t.Fatal(err)
		}
		return states
	}
	worktest.Eventually(t, "all feeds are polled", func() bool { return polled(atOnce()) == 250 })
	one := n.crawled()[0].Feeds[0].FeedID
	if s, err := n.env.Mesh.StatesOf(t.Context(), one); err != nil || s[one] == nil || s[one].ETag != `"1"` {
		t.Errorf("got state %+v, %v, want that of the active schedule", s, err)
	}
	n.stop()
	stored := r.states()
	if got := polled(stored); got != 250 {
		t.Errorf("got %d feeds with results in the bucket after a clean stop, want 250", got)
	}
	for id, s := range stored {
		if s.State.Next.IsZero() || s.State.Reason == "dispatched" {
			t.Fatalf("got state %+v of feed %s", s.State, id)
		}
	}
	if got := len(r.crawls()); got != 0 {
		t.Errorf("got %d messages in the crawl queue, want none", got)
	}
	// Nothing is due at the next start, and then all feeds are.
	n = r.alone(store)
	worktest.Eventually(t, "states are loaded", func() bool { return polled(atOnce()) == 250 })
	r.Advance(2 * time.Hour)
	worktest.Eventually(t, "all feeds are polled again", func() bool { return r.feedsIn(n.crawled()) == 250 })
}

// After a crash feeds without a stored result are due as before: what was in progress is repeated, and nothing is lost.
func TestSchedule_AloneRepeatsAfterCrash(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 20)
	s := r.scheduler(store)
	s.mesh = r.JoinAlone("crashes")
	tasks, out := s.popTasks(worktest.Noon, true)
	if len(out.states) != 0 || r.feedsIn(tasks) != 20 {
		t.Fatalf("got %d feeds dispatched with %d states to write, want 20 without", r.feedsIn(tasks), len(out.states))
	}
	var seen []subjects.Observation
	for _, f := range tasks[0].Feeds[:5] {
		seen = append(seen, about(f.FeedID, subjects.Unchanged, tasks[0].ID(), r.Clock()))
	}
	if err := s.observe(mesh.Repeatable(t.Context()), []subjects.Observe{{Observations: seen}}); err != nil {
		t.Fatal(err)
	}
	removed := subjects.Observation{Receipt: subjects.Receipt{FeedID: seen[0].FeedID}, Outcome: subjects.Removed}
	if err := s.observe(t.Context(), []subjects.Observe{{Observations: []subjects.Observation{removed}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteStates(t.Context()); err != nil {
		t.Fatalf("results of a feed that was removed since: %v", err)
	}
	var carried []*subjects.FeedState // with others, as the journal does when it replaces an entry
	for _, f := range tasks[0].Feeds[5:10] {
		carried = append(carried, s.plan.State(f.FeedID))
	}
	if err := s.states.write(t.Context(), changes{states: carried}); err != nil {
		t.Fatal(err)
	}
	// It crashes here: 4 results are stored.
	if _, err := store.RemoveFeed(t.Context(), removed.FeedID); err != nil {
		t.Fatal(err)
	}
	n, began := r.alone(store), time.Now()
	worktest.Eventually(t, "the others are polled", func() bool { return r.feedsIn(n.crawled()) >= 15 })
	if took := time.Since(began); took >= minGrace {
		t.Errorf("polled after %v: tasks that ended with the process are waited for", took)
	}
	n.stop()
	if got := r.feedsIn(n.crawled()); got != 15 {
		t.Errorf("got %d feeds polled after the crash, want the 15 without a result", got)
	}
}
