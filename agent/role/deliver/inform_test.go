package deliver

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/tests/engines"
)

// own makes a client the owner of a subscription.
func (f *fixture) own(id, owner string) {
	f.Helper()
	err := storage.Subscriptions(f.store).Change(f.Context(), id, func(s *storage.Subscription) (*storage.Subscription, error) {
		next := *s
		next.Owner = owner
		return &next, nil
	})
	if err != nil {
		f.Fatal(err)
	}
}

// An offBody is what informs the owner of a subscription that it is off.
type offBody struct {
	Type string
	Data struct{ ID, Title, Channel, Reason, URL string }
}

// notices returns the accepted messages that a subscription is off, with the number of their receipts.
func (r *receiver) notices(t testing.TB) (all []offBody, receipts int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.order {
		var body offBody
		if err := json.Unmarshal([]byte(r.accepted[id][0]), &body); err != nil {
			t.Error(err)
		}
		if body.Type == "subscription.off" {
			all, receipts = append(all, body), receipts+len(r.accepted[id])
		}
	}
	return all, receipts
}

func isInformed(d storage.DeliveryState) bool { return d.Off != "" && d.Inform.IsZero() }

// The owner is informed once through another subscription of his, with several processes; other owners are not.
func TestInform_OnceThroughAnotherSubscription(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	f.env.Config.PublicURL = "https://feeds.example.net/"
	works, others := newReceiver(t, nil), newReceiver(t, nil)
	f.subscribe("gone", Webhook, newReceiver(t, respondWith(410)).URL, 1)
	f.subscribe("works", Webhook, works.URL, 2)
	f.subscribe("others", Webhook, others.URL, 2)
	f.subscribe("nats", NATS, "name", 2)
	f.own("others", "bob")
	for range 3 {
		defer f.run()()
	}
	f.enter(1, "x")
	f.state("gone", "off, and its owner informed", isInformed)
	got, receipts := works.notices(t)
	if len(got) != 1 || receipts != 1 {
		t.Fatalf("got %+v in %d receipts", got, receipts)
	}
	if d := got[0].Data; d.ID != "gone" || d.Title != "gone" || d.Channel != Webhook || !strings.Contains(d.Reason, "wants no more") || d.URL != "https://feeds.example.net/views/subscriptions/gone" {
		t.Errorf("got %+v", d)
	}
	if got, _ := others.notices(t); len(got) > 0 {
		t.Errorf("another client was informed: %+v", got)
	}
}

// Without another subscription that works, it is tried again until one does, with the same ID, or the time is over.
func TestInform_TriedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3600) // an hour a second
	var mu sync.Mutex
	ids := map[string]int{}
	other := newReceiver(t, func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		ids[r.Header.Get("Webhook-Id")]++
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	})
	f.subscribe("gone", Webhook, newReceiver(t, respondWith(410)).URL, 1)
	f.subscribe("other", Webhook, other.URL, 2)
	defer f.run()()
	f.enter(1, "x")
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		mu.Lock()
		tries := 0
		for _, n := range ids {
			tries += n
		}
		mu.Unlock()
		if tries >= 3 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it was not tried again")
		}
	}
	if off := f.state("gone", "off", func(d storage.DeliveryState) bool { return d.Off != "" }); off.Inform.IsZero() {
		t.Errorf("got %+v, want the owner to be informed", off)
	}
	other.now(nil)
	f.state("gone", "off, and its owner informed", isInformed)
	mu.Lock()
	defer mu.Unlock()
	if got, _ := other.notices(t); len(ids) != 1 || len(got) != 1 { // a claim lasts 3 ms by this clock: it may be received twice, with the same ID
		t.Errorf("got %+v after tries %v", got, ids)
	}
}

func TestInform_GivenUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 24*3600) // a day a second
	f.subscribe("gone", Webhook, newReceiver(t, respondWith(410)).URL, 1)
	defer f.run()()
	f.enter(1, "x")
	off := f.state("gone", "off", func(d storage.DeliveryState) bool { return d.Off != "" && !d.Inform.IsZero() })
	f.state("gone", "given up", isInformed)
	if now := f.env.Clock.Now(); now.Before(off.Inform) {
		t.Errorf("given up at %v, want it after %v", now, off.Inform)
	}
}

