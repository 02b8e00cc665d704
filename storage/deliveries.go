package storage

import (
	"context"
	"errors"
	"time"
)

// MaxSubscriptions is the maximum number of subscriptions.
const MaxSubscriptions = 10_000

// A Subscription sends the items that enter views to a receiver, through a channel such as a webhook.
type Subscription struct {
	ID       string
	Owner    string // client that made it, see package agent/access; empty: a client without a login
	Title    string
	Views    []int64 // numbers of views; an item that enters several of them is sent once
	Channel  string  // its name, see package agent/role/deliver/channel
	Receiver string  // address in the form of the channel; sealed, except in a mesh without a key
	Secret   string  // by which the channel signs, sealed likewise; or empty
	Schedule string  // when several items are sent together, see package agent/role/deliver/schedule; empty: at once
	After    int64   // members with a greater [Member.Serial] are sent
	Created  time.Time
	Topic    string    // URL of the feed that a WebSub subscriber requested; or empty
	Expires  time.Time // when it ends and is removed; zero: never
	Alert    string    // condition of an alert, see package agent/role/deliver/alert; empty: each item is sent
	IsTimed  bool      // the condition may begin to hold without a new member: it is claimed also without one
}

// IsExpired reports whether the subscription has ended by now.
func (s Subscription) IsExpired(now time.Time) bool {
	return !s.Expires.IsZero() && !s.Expires.After(now)
}

var subscriptionTable = tableOf(Table{Name: "subscriptions", Keys: 1, Order: "id", Max: MaxSubscriptions, Owned: "delivery_attempts.subscription"}, func(s *Subscription) []Column {
	return []Column{
		{Name: "id", Field: &s.ID}, {Name: "owner", Field: &s.Owner}, {Name: "title", Field: &s.Title}, {Name: "views", Field: &s.Views},
		{Name: "channel", Field: &s.Channel}, {Name: "receiver", Field: &s.Receiver}, {Name: "secret", Field: &s.Secret}, {Name: "schedule", Field: &s.Schedule},
		{Name: "after_serial", Field: &s.After}, {Name: "created", Field: &s.Created}, {Name: "topic", Field: &s.Topic},
		{Name: "expires", Field: &s.Expires, Nullable: true}, {Name: "alert", Field: &s.Alert}, {Name: "timed", Field: &s.IsTimed},
	}
})

// Subscriptions returns the subscriptions of a [Store].
func Subscriptions(of Records) SubscriptionRecords { return SubscriptionRecords{of} }

// SubscriptionRecords are the subscriptions of a [Store].
type SubscriptionRecords struct{ records Records }

// List returns all subscriptions, ordered by ID.
func (s SubscriptionRecords) List(ctx context.Context) ([]Subscription, error) {
	return listRecords[Subscription](ctx, s.records, subscriptionTable, allRecords)
}

// Any reports whether there is a subscription.
func (s SubscriptionRecords) Any(ctx context.Context) (bool, error) {
	found, err := listRecords[Subscription](ctx, s.records, subscriptionTable, 1)
	return len(found) > 0, err
}

// Get returns the subscription with the ID, or [ErrNotFound].
func (s SubscriptionRecords) Get(ctx context.Context, id string) (Subscription, error) {
	return readRecord[Subscription](ctx, s.records, subscriptionTable, id)
}

// Change stores what apply returns for the subscription of the ID, nil if there is none. It returns the error of apply, and
// [ErrTooMany] if [MaxSubscriptions] others are stored.
func (s SubscriptionRecords) Change(ctx context.Context, id string, apply func(stored *Subscription) (*Subscription, error)) error {
	return changeRecord(ctx, s.records, subscriptionTable, apply, id)
}

