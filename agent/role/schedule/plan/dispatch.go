package plan

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/subjects"
)

// gatherTime is how long a due feed may wait for a batch with others: a task of many feeds costs the mesh hardly
// more than a task of one.
const gatherTime = time.Second

// Due reports whether feeds of the tier can be dispatched now.
func (p *Plan) Due(tier policy.Tier, now time.Time) bool {
	ready := p.ready[tier]
	return len(ready) > 0 && !ready[0].readyAt().After(now.Add(-gatherTime)) && p.capacity(now) > 0
}

// NextDue returns the time from which [Plan.Due] may report feeds of a tier if nothing changes, and the zero time if there are none. It
// is in the past while feeds are due that cannot be dispatched.
func (p *Plan) NextDue() (next time.Time) {
	for _, ready := range p.ready {
		if len(ready) == 0 {
			continue
		}
		if at := ready[0].readyAt().Add(gatherTime); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// capacity returns the number of feeds that may be dispatched now.
func (p *Plan) capacity(now time.Time) int {
	return min(subjects.MaxFeeds, p.budget.available(now), p.outage.capacity(now))
}

// PopDue returns due feeds of the tier, longest due first, and marks them as dispatched. Their number is
// bounded by the size of a task, the budget, the request limits of their hosts, and a network outage. Feeds of a region
// that can't take tasks are postponed.
func (p *Plan) PopDue(tier policy.Tier, now time.Time) []*Feed {
	var popped []*Feed
	capacity := p.capacity(now)
	pop := func(l *hostQueue) {
		if p.postpone(l.feeds[0], now) {
			return
		}
		f := heap.Pop(&l.feeds).(*Feed)
		l.host.inFlight = append(l.host.inFlight, f)
		p.updateReady(l.host)
		p.inFlight[f.FeedID] = f
		popped = append(popped, f)
	}
	for ready := &p.ready[tier]; len(popped) < capacity && len(*ready) > 0 && !(*ready)[0].readyAt().After(now); {
		pop((*ready)[0])
	}
	// A second feed of a host only if capacity remains: hosts are fetched in parallel.
	for i := 0; i < len(popped) && len(popped) < capacity; i++ {
		h := popped[i].host
		if l := h.queues[tier]; l != nil && len(h.inFlight) < p.maxPerTask(h) && !l.readyAt().After(now) {
			pop(l)
		}
	}
	if len(popped) == 0 {
		return nil
	}
	for _, f := range popped {
		p.count(f, -1)
		f.State.Due = f.State.Next
		f.State.Unconditional = f.host.skipValidators(f.State, now)
		if !f.State.Polled.IsZero() {
			p.newPolls++
		}
	}
	sortByDue(popped)
	for _, task := range p.Tasks(tier, popped, now) {
		id := task.ID()
		p.regions.queued(task.Region)
		for _, t := range task.Feeds {
			p.feeds[t.FeedID].State.Crawl = id
		}
	}
	for _, f := range popped {
		f.State.CrawlReason = f.State.Reason
		f.State.Next, f.State.Reason = now.Add(subjects.InFlightTimeout), "dispatched"
		p.count(f, 1)
	}
	p.budget.take(len(popped))
	p.outage.recordProbe(now)
	return popped
}

// Tasks returns the tasks for dispatched feeds, one for each region.
func (p *Plan) Tasks(tier policy.Tier, feeds []*Feed, now time.Time) (tasks []subjects.Crawl) {
	for _, f := range feeds {
		s, path := f.State, p.proxies.path(f, now)
		target := subjects.Target{
			FeedID: f.FeedID, URL: s.URL, Due: s.Due, ETag: s.ETag, LastModified: s.LastModified, BodyHash: s.BodyHash,
			FullText: s.FullText, Request: s.Request, Routes: path.routes,
		}
		if s.Unconditional {
			target.ETag, target.LastModified, target.BodyHash = "", "", ""
		}
		i := slices.IndexFunc(tasks, func(t subjects.Crawl) bool { return t.Region == path.region })
		if i < 0 {
			i = len(tasks)
			tasks = append(tasks, subjects.Crawl{Tier: subjects.Tiers[tier], Region: path.region, Partition: p.options.Partition, Feeds: make([]subjects.Target, 0, len(feeds))})
		}
		tasks[i].Feeds = append(tasks[i].Feeds, target)
	}
	return tasks
}

// Reissue rebuilds the task with the given ID if all its feeds are still in flight.
func (p *Plan) Reissue(id string, now time.Time) (subjects.Crawl, bool) {
	var feeds []*Feed
	for _, f := range p.inFlight {
		if f.State.Crawl == id {
			feeds = append(feeds, f)
		}
	}
	if len(feeds) == 0 {
		return subjects.Crawl{}, false
	}
	sortByDue(feeds)
	task := p.Tasks(feeds[0].tier, feeds, now)[0]
	return task, task.ID() == id // of fewer feeds if their routes have changed since
}

// Recall makes lost feeds in flight due again and returns them.
func (p *Plan) Recall(now time.Time, lost func(f *Feed) bool) []*Feed {
	var recalled []*Feed
	for _, f := range p.inFlight {
		if !lost(f) {
			continue
		}
		p.endRequest(f)
		p.endCrawl(f)
		p.change(f, func() {
			f.State.Next, f.State.Reason = now, "document lost in the pipeline"
		})
		recalled = append(recalled, f)
	}
	return recalled
}

// endCrawl marks a feed as no longer in flight.
func (p *Plan) endCrawl(f *Feed) {
	if f.State.Crawl == "" {
		return
	}
	p.count(f, -1)
	f.State.EndCrawl()
	p.count(f, 1)
	delete(p.inFlight, f.FeedID)
}

// sortByDue orders feeds so that every rebuild of a task has the same feeds in the same order.
func sortByDue(feeds []*Feed) {
	slices.SortFunc(feeds, func(a, b *Feed) int {
		return cmp.Or(a.State.Due.Compare(b.State.Due), strings.Compare(a.FeedID, b.FeedID))
	})
}

// A tokenBucket limits the request rate: one token for each request.
type tokenBucket struct {
	rate   float64 // tokens a second; 0: no bound
	tokens float64
	at     time.Time
}

// burstTime is the period for which unused tokens accumulate.
const burstTime = 2 * time.Second

// available returns the number of requests allowed now.
func (a *tokenBucket) available(now time.Time) int {
	if a.rate == 0 {
		return subjects.MaxFeeds
	}
	a.tokens = min(a.tokens+a.rate*max(0, now.Sub(a.at).Seconds()), max(1, a.rate*burstTime.Seconds()))
	a.at = now
	return int(a.tokens)
}

func (a *tokenBucket) take(n int) {
	if a.rate > 0 {
		a.tokens -= float64(n)
	}
}
