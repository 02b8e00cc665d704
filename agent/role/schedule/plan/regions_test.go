package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// regional returns a plan with one feed on each of n hosts, and a route through region us.
func regional(n int, always bool) *Plan {
	p := planOf(n, n)
	p.SetProxies([]storage.Proxy{{ID: "away", URL: "region:us", Always: always}})
	p.SetRegions(map[string]int{"us": 100}, noon)
	return p
}

// refused returns an observation of a status 403 by a route.
func refused(f *Feed, proxyID string, at time.Time) subjects.Observation {
	o := failure(f, "client", at)
	o.Status, o.Error, o.OtherRoute, o.ProxyID = 403, "status 403", true, proxyID
	return o
}

// popOne pops the only due feed, and returns it with its task.
func popOne(t *testing.T, p *Plan, now time.Time) (*Feed, subjects.Crawl) {
	t.Helper()
	popped := popAll(p, now)
	if len(popped) != 1 {
		t.Fatalf("got %d due feeds, want 1", len(popped))
	}
	checkConsistent(t, p)
	return popped[0], p.Tasks(popped[0].tier, popped, now)[0]
}

func TestRegion_FollowsTheDirectRoute(t *testing.T) {
	p := regional(1, false)
	f, task := popOne(t, p, noon)
	if task.Region != "" || len(task.Feeds[0].Routes) != 1 || task.Feeds[0].Routes[0] != (subjects.Route{}) {
		t.Fatalf("got a task of region %q by %v, want a direct one first", task.Region, task.Feeds[0].Routes)
	}
	p.Observe(refused(f, "", noon), noon)
	if f.State.Failures != 0 || !f.State.Next.Equal(noon) || f.State.Reason != "other routes failed" {
		t.Fatalf("got %d failures, next at %v: %s; want the other route now", f.State.Failures, f.State.Next, f.State.Reason)
	}
	now := noon.Add(spacing)
	again, task := popOne(t, p, now)
	if again != f || task.Region != "us" || !slices.Equal(task.Feeds[0].Routes, []subjects.Route{{ID: "away"}}) {
		t.Fatalf("got a task of region %q by %v, want region us", task.Region, task.Feeds[0].Routes)
	}
	o := notModified(f, now)
	o.ProxyID = "away"
	p.Observe(o, now)
	if f.State.Failures != 0 || f.host.ProxyID != "away" || len(p.tried) != 0 {
		t.Fatalf("got %d failures and route %q, want the region", f.State.Failures, f.host.ProxyID)
	}
	// The route that worked comes first.
	if _, task = popOne(t, p, f.State.Next); task.Region != "us" {
		t.Errorf("got region %q for the next poll, want us", task.Region)
	}
}

func TestRegion_FailureByAllRoutesCountsOnce(t *testing.T) {
	p := regional(1, true)
	f, task := popOne(t, p, noon)
	if task.Region != "us" {
		t.Fatalf("got region %q first, want us", task.Region)
	}
	p.Observe(refused(f, "away", noon), noon)
	now := noon.Add(spacing)
	if f, task = popOne(t, p, now); task.Region != "" {
		t.Fatalf("got region %q next, want the direct route", task.Region)
	}
	p.Observe(refused(f, "", now), now)
	checkConsistent(t, p)
	if f.State.Failures != 1 || !f.State.Next.After(now) || len(p.tried) != 0 {
		t.Errorf("got %d failures, next at %v; want one, and no further attempt now", f.State.Failures, f.State.Next)
	}
	if _, task = popOne(t, p, f.State.Next); task.Region != "us" {
		t.Errorf("got region %q for the next poll, want all routes again", task.Region)
	}
}

// Errors that no other route would avoid end the poll.
func TestRegion_OtherFailuresEndThePoll(t *testing.T) {
	p := regional(1, false)
	f, _ := popOne(t, p, noon)
	o := failure(f, "client", noon)
	o.Status = 404
	p.Observe(o, noon)
	if f.State.Failures != 1 || !f.State.Next.After(noon.Add(time.Minute)) {
		t.Errorf("got %d failures, next at %v; want a failed poll", f.State.Failures, f.State.Next)
	}
}

