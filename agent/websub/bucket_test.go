package websub

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/embedded/embeddedtest"
)

// bucket stores subscriptions in a JetStream key-value bucket.
type bucket struct{ kv jetstream.KeyValue }

func newBucket(t *testing.T) bucket {
	t.Helper()
	js, err := jetstream.New(embeddedtest.Connect(t, embeddedtest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "websub", Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	return bucket{kv}
}

func (b bucket) Get(ctx context.Context, token string) (Subscription, error) {
	entry, err := b.kv.Get(ctx, token)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Subscription{}, ErrUnknown
	} else if err != nil {
		return Subscription{}, err
	}
	return decode(entry)
}

func (b bucket) List(ctx context.Context) iter.Seq2[Subscription, error] {
	return func(yield func(Subscription, error) bool) {
		watcher, err := b.kv.WatchAll(ctx, jetstream.IgnoreDeletes())
		if err != nil {
			yield(Subscription{}, err)
			return
		}
		defer watcher.Stop()
		for entry := range watcher.Updates() {
			if entry == nil {
				return // those there were
			}
			if s, err := decode(entry); !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func (b bucket) Put(ctx context.Context, s Subscription) (uint64, error) {
	value, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	var revision uint64
	if s.Revision == 0 {
		revision, err = b.kv.Create(ctx, s.Token, value)
	} else {
		revision, err = b.kv.Update(ctx, s.Token, value, s.Revision)
	}
	return revision, changed(err)
}

func (b bucket) Delete(ctx context.Context, s Subscription) error {
	return changed(b.kv.Purge(ctx, s.Token, jetstream.LastRevision(s.Revision)))
}

func changed(err error) error {
	if errors.Is(err, jetstream.ErrKeyExists) {
		return ErrChanged
	}
	return err
}

func decode(entry jetstream.KeyValueEntry) (s Subscription, err error) {
	err = json.Unmarshal(entry.Value(), &s)
	s.Revision = entry.Revision()
	return s, err
}
