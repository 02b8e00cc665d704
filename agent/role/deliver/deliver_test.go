package deliver

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/role/deliver/webhook"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
)

const feedURL = "http://feed.example/"

// A fixture is a store with subscriptions, and processes that send for them.
type fixture struct {
	testing.TB
	store storage.Store
	env   *work.Env
	start time.Time
	base  time.Time     // at start by the clock of the processes
	speed time.Duration // of that clock
}

func newFixture(t testing.TB, speed time.Duration) *fixture {
	t.Helper()
	f := &fixture{TB: t, store: worktest.StoreWith(t, feedURL), start: time.Now(), base: time.Now(), speed: speed}
	f.env = &work.Env{
		Store: f.store, Mesh: meshtest.New(t), Clock: func() time.Time { return f.base.Add(time.Since(f.start) * f.speed).UTC() },
		Receivers: http.DefaultTransport, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Metrics: prometheus.NewRegistry(),
	}
	if speed == 1 {
		f.env.Uptime = func() time.Duration { return time.Since(f.start) } // as with the system clock
	}
	return f
}

// run starts a process, and returns a function that ends it.
func (f *fixture) run() (end func()) {
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, f.env) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
}

func (f *fixture) subscribe(id, channel, receiver string, views ...int64) {
	f.Helper()
	last, err := f.store.LastSerial(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	s := storage.Subscription{ID: id, Title: id, Views: views, Channel: channel, Receiver: receiver, Secret: webhook.NewSecret(), After: last, Created: f.start}
	if err := storage.Subscriptions(f.store).Change(f.Context(), id, func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		f.Fatal(err)
	}
}

// enter stores items and makes them members of a view, and returns their IDs.
func (f *fixture) enter(view int64, keys ...string) (ids []string) {
	f.Helper()
	var items []storage.Item
	var members []storage.Member
	now := f.env.Clock.Now()
	for _, key := range keys {
		item := worktest.Item(storage.FeedID(feedURL), key, key, "text "+key)
		item.Published, item.FirstSeen = now, now
		items, ids = append(items, item), append(ids, item.ID)
		members = append(members, storage.Member{View: view, ItemID: item.ID, Entered: now, Published: now})
	}
	if _, err := f.store.PutItems(f.Context(), storage.Batch{FeedID: storage.FeedID(feedURL), Items: items}); err != nil {
		f.Fatal(err)
	}
	if err := f.store.ChangeMembers(f.Context(), storage.Fence{}, members, nil); err != nil {
		f.Fatal(err)
	}
	return ids
}

// state waits until the state of a subscription meets a condition.
func (f *fixture) state(id, what string, is func(storage.DeliveryState) bool) storage.DeliveryState {
	f.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		states, err := f.store.DeliveryStates(f.Context(), id)
		if err != nil {
			f.Fatal(err)
		}
		if is(states[id]) {
			return states[id]
		}
		if time.Now().After(end) {
			f.Fatalf("%s: not %s: %+v", id, what, states[id])
		}
	}
}

func (f *fixture) attempts(id string) []storage.Attempt {
	f.Helper()
	all, err := f.store.ListAttempts(f.Context(), id, 0, 1000)
	if err != nil {
		f.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

// A receiver is a real HTTP server that records what it accepted.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	respond  func(w http.ResponseWriter, r *http.Request) bool // whether it accepts; nil: always
	accepted map[string][]string                               // bodies by message ID
	order    []string                                          // items as they were accepted for the first time
}

func newReceiver(t testing.TB, respond func(http.ResponseWriter, *http.Request) bool) *receiver {
	r := &receiver{respond: respond, accepted: map[string][]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	respond := r.respond
	r.mu.Unlock()
	if respond != nil && !respond(w, request) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := request.Header.Get("Webhook-Id")
	if r.accepted[id] == nil {
		r.order = append(r.order, id)
	}
	r.accepted[id] = append(r.accepted[id], string(body))
}

func (r *receiver) now(respond func(http.ResponseWriter, *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.respond = respond
}

// items returns the items that were accepted, without messages that other subscriptions are off, and the number of repeats. Repeats must have the same ID and body.
func (r *receiver) items(t testing.TB) (ids []string, repeats int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.order {
		bodies := r.accepted[id]
		for _, body := range bodies[1:] {
			if body != bodies[0] {
				t.Errorf("message %s has two bodies: %s and %s", id, bodies[0], body)
			}
		}
		if strings.HasPrefix(bodies[0], `{"type":"subscription.off"`) {
			continue
		}
		_, rest, _ := strings.Cut(bodies[0], `"data":{"id":"`)
		item, _, _ := strings.Cut(rest, `"`)
		ids, repeats = append(ids, item), repeats+len(bodies)-1
	}
	return ids, repeats
}

// awaitItems waits until a receiver has accepted the items, each as its own message.
func (r *receiver) awaitItems(t testing.TB, want ...string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		got, _ := r.items(t)
		if slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got items %q, want %q", got, want)
		}
	}
}

func respondWith(status int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(status); return status/100 == 2 }
}

