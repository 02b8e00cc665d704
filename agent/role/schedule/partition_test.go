package schedule

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// divide makes the schedule have partitions. No schedule may be active yet.
func (r *testbed) divide(partitions int) {
	r.T.Helper()
	if err := r.JS.DeleteStream(r.T.Context(), "KV_"+subjects.ScheduleBucket); err != nil {
		r.T.Fatal(err)
	}
	if err := subjects.Declare(r.T.Context(), r.JS, 1, partitions); err != nil {
		r.T.Fatal(err)
	}
	if n, err := r.Mesh.Partitions(r.T.Context()); err != nil || n != partitions {
		r.T.Fatalf("got %d partitions, %v; want %d", n, err, partitions)
	}
}

// A crawlLog is the crawler of a test: it reports every feed as unchanged, and records its tasks.
type crawlLog struct {
	r *testbed

	mu    sync.Mutex
	polls map[string]int          // by feed
	of    map[string]map[int]bool // by host: the partitions that dispatched its feeds
}

func (r *testbed) crawl() *crawlLog {
	c := &crawlLog{r: r, polls: map[string]int{}, of: map[string]map[int]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for _, tier := range subjects.Tiers {
		wait.Go(func() { _ = mesh.Serve(ctx, r.Mesh, subjects.CrawlQueue, tier, c, 2) })
	}
	r.T.Cleanup(func() { cancel(); wait.Wait() })
	return c
}

func (c *crawlLog) Receive(ctx context.Context, task subjects.Crawl) error {
	var seen []subjects.Observation
	c.mu.Lock()
	for _, f := range task.Feeds {
		c.polls[f.FeedID]++
		host := subjects.HostOf(f.URL)
		if c.of[host] == nil {
			c.of[host] = map[int]bool{}
		}
		c.of[host][task.Partition] = true
		o := about(f.FeedID, subjects.Unchanged, task.ID(), c.r.Clock())
		o.Partition = task.Partition
		seen = append(seen, o)
	}
	c.mu.Unlock()
	return subjects.Publish(ctx, c.r.Mesh, subjects.ObserveQueue, subjects.Observe{Source: task.ID(), Observations: seen})
}

// polled returns how many feeds were polled a number of times.
func (c *crawlLog) polled(times int) (feeds int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.polls {
		if n == times {
			feeds++
		}
	}
	return feeds
}

func (c *crawlLog) pollsOf(feedID string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.polls[feedID]
}

func (r *testbed) leases() map[string]subjects.Lease {
	all, err := r.Mesh.Leases(r.T.Context())
	if err != nil {
		r.T.Fatal(err)
	}
	return all
}

// journalsWith returns the partitions whose journals have a record of a feed.
func (r *testbed) journalsWith(feedID string) map[string]bool {
	r.T.Helper()
	kv, err := r.JS.KeyValue(r.T.Context(), subjects.ScheduleBucket)
	if err != nil {
		r.T.Fatal(err)
	}
	keys, err := kv.Keys(r.T.Context())
	if err != nil {
		r.T.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		r.T.Fatal(err)
	}
	defer decoder.Close()
	found := map[string]bool{}
	for _, key := range keys {
		entry, err := kv.Get(r.T.Context(), key)
		if err != nil {
			r.T.Fatal(err)
		}
		text, err := decoder.DecodeAll(entry.Value(), nil)
		if err != nil {
			r.T.Fatal(err)
		}
		if partition, _, _ := strings.Cut(key, "."); bytes.Contains(text, []byte(`"`+feedID+`"`)) {
			found[partition] = true
		}
	}
	return found
}

// reports publishes observations as the API does.
func (r *testbed) reports(outcome subjects.Outcome, feedID, url string) {
	r.T.Helper()
	o := subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID}, URL: url, Outcome: outcome}
	task := subjects.Observe{Source: fmt.Sprintf("api/%d", r.newID.Add(1)), Observations: []subjects.Observation{o}}
	if err := subjects.Publish(r.T.Context(), r.Mesh, subjects.ObserveQueue, task); err != nil {
		r.T.Fatal(err)
	}
}