// While other feeds of a host are tried directly, one succeeds by the region: the others must not be tried directly twice.
func TestRegion_FeedsOfOneHostDoNotFailForEachOther(t *testing.T) {
	p := planOf(3, 1)
	p.SetProxies([]storage.Proxy{{ID: "away", URL: "region:us"}})
	p.SetRegions(map[string]int{"us": 100}, noon)
	now := noon
	for range 12 {
		popped := popAll(p, now)
		if len(popped) == 0 {
			break
		}
		f := popped[0]
		if task := p.Tasks(f.tier, popped, now)[0]; task.Region == "" {
			p.Observe(refused(f, "", now), now)
		} else {
			o := notModified(f, now)
			o.ProxyID = "away"
			p.Observe(o, now)
		}
		now = now.Add(spacing)
	}
	for id, f := range p.feeds {
		if f.State.Failures != 0 || f.State.Polled.IsZero() {
			t.Errorf("feed %s: got %d failures, polled at %v; want it read by the region", id, f.State.Failures, f.State.Polled)
		}
	}
}

func TestTasks_OneForEachRegion(t *testing.T) {
	p := planOf(30, 30)
	p.SetProxies([]storage.Proxy{
		{ID: "away", URL: "region:us", Always: true, Hosts: []string{"host1.example", "host2.example"}},
		{ID: "here", URL: "region:eu", Always: true, Hosts: []string{"host3.example"}},
	})
	p.SetRegions(map[string]int{"us": 1, "eu": 1}, noon)
	tier := p.feeds[feedID(0)].tier
	popped := p.PopDue(tier, noon)
	feeds := map[string]int{}
	for _, task := range p.Tasks(tier, popped, noon) {
		feeds[task.Region] += len(task.Feeds)
		for _, target := range task.Feeds {
			if p.feeds[target.FeedID].State.Crawl != task.ID() {
				t.Errorf("feed %s of region %q: got another task in its state", target.FeedID, task.Region)
			}
		}
		if again, whole := p.Reissue(task.ID(), noon); !whole || again.Region != task.Region {
			t.Errorf("region %q: got it not issued again", task.Region)
		}
	}
	if feeds[""] != 27 || feeds["us"] != 2 || feeds["eu"] != 1 {
		t.Errorf("got feeds %v, want 27, 2 and 1", feeds)
	}
	checkConsistent(t, p)
}

func TestRegion_WithoutCrawlersIsLeftOut(t *testing.T) {
	p := regional(1, true)
	p.SetRegions(map[string]int{}, noon)
	if f, task := popOne(t, p, noon); task.Region != "" || f == nil {
		t.Errorf("got region %q without crawlers, want the direct route", task.Region)
	}
	learned := p.TakeProxies()
	if len(learned) != 1 || learned[0].RestUntil.IsZero() || learned[0].Reason != noCrawler {
		t.Errorf("got the states %+v, want one that rests", learned)
	}
	p.SetRegions(map[string]int{"us": 1}, noon.Add(time.Minute))
	learned = p.TakeProxies()
	if len(learned) != 1 || !learned[0].RestUntil.IsZero() || learned[0].Reason != "" || learned[0].Failures != 0 {
		t.Errorf("got the states %+v, want one that works", learned)
	}
}

// The feeds of a host that answered a region fail while that has no crawlers, and need not wait for their next retry.
func TestRegion_FailedFeedsAreRetriedByCrawlersThatReturn(t *testing.T) {
	p := regional(1, true)
	f, _ := popOne(t, p, noon)
	o := notModified(f, noon)
	o.ProxyID = "away"
	p.Observe(o, noon)
	p.SetRegions(map[string]int{}, noon)
	now := f.State.Next
	popOne(t, p, now)
	p.Observe(refused(f, "", now), now)
	if f.State.Failures != 1 || !f.State.Next.After(now.Add(time.Minute)) {
		t.Fatalf("got %d failures, next at %v; want a failed poll", f.State.Failures, f.State.Next)
	}
	now = now.Add(time.Minute)
	p.SetRegions(map[string]int{"us": 1}, now)
	checkConsistent(t, p)
	if _, task := popOne(t, p, now); task.Region != "us" {
		t.Errorf("got region %q, want us", task.Region)
	}
}