// A webhook can be verified by the library of the specification, and contains the item.
func TestWebhook_IsSigned(t *testing.T) {
	f := newFixture(t, 1)
	verified := make(chan error, 1)
	r := newReceiver(t, nil)
	f.subscribe("a", Webhook, r.URL, 7)
	s, err := storage.Subscriptions(f.store).Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	wh, err := standardwebhooks.NewWebhook(s.Secret)
	if err != nil {
		t.Fatal(err)
	}
	received := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		verified <- wh.Verify(body, request.Header)
		fmt.Fprint(w, "ok")
	}))
	defer received.Close()
	s.Receiver = received.URL
	if err := storage.Subscriptions(f.store).Change(t.Context(), "a", func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		t.Fatal(err)
	}
	defer f.run()()
	f.enter(7, "x")
	select {
	case err := <-verified:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no webhook was received")
	}
	f.state("a", "sent", func(d storage.DeliveryState) bool { return !d.Sent.IsZero() })
	if all := f.attempts("a"); len(all) != 1 || all[0].Status != 200 || all[0].Number != 1 || all[0].Error != "" {
		t.Errorf("got attempts %+v", all)
	}
}

// Each item is received in order, once, also by several processes, and only from the time of the subscription on. An item that enters a
// second view of the subscription, is in the past, or left, is not sent.
func TestDeliver_EachItemOnce(t *testing.T) {
	f := newFixture(t, 1)
	f.enter(1, "before")
	r := newReceiver(t, nil)
	f.subscribe("a", Webhook, r.URL, 1, 2)
	for range 3 {
		defer f.run()()
	}
	var want []string
	for i := range 30 {
		want = append(want, f.enter(1, fmt.Sprint("x", i), fmt.Sprint("y", i))...)
	}
	f.enter(2, "x0", "y29")
	want = append(want, f.enter(2, "z")...)
	f.enter(3, "other")
	r.awaitItems(t, want...)
	if got, repeats := r.items(t); !slices.Equal(got, want) || repeats > 0 {
		t.Errorf("got %q with %d repeats, want %q", got, repeats, want)
	}
}

// A receiver that fails is tried again after longer and longer times, and then gets everything.
func TestDeliver_ReceiverFailsForAnHour(t *testing.T) {
	f := newFixture(t, 600)
	r := newReceiver(t, respondWith(503))
	f.subscribe("a", Webhook, r.URL, 1)
	defer f.run()()
	var want []string
	for i := range 20 {
		want = append(want, f.enter(1, fmt.Sprint("x", i))...)
	}
	failed := f.state("a", "failing", func(d storage.DeliveryState) bool { return d.Failures >= 6 })
	if failed.FailingSince.IsZero() || failed.Off != "" {
		t.Errorf("got %+v", failed)
	}
	r.now(nil)
	r.awaitItems(t, want...)
	f.state("a", "well", func(d storage.DeliveryState) bool { return d.Failures == 0 && d.FailingSince.IsZero() })
	if tried := len(f.attempts("a")); tried > 20+2*len(waitAfter)+5 {
		t.Errorf("got %d attempts for 20 items, most of them while the receiver failed", tried)
	}
}

