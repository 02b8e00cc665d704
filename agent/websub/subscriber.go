package websub

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A Poster sends a form by HTTP POST and returns the answer, whatever its
// status, with at least the first 1024 bytes of its body. It follows redirects
// 307 and 308, and no address but public ones: feeds name hubs as they like.
type Poster interface {
	Post(ctx context.Context, url string, form url.Values) (status int, body []byte, err error)
}

// Options are what a [Subscriber] stands on.
type Options struct {
	Subscriptions Subscriptions
	Poster        Poster
	Base          string // where hubs reach the [Handler], up to [Path], as in "https://feeds.example"
	Now           func() time.Time
	Metrics       *Metrics
	Log           *slog.Logger
}

// A Subscriber asks hubs for what is wanted, and again before it ends. There is
// to be one in a mesh; should there be two for a while, they disturb each other
// without harm. Its methods may be called concurrently.
type Subscriber struct {
	Options

	mu      sync.Mutex
	current map[string]Subscription // feed ID: what it has, as we saw it last
}

// Open returns a subscriber that knows of the subscriptions there are.
func Open(ctx context.Context, o Options) (*Subscriber, error) {
	s := &Subscriber{Options: o, current: make(map[string]Subscription)}
	for sub, err := range o.Subscriptions.List(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list subscriptions: %w", err)
		}
		if sub.State == Leaving || sub.State == Left {
			continue
		}
		other, twice := s.current[sub.FeedID]
		if twice && other.Until.After(sub.Until) {
			sub, other = other, sub
		}
		s.current[sub.FeedID] = sub
		if twice { // two subscribers made one each
			if err := s.leave(ctx, other); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Want says where a feed is pushed from now: by which hub and under which topic,
// both absolute addresses. If one of them is empty, or the feed is gone, it is
// not to be pushed any more. Want writes down what is new; [Subscriber.Run] tells
// the hubs. If nothing is new, Want does nothing, so it may be called with each
// document. A change that comes within a day of the last one is ignored until
// then: some feeds name another topic each time.
func (s *Subscriber) Want(ctx context.Context, feedID, hub, topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, subscribed := s.current[feedID]
	wanted := hub != "" && topic != ""
	same := have.Hub == hub && have.Topic == topic || s.Now().Before(have.Since.Add(rest))
	if subscribed == wanted && (!wanted || same && have.Base == s.Base) {
		return nil
	}
	if subscribed {
		if err := s.leave(ctx, have); err != nil {
			return err
		}
		delete(s.current, feedID)
	}
	if !wanted {
		return nil
	}
	sub := Subscription{
		Token: rand.Text(), FeedID: feedID, Topic: topic, Hub: hub, Base: s.Base,
		Secret: rand.Text() + rand.Text(), // 260 bits; the Recommendation allows 200 bytes
		State:  Wanted, Since: s.Now(), Next: s.Now(),
	}
	var err error
	if sub.Revision, err = s.Subscriptions.Put(ctx, sub); err != nil {
		return fmt.Errorf("store subscription of feed %s: %w", feedID, err)
	}
	s.current[feedID] = sub
	return nil
}

// leave has the hub told that nothing is wanted of it any more, if it was asked.
func (s *Subscriber) leave(ctx context.Context, sub Subscription) error {
	_, err := change(ctx, s.Subscriptions, sub.Token, func(sub *Subscription) bool {
		sub.leave(s.Now())
		return true
	})
	if err != nil && !errors.Is(err, ErrUnknown) {
		return fmt.Errorf("end subscription of feed %s: %w", sub.FeedID, err)
	}
	return nil
}

// Subscription returns the subscription of a feed as it was seen last, which may
// be some minutes ago, and whether there is one.
func (s *Subscriber) Subscription(feedID string) (Subscription, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, ok := s.current[feedID]
	return sub, ok
}

// FeedIDs returns the feeds that have a subscription.
func (s *Subscriber) FeedIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.current))
}

// saw takes note of how a subscription is.
func (s *Subscriber) saw(sub Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.current[sub.FeedID]; have.Token == sub.Token && have.Revision < sub.Revision {
		s.current[sub.FeedID] = sub
	}
}
