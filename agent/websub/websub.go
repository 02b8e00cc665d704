// Package websub subscribes to feeds at their hubs, which then push new content (W3C Recommendation WebSub,
// 2018-01-23; PubSubHubbub before). A [Subscriber], one in the mesh, sends requests to hubs; a [Handler] at
// the callback address confirms them and receives pushes of at most 10 MiB. Both store their state in
// [Subscriptions]. The package does not depend on queues, storage and feed formats.
package websub

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Path is the path of a [Handler]. The token of a subscription follows.
const Path = "/websub/"

// Subscription is the subscription of one feed at one hub.
type Subscription struct {
	Token  string `json:"token"` // last element of the callback URL; known to the hub only
	FeedID string `json:"feed_id"`

	Partition int `json:"partition,omitempty"` // of the schedule that has the feed

	Topic  string `json:"topic"` // the feed's name at the hub: its rel=self
	Hub    string `json:"hub"`
	Base   string `json:"base"`   // callback URL without [Path]
	Secret string `json:"secret"` // key of the hub's signatures

	State     State         `json:"state"`
	Since     time.Time     `json:"since"`              // first request by [Subscriber.SetHub]
	Lease     time.Duration `json:"lease,omitempty"`    // last granted lease, at most maxLease
	Until     time.Time     `json:"until,omitzero"`     // end of the lease; zero: not confirmed
	Requested time.Time     `json:"asked,omitzero"`     // last request to the hub
	Next      time.Time     `json:"next"`               // next action
	Failures  int           `json:"failures,omitempty"` // consecutive failed requests
	Error     string        `json:"error,omitempty"`    // of the last of them, as text
	Pushed    time.Time     `json:"pushed,omitzero"`    // last delivery
	Seen      []byte        `json:"seen,omitempty"`     // hashes of the last bodies: 8 bytes each, oldest first

	Revision uint64 `json:"-"` // of this record; 0: not stored yet
}

// State is the progress of a subscription.
type State string

// The states.
const (
	Queued        State = "wanted"   // no request sent yet
	Requested     State = "asked"    // request sent and not confirmed yet; an earlier lease stays valid
	Verified      State = "verified" // confirmed by the hub
	Denied        State = "denied"   // denied by the hub
	Failed        State = "failed"   // the request failed, or was not confirmed in time
	Unsubscribing State = "leaving"  // unsubscribe request pending
	Unsubscribed  State = "left"     // unsubscribe confirmed by the hub
)

// Errors of [Subscriptions].
var (
	ErrUnknown = errors.New("no such subscription")
	ErrChanged = errors.New("subscription changed by another writer")
)

// Subscriptions stores subscriptions by token, for all processes of the mesh. Its methods may be called
// concurrently.
type Subscriptions interface {
	// Get returns the subscription with that token, or [ErrUnknown].
	Get(ctx context.Context, token string) (Subscription, error)

	// List yields all subscriptions. It stops at the first error and yields it. In a cluster it may be
	// a moment behind Put: one replica yields them, and those that confirm a write are a majority.
	List(ctx context.Context) iter.Seq2[Subscription, error]

	// Put stores a subscription and returns its new revision, or [ErrChanged] if its revision is outdated.
	Put(ctx context.Context, s Subscription) (revision uint64, err error)

	// Delete removes a subscription, or returns [ErrChanged] likewise.
	Delete(ctx context.Context, s Subscription) error
}

// maxChangeAttempts bounds the retries of a change after conflicts: two processes write, each rarely.
const maxChangeAttempts = 5

// change applies edit to the stored subscription and returns the result. If edit returns false, nothing is
// written.
func change(ctx context.Context, in Subscriptions, token string, edit func(*Subscription) bool) (Subscription, error) {
	var err error
	for range maxChangeAttempts {
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
