// Package plan holds the schedule in memory: which feed is due when, on which host, and which requests may
// start now. A [Plan] decides and changes states; the caller writes them and publishes the tasks. It uses
// neither queues nor the clock. Memory grows with the number of feeds and hosts only.
package plan

import (
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Len returns the number of feeds.
func (p *Plan) Len() int { return len(p.feeds) }

// Has reports whether the plan contains a feed.
func (p *Plan) Has(id string) bool { return p.feeds[id] != nil }

// URL returns the address of a feed, or "" if the plan does not contain it.
func (p *Plan) URL(id string) string {
	if f := p.feeds[id]; f != nil {
		return f.State.URL
	}
	return ""
}

// State returns the state of a feed, or nil if the plan does not contain it.
func (p *Plan) State(id string) *subjects.FeedState {
	if f := p.feeds[id]; f != nil {
		return &f.FeedState
	}
	return nil
}

// InFlight returns the IDs of the feeds that are dispatched and not finished, in no order.
func (p *Plan) InFlight() []string { return slices.Collect(maps.Keys(p.inFlight)) }

// EachState calls each for a copy of the state of every feed.
func (p *Plan) EachState(each func(subjects.FeedState)) {
	for _, f := range p.feeds {
		state := *f.State
		each(subjects.FeedState{FeedID: f.FeedID, State: &state, Written: f.Written})
	}
}

// Load restores a stored state, replacing any state of the feed in the plan: another schedule may have been
// active until now.
func (p *Plan) Load(s subjects.FeedState) {
	p.Remove(s.FeedID)
	f := &Feed{FeedState: s, Dispatched: s.Written, host: p.hostOf(s.State.URL), tier: tierOf(s.State.Tier), index: -1}
	f.host.feeds++
	p.recordRequestTime(f.host, s.State.Polled)
	p.feeds[s.FeedID] = f
	p.count(f, 1)
	if f.State.InMemory && f.State.Crawl != "" { // the process of its task has ended
		due, reason := f.State.Due, f.State.CrawlReason
		p.endCrawl(f)
		f.State.Next, f.State.Reason = due, reason
	}
	if f.State.Crawl != "" {
		p.inFlight[f.FeedID] = f
		f.host.inFlight = append(f.host.inFlight, f) // if it was answered already, the observation comes soon
		p.updateReady(f.host)
		return
	}
	p.enqueue(f)
}

// Add adds a stored feed that has no state yet, due immediately without waiting for others to share its task,
// and returns it; nil if it has a state.
func (p *Plan) Add(feed storage.Feed, now time.Time) *Feed {
	if p.feeds[feed.ID] != nil {
		return nil
	}
	f := &Feed{
		FeedState: subjects.FeedState{FeedID: feed.ID, State: &subjects.State{
			URL: feed.URL, Rate: feed.Rate, Pinned: feed.Pinned, FullText: feed.FullText, Request: feed.Request, Next: now.Add(-gatherTime), Reason: "new: due at once",
		}},
		host: p.hostOf(feed.URL), index: -1,
	}
	f.host.feeds++
	f.tier = p.options.Policy.Next(f.input(0, now), now, 0).Tier
	f.State.Tier = subjects.Tiers[f.tier]
	p.feeds[feed.ID] = f
	p.count(f, 1)
	p.enqueue(f)
	return f
}

// UpdateSettings updates a feed's settings from the store and returns the feed, due now if it was waiting;
// nil if the plan does not contain it.
func (p *Plan) UpdateSettings(feed storage.Feed, now time.Time) *Feed {
	f := p.feeds[feed.ID]
	if f == nil {
		return nil
	}
	f.State.Pinned, f.State.FullText, f.State.Request = feed.Pinned, feed.FullText, feed.Request
	if f.State.Crawl == "" && !f.State.Next.IsZero() {
		p.change(f, func() {
			if f.State.Next.After(now) { // a due feed keeps its time: otherwise one that changes again and again is never polled
				f.State.Next = now
			}
			f.State.Reason = "settings changed"
		})
	}
	return f
}

// HasRequest reports whether the plan has the request of a stored feed.
func (p *Plan) HasRequest(feed storage.Feed) bool {
	f := p.feeds[feed.ID]
	return f != nil && reflect.DeepEqual(f.State.Request, feed.Request)
}

// SetRequest updates the request of a stored feed, which is due as before, and returns its state; nil if the plan has
// no other request of it.
func (p *Plan) SetRequest(feed storage.Feed) *subjects.FeedState {
	f := p.feeds[feed.ID]
	if f == nil || p.HasRequest(feed) {
		return nil
	}
	f.State.Request = feed.Request
	return &f.FeedState
}

// Remove removes a feed and its host's state if it was the last feed.
func (p *Plan) Remove(id string) {
	f := p.feeds[id]
	if f == nil {
		return
	}
	p.endRequest(f)
	p.dequeue(f)
	p.count(f, -1)
	delete(p.inFlight, id)
	delete(p.tried, id)
	delete(p.feeds, id)
	if f.host.feeds--; f.host.feeds == 0 {
		delete(p.hosts, f.host.Name)
		delete(p.changedHosts, f.host)
	}
}

// Missing returns the feeds of the plan that are not stored.
func (p *Plan) Missing(stored map[string]bool) []string {
	var ids []string
	for id := range p.feeds {
		if !stored[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// minCalibration is the minimum number of polled feeds for a calibration of the policy.
const minCalibration = 10

// HasGrown reports whether the number of polled feeds has grown so much since the last Recalibrate that
// another is needed: a new mesh polls all its feeds for the first time within minutes.
func (p *Plan) HasGrown() bool { return p.polledFeeds() >= minCalibration+2*p.calibrated }

// Recalibrate adapts the policy to all feeds.
func (p *Plan) Recalibrate(now time.Time) {
	p.calibrated = p.polledFeeds()
	p.options.Policy.Recalibrate(p.inputs(now), now)
}

// Budget returns the budget for requests, a second; 0: no limit.
func (p *Plan) Budget() float64 { return p.budget.rate }

// SetBudget sets the budget for requests, a second.
func (p *Plan) SetBudget(budget float64) {
	p.budget.rate = budget
	p.options.Policy.SetBudget(budget)
}

// RecordPolls reports the polls since the last call to the policy.
func (p *Plan) RecordPolls(now time.Time) {
	p.options.Policy.RecordPolls(p.newPolls, now)
	p.newPolls = 0
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

// polledFeeds returns the number of feeds that were polled at least once.
func (p *Plan) polledFeeds() int { return int(p.counts.Polled) }

// Counts returns the number of feeds by state.
func (p *Plan) Counts() subjects.ScheduleCounts { return p.counts }

// TierCounts returns the counts of a tier.
func (p *Plan) TierCounts(tier policy.Tier) TierCounts { return p.tierCounts[tier] }

// Overdue returns the number of due feeds that are not dispatched.
func (p *Plan) Overdue(now time.Time) int {
	n := 0
	for _, h := range p.hosts {
		for _, l := range h.queues {
			n += l.overdue(now)
		}
	}
	return n
}

// Dispatchable returns the number of due feeds whose hosts accept a request now. Other due feeds wait for the spacing,
// the Retry-After or the running request of their host.
func (p *Plan) Dispatchable(now time.Time) int {
	n := 0
	for _, h := range p.hosts {
		if h.notBefore.After(now) || len(h.inFlight) > 0 {
			continue
		}
		for _, l := range h.queues {
			n += l.overdue(now)
		}
	}
	return n
}

// TakeHistory returns the polls and the changed hosts since the last call. Hosts of which only the results of
// the last requests changed, as with each poll, are returned only if all is set.
func (p *Plan) TakeHistory(all bool) (polls []Poll, hosts []subjects.Host) {
	for h, more := range p.changedHosts {
		if more || all {
			hosts = append(hosts, h.Host)
			delete(p.changedHosts, h)
		}
	}
	polls = p.polls
	p.polls = nil
	return polls, hosts
}

// RequestMove adds a move to those of the next call of TakeMoves.
func (p *Plan) RequestMove(m Move) { p.moves = append(p.moves, m) }

// TakeMoves returns the moves requested since the last call.
func (p *Plan) TakeMoves() []Move {
	moves := p.moves
	p.moves = nil
	return moves
}

// decide sets the next due time of a feed.
func (p *Plan) decide(f *Feed, retryAfter time.Duration, now time.Time) {
	in := f.input(retryAfter, now)
	d := p.options.Policy.Next(in, now, 2*rand.Float64()-1)
	p.change(f, func() {
		f.State.Next, f.State.Reason = d.Next, d.Reason
		f.tier, f.State.Tier = d.Tier, subjects.Tiers[d.Tier]
		f.State.Rate = in.Model.Rate(now)
	})
}

// maxSpread bounds the delay of a feed's second poll.
const maxSpread = time.Hour

// spread delays the second poll of a feed by up to its interval. Otherwise feeds that were added together
// would stay due together.
func (p *Plan) spread(f *Feed, now time.Time) {
	interval := min(f.State.Next.Sub(now), maxSpread)
	p.change(f, func() { f.State.Next = f.State.Next.Add(time.Duration(rand.Float64() * float64(interval))) })
}

// minFailureWeight is the minimum total weight of failures. Failures of proxies have weight 0, but a feed
// that was never read must not count as new, and due immediately, because of that.
const minFailureWeight = 0.01

// input returns the policy's input for the feed.
func (f *Feed) input(retryAfter time.Duration, now time.Time) *policy.Feed {
	s := f.State
	in := &policy.Feed{
		Model: f.model(), Pinned: s.Pinned, Polled: s.Polled, Failures: s.FailureWeight, FailingSince: s.FailingSince, RetryAfter: retryAfter,
		MaxAge: time.Duration(s.MaxAge) * time.Second, Heavy: s.Heavy,
	}
	if f.subscribed(now) {
		in.Pushed = s.PushTrust
	}
	if s.Failures > 0 {
		in.Failures = max(s.FailureWeight, minFailureWeight)
		in.Polled = s.FailingSince // the feed was complete until then
		if s.BodyHash == "" {
			in.Polled = time.Time{} // never read
		}
	}
	if h := s.Hints; h != nil {
		in.Window = h.Entries
		in.Hints = policy.Hints{
			TTL: time.Duration(h.TTL) * time.Minute, Period: time.Duration(h.Period) * time.Minute,
			SkipHours: h.SkipHours, SkipDays: h.SkipDays,
		}
	}
	return in
}

// change calls do, which may change fields by which feeds are counted and ordered.
func (p *Plan) change(f *Feed, do func()) {
	p.dequeue(f)
	p.count(f, -1)
	do()
	p.count(f, 1)
	p.enqueue(f)
}

func (p *Plan) count(f *Feed, n int) {
	t := &p.tierCounts[f.tier]
	switch {
	case f.State.Crawl != "":
		t.InFlight += n
	case f.State.Next.IsZero(): // it will not be polled
	case f.State.Failures > 0:
		t.Failing += n
	default:
		t.Waiting += n
	}
	p.counts.Add(f.State, int64(n))
}
