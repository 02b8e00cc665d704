package plan

import (
	"cmp"
	"time"

	"feedmesh/agent/policy"
	"feedmesh/agent/websub"
	"feedmesh/subjects"
)

// pushTime is how old an entry may be that a poll finds before its feed's hub
// should have pushed it.
const pushTime = time.Minute

// A Hub is where a feed is pushed from; without addresses, it no longer is.
type Hub struct {
	FeedID string
	URL    string
	Topic  string // what the feed is called there
}

// Hubs returns the hubs that feeds name, in no order, and which of those
// subscribed are not to be pushed any more: they are gone, or name none.
func (p *Plan) Hubs(subscribed []string) []Hub {
	var hubs []Hub
	for id, f := range p.feeds {
		if f.hasHub() {
			hubs = append(hubs, Hub{id, f.State.Hints.Hub, cmp.Or(f.State.Hints.Self, f.State.URL)})
		}
	}
	for _, id := range subscribed {
		// Of one without hints we do not know yet.
		if f := p.feeds[id]; f == nil || f.State.Hints != nil && !f.hasHub() {
			hubs = append(hubs, Hub{FeedID: id})
		}
	}
	return hubs
}

// hasHub reports whether the feed is to be pushed. One that a person has asked for
// in a way of its own, by a proxy or with a password, is nothing to talk about
// with others.
func (f *Feed) hasHub() bool {
	s := f.State
	return s.Hints != nil && s.Hints.Hub != "" && s.Request == nil && !s.Next.IsZero()
}

// SetPushed takes note until when hubs have agreed to push, by feed ID; those of
// all other feeds have not. It is written with what changes next.
func (p *Plan) SetPushed(until map[string]time.Time) {
	for id, f := range p.feeds {
		f.State.PushUntil = until[id]
	}
}

// subscribed reports whether the feed's hub has agreed to push.
func (f *Feed) subscribed(now time.Time) bool { return now.Before(f.State.PushUntil) }

// pushed takes a push into account and returns the feed if that changed its
// state, else nil. It is no poll: when the feed is due, and what the next poll
// sends along, stays as it is.
func (f *Feed) pushed(o subjects.Observation, now time.Time) *Feed {
	if o.Outcome != subjects.Stored || o.Items == 0 {
		return nil
	}
	f.judge((*websub.Trust).Pushed)
	f.State.Changed = o.Fetched
	m := f.model()
	f.learnDates(&m, datesOf(o), o.Items, now)
	return f
}

// judge moves the trust in the feed's hub.
func (f *Feed) judge(move func(*websub.Trust)) {
	trust := websub.Trust(f.State.Pushed)
	move(&trust)
	f.State.Pushed = float64(trust)
}

// missed reports whether a poll found new entries that should have been pushed.
// The model is that from before.
func missed(o subjects.Observation, m *policy.Model, dates []time.Time) bool {
	if o.Outcome != subjects.Stored || o.Items == 0 {
		return false
	}
	underWay := false
	for _, d := range dates {
		switch {
		case !d.After(m.Newest()):
		case d.Before(o.Fetched.Add(-pushTime)):
			return true
		default:
			underWay = true
		}
	}
	return !underWay // what has no date may be as old as the last poll
}
