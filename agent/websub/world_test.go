package websub

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// A world is a subscriber, the handler that hubs reach, and what they share, with
// a clock that only the test moves.
type world struct {
	*testing.T
	*Subscriber
	handler *Handler
	bucket  bucket
	server  *httptest.Server

	mu      sync.Mutex
	now     time.Time
	got     []Delivery
	failing error // what Deliver returns
}

var start = time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	w := &world{T: t, bucket: newBucket(t), now: start}
	metrics := NewMetrics(prometheus.NewRegistry())
	log := slog.New(slog.DiscardHandler)
	w.handler = NewHandler(HandlerOptions{Subscriptions: w.bucket, Deliver: w.deliver, Now: w.time, Metrics: metrics, Log: log})
	mux := http.NewServeMux()
	mux.Handle(Path, w.handler)
	w.server = httptest.NewServer(mux)
	t.Cleanup(w.server.Close)
	var err error
	w.Subscriber, err = Open(t.Context(), Options{
		Subscriptions: w.bucket, Poster: client{}, Base: w.server.URL, Now: w.time, Metrics: metrics, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) deliver(_ context.Context, d Delivery) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing != nil {
		return w.failing
	}
	w.got = append(w.got, d)
	return nil
}

// delivered returns what was delivered since it was called last.
func (w *world) delivered() []Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got
	w.got = nil
	return got
}

// want wants a feed, and asks its hub.
func (w *world) want(feedID, hub, topic string) {
	w.Helper()
	if err := w.Want(w.Context(), feedID, hub, topic); err != nil {
		w.Fatal(err)
	}
	w.act()
}

// act has the subscriber do what is due.
func (w *world) act() {
	w.Helper()
	if err := w.round(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// stored returns the subscription of a feed, as stored, of which there must be
// one at most.
func (w *world) stored(feedID string) Subscription {
	w.Helper()
	var found []Subscription
	for s, err := range w.bucket.List(w.Context()) {
		if err != nil {
			w.Fatal(err)
		}
		if s.FeedID == feedID {
			found = append(found, s)
		}
	}
	if len(found) > 1 {
		w.Fatalf("%d subscriptions of feed %s", len(found), feedID)
	}
	return append(found, Subscription{})[0]
}

// is fails the test unless the subscription of a feed is in that state.
func (w *world) is(feedID string, want State) Subscription {
	w.Helper()
	s := w.stored(feedID)
	if s.State != want {
		w.Fatalf("feed %s: the subscription is %q (%s), want %q", feedID, s.State, s.Error, want)
	}
	return s
}

// calls returns how many calls of the handler had that outcome.
func (w *world) calls(outcome string) int {
	var m dto.Metric
	if err := w.Metrics.calls.WithLabelValues(outcome).Write(&m); err != nil {
		w.Fatal(err)
	}
	return int(m.Counter.GetValue())
}

// call sends a request to the handler and returns status and body.
func (w *world) call(r *http.Request, err error) (int, string) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// client posts forms.
type client struct{}

func (client) Post(ctx context.Context, address string, form url.Values) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewBufferString(form.Encode()))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
