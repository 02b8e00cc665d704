package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/websub"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// minMoves is the number of consecutive polls that must report a move, because hosts also redirect by
	// mistake.
	minMoves = 2

	// heavySize is the size in bytes from which a document that never returns 304 is polled less often.
	heavySize = 200_000

	// validatorTolerance is the age difference between an entry and the last 304 from which that response was
	// wrong: caches in between may lag a little.
	validatorTolerance = time.Hour
)

// Observe updates the plan with an observation and returns the feed if its state changed, otherwise nil.
func (p *Plan) Observe(o subjects.Observation, now time.Time) *Feed {
	f := p.feeds[o.FeedID]
	if f == nil {
		return nil
	}
	switch o.Outcome {
	case subjects.Refresh:
		return p.refresh(f, now)
	case subjects.Move:
		p.RequestMove(Move{f.FeedID, o.URL})
		return nil
	}
	o = withoutDocument(o)
	o.Fetched = earlierOf(o.Fetched, now) // the clock of the agent that fetched it may be ahead
	if o.Pushed() {
		return f.pushed(o, now)
	}
	if f.State.Crawl == "" || f.State.Crawl != o.Crawl {
		// A duplicate, overtaken by a later poll, or about the document of a feed that was removed and added
		// again since.
		return nil
	}
	if slices.Contains(f.host.inFlight, f) {
		p.recordResult(f, o, now)
	}
	if o.Outcome == subjects.Fetched {
		return nil // parse reports next
	}
	if p.isExcused(o) {
		p.endCrawl(f)
		p.change(f, func() {
			f.State.Next, f.State.Reason = now.Add(outageRetry), outageReason
		})
		return f
	}
	if p.continueElsewhere(f, o, now) {
		return f
	}
	delete(p.tried, f.FeedID)
	first := f.State.Polled.IsZero()
	p.updateState(f, o, now)
	p.endCrawl(f)
	if o.Outcome == subjects.Gone {
		p.change(f, func() {
			f.State.Next, f.State.Reason = time.Time{}, "status 410: gone for good"
		})
		return f
	}
	p.decide(f, o.RetryAfter, now)
	if first {
		p.spread(f, now)
	}
	return f
}

// withoutDocument returns the observation with copies of its texts. Without them the state of a feed would keep a whole
// document in memory, or the header of a response, of which they are parts if the observation was passed in memory.
func withoutDocument(o subjects.Observation) subjects.Observation {
	for _, text := range []*string{&o.ETag, &o.LastModified, &o.Moved, &o.Class, &o.Error, &o.Malformed, &o.ProxyID} {
		*text = strings.Clone(*text)
	}
	if o.Hints != nil {
		hints := *o.Hints
		hints.Hub, hints.Self = strings.Clone(hints.Hub), strings.Clone(hints.Self)
		if hints.Zone != nil {
			zone := *hints.Zone
			hints.Zone = &zone
		}
		o.Hints = &hints
	}
	return o
}

// recordResult evaluates the first observation of a poll: that of the crawl, or a later one that overtook it.
func (p *Plan) recordResult(f *Feed, o subjects.Observation, now time.Time) {
	p.addPoll(f, o)
	p.proxies.record(o, now)
	if p.proxies.regionOf(o.ProxyID) == "" { // else the network was another one
		p.undoFailures(p.outage.record(f.host.Name, o.Class, f, len(p.hosts), now), now)
	}
	p.recordResponse(f, o, now)
}

// maxSimilarPolls is the number of similar polls that share one entry of a feed's history: most polls bring
// nothing, and each entry costs a write.
const maxSimilarPolls = 10

// addPoll adds a poll to its feed's history, or counts it towards the next entry. A crash loses the count.
func (p *Plan) addPoll(f *Feed, o subjects.Observation) {
	s := f.State
	similar := o.Outcome == subjects.Unchanged && s.Outcome == subjects.Unchanged && o.Status == s.Status && o.ProxyID == f.host.ProxyID
	if similar && f.similarPolls < maxSimilarPolls-1 {
		f.similarPolls++
		return
	}
	p.polls = append(p.polls, Poll{f.FeedID, subjects.Poll{
		At: o.Fetched, Duration: o.Duration, Status: o.Status, Size: o.Size, Class: o.Class, ProxyID: o.ProxyID,
		Reason: s.CrawlReason, UnchangedBefore: int(f.similarPolls),
	}})
	f.similarPolls = 0
}

