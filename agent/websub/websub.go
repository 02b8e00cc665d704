// Package websub subscribes to feeds at their hubs, which then push what is new
// (W3C Recommendation WebSub, 2018-01-23; PubSubHubbub before). A [Subscriber]
// asks the hubs, one in the mesh; a [Handler], at the address they call back,
// confirms what was asked and takes what they push. Both keep what they know in
// [Subscriptions]. The package knows nothing of queues, storage and feed formats.
package websub

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Path is where a [Handler] is to be served. The token of a subscription follows.
const Path = "/websub/"

// A Subscription is one feed's at one hub.
type Subscription struct {
	Token  string `json:"token"` // ends the callback's address: who knows it is the hub, or was told by it
	FeedID string `json:"feed_id"`
	Topic  string `json:"topic"` // what the hub calls the feed: its rel=self
	Hub    string `json:"hub"`
	Base   string `json:"base"`   // the callback's address before [Path]
	Secret string `json:"secret"` // signs what the hub pushes

	State    State         `json:"state"`
	Since    time.Time     `json:"since"`              // when it was first wanted
	Lease    time.Duration `json:"lease,omitempty"`    // as the hub granted it last, within what we believe
	Until    time.Time     `json:"until,omitzero"`     // end of that lease; zero: the hub has not agreed to push
	Asked    time.Time     `json:"asked,omitzero"`     // last time the hub was asked
	Next     time.Time     `json:"next"`               // when there is something to do about it
	Failures int           `json:"failures,omitempty"` // requests in a row that came to nothing
	Error    string        `json:"error,omitempty"`    // of the last of them, in words
	Pushed   time.Time     `json:"pushed,omitzero"`    // last time it brought anything
	Seen     []byte        `json:"seen,omitempty"`     // of the last bodies it brought: 8 bytes of a hash each, oldest first

	Revision uint64 `json:"-"` // of this record; 0: there is none yet
}

// Live reports whether the hub has agreed to push at that time.
func (s *Subscription) Live(now time.Time) bool { return now.Before(s.Until) }

// A State is how far a subscription has come.
type State string

// The states.
const (
	Wanted   State = "wanted"   // nobody was asked yet
	Asked    State = "asked"    // the hub was asked, and has not confirmed it yet; what was agreed before holds
	Verified State = "verified" // the hub has confirmed it
	Denied   State = "denied"   // the hub has refused
	Failed   State = "failed"   // the hub could not be asked, or did not confirm in time
	Leaving  State = "leaving"  // the hub is to be told, or was told, to push no more
	Left     State = "left"     // the hub has confirmed that
)

// Errors of [Subscriptions].
var (
	ErrUnknown = errors.New("no such subscription")
	ErrChanged = errors.New("the subscription was changed by another")
)

// Subscriptions remember subscriptions by their tokens, for all processes of the
// mesh. Their methods may be called concurrently.
type Subscriptions interface {
	// Get returns the subscription with that token, or [ErrUnknown].
	Get(ctx context.Context, token string) (Subscription, error)

	// List yields all subscriptions. It stops at the first error and yields it.
	List(ctx context.Context) iter.Seq2[Subscription, error]

	// Put stores a subscription and returns its new revision, or [ErrChanged] if
	// the one it has is not the stored one's.
	Put(ctx context.Context, s Subscription) (revision uint64, err error)

	// Delete removes a subscription, or returns [ErrChanged] likewise.
	Delete(ctx context.Context, s Subscription) error
}

// changeTries is how often a change is tried anew because another came first:
// there are two who write, and each writes rarely.
const changeTries = 5

// change has edit change the stored subscription, as it is at that moment, and
// returns what it became. Nothing is written if edit returns false.
func change(ctx context.Context, in Subscriptions, token string, edit func(*Subscription) bool) (Subscription, error) {
	var err error
	for range changeTries {
		var s Subscription
		if s, err = in.Get(ctx, token); err != nil {
			return Subscription{}, err
		}
		if !edit(&s) {
			return s, nil
		}
		if s.Revision, err = in.Put(ctx, s); err == nil {
			return s, nil
		}
		if !errors.Is(err, ErrChanged) {
			break
		}
	}
	return Subscription{}, err
}
