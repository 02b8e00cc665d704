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

// TestLife follows a subscription from the first wish to the last farewell.
func TestLife(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	if n := hub.times("subscribe"); n != 1 {
		t.Fatalf("the hub was asked %d times, want once", n)
	}
	s := w.is(feed, Verified)
	if s.Lease != lease || !s.Until.Equal(start.Add(lease)) {
		t.Errorf("lease of %v until %v, want the 10 days that were asked for", s.Lease, s.Until)
	}
	if len(s.Secret) < 32 || len(s.Secret) > 200 || len(s.Token) < 26 {
		t.Errorf("secret of %d and token of %d characters", len(s.Secret), len(s.Token))
	}

	for callback, status := range hub.publish(topic, "one") {
		if status != http.StatusAccepted || callback != w.server.URL+Path+s.Token {
			t.Errorf("a push to %s was answered %d", callback, status)
		}
	}
	got := w.delivered()
	if len(got) != 1 || got[0].FeedID != feed || got[0].Topic != topic || got[0].ContentType != "application/atom+xml" || string(got[0].Body) != "one" {
		t.Fatalf("delivered %+v, want one push", got)
	}

	w.wait(lease*2/3 - time.Minute)
	w.act()
	if n := hub.times("subscribe"); n != 1 {
		t.Errorf("it was renewed before two thirds of the lease")
	}
	w.wait(time.Minute)
	w.act()
	if n := hub.times("subscribe"); n != 2 {
		t.Errorf("it was not renewed after two thirds of the lease")
	}
	renewed := w.is(feed, Verified)
	if want := w.time().Add(lease); !renewed.Until.Equal(want) || renewed.Token != s.Token || renewed.Secret != s.Secret {
		t.Errorf("renewed until %v as %s, want %v and the callback and secret the hub knows", renewed.Until, renewed.Token, want)
	}

	w.want(feed, "", "")
	if n := hub.times("unsubscribe"); n != 1 {
		t.Errorf("the hub was told %d times to push no more, want once", n)
	}
	w.is(feed, Left)
	if len(hub.publish(topic, "two")) != 0 {
		t.Error("the hub goes on")
	}
	if status := hub.push(w.server.URL+Path+s.Token, "two", "sha256="+sign(s.Secret, "two")); status != http.StatusGone || len(w.delivered()) != 0 {
		t.Errorf("a push after the end was answered %d, want 410", status)
	}
	w.wait(patience)
	w.act()
	if s := w.stored(feed); s.Token != "" {
		t.Errorf("it is still there: %+v", s)
	}
}

// TestTwoWriters: what handlers and the subscriber change at the same time is
// all there afterwards.
func TestTwoWriters(t *testing.T) {
	w := newWorld(t)
	if err := w.Want(t.Context(), feed, "https://hub.test/", topic); err != nil {
		t.Fatal(err)
	}
	token := w.stored(feed).Token
	var g sync.WaitGroup
	const writers = changeTries // each try of one that fails is the success of another
	for range writers {
		g.Go(func() {
			if _, err := change(t.Context(), w.bucket, token, func(s *Subscription) bool { s.Failures++; return true }); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	if s := w.stored(feed); s.Failures != writers {
		t.Errorf("%d changes, want %d", s.Failures, writers)
	}
}