// updateState updates a feed's state with the result of a poll.
func (p *Plan) updateState(f *Feed, o subjects.Observation, now time.Time) {
	p.count(f, -1)
	defer p.count(f, 1)
	s := f.State
	if o.Outcome == subjects.Failed || o.Outcome == subjects.Gone {
		if s.Failures == 0 {
			s.FailingSince, s.FailureWeight = o.Fetched, 0
		}
		s.Failures++
		s.FailureWeight += o.Weight
	} else {
		s.Failures, s.FailureWeight, s.FailingSince = 0, 0, time.Time{}
		p.updateDocument(f, o, now)
		s.ETag, s.LastModified, s.BodyHash = o.ETag, o.LastModified, o.BodyHash
		s.MaxAge = o.MaxAge
		p.updateMove(f, o)
		p.updateWrites(f, o)
	}
	s.Polled, s.Outcome, s.Status, s.Error, s.Class = o.Fetched, o.Outcome, o.Status, o.Error, o.Class
	if o.Outcome == subjects.Stored {
		s.Changed = o.Fetched
	}
}

// updateDocument updates a feed's state with the properties of its document.
func (p *Plan) updateDocument(f *Feed, o subjects.Observation, now time.Time) {
	s := f.State
	switch {
	case o.Status == 304:
		s.Heavy = false
	case o.Size > 0:
		s.Heavy = o.Size > heavySize
	}
	if o.Outcome == subjects.Unchanged {
		return
	}
	s.Malformed = o.Malformed
	if o.Hints != nil {
		s.Hints = o.Hints
	}
	m, dates := f.model(), datesOf(o)
	if s.Unconditional && p.wronglyUnchanged(s, &m, dates) {
		f.host.ValidatorsWrong = now
		p.changedHosts[f.host] = true
	}
	if f.subscribed(now) && missed(o, &m, dates) {
		f.adjustTrust((*websub.Trust).Missed)
	}
	if s.Hints != nil && s.Hints.Zone != nil {
		m.SetZone(*s.Hints.Zone)
	}
	f.updateModel(&m, dates, o.Items, now)
}

// updateModel updates the model of the feed's publishing times.
func (f *Feed) updateModel(m *policy.Model, dates []time.Time, items int, now time.Time) {
	if !m.Learn(dates, now) {
		m.LearnFirstSeen(items, f.State.Polled, now)
	}
	if model, err := m.MarshalBinary(); err == nil {
		f.State.Model = model
	}
}

// model decodes the model of the feed's publishing times.
func (f *Feed) model() (m policy.Model) {
	if m.UnmarshalBinary(f.State.Model) != nil {
		return policy.Model{} // of an incompatible version: start with an empty model
	}
	return m
}

// datesOf returns the dates of an observation's entries.
func datesOf(o subjects.Observation) []time.Time {
	dates := make([]time.Time, len(o.Dates))
	for i, d := range o.Dates {
		dates[i] = time.Unix(d, 0).UTC()
	}
	return dates
}

// wronglyUnchanged reports whether a document that was fetched without validators contains an entry that is
// older than the last 304, which was therefore wrong.
func (p *Plan) wronglyUnchanged(s *subjects.State, m *policy.Model, dates []time.Time) bool {
	if s.Status != 304 {
		return false
	}
	for _, d := range dates {
		if d.After(m.Newest()) && d.Before(s.Polled.Add(-validatorTolerance)) {
			return true
		}
	}
	return false
}