// A feed that may be fetched by a region only waits for it.
func TestRegion_SelectedRegionIsWaitedFor(t *testing.T) {
	p := regional(1, false)
	f := p.feeds[feedID(0)]
	f.State.Request = &storage.Request{Proxy: "away"}
	p.regions.capacity = nil
	if popped := popAll(p, noon); popped != nil || f.State.Next.After(noon.Add(unknownRetry)) || len(p.RegionsMissing(noon)) != 0 {
		t.Fatalf("got %d feeds, next at %v, before crawlers are known", len(popped), f.State.Next)
	}
	now := noon.Add(time.Minute)
	p.SetRegions(map[string]int{}, now)
	for range 5 {
		if popped := popAll(p, now); popped != nil {
			t.Fatalf("got %d feeds without crawlers, want none", len(popped))
		}
		checkConsistent(t, p)
		missing := p.RegionsMissing(now)
		if len(missing) != 1 || missing[0].Region != "us" || !missing[0].Since.Equal(noon.Add(time.Minute)) || f.State.Reason != noCrawler {
			t.Fatalf("got missing regions %v and the reason %q", missing, f.State.Reason)
		}
		now = now.Add(regionRetry)
	}
	p.SetRegions(map[string]int{"us": 0}, now)
	if missing := p.RegionsMissing(now); len(missing) != 0 {
		t.Errorf("got missing regions %v after crawlers came, want none", missing)
	}
	if popped := popAll(p, now); popped != nil || !strings.Contains(f.State.Reason, "enough tasks") {
		t.Fatalf("got %d feeds for a full queue, with the reason %q", len(popped), f.State.Reason)
	}
	f.State.Reason = noCrawler
	p.SetRegions(map[string]int{}, now)
	p.SetRegions(map[string]int{"us": 1}, now)
	if !f.State.Next.Equal(now) {
		t.Errorf("got the next poll at %v after crawlers came, want %v", f.State.Next, now)
	}
	now = now.Add(regionRetry)
	p.SetRegions(map[string]int{"us": 1}, now)
	if _, task := popOne(t, p, now); task.Region != "us" {
		t.Errorf("got region %q, want us", task.Region)
	}
	if p.regions.capacity["us"] != 0 {
		t.Errorf("got room for %d more tasks, want 0", p.regions.capacity["us"])
	}
}

// Failures in the network of a region are no outage of the mesh's own network.
func TestOutage_IgnoresRegions(t *testing.T) {
	p := regional(40, true)
	for _, f := range popAll(p, noon) {
		o := failure(f, "connect", noon)
		o.ProxyID = "away"
		p.Observe(o, noon)
	}
	if !p.Outage().IsZero() {
		t.Error("got a network outage from failures of a region")
	}
}

func TestProbes_NoneForRegions(t *testing.T) {
	p := regional(1, false)
	if due := p.Probes(noon.Add(time.Hour)); len(due) != 0 {
		t.Errorf("got probes of %v, want none", due)
	}
}

func BenchmarkPopDue_Regions(b *testing.B) {
	for _, proxies := range []int{0, 1, 10} {
		b.Run(fmt.Sprint(proxies), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				p := planOf(10_000, 10_000)
				var all []storage.Proxy
				for i := range proxies {
					all = append(all, storage.Proxy{ID: fmt.Sprint(i), URL: fmt.Sprintf("region:r%d", i), Hosts: []string{fmt.Sprintf("host%d.example", i)}})
				}
				p.SetProxies(all)
				b.StartTimer()
				popAll(p, noon)
			}
		})
	}
}
