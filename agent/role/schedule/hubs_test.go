package role

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/websub"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const hubURL = "https://hub.example/"

// deliverer returns a receiver of pushes at noon.
func deliverer() (*pushes, *outbox) {
	out := &outbox{}
	full := func(_ context.Context, id string) (*subjects.State, error) {
		return map[string]*subjects.State{storage.FeedID(blog): {FullText: true}}[id], nil
	}
	return &pushes{out: out, state: full, clock: func() time.Time { return noon }, log: slog.New(slog.DiscardHandler)}, out
}

func TestPush_IsParsedLikeAFetch(t *testing.T) {
	p, out := deliverer()
	body := rss("a", plainly)
	d := websub.Delivery{FeedID: storage.FeedID(blog), Topic: blog, ContentType: "text/xml", Body: []byte(body)}
	if err := p.deliver(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	task := only(t, out, subjects.ParseQueue)
	unpacked, err := fetch.Decompress(task.Body, 1<<20)
	if err != nil || string(unpacked) != body || task.URL != blog || !task.FullText || task.ContentType != "text/xml" {
		t.Errorf("got %+v with %q, %v; want the complete push", task, unpacked, err)
	}
	if !task.Pushed() || task.FeedID != d.FeedID || !task.Fetched.Equal(noon) || task.ETag+task.LastModified != "" {
		t.Errorf("got receipt %+v, want the receipt of a push", task.Receipt)
	}
	if err := p.deliver(t.Context(), d); err != nil || only(t, out, subjects.ParseQueue).ID() != task.ID() {
		t.Errorf("got two tasks for a repeated push: %v", err)
	}
}

func TestPush_RetryOnlyIfUseful(t *testing.T) {
	p, out := deliverer()
	noise := make([]byte, subjects.MaxMessage)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(noise)
	if err := p.deliver(t.Context(), websub.Delivery{Body: noise}); err != nil || len(out.messages) > 0 {
		t.Errorf("too large: got %v and %d messages, want neither", err, len(out.messages))
	}
	out.err = errors.New("the queue is full")
	if err := p.deliver(t.Context(), websub.Delivery{Body: []byte("a feed")}); !errors.Is(err, out.err) {
		t.Errorf("got %v, want %v", err, out.err)
	}
}

func TestPush_ReportsEntriesOnly(t *testing.T) {
	store := storeWith(t, blog)
	p, out := parserOf(store)
	task := parseOf(t, rss("a b", plainly))
	task.Hub = hubURL
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if d := only(t, out, subjects.PrepareQueue).Document; d.Rate == 0 || d.Hints == nil || len(d.Dates) != 2 {
		t.Errorf("fetched: got %+v, want rate, hints and dates", d)
	}
	task.Receipt = subjects.PushReceipt(task.FeedID, "hash", 1, noon)
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if d := only(t, out, subjects.PrepareQueue).Document; d.Rate != 0 || d.Hints != nil || len(d.Dates) != 2 {
		t.Errorf("pushed: got %+v, want only dates, because the feed may contain more entries", d)
	}
}

func TestParse_LinkHeaderPrecedesDocument(t *testing.T) {
	const document = `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="https://own.example/"/>
		<link rel="self" href="http://blog.example/own"/><entry><id>a</id><title>a</title></entry></feed>`
	for _, c := range []struct{ hub, self, wantHub, wantSelf string }{
		{wantHub: "https://own.example/", wantSelf: "http://blog.example/own"},
		{hub: hubURL, wantHub: hubURL, wantSelf: "http://blog.example/own"},
		{hub: hubURL, self: blog, wantHub: hubURL, wantSelf: blog},
	} {
		p, out := parserOf(storeWith(t, blog))
		task := parseOf(t, document)
		task.Hub, task.Self = c.hub, c.self
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if h := only(t, out, subjects.PrepareQueue).Hints; h.Hub != c.wantHub || h.Self != c.wantSelf {
			t.Errorf("header %q, %q: got %q, %q; want %q, %q", c.hub, c.self, h.Hub, h.Self, c.wantHub, c.wantSelf)
		}
	}
}

func TestWithHubs_NoTokenForCallbacksOnly(t *testing.T) {
	r := newTestbed(t)
	env := r.env(r.mesh)
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "show the token", http.StatusUnauthorized)
	})
	for _, c := range []struct {
		setting, path string
		want          int
	}{
		{"", "/websub/" + strings.Repeat("A", 26), http.StatusUnauthorized},
		{"https://feeds.example", "/websub/" + strings.Repeat("A", 26), http.StatusNotFound},
		{"https://feeds.example", "/websub", http.StatusMovedPermanently}, // to the next path
		{"https://feeds.example", "/websub/", http.StatusNotFound},
		{"https://feeds.example", "/websub/../api/feeds", http.StatusMovedPermanently},
		{"https://feeds.example", "/api/feeds", http.StatusUnauthorized},
		{"https://feeds.example", "/", http.StatusUnauthorized},
	} {
		env.Config.WebSubURL = config.Address(c.setting)
		w := httptest.NewRecorder()
		withHubs(env, guarded).ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if w.Code != c.want && !(c.want == http.StatusMovedPermanently && w.Code == http.StatusTemporaryRedirect) {
			t.Errorf("%s with %q: got %d, want %d", c.path, c.setting, w.Code, c.want)
		}
	}
}