// A process that ends before it stored that the owner was informed leaves that to another one, which sends the same ID.
func TestInform_AfterACrash(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 10)
	arrived, block := make(chan string, 10), make(chan struct{})
	other := newReceiver(t, func(w http.ResponseWriter, r *http.Request) bool {
		arrived <- r.Header.Get("Webhook-Id")
		select {
		case <-block:
		case <-r.Context().Done():
		}
		return true
	})
	f.subscribe("gone", Webhook, newReceiver(t, respondWith(410)).URL, 1)
	f.subscribe("other", Webhook, other.URL, 2)
	end := f.run()
	f.enter(1, "x")
	first := <-arrived
	end() // the receiver has the message, but its response is lost
	close(block)
	if d := f.state("gone", "off", func(d storage.DeliveryState) bool { return d.Off != "" }); d.Inform.IsZero() {
		t.Fatalf("got %+v, informed without a response", d)
	}
	defer f.run()()
	f.state("gone", "off, and its owner informed", isInformed)
	if second := <-arrived; second != first {
		t.Errorf("got IDs %s and %s", first, second)
	}
}

// WebSub subscribers are not turned on by a person, and a subscription that its owner turned off is no news.
func TestInform_NotOfWebSubSubscribersAndRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	works := newReceiver(t, nil)
	f.subscribe("push", WebSub, newReceiver(t, respondWith(410)).URL, 1)
	err := storage.Subscriptions(f.store).Change(t.Context(), "push", func(s *storage.Subscription) (*storage.Subscription, error) {
		next := *s
		next.Topic = "https://mesh.example/outputs/views/a.atom"
		return &next, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.subscribe("requested", Webhook, works.URL, 1)
	if err := f.store.ChangeDelivery(t.Context(), "requested", func(d *storage.DeliveryState) { d.Off = "turned off on request" }); err != nil {
		t.Fatal(err)
	}
	f.subscribe("works", Webhook, works.URL, 1)
	defer f.run()()
	items := f.enter(1, "x")
	f.state("push", "off", func(d storage.DeliveryState) bool { return d.Off != "" && d.Inform.IsZero() })
	works.awaitItems(t, items...)
	if got, _ := works.notices(t); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
}

// Mail is preferred. The mail has the page, and no link that would end the subscription through which it was sent.
func TestInform_ByMail(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped by -short: it starts a mail server")
	}
	server, err := engines.StartMailServer(t.TempDir())
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED, NOT TESTED: smtp-server or mailparser is not installed; run just engines")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	f := newFixture(t, 1)
	f.env.Config.Mail = config.Mail{Server: server.Plain, From: "feeds@example.org", TLS: "none"}
	f.env.Config.PublicURL = "https://feeds.example.net/"
	hook := newReceiver(t, nil)
	f.subscribe("gone", Webhook, newReceiver(t, respondWith(410)).URL, 1)
	f.subscribe("hook", Webhook, hook.URL, 2)
	f.subscribe("mail", Mail, "ann@example.org", 2)
	defer f.run()()
	f.enter(1, "x")
	f.state("gone", "off, and its owner informed", isInformed)
	mails, err := server.Inbox()
	if err != nil || len(mails) != 1 {
		t.Fatalf("got %+v, %v", mails, err)
	}
	got := mails[0]
	for _, want := range []string{"wants no more", "https://feeds.example.net/views/subscriptions/gone"} {
		if !strings.Contains(got.Text, want) || !strings.Contains(got.HTML, want) {
			t.Errorf("the mail lacks %q: %s", want, got.Raw)
		}
	}
	if got.Subject != "gone: this subscription is off" || strings.Contains(got.Raw, "nsubscribe") {
		t.Errorf("got %s", got.Raw)
	}
	if got, _ := hook.notices(t); len(got) > 0 {
		t.Errorf("got %+v also by a webhook", got)
	}
}
