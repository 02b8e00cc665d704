package plan

import (
	"slices"
	"time"

	"feedmesh/agent/policy"
	"feedmesh/agent/websub"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// movesSeen is how often in a row a feed must be seen to have moved: hosts
	// redirect by mistake, too.
	movesSeen = 2

	// heavy is from which size a document that never comes as "not modified" is
	// read less often, in bytes.
	heavy = 200_000

	// lie is by how much an entry must be older than the last "not modified" for
	// that to have been wrong: caches between us may lag a little.
	lie = time.Hour
)

// Observe takes an observation into account and returns the feed if that
// changed its state, else nil.
func (p *Plan) Observe(o subjects.Observation, now time.Time) *Feed {
	f := p.feeds[o.FeedID]
	if f == nil {
		return nil
	}
	if o.Outcome == subjects.Refresh {
		return p.refresh(f, now)
	}
	if o.Pushed() {
		return f.pushed(o, now)
	}
	if f.State.Crawl == "" || f.State.Crawl != o.Crawl {
		// Said before, overtaken by a later poll, or about a document from
		// before the feed was removed and added again, which is gone with it.
		return nil
	}
	if slices.Contains(f.host.asking, f) {
		p.polled(f, o, now)
	}
	if o.Outcome == subjects.Fetched {
		return nil // its document is on its way
	}
	if p.forgives(o) {
		p.back(f)
		p.change(f, func() {
			f.State.Next, f.State.Reason = now.Add(retryAfter), whyForgiven
		})
		return f
	}
	first := f.State.Polled.IsZero()
	p.learn(f, o, now)
	p.back(f)
	if o.Outcome == subjects.Gone {
		p.change(f, func() {
			f.State.Next, f.State.Reason = time.Time{}, "its host says it is gone for good"
		})
		return f
	}
	p.decide(f, o.RetryAfter, now)
	if first {
		p.spread(f, now)
	}
	return f
}

// polled learns from the first word of a poll, which is that of the crawl or has
// overtaken it.
func (p *Plan) polled(f *Feed, o subjects.Observation, now time.Time) {
	p.tell(f, o)
	p.proxies.note(o, now)
	p.forgive(p.outage.note(f.host.Name, o.Class, f, now), now)
	p.answered(f, o, now)
}

// pollsAlike is how many polls make one entry of a feed's history, if each went as
// the one before it: most bring nothing, and each entry is a write.
const pollsAlike = 10

// tell adds a poll to the history of its feed, or counts it for the next that is
// added. A crash loses the count.
func (p *Plan) tell(f *Feed, o subjects.Observation) {
	s := f.State
	alike := o.Outcome == subjects.Unchanged && s.Outcome == subjects.Unchanged && o.Status == s.Status && o.Way == f.host.Way
	if alike && f.untold < pollsAlike-1 {
		f.untold++
		return
	}
	p.polls = append(p.polls, Poll{f.FeedID, subjects.Poll{
		At: o.Fetched, Took: o.Took, Status: o.Status, Size: o.Size, Class: o.Class, Way: o.Way, Before: int(f.untold),
	}})
	f.untold = 0
}

// learn takes over what a poll brought to light of a feed.
func (p *Plan) learn(f *Feed, o subjects.Observation, now time.Time) {
	p.count(f, -1)
	defer p.count(f, 1)
	s := f.State
	if o.Outcome == subjects.Failed || o.Outcome == subjects.Gone {
		if s.Failures == 0 {
			s.FailingSince, s.Weight = o.Fetched, 0
		}
		s.Failures++
		s.Weight += o.Weight
	} else {
		s.Failures, s.Weight, s.FailingSince = 0, 0, time.Time{}
		p.learnDocument(f, o, now)
		s.ETag, s.LastModified, s.BodyHash = o.ETag, o.LastModified, o.BodyHash
		s.MaxAge = o.MaxAge
		p.learnMove(f, o)
	}
	s.Polled, s.Outcome, s.Status, s.Error, s.Class = o.Fetched, o.Outcome, o.Status, o.Error, o.Class
	if o.Outcome == subjects.Stored {
		s.Changed = o.Fetched
	}
}

// learnDocument takes over what a document tells of its feed.
func (p *Plan) learnDocument(f *Feed, o subjects.Observation, now time.Time) {
	s := f.State
	switch {
	case o.Status == 304:
		s.Heavy = false
	case o.Size > 0:
		s.Heavy = o.Size > heavy
	}
	if o.Outcome == subjects.Unchanged {
		return
	}
	s.Malformed = o.Malformed
	if o.Hints != nil {
		s.Hints = o.Hints
	}
	m, dates := f.model(), datesOf(o)
	if s.Whole && p.lied(s, &m, dates) {
		f.host.Lied = now
		p.seen[f.host] = true
	}
	if f.subscribed(now) && missed(o, &m, dates) {
		f.judge((*websub.Trust).Missed)
	}
	if s.Hints != nil && s.Hints.Zone != nil {
		m.SetZone(*s.Hints.Zone)
	}
	f.learnDates(&m, dates, o.Items, now)
}

// learnDates takes over when a feed published.
func (f *Feed) learnDates(m *policy.Model, dates []time.Time, items int, now time.Time) {
	if !m.Learn(dates, now) {
		m.LearnFirstSeen(items, f.State.Polled, now)
	}
	if model, err := m.MarshalBinary(); err == nil {
		f.State.Model = model
	}
}

// model returns what is known of when the feed publishes.
func (f *Feed) model() (m policy.Model) {
	if m.UnmarshalBinary(f.State.Model) != nil {
		return policy.Model{} // another version's: it learns anew
	}
	return m
}

// datesOf returns the dates of the entries that an observation tells of.
func datesOf(o subjects.Observation) []time.Time {
	dates := make([]time.Time, len(o.Dates))
	for i, d := range o.Dates {
		dates[i] = time.Unix(d, 0).UTC()
	}
	return dates
}

// lied reports whether a document that was asked for without its validators has
// an entry that is older than the last time they were said to be those of the
// newest one.
func (p *Plan) lied(s *subjects.State, m *policy.Model, dates []time.Time) bool {
	if s.Status != 304 {
		return false
	}
	for _, d := range dates {
		if d.After(m.Newest()) && d.Before(s.Polled.Add(-lie)) {
			return true
		}
	}
	return false
}

// learnMove takes note of where a feed lives: permanent redirects led there, or
// its document is that of another feed and says so.
func (p *Plan) learnMove(f *Feed, o subjects.Observation) {
	s := f.State
	to, err := storage.CanonicalURL(o.Moved)
	if o.Moved == "" || err != nil {
		to = p.twin(f, o)
	}
	if to == "" || to == s.URL {
		s.Moves, s.MoveSeen = "", 0
		return
	}
	if to != s.Moves {
		s.Moves, s.MoveSeen = to, 0
	}
	if s.MoveSeen++; s.MoveSeen >= movesSeen {
		p.moves = append(p.moves, Move{f.FeedID, to})
	}
}

// twin returns the address of the feed that this one is a second address of:
// its document gives it as its own, and both have the same bytes. Empty if none.
func (p *Plan) twin(f *Feed, o subjects.Observation) string {
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

// refresh makes a feed due now, and has its document read whole. A poll under
// way does not count: it went out with the old validators.
func (p *Plan) refresh(f *Feed, now time.Time) *Feed {
	s := f.State
	s.ETag, s.LastModified, s.BodyHash = "", "", ""
	p.release(f)
	p.back(f)
	p.change(f, func() {
		s.Next, s.Reason = now.Add(-gather), "somebody asked for it"
	})
	return f
}