// claims counts the claims at a store.
type claims struct {
	storage.Store
	n atomic.Int64
}

func (c *claims) ClaimSubscriptions(ctx context.Context, claim storage.Claim, failing bool, limit int) ([]storage.ClaimedSubscription, error) {
	c.n.Add(1)
	return c.Store.ClaimSubscriptions(ctx, claim, failing, limit)
}

func TestDeliver_RestsUntilTheDueTime(t *testing.T) {
	f := newFixture(t, 1)
	store := &claims{Store: f.store}
	f.env.Store = store
	var before atomic.Int64
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) bool { before.Store(store.n.Load()); return true })
	f.subscribe("a", Webhook, r.URL, 1)
	want := f.enter(1, "x")
	due := f.env.Clock.Now().Add(7 * time.Second)
	if err := f.store.ChangeDelivery(t.Context(), "a", func(d *storage.DeliveryState) { d.Due = due }); err != nil {
		t.Fatal(err)
	}
	defer f.run()()
	r.awaitItems(t, want...)
	f.state("a", "sent", func(d storage.DeliveryState) bool { return !d.Sent.IsZero() })
	if at := f.attempts("a")[0].At; at.Before(due) || at.After(due.Add(5*time.Second)) {
		t.Errorf("sent at %v, want at %v", at, due)
	}
	if n := before.Load(); n > 8 { // of the two pools: at the start, after the subscription to events, at the due time
		t.Errorf("%d claims before the due time, want none while nothing is due", n)
	}
}