// updateMove records a feed's new address: the target of permanent redirects, or the self link of a document
// that equals another feed's.
func (p *Plan) updateMove(f *Feed, o subjects.Observation) {
	s := f.State
	to, err := storage.CanonicalURL(o.Moved)
	if o.Moved == "" || err != nil {
		to = p.duplicateOf(f, o)
	}
	if to == "" || to == s.URL {
		s.MovedTo, s.MoveCount = "", 0
		return
	}
	if to != s.MovedTo {
		s.MovedTo, s.MoveCount = to, 0
	}
	if s.MoveCount++; s.MoveCount >= minMoves {
		p.RequestMove(Move{f.FeedID, to})
	}
}

// duplicateOf returns the address of the feed of which this one is a second address: its document names that
// address as its own, and both documents have the same bytes. Empty if none.
func (p *Plan) duplicateOf(f *Feed, o subjects.Observation) string {
	if f.State.Hints == nil || f.State.Hints.Self == "" || o.BodyHash == "" {
		return ""
	}
	self, err := storage.CanonicalURL(f.State.Hints.Self)
	if err != nil {
		return ""
	}
	other := p.feeds[storage.FeedID(self)]
	if other == nil || other == f || other.State.BodyHash != o.BodyHash {
		return ""
	}
	return other.State.URL
}

// refresh makes a feed due now at a user's request. A poll in flight does not count, because it carries the old
// validators.
func (p *Plan) refresh(f *Feed, now time.Time) *Feed {
	p.fetchWhole(f, now.Add(-gatherTime), "refresh requested")
	return f
}

// fetchWhole makes a feed due at a time, with a fetch of its whole document.
func (p *Plan) fetchWhole(f *Feed, at time.Time, reason string) {
	f.clearValidators()
	p.endRequest(f)
	p.endCrawl(f)
	p.change(f, func() { f.State.Next, f.State.Reason = at, reason })
}

// clearValidators makes the feed's next poll fetch and parse its document even if it is unchanged.
func (f *Feed) clearValidators() { f.State.ETag, f.State.LastModified, f.State.BodyHash = "", "", "" }

// Outage returns the start of the current network outage; zero if none.
func (p *Plan) Outage() time.Time { return p.outage.since }

// undoFailures removes failures that an outage caused. The states are written with the feeds' next polls,
// which are soon.
func (p *Plan) undoFailures(feeds []*Feed, now time.Time) {
	for _, f := range feeds {
		if f.State.Failures == 0 || f.State.Crawl != "" || p.feeds[f.FeedID] != f {
			continue // answered since
		}
		p.change(f, func() {
			f.State.FailureWeight -= f.State.FailureWeight / float64(f.State.Failures)
			f.State.Failures--
			if f.State.Failures == 0 && f.State.BodyHash == "" {
				f.State.Polled, f.State.Outcome = time.Time{}, "" // it was never read: it is new
			}
			f.State.Next, f.State.Reason = now.Add(outageRetry), outageReason
		})
	}
}

// isExcused reports whether a failure does not count against its feed.
func (p *Plan) isExcused(o subjects.Observation) bool {
	return p.outage.active() && o.Outcome == subjects.Failed && unanswered(o.Class) && p.proxies.regionOf(o.ProxyID) == ""
}

// Hubs returns the hubs that feeds name, in no order, and an empty Hub for each subscribed feed that no
// longer needs pushes: removed, or without a hub.
func (p *Plan) Hubs(subscribed []string) []Hub {
	var hubs []Hub
	for id, f := range p.feeds {
		if f.hasHub() {
			hubs = append(hubs, Hub{id, f.State.Hints.Hub, cmp.Or(f.State.Hints.Self, f.State.URL)})
		}
	}
	for _, id := range subscribed {
		// A feed without hints was not read yet.
		if f := p.feeds[id]; f == nil || f.State.Hints != nil && !f.hasHub() {
			hubs = append(hubs, Hub{FeedID: id})
		}
	}
	return hubs
}

// SetPushed sets the ends of the hubs' subscriptions by feed ID; all other feeds have none. It is written
// with the feed's next change.
func (p *Plan) SetPushed(until map[string]time.Time) {
	for id, f := range p.feeds {
		f.State.PushUntil = until[id]
	}
}
