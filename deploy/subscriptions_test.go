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
		var listed []websub.Subscription
		wait(t, users[0]+" lists what "+users[1]+" wrote", func() bool {
			listed = nil
			for sub, err := range asks.List(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				listed = append(listed, sub)
			}
			return len(listed) == 1 && listed[0].State == websub.Verified
		})
		if err := asks.Delete(t.Context(), listed[0]); err != nil {
			t.Error(err)
		}
	}
}
