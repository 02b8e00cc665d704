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

// Poster sends a form by HTTP POST and returns status and at least the first 1024 bytes of the body. It
// follows redirects 307 and 308, and connects to public addresses only, because feeds choose their hubs.
type Poster interface {
	Post(ctx context.Context, url string, form url.Values) (status int, body []byte, err error)
}

// Options are the parameters of a [Subscriber].
type Options struct {
	Subscriptions Subscriptions
	Partition     int // of the schedule, whose feeds it subscribes to
	Partitions    int // of the whole schedule; 0: one
	Poster        Poster
	Base          string // public URL of the [Handler] without [Path], for example "https://feeds.example"
	Now           func() time.Time
	Metrics       *Metrics
	Log           *slog.Logger
}

// Subscriber creates and renews subscriptions at hubs. A mesh runs one for each partition of the schedule; two at the same time
// cause only redundant requests. Its methods may be called concurrently.
type Subscriber struct {
	Options

	mu      sync.Mutex
	current map[string]Subscription // by feed ID, as last read
}

// Open returns a subscriber with the stored subscriptions of its partition.
func Open(ctx context.Context, o Options) (*Subscriber, error) {
	s := &Subscriber{Options: o, current: make(map[string]Subscription)}
	for sub, err := range o.Subscriptions.List(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list subscriptions: %w", err)
		}
		if !s.owns(sub) || sub.State == Unsubscribing || sub.State == Unsubscribed {
			continue
		}
		other, duplicate := s.current[sub.FeedID]
		if duplicate && other.Until.After(sub.Until) {
			sub, other = other, sub
		}
		s.current[sub.FeedID] = sub
		if duplicate { // created by two subscribers
			if err := s.unsubscribe(ctx, other); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// owns reports whether a subscription is of its partition. Those of a backup may state partitions of a schedule with more of
// them: the subscriber that owns one ends it if its partition has no such feed.
func (s *Subscriber) owns(sub Subscription) bool {
	return sub.Partition%max(1, s.Partitions) == s.Partition
}

// SetHub sets the hub and the topic of a feed, both absolute URLs. If one is empty, the subscription ends. Want
// only stores the change; [Subscriber.Run] sends the requests. Without a change it does nothing, so it may be
// called with each document. A change within a day of the last one is ignored until then, because some feeds
// state a different topic each time.
func (s *Subscriber) SetHub(ctx context.Context, feedID, hub, topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	current, subscribed := s.current[feedID]
	available := hub != "" && topic != ""
	same := current.Hub == hub && current.Topic == topic || s.Now().Before(current.Since.Add(denialBackoff))
	if subscribed == available && (!available || same && current.Base == s.Base) {
		return nil
	}
	if subscribed {
		if err := s.unsubscribe(ctx, current); err != nil {
			return err
		}
		delete(s.current, feedID)
	}
	if !available {
		return nil
	}
	sub := Subscription{
		Token: rand.Text(), FeedID: feedID, Partition: s.Partition, Topic: topic, Hub: hub, Base: s.Base,
		Secret: rand.Text() + rand.Text(), // 260 bits; the Recommendation allows 200 bytes
		State:  Queued, Since: s.Now(), Next: s.Now(),
	}
	var err error
	if sub.Revision, err = s.Subscriptions.Put(ctx, sub); err != nil {
		return fmt.Errorf("store subscription of feed %s: %w", feedID, err)
	}
	s.current[feedID] = sub
	return nil
}

// unsubscribe ends a subscription: its hub is requested to stop if a request was sent before.
func (s *Subscriber) unsubscribe(ctx context.Context, sub Subscription) error {
	_, err := change(ctx, s.Subscriptions, sub.Token, func(sub *Subscription) bool {
		sub.unsubscribe(s.Now())
		return true
	})
	if err != nil && !errors.Is(err, ErrUnknown) {
		return fmt.Errorf("end subscription of feed %s: %w", sub.FeedID, err)
	}
	return nil
}

// Subscription returns the subscription of a feed as last read, up to some minutes ago, and whether it
// exists.
func (s *Subscriber) Subscription(feedID string) (Subscription, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, ok := s.current[feedID]
	return sub, ok
}

// FeedIDs returns the feeds with a subscription.
func (s *Subscriber) FeedIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.current))
}

// updateCache updates the cached subscription.
func (s *Subscriber) updateCache(sub Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cached := s.current[sub.FeedID]; cached.Token == sub.Token && cached.Revision < sub.Revision {
		s.current[sub.FeedID] = sub
	}
}
