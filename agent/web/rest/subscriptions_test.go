package rest

import (
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// subscribed stores a subscription with an attempt for item 1.
func (w *testbed) subscribed(t *testing.T, id string) {
	t.Helper()
	s := storage.Subscription{ID: id, Owner: access.LocalID, Title: id, Views: []int64{1}, Channel: "webhook", Receiver: "https://receiver.example/", Created: w.Now()}
	if err := storage.Subscriptions(w.Store).Change(t.Context(), id, func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		t.Fatal(err)
	}
	attempt := storage.Attempt{View: 1, Serial: 1, ItemID: w.itemOf("1"), Items: 1, Number: 1, Entered: w.Now(), At: w.Now(), Status: 503, Error: "busy", Next: w.Now()}
	if err := w.Store.FinishDelivery(t.Context(), "", storage.DeliveryState{Subscription: id, Failures: 1, FailingSince: w.Now()}, []storage.Attempt{attempt}, false); err != nil {
		t.Fatal(err)
	}
}

func TestSubscriptions_AreOfTheirClient(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	ann, bob, admin := w.secret(t, access.Read, access.Write), w.secret(t, access.Read, access.Write), w.secret(t, access.Admin)
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	if a := putView(t, w, "view own = from all", as(ann)...); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	const body = `{"views":["own"],"channel":"webhook","receiver":"https://u:pass-word@receiver.example/hook?key=hidden"}`
	if a := w.request(t, "POST", "/api/subscriptions", body, as(bob)...); a.StatusCode != 409 || !strings.Contains(a.body, "no view own") {
		t.Errorf("got %d %s, for a view of another client", a.StatusCode, a.body)
	}
	a := w.request(t, "POST", "/api/subscriptions", body, as(ann)...)
	added := answerAs[wire.AddedSubscription](t, a)
	if a.StatusCode != 201 || !strings.HasPrefix(added.Secret, "whsec_") || added.State != "on" || added.Title != "own" || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %+v", a.StatusCode, added)
	}
	list := func(token string) string { return w.request(t, "GET", "/api/subscriptions", "", as(token)...).body }
	if got := list(ann); strings.Contains(got, "hidden") || strings.Contains(got, "pass-word") || strings.Contains(got, added.Secret) || !strings.Contains(got, "receiver.example/hook") {
		t.Errorf("got %s, want it without secrets", got)
	}
	if got := list(bob); strings.Contains(got, added.ID) {
		t.Errorf("another client sees %s", got)
	}
	if got := list(admin); !strings.Contains(got, added.ID) {
		t.Errorf("an administrator sees %s", got)
	}
	path := "/api/subscriptions/" + added.ID
	for _, r := range []struct{ method, path, body string }{
		{"GET", path, ""}, {"PATCH", path, `{"on":false}`}, {"DELETE", path, ""}, {"GET", path + "/attempts", ""}, {"POST", path + "/repeat", `{"item":"x"}`},
	} {
		if a := w.request(t, r.method, r.path, r.body, as(bob)...); a.StatusCode != 404 {
			t.Errorf("%s %s by another client: got %d", r.method, r.path, a.StatusCode)
		}
	}
	if a := w.request(t, "DELETE", "/api/views/own", "", as(ann)...); a.StatusCode != 409 {
		t.Errorf("got %d, a view with a subscription was removed", a.StatusCode)
	}
	off := answerAs[wire.SubscriptionState](t, w.request(t, "PATCH", path, `{"on":false}`, as(ann)...))
	if off.State != "off" || off.Off == "" {
		t.Errorf("got %+v", off)
	}
	if on := answerAs[wire.SubscriptionState](t, w.request(t, "PATCH", path, `{"on":true}`, as(ann)...)); on.State != "on" || on.Off != "" {
		t.Errorf("got %+v", on)
	}
	if a := w.request(t, "DELETE", path, "", as(ann)...); a.StatusCode != 204 {
		t.Errorf("got %d", a.StatusCode)
	}
}

// The subscriptions of a client end with its token.
func TestSubscriptions_EndWithTheirToken(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	token := answerAs[wire.NewToken](t, w.request(t, "POST", "/api/tokens", `{"name":"ann","scopes":["read","write"]}`))
	as := []string{"Authorization", "Bearer " + token.Secret}
	putView(t, w, "view own = from all", as...)
	if a := w.request(t, "POST", "/api/subscriptions", `{"views":["own"],"channel":"nats","receiver":"own"}`, as...); a.StatusCode != 201 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	w.request(t, "DELETE", "/api/tokens/"+token.ID, "")
	if left := getJSON[wire.SubscriptionList](t, w, "/api/subscriptions").Subscriptions; len(left) > 0 {
		t.Errorf("%+v are left", left)
	}
}
