// Package plan has what the active schedule knows in memory: which feed is due
// when, on which host, and what may be asked for now. It decides; what it changes,
// others write. It knows neither queues nor the clock.
package plan

import (
	"iter"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Options say how feeds are handed out.
type Options struct {
	Policy  policy.Policy
	Budget  float64       // requests a second, at most; 0: as many as are due
	Spacing time.Duration // between starts of requests to one host, at least
}

// A Plan is what the active schedule knows. Its methods must not be called
// concurrently.
type Plan struct {
	options Options
	feeds   map[string]*Feed
	hosts   map[string]*host
	ready   [3]laneHeap      // by tier: what hosts that may be asked have due
	out     map[string]*Feed // handed out, and no word of their document yet
	tally   [3]Tally         // by tier
	counts  subjects.Counts

	allowance allowance
	outage    outage
	proxies   proxies
	spent     int // polls handed out since the policy was told, but for those of feeds that were never read
	fitted    int // how many feeds had been polled when the policy was fitted

	// What was learned since it was last asked for.
	polls []Poll
	seen  map[*host]bool // whether it is more than how its last requests went
	moves []Move
}

// A Feed of a plan is in a lane of its host unless it is out or has no Next.
type Feed struct {
	subjects.FeedState
	HandedOut time.Time // by the wall clock; work takes its time whatever clock feeds are due by
	host      *host
	tier      policy.Tier
	index     int   // in its lane; -1 if in none
	untold    uint8 // polls that went as the one before, since its history was told of one
}

// A Poll is one request that was answered, or was not.
type Poll struct {
	FeedID string
	subjects.Poll
}

// A Move is that a feed lives at another address from now on.
type Move struct {
	FeedID string
	URL    string
}

// A Tally counts feeds of a tier.
type Tally struct {
	Waiting, Out, Failing int
}

// New returns an empty plan.
func New(o Options) *Plan {
	return &Plan{
		options: o, feeds: map[string]*Feed{}, hosts: map[string]*host{}, out: map[string]*Feed{}, seen: map[*host]bool{},
		allowance: allowance{rate: o.Budget},
	}
}

// Len returns how many feeds there are.
func (p *Plan) Len() int { return len(p.feeds) }

// Has reports whether there is a feed with this ID.
func (p *Plan) Has(id string) bool { return p.feeds[id] != nil }

// Load takes a state as it was written before, in place of any that it took of
// the feed: another may have been active until just now.
func (p *Plan) Load(s subjects.FeedState) {
	p.Remove(s.FeedID)
	f := &Feed{FeedState: s, HandedOut: s.Written, host: p.hostOf(s.State.URL), tier: tierOf(s.State.Tier), index: -1}
	f.host.feeds++
	p.asked(f.host, s.State.Polled)
	p.feeds[s.FeedID] = f
	p.count(f, 1)
	if f.State.Crawl != "" {
		p.out[f.FeedID] = f
		f.host.asking = append(f.host.asking, f) // it may be answered already: then word of it comes soon
		p.arrange(f.host)
		return
	}
	p.place(f)
}

// Add takes a feed of the store that has no state yet, due at once without waiting
// for others to go with it, and returns it; nil if it has one.
func (p *Plan) Add(feed storage.Feed, now time.Time) *Feed {
	if p.feeds[feed.ID] != nil {
		return nil
	}
	f := &Feed{
		FeedState: subjects.FeedState{FeedID: feed.ID, State: &subjects.State{
			URL: feed.URL, Rate: feed.Rate, Pinned: feed.Pinned, FullText: feed.FullText, Request: feed.Request, Next: now.Add(-gather), Reason: "new: due at once",
		}},
		host: p.hostOf(feed.URL), index: -1,
	}
	f.host.feeds++
	f.tier = p.options.Policy.Next(f.input(0, now), now, 0).Tier
	f.State.Tier = subjects.Tiers[f.tier]
	p.feeds[feed.ID] = f
	p.count(f, 1)
	p.place(f)
	return f
}

// Set takes over what the store has of a feed by now, and returns the feed if
// that changed its state, else nil.
func (p *Plan) Set(feed storage.Feed, now time.Time) *Feed {
	f := p.feeds[feed.ID]
	if f == nil {
		return nil
	}
	f.State.Pinned, f.State.FullText, f.State.Request = feed.Pinned, feed.FullText, feed.Request
	if f.State.Crawl == "" && !f.State.Next.IsZero() {
		p.change(f, func() {
			f.State.Next, f.State.Reason = now, "somebody changed its settings"
		})
	}
	return f
}

// Remove forgets a feed.
func (p *Plan) Remove(id string) {
	f := p.feeds[id]
	if f == nil {
		return
	}
	p.release(f)
	p.unplace(f)
	p.count(f, -1)
	delete(p.out, id)
	delete(p.feeds, id)
	if f.host.feeds--; f.host.feeds == 0 {
		delete(p.hosts, f.host.Name)
		delete(p.seen, f.host)
	}
}

// Missing returns the feeds of the plan that are not among those stored.
func (p *Plan) Missing(stored map[string]bool) []string {
	var ids []string
	for id := range p.feeds {
		if !stored[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// fewRead is how many feeds are read before it is worth while to fit the policy.
const fewRead = 10

// Outgrown reports whether so many more feeds are known than when the policy was
// fitted that it should be again: a new mesh learns of all its feeds at once.
func (p *Plan) Outgrown() bool { return p.read() >= fewRead+2*p.fitted }

// Fit brings the policy in line with all feeds.
func (p *Plan) Fit(now time.Time) {
	p.fitted = p.read()
	p.options.Policy.Fit(p.inputs(now), now)
}

// Spend tells the policy what was spent since the last call.
func (p *Plan) Spend(now time.Time) {
	p.options.Policy.Spent(p.spent, now)
	p.spent = 0
}

func (p *Plan) inputs(now time.Time) iter.Seq[*policy.Feed] {
	return func(yield func(*policy.Feed) bool) {
		for _, f := range p.feeds {
			if !f.State.Next.IsZero() && !yield(f.input(0, now)) {
				return
			}
		}
	}
}

// read returns how many feeds were polled at all.
func (p *Plan) read() int { return int(p.counts.Polled) }

// Counts returns how many feeds are how.
func (p *Plan) Counts() subjects.Counts { return p.counts }

// Tally returns how many feeds of a tier there are.
func (p *Plan) Tally(tier policy.Tier) Tally { return p.tally[tier] }

// Overdue returns how many feeds are due and not handed out.
func (p *Plan) Overdue(now time.Time) int {
	n := 0
	for _, h := range p.hosts {
		for _, l := range h.lanes {
			n += l.overdue(now)
		}
	}
	return n
}

// Learned returns the polls and the hosts that there is something new to write
// of since the last call. Hosts of which that is no more than how their last requests
// went are left for a call that asks for all: each poll brings that.
func (p *Plan) Learned(all bool) (polls []Poll, hosts []subjects.Host) {
	for h, more := range p.seen {
		if more || all {
			hosts = append(hosts, h.Host)
			delete(p.seen, h)
		}
	}
	polls = p.polls
	p.polls = nil
	return polls, hosts
}

// Moves returns the moves that were confirmed since the last call.
func (p *Plan) Moves() []Move {
	moves := p.moves
	p.moves = nil
	return moves
}

// decide sets when the feed is due next.
func (p *Plan) decide(f *Feed, retryAfter time.Duration, now time.Time) {
	in := f.input(retryAfter, now)
	d := p.options.Policy.Next(in, now, 2*rand.Float64()-1)
	p.change(f, func() {
		f.State.Next, f.State.Reason = d.Next, d.Reason
		f.tier, f.State.Tier = d.Tier, subjects.Tiers[d.Tier]
		f.State.Rate = in.Model.Rate(now)
	})
}

// maxSpread is by how much the second poll of a feed is put off, at most.
const maxSpread = time.Hour

// spread puts off the second poll of a feed, by up to its interval. Feeds that are
// added at once would else be due at once, again and again.
func (p *Plan) spread(f *Feed, now time.Time) {
	interval := min(f.State.Next.Sub(now), maxSpread)
	p.change(f, func() { f.State.Next = f.State.Next.Add(time.Duration(rand.Float64() * float64(interval))) })
}

// leastWeight is what failures count at least, together: those of proxies count
// nothing, but a feed that was never read is not new for that, and due at once.
const leastWeight = 0.01

// input returns what the policy looks at.
func (f *Feed) input(retryAfter time.Duration, now time.Time) *policy.Feed {
	s := f.State
	in := &policy.Feed{
		Model: f.model(), Pinned: s.Pinned, Polled: s.Polled, Failures: s.Weight, FailingSince: s.FailingSince, RetryAfter: retryAfter,
		MaxAge: time.Duration(s.MaxAge) * time.Second, Heavy: s.Heavy,
	}
	if f.subscribed(now) {
		in.Pushed = s.Pushed
	}
	if s.Failures > 0 {
		in.Failures = max(s.Weight, leastWeight)
		in.Polled = s.FailingSince // until just before then all was well
		if s.BodyHash == "" {
			in.Polled = time.Time{} // it was never read
		}
	}
	if h := s.Hints; h != nil {
		in.Window = h.Window
		in.Hints = policy.Hints{
			TTL: time.Duration(h.TTL) * time.Minute, Period: time.Duration(h.Period) * time.Minute,
			SkipHours: h.SkipHours, SkipDays: h.SkipDays,
		}
	}
	return in
}

// change lets do change what feeds are counted and ordered by.
func (p *Plan) change(f *Feed, do func()) {
	p.unplace(f)
	p.count(f, -1)
	do()
	p.count(f, 1)
	p.place(f)
}

func (p *Plan) count(f *Feed, n int) {
	t := &p.tally[f.tier]
	switch {
	case f.State.Crawl != "":
		t.Out += n
	case f.State.Next.IsZero(): // it will not be polled
	case f.State.Failures > 0:
		t.Failing += n
	default:
		t.Waiting += n
	}
	p.counts.Add(f.State, int64(n))
}

// HostOf returns the host that a URL is fetched from, or the URL if it has none.
func HostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return strings.ToLower(u.Hostname())
}

func tierOf(name string) policy.Tier {
	for i, t := range subjects.Tiers {
		if t == name {
			return policy.Tier(i)
		}
	}
	return policy.Warm
}