// RemoveExpired deletes the subscriptions that have ended by now.
func (s SubscriptionRecords) RemoveExpired(ctx context.Context, now time.Time) error {
	all, err := s.List(ctx)
	for _, one := range all {
		if one.IsExpired(now) {
			if e := s.Remove(ctx, one.ID); !errors.Is(e, ErrNotFound) { // another process may be faster
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

// Remove deletes the subscription with the ID and its attempts, or returns [ErrNotFound].
func (s SubscriptionRecords) Remove(ctx context.Context, id string) error {
	return removeRecord[Subscription](ctx, s.records, subscriptionTable, id)
}

// Deliveries is the part of a [Store] that hands out subscriptions with something to send, each to one process at a time,
// and records what was sent. The members of views are the outbox: a member that is stored is sent to each subscription of
// its view, unless it is in the past or absent.
type Deliveries interface {
	// LastSerial returns the greatest serial of a member that was ever stored, 0 if there was none.
	LastSerial(ctx context.Context) (int64, error)

	// FirstSerial returns the least serial of a member of these views that is sent and entered at or after since, 0 if there is none.
	FirstSerial(ctx context.Context, views []int64, since time.Time) (int64, error)

	// ClaimSubscriptions returns at most limit subscriptions that are not expired, due at claim.Now, and claimed by no other process, those first
	// whose last claim ended first: those that are on and have something to send or are timed, and those that are off and of which their
	// owner is to be informed. They are claimed until the claim ends, or until FinishDelivery. failing selects those whose last attempt failed,
	// or else the others.
	ClaimSubscriptions(ctx context.Context, claim Claim, failing bool, limit int) ([]ClaimedSubscription, error)

	// NextDelivery returns a time after now at which ClaimSubscriptions by the claimant may return subscriptions although nothing was
	// stored since, or the zero time: the first due time of a subscription or a retry, or end of a claim of another process.
	NextDelivery(ctx context.Context, claimant string, now time.Time, failing bool) (time.Time, error)

	// ExtendClaims extends all claims of a claimant to a time.
	ExtendClaims(ctx context.Context, claimant string, until time.Time) error

	// ListPending returns at most limit members of views that are to be sent, with serials after the given one, ordered by serial.
	ListPending(ctx context.Context, views []int64, after int64, limit int) ([]Member, error)

	// ListScored returns at most limit members of a view that are sent, with serials below before, the last first, with the sentiments of their
	// items. Members whose item was removed have none.
	ListScored(ctx context.Context, view, before int64, limit int) ([]ScoredMember, error)

	// DueAttempts returns at most limit last attempts of a subscription's messages that are to be retried by now, those
	// first that are due for longest.
	DueAttempts(ctx context.Context, subscription string, now time.Time, limit int) ([]Attempt, error)

	// FinishDelivery stores the state of a claimed subscription and the attempts that were made, in one transaction, and ends
	// the claim unless keep is set. Older attempts for the same items are not retried any more, and all but the last MaxAttempts that
	// are not to be retried are deleted. It returns [ErrConflict] if the claim is lost; then nothing is changed.
	FinishDelivery(ctx context.Context, claimant string, state DeliveryState, attempts []Attempt, keep bool) error

	// ChangeDelivery stores what apply makes of the state of a subscription, and ends a claim. It returns [ErrNotFound]
	// without such a subscription.
	ChangeDelivery(ctx context.Context, subscription string, apply func(*DeliveryState)) error

	// DeliveryStates returns the states of these subscriptions that exist, by ID.
	DeliveryStates(ctx context.Context, subscriptions ...string) (map[string]DeliveryState, error)

	// RepeatDelivery makes the message of an item due now, whose attempt is stored. It returns [ErrNotFound] without one.
	RepeatDelivery(ctx context.Context, subscription, itemID string, now time.Time) error

	// ListAttempts returns at most limit attempts of a subscription with IDs below before, or all if it is 0, the last first.
	ListAttempts(ctx context.Context, subscription string, before int64, limit int) ([]Attempt, error)
}

// MaxAttempts is the number of attempts that are stored for each subscription, besides those to be retried.
const MaxAttempts = 1000

// A Claim is the right of a process to send for subscriptions.
type Claim struct {
	Claimant string // random name of the process
	Now      time.Time
	Until    time.Time
}

// Latest returns the latest end of a valid claim of another process: a later one was made with a wrong clock, and counts as
// ended. Now may be older than such a claim, since this process waits for the store meanwhile, but not by the length of a
// claim.
func (c Claim) Latest() time.Time { return c.Until.Add(c.Until.Sub(c.Now)) }

// A ClaimedSubscription is a subscription with its state.
type ClaimedSubscription struct {
	Subscription
	State DeliveryState
}

// A DeliveryState is the progress of a [Subscription].
type DeliveryState struct {
	Subscription string
	Cursor       int64     // serial of the last member that was sent, given up, or is retried
	Failures     int       // attempts that failed since the last one that succeeded
	FailingSince time.Time // first of them; zero: none
	Due          time.Time // nothing new is sent before; zero: at once
	Sent         time.Time // last attempt that succeeded; zero: none
	Off          string    // why nothing is sent any more; empty: it is on
	Alerted      []string  // keys of the last alerts that were sent, the oldest first
	Problem      string    // why the condition of its alert can't hold; empty: it can, or was not evaluated
	Inform       time.Time // until when its owner is to be informed that it was turned off; zero: that is done, or not to be done
}

// A ScoredMember is a member of a view with the sentiment of its item.
type ScoredMember struct {
	View, Serial int64
	ItemID       string
	StoryID      string // empty: none
	Entered      time.Time
	Sentiment    float64 // -1 to 1; 0: none
}

// An Attempt is one try to send a message, with its result.
type Attempt struct {
	ID           int64 // in order of time, set by the store
	Subscription string
	View         int64
	Serial       int64     // of the member, or the last one of several
	ItemID       string    // of the member; empty: of several
	Items        int       // number of items in the message
	Number       int       // of the attempt for the message, from 1; 0: it is to be retried on request
	Entered      time.Time // of the member, or the first one of several
	At           time.Time
	Took         time.Duration // in microseconds
	Status       int           // response code of the receiver; 0: no response
	Error        string        // why it failed; empty: it was received
	Next         time.Time     // when the message is to be sent again; zero: not any more
}

// LatestDue returns the latest time at which something may be due that was planned by now: a later one is that of a process
// with a wrong clock, and counts as due.
func LatestDue(now time.Time) time.Time { return now.Add(8 * 24 * time.Hour) }
