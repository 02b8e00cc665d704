package mesh_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/websub"
	"feedmesh/subjects"
)

// tokensOf returns the tokens of all subscriptions, sorted.
func tokensOf(t *testing.T, in websub.Subscriptions) []string {
	t.Helper()
	var tokens []string
	for sub, err := range in.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, sub.Token)
	}
	slices.Sort(tokens)
	return tokens
}

func TestSubscriptions_PutRequiresRevision(t *testing.T) {
	r := newRig(t)
	in, other := r.join("a").Subscriptions(), r.join("b").Subscriptions()
	if got := tokensOf(t, in); got != nil {
		t.Errorf("got %v from an empty bucket, want none", got)
	}
	one := websub.Subscription{Token: "ONE", FeedID: "f", State: websub.Queued, Until: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Seen: []byte("12345678")}
	revision, err := in.Put(t.Context(), one)
	if err != nil || revision == 0 {
		t.Fatalf("got revision %d, %v", revision, err)
	}
	if _, err := other.Put(t.Context(), one); !errors.Is(err, websub.ErrChanged) {
		t.Errorf("create an existing subscription: got %v, want %v", err, websub.ErrChanged)
	}
	got, err := other.Get(t.Context(), "ONE")
	if err != nil || got.Revision != revision || got.FeedID != "f" || !got.Until.Equal(one.Until) || string(got.Seen) != "12345678" {
		t.Fatalf("got %+v, %v; want the stored subscription of revision %d", got, err, revision)
	}
	got.State = websub.Verified
	if _, err := other.Put(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	one.Revision = revision
	if _, err := in.Put(t.Context(), one); !errors.Is(err, websub.ErrChanged) {
		t.Errorf("change with an old revision: got %v, want %v", err, websub.ErrChanged)
	}
	if err := in.Delete(t.Context(), one); !errors.Is(err, websub.ErrChanged) {
		t.Errorf("delete with an old revision: got %v, want %v", err, websub.ErrChanged)
	}
	if now, err := in.Get(t.Context(), "ONE"); err != nil || now.State != websub.Verified {
		t.Errorf("got %+v, %v; want the second writer's change", now, err)
	}
}

func TestSubscriptions_DeleteLeavesNoMarker(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	in := m.Subscriptions()
	for _, token := range []string{"ONE", "TWO", "THREE"} {
		if _, err := in.Put(t.Context(), websub.Subscription{Token: token}); err != nil {
			t.Fatal(err)
		}
	}
	two, err := in.Get(t.Context(), "TWO")
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Delete(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Get(t.Context(), "TWO"); !errors.Is(err, websub.ErrUnknown) {
		t.Errorf("got %v, want %v", err, websub.ErrUnknown)
	}
	if got := tokensOf(t, in); !slices.Equal(got, []string{"ONE", "THREE"}) {
		t.Errorf("got %v, want the others", got)
	}
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_"+subjects.SubscriptionBucket)
	if err != nil || stream.CachedInfo().State.Msgs != 2 {
		t.Errorf("got %+v, %v; want two records and no marker of the third", stream, err)
	}
}

func TestSubscriptions_ListSkipsUnreadable(t *testing.T) {
	r := newRig(t)
	in := r.join("a").Subscriptions()
	if _, err := in.Put(t.Context(), websub.Subscription{Token: "ONE"}); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(r.connect())
	if err == nil {
		_, err = js.Publish(t.Context(), subjects.SubscriptionKey("TWO"), []byte("no JSON"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := tokensOf(t, in); !slices.Equal(got, []string{"ONE"}) {
		t.Errorf("got %v, want the readable subscription", got)
	}
	if _, err := in.Get(t.Context(), "TWO"); !errors.Is(err, websub.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}
