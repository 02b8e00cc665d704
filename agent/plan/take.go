package plan

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/policy"
	"feedmesh/subjects"
)

// gather is how long a feed that is due may wait for others to go with it: a task
// of many costs the mesh hardly more than a task of one.
const gather = time.Second

// Ripe reports whether feeds of the tier are to be handed out now.
func (p *Plan) Ripe(tier policy.Tier, now time.Time) bool {
	ready := p.ready[tier]
	return len(ready) > 0 && !ready[0].at().After(now.Add(-gather)) && p.room(now) > 0
}

// room returns how many feeds may be handed out now.
func (p *Plan) room(now time.Time) int {
	return min(subjects.MaxFeeds, p.allowance.has(now), p.outage.room(now))
}

// Take returns feeds of the tier that are due, of hosts that may be asked now,
// longest due first, and marks them as handed out: no more than go
// into a task, than the budget allows, and none if the network seems to be down.
func (p *Plan) Take(tier policy.Tier, now time.Time) []*Feed {
	var taken []*Feed
	room := p.room(now)
	take := func(l *lane) {
		f := heap.Pop(&l.feeds).(*Feed)
		l.host.asking = append(l.host.asking, f)
		p.arrange(l.host)
		p.out[f.FeedID] = f
		taken = append(taken, f)
	}
	for ready := &p.ready[tier]; len(taken) < room && len(*ready) > 0 && !(*ready)[0].at().After(now); {
		take((*ready)[0])
	}
	// More of one host only when there is room: hosts go side by side.
	for i := 0; i < len(taken) && len(taken) < room; i++ {
		h := taken[i].host
		if l := h.lanes[tier]; l != nil && len(h.asking) < p.share(h) && !l.at().After(now) {
			take(l)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	for _, f := range taken {
		p.count(f, -1)
		f.State.Due = f.State.Next
		f.State.Whole = f.host.test(f.State, now)
		if !f.State.Polled.IsZero() {
			p.spent++
		}
	}
	sortByDue(taken)
	task := p.Task(tier, taken, now).ID()
	for _, f := range taken {
		f.State.Crawl = task
		f.State.Next, f.State.Reason = now.Add(subjects.InFlight), "handed out"
		p.count(f, 1)
	}
	p.allowance.take(len(taken))
	p.outage.probed(now)
	return taken
}

// Task makes a task of feeds that are handed out.
func (p *Plan) Task(tier policy.Tier, feeds []*Feed, now time.Time) subjects.Crawl {
	task := subjects.Crawl{Tier: subjects.Tiers[tier], Feeds: make([]subjects.Target, len(feeds))}
	for i, f := range feeds {
		s := f.State
		task.Feeds[i] = subjects.Target{
			FeedID: f.FeedID, URL: s.URL, Due: s.Due, ETag: s.ETag, LastModified: s.LastModified, BodyHash: s.BodyHash,
			FullText: s.FullText, Request: s.Request, Ways: p.proxies.ways(f, now),
		}
		if s.Whole {
			task.Feeds[i].ETag, task.Feeds[i].LastModified = "", ""
		}
	}
	return task
}

// Again returns the task with the given ID if all of its feeds are still out.
func (p *Plan) Again(id string, now time.Time) (subjects.Crawl, bool) {
	var feeds []*Feed
	for _, f := range p.out {
		if f.State.Crawl == id {
			feeds = append(feeds, f)
		}
	}
	if len(feeds) == 0 {
		return subjects.Crawl{}, false
	}
	sortByDue(feeds)
	task := p.Task(feeds[0].tier, feeds, now)
	return task, task.ID() == id
}

// Recall makes those feeds due that are out and lost, and returns them.
func (p *Plan) Recall(now time.Time, lost func(f *Feed) bool) []*Feed {
	var recalled []*Feed
	for _, f := range p.out {
		if !lost(f) {
			continue
		}
		p.release(f)
		p.back(f)
		p.change(f, func() {
			f.State.Next, f.State.Reason = now, "its document was lost on the way"
		})
		recalled = append(recalled, f)
	}
	return recalled
}

// back takes note that a feed is no longer out.
func (p *Plan) back(f *Feed) {
	if f.State.Crawl == "" {
		return
	}
	p.count(f, -1)
	f.State.Crawl, f.State.Due, f.State.Whole = "", time.Time{}, false
	p.count(f, 1)
	delete(p.out, f.FeedID)
}

// sortByDue orders feeds so that a task is made up of the same feeds in the same
// order wherever it is made.
func sortByDue(feeds []*Feed) {
	slices.SortFunc(feeds, func(a, b *Feed) int {
		return cmp.Or(a.State.Due.Compare(b.State.Due), strings.Compare(a.FeedID, b.FeedID))
	})
}

// An allowance is a bucket of tokens, one for each request.
type allowance struct {
	rate   float64 // tokens a second; 0: no bound
	tokens float64
	at     time.Time
}

// burst is for how long tokens gather.
const burst = 2 * time.Second

// has returns how many requests may be made now.
func (a *allowance) has(now time.Time) int {
	if a.rate == 0 {
		return subjects.MaxFeeds
	}
	a.tokens = min(a.tokens+a.rate*max(0, now.Sub(a.at).Seconds()), max(1, a.rate*burst.Seconds()))
	a.at = now
	return int(a.tokens)
}

func (a *allowance) take(n int) {
	if a.rate > 0 {
		a.tokens -= float64(n)
	}
}
