package role

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/policy"
	"feedmesh/subjects"
)

// A plan is what the active schedule knows: every feed's state, and for each
// tier which feed is due next. It decides; what it changes, others write. Its
// methods must not be called concurrently.
type plan struct {
	feeds    map[string]*planned
	due      [3]dueHeap // by tier
	policy   policy.Policy
	inFlight map[string]int // feeds handed out, by host
}

// A planned feed is in the heap of its tier unless it has no Next.
type planned struct {
	mesh.FeedState
	host  string
	tier  policy.Tier
	held  time.Time // its host has its share out; not to be looked at again before
	index int       // in its heap; -1 if in none
}

// when returns when the feed is to be handed out.
func (f *planned) when() time.Time {
	if f.held.After(f.State.Next) {
		return f.held
	}
	return f.State.Next
}

// newPlan returns a plan to poll feeds at one interval, or by their tiers if it
// is 0.
func newPlan(interval time.Duration) *plan {
	p := &plan{feeds: map[string]*planned{}, policy: policy.Fit(nil), inFlight: map[string]int{}}
	if interval > 0 {
		p.policy = policy.Uniform(interval)
	}
	return p
}

// load takes a state as it was written before.
func (p *plan) load(s mesh.FeedState) {
	f := &planned{FeedState: s, host: hostOf(s.State.URL), tier: tierOf(s.State.Tier), index: -1}
	p.feeds[s.FeedID] = f
	if f.State.Crawl != "" {
		p.inFlight[f.host]++
	}
	p.place(f)
}

// add takes a feed of the store that has no state yet, due at once, and
// returns it; nil if it has one. What the store knows of its rate serves until
// its document tells.
func (p *plan) add(id, url string, rate float64, now time.Time) *planned {
	if p.feeds[id] != nil {
		return nil
	}
	f := &planned{
		FeedState: mesh.FeedState{FeedID: id, State: &subjects.State{URL: url, Rate: rate, Next: now, Reason: "new: due at once"}},
		host:      hostOf(url), index: -1,
	}
	p.setTier(f, p.policy.Tier(rate))
	p.feeds[id] = f
	p.place(f)
	return f
}

// remove forgets a feed.
func (p *plan) remove(id string) {
	f := p.feeds[id]
	if f == nil {
		return
	}
	p.back(f)
	p.unplace(f)
	delete(p.feeds, id)
}

// observe takes an observation into account and returns the feed if that
// changed its state, else nil.
func (p *plan) observe(o subjects.Observation, now time.Time) *planned {
	if o.Outcome == subjects.Added {
		return p.add(o.FeedID, o.URL, 0, now)
	}
	f := p.feeds[o.FeedID]
	if f == nil {
		return nil
	}
	if o.Outcome == subjects.Refresh {
		return p.refresh(f, now)
	}
	s := f.State
	if s.Crawl == "" || s.Crawl != o.Crawl {
		// Said before, overtaken by a later poll, or about a document from
		// before the feed was removed and added again, which is gone with it.
		return nil
	}
	s.Polled, s.Outcome, s.Status, s.Error, s.Class = o.Fetched, o.Outcome, o.Status, o.Error, o.Class
	if o.Rate > 0 {
		s.Rate = o.Rate
	}
	switch o.Outcome {
	case subjects.Failed, subjects.Gone:
		s.Failures++
	case subjects.Stored:
		s.Changed = o.Fetched
		fallthrough
	default:
		s.Failures = 0
		s.ETag, s.LastModified, s.BodyHash = o.ETag, o.LastModified, o.BodyHash
	}
	p.back(f)
	p.decide(f, o.RetryAfter, now)
	return f
}

// refresh makes a feed due now, and has its document read whole. A poll under
// way does not count: it went out with the old validators.
func (p *plan) refresh(f *planned, now time.Time) *planned {
	s := f.State
	s.ETag, s.LastModified, s.BodyHash = "", "", ""
	p.back(f)
	s.Next, s.Reason = now, "somebody asked for it"
	p.place(f)
	return f
}

// decide sets when the feed is due next.
func (p *plan) decide(f *planned, retryAfter time.Duration, now time.Time) {
	s := f.State
	if s.Outcome == subjects.Gone {
		s.Next, s.Reason = time.Time{}, "its host says it is gone for good"
		p.unplace(f)
		return
	}
	var silent time.Duration
	if !s.Changed.IsZero() {
		silent = now.Sub(s.Changed)
	}
	d := p.policy.Next(policy.Feed{Rate: s.Rate, Silent: silent, Failures: s.Failures, RetryAfter: retryAfter},
		now, 2*rand.Float64()-1)
	s.Next, s.Reason = d.Next, d.Reason
	p.setTier(f, d.Tier)
	p.place(f)
}

// maxHostInFlight is how many feeds of one host may be handed out at once, and
// maxHostInTask how many of them in one task: at the crawl's time-out, and one
// after the other, they still fit into the lease.
const (
	maxHostInFlight = 200
	maxHostInTask   = 20

	// holdFor is how long the other feeds of such a host are not looked at:
	// there may be many thousands of them.
	holdFor = time.Second
)

