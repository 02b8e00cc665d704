package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// subscribe stores a subscription of a client that is off for a reason; empty: it is on.
func subscribe(t testing.TB, b *servicetest.Testbed, id, owner, channel, off string) {
	t.Helper()
	s := storage.Subscription{ID: id, Owner: owner, Title: id, Views: []int64{1}, Channel: channel, Receiver: "https://receiver.example/", Created: noon}
	if err := storage.Subscriptions(b.Store).Change(t.Context(), id, func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		t.Fatal(err)
	}
	if off == "" {
		return
	}
	if err := b.Store.ChangeDelivery(t.Context(), id, func(d *storage.DeliveryState) { d.Off = off }); err != nil {
		t.Fatal(err)
	}
}

func as(t testing.TB, id string) context.Context {
	return access.With(t.Context(), access.Client{ID: id, Scopes: access.Scopes})
}

func TestSubscriptions_CountOff(t *testing.T) {
	t.Parallel()
	now := noon
	b := servicetest.New(t, func() time.Time { return now })
	subscribe(t, b, "a", "ann", deliver.Webhook, "it failed for 5 days")
	subscribe(t, b, "b", "ann", deliver.NATS, "")
	subscribe(t, b, "c", "ann", deliver.WebSub, "it failed for 5 days")
	subscribe(t, b, "d", access.LocalID, deliver.Webhook, "it failed for 5 days")
	want := func(what, client string, n int) {
		t.Helper()
		if got := b.Subscriptions.CountOff(as(t, client)); got != n {
			t.Errorf("%s: got %d of %s, want %d", what, got, client, n)
		}
	}
	want("at first", "ann", 1)
	want("at first", "bob", 0)
	want("the same person", access.OwnerID, 1)
	if err := b.Store.ChangeDelivery(t.Context(), "b", func(d *storage.DeliveryState) { d.Off = "it failed for 5 days" }); err != nil {
		t.Fatal(err)
	}
	want("cached", "ann", 1)
	now = now.Add(time.Hour)
	want("after the age of the cache", "ann", 2)
	now = now.Add(-2 * time.Hour)
	in := wire.ChangeSubscriptionRequest{ByID: wire.ByID{ID: "a"}}
	for _, on := range []bool{true, false} { // off on request is no news
		in.Body.On = on
		if _, err := b.Subscriptions.Change(as(t, "ann"), in); err != nil {
			t.Fatal(err)
		}
		want("after a change", "ann", 1)
	}
	if _, err := b.Subscriptions.Remove(as(t, "ann"), wire.ByID{ID: "b"}); err != nil {
		t.Fatal(err)
	}
	want("after the other was removed", "ann", 0)
}

// An alert on sentiments is refused while the views have only items without one.
func TestSubscriptions_AlertOnSentiments(t *testing.T) {
	t.Parallel()
	b := servicetest.New(t, func() time.Time { return noon })
	ctx := as(t, "ann")
	if _, err := b.Views.Save(ctx, wire.SaveViewRequest{Name: "all", Body: wire.ViewSetting{Definition: "view all = from all"}}); err != nil {
		t.Fatal(err)
	}
	v, err := storage.Views(b.Store).Get(ctx, "all")
	if err != nil {
		t.Fatal(err)
	}
	b.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/", Added: noon})
	enter := func(item storage.Item) {
		t.Helper()
		item.Published, item.FirstSeen = noon, noon
		id := b.PutItems(t, "f", item)[0].ID
		if err := b.Store.ChangeMembers(ctx, storage.Fence{}, []storage.Member{{View: v.Number, ItemID: id, Entered: noon, Published: noon}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	add := func() error {
		in := wire.AddSubscriptionRequest{}
		in.Body.Views, in.Body.Channel, in.Body.Receiver, in.Body.Alert = []string{"all"}, deliver.NATS, "name", "sentiment falls by 0.3 in 24h"
		_, err := b.Subscriptions.Add(ctx, in)
		return err
	}
	if err := add(); err != nil {
		t.Errorf("for a view without items: %v", err)
	}
	enter(storage.Item{Key: "a"})
	if err := add(); err == nil || !strings.Contains(err.Error(), "classify.sentiment") {
		t.Errorf("for a view without sentiments: got %v, want an error with the setting", err)
	}
	enter(storage.Item{Key: "b", Sentiment: -0.5})
	if err := add(); err != nil {
		t.Errorf("for a view with a sentiment: %v", err)
	}
}

// BenchmarkSubscriptions_CountOff reads how many of the maximum number of subscriptions are off, and has the number from the cache, as pages do.
func BenchmarkSubscriptions_CountOff(b *testing.B) {
	now := noon
	bed := servicetest.New(b, func() time.Time { return now })
	for i := range storage.MaxSubscriptions {
		subscribe(b, bed, fmt.Sprint("s", i), fmt.Sprint("client", i/10), deliver.Webhook, "")
	}
	for name, age := range map[string]time.Duration{"read": 24 * time.Hour, "cached": 0} {
		b.Run(name, func(b *testing.B) {
			ctx := as(b, "client1")
			for b.Loop() {
				now = now.Add(age)
				bed.Subscriptions.CountOff(ctx)
			}
		})
	}
}