// subscriber returns a schedule with one feed and a subscriber.
func (r *testbed) subscriber(store storage.Store) (*scheduler, *websub.Subscriber) {
	r.t.Helper()
	s := r.scheduler(store)
	s.hubs.Base = "https://feeds.example"
	subscriber, err := websub.Open(r.t.Context(), s.hubs)
	if err != nil {
		r.t.Fatal(err)
	}
	return s, subscriber
}

// subscriptions returns the subscriptions in the bucket.
func (r *testbed) subscriptions() (all []websub.Subscription) {
	r.t.Helper()
	for sub, err := range r.mesh.Subscriptions().List(r.t.Context()) {
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, sub)
	}
	return all
}

func TestSyncSubscriptions(t *testing.T) {
	r := newTestbed(t)
	store := storeWith(t, blog)
	s, subscriber := r.subscriber(store)
	pass := func() {
		t.Helper()
		if err := s.syncSubscriptions(t.Context(), subscriber); err != nil {
			t.Fatal(err)
		}
	}
	pass()
	if got := r.subscriptions(); got != nil {
		t.Fatalf("got %+v before the feed was read, want none", got)
	}
	r.advance(time.Second)
	feeds := s.plan.PopDue(policy.Warm, r.clock())
	o := about(feeds[0].FeedID, subjects.Nothing, feeds[0].State.Crawl, r.clock())
	o.Hints = &subjects.Hints{Hub: hubURL}
	if err := s.observe(t.Context(), []subjects.Observe{{Source: "a", Observations: []subjects.Observation{o}}}); err != nil {
		t.Fatal(err)
	}
	pass()
	pass()
	subs := r.subscriptions()
	if len(subs) != 1 || subs[0].FeedID != o.FeedID || subs[0].Hub != hubURL || subs[0].Topic != blog || subs[0].State != websub.Queued {
		t.Fatalf("got %+v, want one subscription of the feed at its hub", subs)
	}

	// The hub confirms through an agent with the api role.
	subs[0].State, subs[0].Until, subs[0].Next = websub.Verified, r.clock().Add(time.Hour), r.clock().Add(time.Hour)
	if _, err := r.mesh.Subscriptions().Put(t.Context(), subs[0]); err != nil {
		t.Fatal(err)
	}
	_, next := r.subscriber(store) // as after a failover
	if err := s.syncSubscriptions(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if got := feeds[0].State.PushUntil; !got.Equal(subs[0].Until) {
		t.Errorf("got the subscription's end %v in the plan, want %v", got, subs[0].Until)
	}

	// The feed is removed.
	if err := s.observe(t.Context(), []subjects.Observe{{Source: "b", Observations: []subjects.Observation{{
		Receipt: subjects.Receipt{FeedID: o.FeedID}, Outcome: subjects.Removed,
	}}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.syncSubscriptions(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if got := r.subscriptions(); len(got) != 1 || got[0].State != websub.Unsubscribing {
		t.Errorf("got %+v, want the subscription of the removed feed ended", got)
	}
}
