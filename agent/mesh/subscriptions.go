package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/websub"
	"feedmesh/subjects"
)

type subscriptions struct{ client *client }

func (s subscriptions) Get(ctx context.Context, token string) (websub.Subscription, error) {
	kv, err := s.client.bucket(ctx, subjects.SubscriptionBucket)
	if err != nil {
		return websub.Subscription{}, err
	}
	entry, err := kv.Get(perRequestTimeout(ctx), token)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return websub.Subscription{}, websub.ErrUnknown
	} else if err != nil {
		return websub.Subscription{}, fmt.Errorf("read subscription: %w", err)
	}
	sub, err := s.values().decode(entry)
	if err != nil {
		s.values().skip(entry, err)
		return websub.Subscription{}, websub.ErrUnknown
	}
	sub.Revision = entry.Revision()
	return *sub, nil
}

func (s subscriptions) values() values[websub.Subscription] {
	return values[websub.Subscription]{client: s.client, bucket: subjects.SubscriptionBucket, check: checkSubscription}
}

func checkSubscription(token string, sub *websub.Subscription) error {
	if sub.Token != token {
		return errors.New("subscription with another token")
	}
	return nil
}

// List reads all subscriptions before it yields the first, so that a slow caller does not block the watch. It
// moves unreadable subscriptions to the quarantine.
func (s subscriptions) List(ctx context.Context) iter.Seq2[websub.Subscription, error] {
	return func(yield func(websub.Subscription, error) bool) {
		var all []websub.Subscription
		err := s.values().load(ctx, func(entry jetstream.KeyValueEntry, sub *websub.Subscription) {
			sub.Revision = entry.Revision()
			all = append(all, *sub)
		})
		if err != nil {
			yield(websub.Subscription{}, err)
			return
		}
		for _, sub := range all {
			if !yield(sub, nil) {
				return
			}
		}
	}
}

func (s subscriptions) Put(ctx context.Context, sub websub.Subscription) (revision uint64, err error) {
	kv, err := s.client.bucket(ctx, subjects.SubscriptionBucket)
	if err != nil {
		return 0, err
	}
	value, err := json.Marshal(sub)
	if err != nil {
		return 0, err
	}
	if sub.Revision == 0 {
		revision, err = kv.Create(perRequestTimeout(ctx), sub.Token, value)
	} else {
		revision, err = kv.Update(perRequestTimeout(ctx), sub.Token, value, sub.Revision)
	}
	return revision, changedError("write", err)
}

// Delete purges the subscription at its revision, and then the purge marker too: tokens are never reused.
func (s subscriptions) Delete(ctx context.Context, sub websub.Subscription) error {
	kv, err := s.client.bucket(ctx, subjects.SubscriptionBucket)
	if err != nil {
		return err
	}
	ctx = perRequestTimeout(ctx)
	if err := kv.Purge(ctx, sub.Token, jetstream.LastRevision(sub.Revision)); err != nil {
		return changedError("remove", err)
	}
	stream, err := s.client.js.Stream(ctx, "KV_"+subjects.SubscriptionBucket)
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(subjects.SubscriptionKey(sub.Token)))
	}
	return changedError("remove", err)
}

// changedError converts the error of a write with an outdated revision to [websub.ErrChanged].
func changedError(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case isStale(err):
		return websub.ErrChanged
	}
	return fmt.Errorf("%s subscription: %w", what, err)
}