// Partitions on two agents poll each feed once, each host from one partition, and get what the API reports. When an agent stops,
// the other continues with its partitions, and no poll is repeated or lost.
func TestPartitions_EachFeedInOne(t *testing.T) {
	const partitions, feeds = 4, 200
	r := newTestbed(t)
	r.divide(partitions)
	store := worktest.ManyFeeds(t, feeds)
	crawled := r.crawl()
	_, stop := r.schedule("a", store)
	r.schedule("b", store)
	worktest.Eventually(t, "all feeds are polled once", func() bool { return crawled.polled(1) == feeds })
	used := map[int]bool{}
	for host, of := range crawled.of {
		if len(of) != 1 {
			t.Errorf("host %s is in partitions %v, want one", host, of)
		}
		maps.Copy(used, of)
	}
	if len(used) != partitions {
		t.Errorf("got tasks of partitions %v, want %d of them", used, partitions)
	}
	worktest.Eventually(t, "the partitions report all feeds", func() bool {
		sum := subjects.SumCounts(r.leases())
		return sum != nil && sum.Polled == feeds
	})

	one := func(partition int) string { // a feed of it
		for i := range feeds {
			if subjects.PartitionOf(worktest.FeedURL(i), partitions) == partition {
				return storage.FeedID(worktest.FeedURL(i))
			}
		}
		t.Fatal("no feed in the partition")
		return ""
	}
	for i := range partitions {
		r.reports(subjects.Refresh, one(i), "")
		worktest.Eventually(t, "a feed is refreshed", func() bool {
			r.Advance(20 * time.Millisecond)
			return crawled.pollsOf(one(i)) == 2
		})
	}
	for i := feeds; i < feeds+20; i++ {
		if _, err := store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(worktest.FeedURL(i)), URL: worktest.FeedURL(i)}); err != nil {
			t.Fatal(err)
		}
		r.reports(subjects.Added, storage.FeedID(worktest.FeedURL(i)), worktest.FeedURL(i))
	}
	worktest.Eventually(t, "added feeds are polled", func() bool { return crawled.polled(1) == feeds-partitions+20 })
	removed := one(partitions - 1)
	if _, err := store.RemoveFeed(t.Context(), removed); err != nil {
		t.Fatal(err)
	}
	r.reports(subjects.Removed, removed, "")
	worktest.Eventually(t, "the state of a removed feed is gone", func() bool { _, is := r.states()[removed]; return !is })
	if got := r.journalsWith(removed); len(got) > 1 { // another would be read as newer than a feed that is added again
		t.Errorf("partitions %v recorded the removal, want only that of the feed", got)
	}

	stop()
	worktest.Eventually(t, "the other agent has all partitions", func() bool {
		for _, l := range subjects.ScheduleLeases(r.leases()) {
			if l.Agent != "b" || l.Feeds == nil {
				return false
			}
		}
		return true
	})
	if n := crawled.polled(1); n != feeds-partitions+20 {
		t.Errorf("got %d feeds polled once after the partitions moved, want %d", n, feeds-partitions+20)
	}
	r.Advance(2 * time.Hour)
	worktest.Eventually(t, "all feeds are polled again", func() bool { return crawled.polled(2) == feeds-partitions+20+1 && crawled.polled(3) == partitions-1 }) // the removed one was polled twice
}

// A feed that moves to a host of another partition is polled by that.
func TestPartitions_FeedMovesToAnother(t *testing.T) {
	const partitions = 4
	r := newTestbed(t)
	r.divide(partitions)
	store := worktest.ManyFeeds(t, 1)
	crawled := r.crawl()
	r.schedule("a", store)
	from := storage.FeedID(worktest.FeedURL(0))
	worktest.Eventually(t, "the feed is polled", func() bool { return crawled.pollsOf(from) == 1 })
	i := 1
	for subjects.PartitionOf(worktest.FeedURL(i), partitions) == subjects.PartitionOf(worktest.FeedURL(0), partitions) {
		i++
	}
	to := storage.FeedID(worktest.FeedURL(i))
	r.reports(subjects.Move, from, worktest.FeedURL(i))
	worktest.Eventually(t, "the feed is polled at its new address", func() bool {
		r.Advance(20 * time.Millisecond)
		return crawled.pollsOf(to) == 1
	})
	states := r.states()
	if _, is := states[from]; is || states[to].State == nil || len(states) != 1 {
		t.Errorf("got states of %v, want that of the new address", slices.Collect(maps.Keys(states)))
	}
}

// A schedule bucket that was created again with another number of partitions is the schedule of that number, and observations for
// partitions that it does not have are removed.
func TestPartitions_NumberChanges(t *testing.T) {
	r := newTestbed(t)
	r.divide(4)
	store := worktest.ManyFeeds(t, 40)
	crawled := r.crawl()
	r.schedule("a", store)
	worktest.Eventually(t, "all feeds are polled", func() bool { return crawled.polled(1) == 40 })
	r.divide(2)
	late := about("gone", subjects.Unchanged, "late", r.Clock())
	late.Partition = 3
	if err := subjects.Publish(t.Context(), r.Mesh, subjects.ObserveQueue, subjects.Observe{Source: "late", Observations: []subjects.Observation{late}}); err != nil {
		t.Fatal(err)
	}
	r.Advance(2 * time.Hour)
	worktest.Eventually(t, "all feeds are polled again by two partitions", func() bool { return crawled.polled(1) == 0 && len(r.states()) == 40 })
	worktest.Eventually(t, "no observation waits", func() bool {
		depths, err := r.Mesh.Depths(t.Context())
		i := slices.IndexFunc(depths, func(d subjects.Depth) bool { return d.Queue == subjects.ObserveQueue.Name })
		return err == nil && depths[i].Tasks == 0
	})
}

// The budget for requests is divided by the numbers of feeds.
func TestPartitions_ShareOfBudget(t *testing.T) {
	r := newTestbed(t)
	r.divide(2)
	env := r.Env(r.Mesh)
	env.Store, env.Config.RequestsPerSecond = worktest.ManyFeeds(t, 1), 40
	s := newScheduler(env, newMetrics(env.Metrics), 1, 2)
	s.updateShare(t.Context())
	if got := s.plan.Budget(); got != 20 {
		t.Errorf("got a budget of %v before any partition reports, want 20", got)
	}
	kv, err := r.JS.KeyValue(t.Context(), subjects.LeaseBucket)
	if err != nil {
		t.Fatal(err)
	}
	for name, lease := range map[string]string{"schedule": `{"feeds":{"polled":900}}`, "schedule.1": `{"feeds":{"polled":100}}`} {
		if _, err := kv.PutString(t.Context(), name, lease); err != nil {
			t.Fatal(err)
		}
	}
	s.updateShare(t.Context())
	if got := s.plan.Budget(); got != 4 {
		t.Errorf("got a budget of %v with a tenth of the feeds, want 4", got)
	}
}
