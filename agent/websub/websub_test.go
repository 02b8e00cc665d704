package websub

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

const (
	topic = "https://a.test/feed?a=1&b=ü"
	feed  = "feed1"
	day   = 24 * time.Hour
)

// The test follows a subscription from the first request to its deletion.
func TestSubscription_Lifecycle(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	if n := hub.countRequests("subscribe"); n != 1 {
		t.Fatalf("got %d subscribe requests, want 1", n)
	}
	s := w.checkState(feed, Verified)
	if s.Lease != lease || !s.Until.Equal(start.Add(lease)) {
		t.Errorf("got lease %v until %v, want the requested 10 days", s.Lease, s.Until)
	}
	if len(s.Secret) < 32 || len(s.Secret) > 200 || len(s.Token) < 26 {
		t.Errorf("got a secret of %d and a token of %d characters", len(s.Secret), len(s.Token))
	}

	for callback, status := range hub.publish(topic, "one") {
		if status != http.StatusAccepted || callback != w.server.URL+Path+s.Token {
			t.Errorf("push to %s: got %d, want 202", callback, status)
		}
	}
	got := w.delivered()
	if len(got) != 1 || got[0].FeedID != feed || got[0].Topic != topic || got[0].ContentType != "application/atom+xml" || string(got[0].Body) != "one" {
		t.Fatalf("got deliveries %+v, want one push", got)
	}

	w.advance(lease*2/3 - time.Minute)
	w.runRound()
	if n := hub.countRequests("subscribe"); n != 1 {
		t.Errorf("got a renewal before two thirds of the lease")
	}
	w.advance(time.Minute)
	w.runRound()
	if n := hub.countRequests("subscribe"); n != 2 {
		t.Errorf("got no renewal after two thirds of the lease")
	}
	renewed := w.checkState(feed, Verified)
	if want := w.time().Add(lease); !renewed.Until.Equal(want) || renewed.Token != s.Token || renewed.Secret != s.Secret {
		t.Errorf("got renewal until %v with token %s, want %v and the same callback and secret", renewed.Until, renewed.Token, want)
	}

	w.setHub(feed, "", "")
	if n := hub.countRequests("unsubscribe"); n != 1 {
		t.Errorf("got %d unsubscribe requests, want 1", n)
	}
	w.checkState(feed, Unsubscribed)
	if len(hub.publish(topic, "two")) != 0 {
		t.Error("got pushes after unsubscribe, want none")
	}
	if status := hub.push(w.server.URL+Path+s.Token, "two", "sha256="+sign(s.Secret, "two")); status != http.StatusGone || len(w.delivered()) != 0 {
		t.Errorf("push after unsubscribe: got %d, want 410", status)
	}
	w.advance(confirmTimeout)
	w.runRound()
	if s := w.stored(feed); s.Token != "" {
		t.Errorf("got %+v, want it deleted", s)
	}
}

// Concurrent changes by handlers and the subscriber are all stored.
func TestChange_ConcurrentWriters(t *testing.T) {
	w := newTestbed(t)
	if err := w.SetHub(t.Context(), feed, "https://hub.test/", topic); err != nil {
		t.Fatal(err)
	}
	token := w.stored(feed).Token
	var g sync.WaitGroup
	const writers = maxChangeAttempts // each conflict means that another writer succeeded
	for range writers {
		g.Go(func() {
			if _, err := change(t.Context(), w.bucket, token, func(s *Subscription) bool { s.Failures++; return true }); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	if s := w.stored(feed); s.Failures != writers {
		t.Errorf("got %d changes, want %d", s.Failures, writers)
	}
}
