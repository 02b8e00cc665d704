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

// TestWant tells what becomes of a feed whose document says something else.
func TestWant(t *testing.T) {
	w := newWorld(t)
	const hub = "https://hub.test/"
	want := func(hub, topic string) Subscription {
		t.Helper()
		if err := w.Want(t.Context(), feed, hub, topic); err != nil {
			t.Fatal(err)
		}
		s, _ := w.Subscription(feed)
		return s
	}
	for _, none := range [][2]string{{"", ""}, {hub, ""}, {"", topic}} {
		if s := want(none[0], none[1]); s.Token != "" {
			t.Errorf("hub %q and topic %q make a subscription: %+v", none[0], none[1], s)
		}
	}
	first := want(hub, topic)
	if first.State != Wanted || first.Hub != hub || first.Topic != topic {
		t.Fatalf("got %+v", first)
	}
	if s := want(hub, topic); s.Token != first.Token || s.Revision != first.Revision {
		t.Error("the same again is something new")
	}
	w.wait(day - time.Second)
	if s := want("https://other.test/", topic); s.Token != first.Token {
		t.Error("another hub within a day is believed")
	}
	w.wait(time.Second)
	second := want("https://other.test/", topic)
	if second.Token == first.Token || second.Hub != "https://other.test/" {
		t.Errorf("another hub after a day is not believed: %+v", second)
	}
	if old, err := w.bucket.Get(t.Context(), first.Token); err != nil || old.State != Leaving {
		t.Errorf("the former hub is not left: %+v, %v", old, err)
	}
	w.Base = "https://moved.test"
	third := want("https://other.test/", topic)
	if third.Token == second.Token || third.Base != w.Base {
		t.Errorf("hubs still call where we were: %+v", third)
	}
	if s := want("", ""); s.Token != "" {
		t.Errorf("the feed is gone, and has %+v", s)
	}
}

// TestOpen takes up what there was, and ends what is there twice.
func TestOpen(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	hub.times("subscribe")
	verified := w.is(feed, Verified)
	again, err := Open(t.Context(), w.Options)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := again.Subscription(feed); !ok || s.Token != verified.Token || !s.Live(w.time()) {
		t.Fatalf("got %+v, want what there was", s)
	}
	if err := again.Want(t.Context(), feed, hub.URL, topic); err != nil || w.stored(feed).Revision != verified.Revision {
		t.Errorf("what is known is wanted anew: %v", err)
	}

	twin := verified
	twin.Token, twin.Revision, twin.Until = "AAAAAAAAAAAAAAAAAAAAAAAAAA", 0, time.Time{}
	if _, err := w.bucket.Put(t.Context(), twin); err != nil {
		t.Fatal(err)
	}
	if again, err = Open(t.Context(), w.Options); err != nil {
		t.Fatal(err)
	}
	if s, _ := again.Subscription(feed); s.Token != verified.Token {
		t.Errorf("of two, %+v is kept, want the one that is live", s)
	}
	if s, err := w.bucket.Get(t.Context(), twin.Token); err != nil || s.State != Leaving {
		t.Errorf("the other one is %q, %v; want it ended", s.State, err)
	}
}

// TestHubsGetPortions: a hub with a thousand feeds is asked for them in rounds.
func TestHubsGetPortions(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	for i := range portion + 1 {
		if err := w.Want(t.Context(), string(rune('A'+i)), hub.URL, topic); err != nil {
			t.Fatal(err)
		}
		w.wait(time.Second)
	}
	w.act()
	if n := hub.times("subscribe"); n != portion {
		t.Errorf("the hub was asked %d times in a round, want %d", n, portion)
	}
	w.is(string(rune('A'+portion)), Wanted) // wanted last
	w.act()
	if n := hub.times("subscribe"); n != portion+1 {
		t.Errorf("the hub was asked %d times in two rounds, want %d", n, portion+1)
	}
}

// TestRun asks each minute for what is due, until it is ended.
func TestRun(t *testing.T) {
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
		if err := s.Want(ctx, feed, "https://hub.test", topic); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		form := <-post
		if took := time.Since(began); took > roundEvery || form.Get("hub.callback") == "" {
			t.Errorf("asked after %v: %v", took, form)
		}
		<-post
		if took := time.Since(began); took != roundEvery+patience+backOff {
			t.Errorf("asked again after %v, want %v", took, roundEvery+patience+backOff)
		}
		cancel()
		running.Wait()
	})
}

// poster sends forms to nobody, who accepts them all.
type poster chan url.Values

func (p poster) Post(_ context.Context, _ string, form url.Values) (int, []byte, error) {
	p <- form
	return 202, nil, nil
}

// A table keeps subscriptions in memory: under synctest nothing may wait for a
// server.
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
