package schedule

import (
	"slices"
	"testing"
	"time"

	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// heartbeat publishes the heartbeat of an agent.
func (r *testbed) heartbeat(a subjects.Agent) {
	r.T.Helper()
	m, _ := r.Join(a.ID)
	if err := m.Heartbeat(r.T.Context(), a); err != nil {
		r.T.Fatal(err)
	}
}

// waiting returns the numbers of tasks in the crawl queue by partition.
func (r *testbed) waiting() map[string]uint64 {
	r.T.Helper()
	waiting, err := r.Mesh.Waiting(r.T.Context(), subjects.CrawlQueue.Name)
	if err != nil {
		r.T.Fatal(err)
	}
	return waiting
}

func TestObserveRegions_BoundsAndRemovesTasks(t *testing.T) {
	r := newTestbed(t)
	store := enginetest.Store(t)
	if err := storage.Proxies(store).Put(t.Context(), storage.Proxy{ID: "away", URL: "region:us", Always: true, Added: worktest.Noon}); err != nil {
		t.Fatal(err)
	}
	s := r.scheduler(store)
	queue := func(region string, n int) {
		for i := range n {
			task := subjects.Crawl{Tier: subjects.Hot, Region: region, Feeds: []subjects.Target{{FeedID: region, Due: r.Clock().Add(time.Duration(i) * time.Second)}}}
			if err := subjects.Publish(t.Context(), r.Mesh, subjects.CrawlQueue, task); err != nil {
				t.Fatal(err)
			}
		}
	}
	queue("us", 3)
	queue("gone", 2)
	queue("", 1)
	r.heartbeat(subjects.Agent{ID: "a1", Roles: []string{"crawl"}, Region: "us"})
	r.heartbeat(subjects.Agent{ID: "a2", Roles: []string{"crawl"}})
	r.heartbeat(subjects.Agent{ID: "a3", Roles: []string{"parse"}, Region: "eu"})
	if err := s.observeRegions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.waiting(); got["hot"] != 1 || got["hot.us"] != 3 || got["hot.gone"] != 0 {
		t.Errorf("got tasks %v, want those of a region without crawlers removed", got)
	}
	worktest.Eventually(t, "the task of crawlers without a region is counted", func() bool {
		if err := s.readQueues(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.crawlTasks == 1
	})
	queue("us", maxQueuedCrawls+5)
	if err := s.observeRegions(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.plan.Add(storage.Feed{ID: "f", URL: "http://host.example/"}, s.now())
	r.Advance(time.Minute)
	tasks, _ := s.popTasks(s.now(), false)
	if f := s.plan.State("f"); len(tasks) != 0 || f.State.Reason != "the crawlers of its region have enough tasks" {
		t.Errorf("got %d tasks and the reason %q, want the feed postponed", len(tasks), f.State.Reason)
	}
}

// Tasks reach the crawlers of their region only, which report what they fetched as others do.
func TestDispatch_ToTheRegion(t *testing.T) {
	r := newTestbed(t)
	store := enginetest.Store(t)
	if err := storage.Proxies(store).Put(t.Context(), storage.Proxy{ID: "away", URL: "region:us", Always: true, Hosts: []string{"far.example"}, Added: worktest.Noon}); err != nil {
		t.Fatal(err)
	}
	feeds := []storage.Feed{{ID: storage.FeedID("http://far.example/feed"), URL: "http://far.example/feed"}, {ID: storage.FeedID("http://near.example/feed"), URL: "http://near.example/feed"}}
	if _, err := store.AddFeeds(t.Context(), feeds...); err != nil {
		t.Fatal(err)
	}
	r.heartbeat(subjects.Agent{ID: "edge", Roles: []string{"crawl"}, Region: "us"})
	s := r.scheduler(store)
	if err := s.observeRegions(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Advance(time.Minute)
	if err := s.dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := r.waiting()
	partitions := []string{}
	for partition := range got {
		partitions = append(partitions, subjects.RegionOfCrawls(partition))
	}
	slices.Sort(partitions)
	if !slices.Equal(partitions, []string{"", "us"}) {
		t.Errorf("got tasks in %v, want one in each place", got)
	}
}
