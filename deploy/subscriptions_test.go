package deploy_test

import (
	"errors"
	"testing"

	"feedmesh/agent/websub"
)

// The schedule creates and removes subscriptions at hubs; the API records the calls of hubs.
func TestSubscriptions_SharedByScheduleAndAPI(t *testing.T) {
	c := startCluster(t)
	for _, users := range [][2]string{{"schedule", "api"}, {"all", "all"}} {
		asks, hears := c.join(t, users[0]).Subscriptions(), c.join(t, users[1]).Subscriptions()
		if _, err := asks.Put(t.Context(), websub.Subscription{Token: "TOKEN", State: websub.Requested}); err != nil {
			t.Fatal(err)
		}
		var sub websub.Subscription
		wait(t, users[1]+" sees it", func() (seen bool) {
			var err error
			if sub, err = hears.Get(t.Context(), "TOKEN"); err != nil && !errors.Is(err, websub.ErrUnknown) {
				t.Fatal(err)
			}
			return err == nil
		})
		sub.State = websub.Verified
		if _, err := hears.Put(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		n := 0
		for sub, err := range asks.List(t.Context()) {
			if err != nil || sub.State != websub.Verified {
				t.Errorf("%s: got %+v, %v; want the record of %s", users[0], sub, err, users[1])
			}
			if err := asks.Delete(t.Context(), sub); err != nil {
				t.Error(err)
			}
			n++
		}
		if n != 1 {
			t.Errorf("%s: got %d subscriptions, want 1", users[0], n)
		}
	}
}
