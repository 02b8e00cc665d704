package plan

import (
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/websub"
	"feedmesh/subjects"
)

// pushDelay is the age of a new entry found by a poll from which the feed's hub should have pushed it.
const pushDelay = time.Minute

// A Hub is a feed's WebSub hub. Empty addresses mean: unsubscribe.
type Hub struct {
	FeedID string
	URL    string
	Topic  string // the feed's URL at the hub
}

// hasHub reports whether the feed is to be pushed. Feeds with request settings, such as a proxy or a
// password, are private and not disclosed to hubs.
func (f *Feed) hasHub() bool {
	s := f.State
	return s.Hints != nil && s.Hints.Hub != "" && s.Request == nil && !s.Next.IsZero()
}

// subscribed reports whether the feed has a valid subscription.
func (f *Feed) subscribed(now time.Time) bool { return now.Before(f.State.PushUntil) }

// pushed updates the feed with a push and returns it if its state changed, otherwise nil. A push is no poll:
// due time and validators stay unchanged.
func (f *Feed) pushed(o subjects.Observation, now time.Time) *Feed {
	if o.Outcome != subjects.Stored || o.Items == 0 {
		return nil
	}
	f.adjustTrust((*websub.Trust).Pushed)
	f.State.Changed = o.Fetched
	m := f.model()
	f.updateModel(&m, datesOf(o), o.Items, now)
	return f
}

// adjustTrust changes the trust in the feed's hub.
func (f *Feed) adjustTrust(move func(*websub.Trust)) {
	trust := websub.Trust(f.State.PushTrust)
	move(&trust)
	f.State.PushTrust = float64(trust)
}

// missed reports whether a poll found new entries that should have been pushed. m is the model before the
// poll.
func missed(o subjects.Observation, m *policy.Model, dates []time.Time) bool {
	if o.Outcome != subjects.Stored || o.Items == 0 {
		return false
	}
	inFlight := false
	for _, d := range dates {
		switch {
		case !d.After(m.Newest()):
		case d.Before(o.Fetched.Add(-pushDelay)):
			return true
		default:
			inFlight = true
		}
	}
	return !inFlight // entries without a date may be as old as the last poll
}