// anyDue reports whether any feed is due.
func (p *plan) anyDue(now time.Time) bool {
	for _, due := range p.due {
		if len(due) > 0 && !due[0].when().After(now) {
			return true
		}
	}
	return false
}

// take returns a task of feeds of the tier that are due, longest due first, and
// marks them as handed out; nil if none is due. No more than maxHostInTask are
// of one host. Feeds of hosts that have their share out do not stand in the way
// of others.
func (p *plan) take(tier policy.Tier, now time.Time) []*planned {
	var taken, passed []*planned
	hosts := map[string]int{}
	due := &p.due[tier]
	for due.Len() > 0 && len(taken) < subjects.MaxFeeds && len(passed) < 10*subjects.MaxFeeds {
		f := (*due)[0]
		if f.when().After(now) {
			break
		}
		heap.Pop(due)
		switch {
		case f.State.Crawl == "" && p.inFlight[f.host] >= maxHostInFlight:
			f.held = now.Add(holdFor)
			p.place(f)
			continue
		case hosts[f.host] == maxHostInTask:
			passed = append(passed, f)
			continue
		}
		hosts[f.host]++
		p.handOver(f)
		taken = append(taken, f)
	}
	for _, f := range passed {
		p.place(f)
	}
	if len(taken) == 0 {
		return nil
	}
	sortByDue(taken) // those that were held came late
	task := crawlTask(tier, taken).ID()
	for _, f := range taken {
		f.State.Crawl = task
		f.State.Next, f.State.Reason = now.Add(subjects.InFlight), "handed out; due again if nothing is heard of it"
		p.place(f)
	}
	return taken
}

func (p *plan) handOver(f *planned) {
	if f.State.Crawl == "" { // else it was out already, and nothing was heard of it
		p.inFlight[f.host]++
	}
	f.State.Due = f.State.Next
}

// back takes note that a feed is no longer out.
func (p *plan) back(f *planned) {
	if f.State.Crawl == "" {
		return
	}
	f.State.Crawl, f.State.Due = "", time.Time{}
	if p.inFlight[f.host]--; p.inFlight[f.host] == 0 {
		delete(p.inFlight, f.host)
	}
}

// recall makes those feeds due that are out and lost, and returns them.
func (p *plan) recall(now time.Time, lost func(*planned) bool) []*planned {
	var out []*planned
	for _, f := range p.feeds {
		if f.State.Crawl == "" || !lost(f) {
			continue
		}
		p.back(f)
		f.State.Next, f.State.Reason = now, "its document was lost on the way"
		p.place(f)
		out = append(out, f)
	}
	return out
}

// handedOut returns when a feed that is out was handed out.
func (f *planned) handedOut() time.Time { return f.State.Next.Add(-subjects.InFlight) }

// task returns the task with the given ID if all of its feeds are still out.
func (p *plan) task(id string) (subjects.Crawl, bool) {
	var feeds []*planned
	for _, f := range p.feeds {
		if f.State.Crawl == id {
			feeds = append(feeds, f)
		}
	}
	if len(feeds) == 0 {
		return subjects.Crawl{}, false
	}
	sortByDue(feeds)
	task := crawlTask(feeds[0].tier, feeds)
	return task, task.ID() == id
}

// fit draws the lines between the tiers anew.
func (p *plan) fit() {
	if _, tiers := p.policy.(policy.Thresholds); !tiers {
		return
	}
	rates := make([]float64, 0, len(p.feeds))
	for _, f := range p.feeds {
		rates = append(rates, f.State.Rate)
	}
	p.policy = policy.Fit(rates)
}

func (p *plan) setTier(f *planned, tier policy.Tier) {
	if f.index >= 0 && f.tier != tier {
		p.unplace(f)
	}
	f.tier, f.State.Tier = tier, subjects.Tiers[tier]
}

// place puts a feed where its Next belongs in its tier's heap.
func (p *plan) place(f *planned) {
	switch due := &p.due[f.tier]; {
	case f.State.Next.IsZero():
		p.unplace(f)
	case f.index < 0:
		heap.Push(due, f)
	default:
		heap.Fix(due, f.index)
	}
}

func (p *plan) unplace(f *planned) {
	if f.index >= 0 {
		heap.Remove(&p.due[f.tier], f.index)
	}
}

// crawlTask makes a task of feeds that are handed out.
func crawlTask(tier policy.Tier, feeds []*planned) subjects.Crawl {
	task := subjects.Crawl{Tier: subjects.Tiers[tier]}
	for _, f := range feeds {
		s := f.State
		task.Feeds = append(task.Feeds, subjects.Target{
			FeedID: f.FeedID, URL: s.URL, Due: s.Due,
			ETag: s.ETag, LastModified: s.LastModified, BodyHash: s.BodyHash,
		})
	}
	return task
}

func tierOf(name string) policy.Tier {
	for i, t := range subjects.Tiers {
		if t == name {
			return policy.Tier(i)
		}
	}
	return policy.Warm
}

// missing returns the planned feeds that are not in the store.
func (p *plan) missing(stored map[string]bool) []string {
	var ids []string
	for id := range p.feeds {
		if !stored[id] {
			ids = append(ids, id)
		}
	}
	return ids
}