// A receiver that refuses one item gets the others at once, and that one until it is given up.
func TestDeliver_OneItemIsRefused(t *testing.T) {
	f := newFixture(t, 3600)
	r := newReceiver(t, nil)
	f.subscribe("a", Webhook, r.URL, 1)
	refused := f.enter(1, "bad")[0]
	r.now(func(w http.ResponseWriter, request *http.Request) bool {
		isRefused := request.Header.Get("Webhook-Id") == channel.MessageID("a", refused)
		if isRefused {
			w.WriteHeader(400)
		}
		return !isRefused
	})
	defer f.run()()
	var want []string
	for i := 0; ; i++ {
		want = append(want, f.enter(1, fmt.Sprint("x", i))...)
		r.awaitItems(t, want...)
		all := f.attempts("a")
		last := slices.IndexFunc(all, func(a storage.Attempt) bool { return a.ItemID == refused && a.Number > len(retryAfter) })
		if last >= 0 {
			if !all[last].Next.IsZero() || all[last].Status != 400 {
				t.Errorf("the last attempt is %+v, want none after it", all[last])
			}
			break
		}
		if i > 2000 {
			t.Fatalf("the item was not given up: %+v", all[len(all)-1])
		}
	}
	// The owner has it sent again.
	r.now(nil)
	if err := f.store.RepeatDelivery(t.Context(), "a", refused, f.env.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	r.awaitItems(t, append(want, refused)...)
}

// Items that are sent again since a time are all sent, also if a later one is retried before.
func TestDeliver_AgainSinceATime(t *testing.T) {
	f := newFixture(t, 1)
	r := newReceiver(t, nil)
	f.subscribe("a", Webhook, r.URL, 1)
	s, err := storage.Subscriptions(f.store).Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	end := f.run()
	items := f.enter(1, "v", "w", "x", "y", "z")
	r.awaitItems(t, items...)
	f.state("a", "stored", func(d storage.DeliveryState) bool { return d.Cursor == s.After+5 })
	end()
	if err := f.store.RepeatDelivery(t.Context(), "a", items[3], f.env.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := f.store.ChangeDelivery(t.Context(), "a", func(d *storage.DeliveryState) { d.Cursor = s.After }); err != nil {
		t.Fatal(err)
	}
	defer f.run()()
	f.state("a", "stored again", func(d storage.DeliveryState) bool { return d.Cursor == s.After+5 })
	if got, repeats := r.items(t); len(got) != 5 || repeats != 6 {
		t.Errorf("got %q and %d repeats, want each again and one twice", got, repeats)
	}
}

// A subscription is turned off if its receiver is gone, or fails for days; what it missed is sent when it is turned on again.
func TestDeliver_TurnedOff(t *testing.T) {
	for what, respond := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"wants no more": respondWith(410),
		"5 days":        respondWith(500),
	} {
		t.Run(what, func(t *testing.T) {
			f := newFixture(t, 3600*12)
			r := newReceiver(t, respond)
			f.subscribe("a", Webhook, r.URL, 1)
			defer f.run()()
			want := f.enter(1, "x")
			off := f.state("a", "off", func(d storage.DeliveryState) bool { return d.Off != "" })
			if !strings.Contains(off.Off, what) {
				t.Errorf("got %q, want %q", off.Off, what)
			}
			want = append(want, f.enter(1, "y")...)
			r.now(nil)
			err := f.store.ChangeDelivery(t.Context(), "a", func(d *storage.DeliveryState) {
				*d = storage.DeliveryState{Subscription: "a", Cursor: d.Cursor}
			})
			if err != nil {
				t.Fatal(err)
			}
			r.awaitItems(t, want...)
		})
	}
}

// Receivers that hang, fail, or are gone do not delay the others, and processes that end lose and repeat nothing but the same messages.
func TestDeliver_ManyReceivers(t *testing.T) {
	f := newFixture(t, 60)
	const receivers, rounds = 60, 12
	all := map[string]*receiver{}
	release := make(chan struct{})
	for i := range receivers {
		var respond func(http.ResponseWriter, *http.Request) bool
		switch i % 20 {
		case 0, 1: // a tenth hangs
			respond = func(w http.ResponseWriter, r *http.Request) bool {
				select {
				case <-release:
					return true
				case <-r.Context().Done():
					return false
				}
			}
		case 2, 3: // a tenth fails
			respond = respondWith(500)
		case 4: // a twentieth is gone
			respond = respondWith(410)
		}
		id := fmt.Sprintf("r%02d", i)
		all[id] = newReceiver(t, respond)
		f.subscribe(id, Webhook, all[id].URL, 1)
	}
	var want []string
	end := f.run()
	for i := range rounds {
		want = append(want, f.enter(1, fmt.Sprint("x", i), fmt.Sprint("y", i))...)
		if i%3 == 1 {
			end()
			end = f.run()
		}
		time.Sleep(20 * time.Millisecond) // the pace of a busy node
	}
	defer func() { end() }()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		r := all[id]
		r.mu.Lock()
		isWell := r.respond == nil
		r.mu.Unlock()
		if isWell {
			r.awaitItems(t, want...)
		}
	}
	close(release)
	for _, r := range all {
		r.now(nil)
	}
	for id, r := range all {
		states, err := f.store.DeliveryStates(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if states[id].Off != "" {
			if got, _ := r.items(t); len(got) > 0 {
				t.Errorf("%s is off and has %q", id, got)
			}
			continue
		}
		r.awaitItems(t, want...)
	}
}

// An item that leaves the view, such as spam that is found later, is not retried.
func TestDeliver_RetryEndsWithMembership(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 60)
	r := newReceiver(t, respondWith(503))
	f.subscribe("a", Webhook, r.URL, 1)
	defer f.run()()
	spam, kept := f.enter(1, "spam")[0], f.enter(1, "kept")[0]
	f.state("a", "failing, with both items tried", func(d storage.DeliveryState) bool { return d.Failures >= 2 && d.Cursor == 2 })
	members, err := f.store.MembersOfItems(t.Context(), spam)
	if err != nil || len(members) != 1 {
		t.Fatalf("got %+v, %v", members, err)
	}
	members[0].Absent = true
	if err := f.store.ChangeMembers(t.Context(), storage.Fence{}, members, nil); err != nil {
		t.Fatal(err)
	}
	r.now(nil)
	r.awaitItems(t, kept)
	f.state("a", "without a retry", func(storage.DeliveryState) bool {
		return slices.ContainsFunc(f.attempts("a"), func(a storage.Attempt) bool {
			return a.ItemID == spam && a.Next.IsZero() && strings.Contains(a.Error, "left the view")
		})
	})
	r.awaitItems(t, kept)
}
