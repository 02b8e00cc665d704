package websub

import (
	"context"
	"iter"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// SetHub creates, replaces and ends subscriptions when the feed's hub or topic changes.
func TestSetHub_Changes(t *testing.T) {
	w := newTestbed(t)
	const hub = "https://hub.test/"
	setHub := func(hub, topic string) Subscription {
		t.Helper()
		if err := w.SetHub(t.Context(), feed, hub, topic); err != nil {
			t.Fatal(err)
		}
		s, _ := w.Subscription(feed)
		return s
	}
	for _, none := range [][2]string{{"", ""}, {hub, ""}, {"", topic}} {
		if s := setHub(none[0], none[1]); s.Token != "" {
			t.Errorf("hub %q and topic %q: got subscription %+v, want none", none[0], none[1], s)
		}
	}
	first := setHub(hub, topic)
	if first.State != Queued || first.Hub != hub || first.Topic != topic {
		t.Fatalf("got %+v", first)
	}
	if s := setHub(hub, topic); s.Token != first.Token || s.Revision != first.Revision {
		t.Error("got a change for the same hub and topic")
	}
	w.advance(day - time.Second)
	if s := setHub("https://other.test/", topic); s.Token != first.Token {
		t.Error("got the hub replaced within a day, want it kept")
	}
	w.advance(time.Second)
	second := setHub("https://other.test/", topic)
	if second.Token == first.Token || second.Hub != "https://other.test/" {
		t.Errorf("got %+v after a day, want the other hub", second)
	}
	if old, err := w.bucket.Get(t.Context(), first.Token); err != nil || old.State != Unsubscribing {
		t.Errorf("former subscription: got %+v, %v; want it unsubscribing", old, err)
	}
	w.Base = "https://moved.test"
	third := setHub("https://other.test/", topic)
	if third.Token == second.Token || third.Base != w.Base {
		t.Errorf("got %+v, want the new base URL", third)
	}
	if s := setHub("", ""); s.Token != "" {
		t.Errorf("got %+v without a hub, want no subscription", s)
	}
}

// Open restores stored subscriptions and ends duplicates.
func TestOpen_RestoresAndRemovesDuplicates(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	hub.countRequests("subscribe")
	verified := w.checkState(feed, Verified)
	reopened, err := Open(t.Context(), w.Options)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := reopened.Subscription(feed); !ok || s.Token != verified.Token || !w.time().Before(s.Until) {
		t.Fatalf("got %+v, want the stored subscription", s)
	}
	if err := reopened.SetHub(t.Context(), feed, hub.URL, topic); err != nil || w.stored(feed).Revision != verified.Revision {
		t.Errorf("got a change of a restored subscription, %v", err)
	}

	twin := verified
	twin.Token, twin.Revision, twin.Until = "AAAAAAAAAAAAAAAAAAAAAAAAAA", 0, time.Time{}
	if _, err := w.bucket.Put(t.Context(), twin); err != nil {
		t.Fatal(err)
	}
	if reopened, err = Open(t.Context(), w.Options); err != nil {
		t.Fatal(err)
	}
	if s, _ := reopened.Subscription(feed); s.Token != verified.Token {
		t.Errorf("got %+v, want the subscription with the valid lease", s)
	}
	if s, err := w.bucket.Get(t.Context(), twin.Token); err != nil || s.State != Unsubscribing {
		t.Errorf("duplicate: got state %q, %v; want it unsubscribing", s.State, err)
	}
}

// A hub receives at most maxHostRequests in a round.
func TestSubscriber_BoundsRequestsPerRound(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	for i := range maxHostRequests + 1 {
		if err := w.SetHub(t.Context(), string(rune('A'+i)), hub.URL, topic); err != nil {
			t.Fatal(err)
		}
		w.advance(time.Second)
	}
	w.runRound()
	if n := hub.countRequests("subscribe"); n != maxHostRequests {
		t.Errorf("got %d requests in a round, want %d", n, maxHostRequests)
	}
	w.checkState(string(rune('A'+maxHostRequests)), Queued) // added last
	w.runRound()
	if n := hub.countRequests("subscribe"); n != maxHostRequests+1 {
		t.Errorf("got %d requests in two rounds, want %d", n, maxHostRequests+1)
	}
}

// Run sends due requests each minute until its context ends.
func TestRun_SendsDueRequestsEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		post := make(poster, 8)
		s, err := Open(ctx, Options{Subscriptions: &table{}, Poster: post, Base: "https://we.test", Now: time.Now,
			Metrics: NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		running.Go(func() { s.Run(ctx) })
		synctest.Wait()
		if err := s.SetHub(ctx, feed, "https://hub.test", topic); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		form := <-post
		if took := time.Since(began); took > roundInterval || form.Get("hub.callback") == "" {
			t.Errorf("got the request after %v: %v", took, form)
		}
		<-post
		if took := time.Since(began); took != roundInterval+confirmTimeout+minBackoff {
			t.Errorf("got the retry after %v, want %v", took, roundInterval+confirmTimeout+minBackoff)
		}
		cancel()
		running.Wait()
	})
}

// poster records forms and reports all as accepted.
type poster chan url.Values

func (p poster) Post(_ context.Context, _ string, form url.Values) (int, []byte, error) {
	p <- form
	return 202, nil, nil
}

// table stores subscriptions in memory, because synctest does not allow waiting
// for a server.
type table struct {
	mu       sync.Mutex
	rows     []Subscription
	revision uint64
}

func (t *table) find(token string) int {
	return slices.IndexFunc(t.rows, func(s Subscription) bool { return s.Token == token })
}

func (t *table) Get(_ context.Context, token string) (Subscription, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.find(token); i >= 0 {
		return t.rows[i], nil
	}
	return Subscription{}, ErrUnknown
}

func (t *table) List(context.Context) iter.Seq2[Subscription, error] {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := slices.Clone(t.rows)
	return func(yield func(Subscription, error) bool) {
		for _, s := range rows {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (t *table) Put(_ context.Context, s Subscription) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.find(s.Token)
	if i < 0 && s.Revision != 0 || i >= 0 && t.rows[i].Revision != s.Revision {
		return 0, ErrChanged
	}
	t.revision++
	s.Revision = t.revision
	if i < 0 {
		t.rows = append(t.rows, s)
	} else {
		t.rows[i] = s
	}
	return s.Revision, nil
}

func (t *table) Delete(_ context.Context, s Subscription) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.find(s.Token); i >= 0 {
		t.rows = slices.Delete(t.rows, i, i+1)
	}
	return nil
}
