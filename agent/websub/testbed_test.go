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

// testbed is a subscriber and a handler with a shared bucket and a clock that
// only the test advances.
type testbed struct {
	*testing.T
	*Subscriber
	handler *Handler
	bucket  bucket
	server  *httptest.Server

	mu      sync.Mutex
	now     time.Time
	got     []Delivery
	failing error // result of Deliver
}

var start = time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC)

func newTestbed(t *testing.T) *testbed {
	w := &testbed{T: t, bucket: newBucket(t), now: start}
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

func (w *testbed) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *testbed) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *testbed) deliver(_ context.Context, d Delivery) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing != nil {
		return w.failing
	}
	w.got = append(w.got, d)
	return nil
}

// delivered returns the deliveries since the last call.
func (w *testbed) delivered() []Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got
	w.got = nil
	return got
}

// setHub sets the hub of a feed and sends the request.
func (w *testbed) setHub(feedID, hub, topic string) {
	w.Helper()
	if err := w.SetHub(w.Context(), feedID, hub, topic); err != nil {
		w.Fatal(err)
	}
	w.runRound()
}

// runRound handles the due subscriptions.
func (w *testbed) runRound() {
	w.Helper()
	if err := w.round(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// stored returns the stored subscription of a feed, at most one; the zero value if
// none.
func (w *testbed) stored(feedID string) Subscription {
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
		w.Fatalf("got %d subscriptions of feed %s, want 1 at most", len(found), feedID)
	}
	return append(found, Subscription{})[0]
}

// checkState fails the test unless the subscription of the feed has that state.
func (w *testbed) checkState(feedID string, want State) Subscription {
	w.Helper()
	s := w.stored(feedID)
	if s.State != want {
		w.Fatalf("feed %s: got state %q (%s), want %q", feedID, s.State, s.Error, want)
	}
	return s
}

// calls returns the number of calls of the handler with that outcome.
func (w *testbed) calls(outcome string) int {
	var m dto.Metric
	if err := w.Metrics.calls.WithLabelValues(outcome).Write(&m); err != nil {
		w.Fatal(err)
	}
	return int(m.Counter.GetValue())
}

// call sends a request to the handler and returns status and body.
func (w *testbed) call(r *http.Request, err error) (int, string) {
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
