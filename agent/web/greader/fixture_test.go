package greader

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A fixture is the API on a store with two feeds: one of five items in the folders News and Local, one of
// three in News. The items of each feed were received an hour apart, the newest an hour ago.
type fixture struct {
	*httptest.Server
	store storage.Store
	mesh  *taskLog
	a, b  string         // IDs of the feeds
	items []storage.Item // of a, oldest first
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{store: enginetest.Store(t), mesh: &taskLog{}}
	w.a = w.add(t, "https://a.example/feed", "A <b>", "News", "Local")
	w.b = w.add(t, "https://b.example/feed", "", "News")
	w.items = w.put(t, w.a, 5)
	w.put(t, w.b, 3)
	api := Handler(serviceOf(w.store, w.mesh), func(_ *http.Request, _, password string) (access.Client, string, error) {
		if c := client(password); c.ID != "" {
			return c, password, nil
		}
		return access.Client{}, "", access.ErrInvalidToken
	})
	// Stands in for the API's authentication.
	w.Server = httptest.NewServer(NormalizePaths(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if secret, _ := access.FromRequest(r); secret != "" {
			r = r.WithContext(access.With(r.Context(), client(secret)))
		}
		api.ServeHTTP(rw, r)
	})))
	t.Cleanup(w.Close)
	return w
}

// serviceOf returns a service over a store, without an index.
func serviceOf(s storage.Store, m service.Mesh) *service.Service {
	return service.New(service.Deps{Store: s, Mesh: m, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
}

// A taskLog is a mesh that records the observations published to the schedule, and drops all other tasks.
type taskLog struct {
	service.Mesh
	mu       sync.Mutex
	observed []subjects.Observation
}

func (l *taskLog) Publish(_ context.Context, messages ...subjects.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		if task, is := m.Task.(subjects.Observe); is {
			l.observed = append(l.observed, task.Observations...)
		}
	}
	return nil
}

// changed returns the IDs of feeds whose change of settings was published since the last call.
func (l *taskLog) changed() (feedIDs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.observed {
		if o.Outcome == subjects.Changed {
			feedIDs = append(feedIDs, o.FeedID)
		}
	}
	l.observed = nil
	return feedIDs
}

// client returns the client with a token.
func client(secret string) access.Client {
	switch secret {
	case "ann", "bob":
		return access.Client{ID: secret, Name: secret, Scopes: []access.Scope{access.Write}}
	case "reader":
		return access.Client{ID: secret, Name: secret, Scopes: []access.Scope{access.Read}}
	case "searcher":
		return access.Client{ID: secret, Name: secret, Scopes: []access.Scope{access.Search}}
	}
	return access.Client{}
}

func (w *fixture) add(t *testing.T, url, title string, tags ...string) string {
	t.Helper()
	f := storage.Feed{ID: storage.FeedID(url), URL: url, Title: title, Site: url, Tags: tags, Added: now}
	if _, err := w.store.AddFeeds(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	return f.ID
}

// put stores n items, oldest first.
func (w *fixture) put(t *testing.T, feedID string, n int) []storage.Item {
	t.Helper()
	items := make([]storage.Item, n)
	for i := range items {
		seen, key := now.Add(-time.Duration(n-i)*time.Hour), fmt.Sprint(i)
		items[i] = storage.Item{ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: key, Title: "Title " + key,
			URL: "https://example.org/" + key, HTML: "<p>Text " + key + "</p>", Author: "Ann", Published: seen, FirstSeen: seen}
	}
	if _, err := w.store.PutItems(t.Context(), storage.Batch{FeedID: feedID, Items: items}); err != nil {
		t.Fatal(err)
	}
	return items
}

// request sends a client's request, by POST if it has a body, and returns the response.
func (w *fixture) request(t testing.TB, as, path, body string) (status int, answer string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if as != "" {
		r.Header.Set("Authorization", "GoogleLogin auth="+as)
	}
	resp, err := http.DefaultTransport.RoundTrip(r) // does not follow redirects
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// get requests JSON and fails the test on any other response.
func get[T any](t testing.TB, w *fixture, as, path, body string) (v T) {
	t.Helper()
	status, answer := w.request(t, as, path, body)
	if err := json.Unmarshal([]byte(answer), &v); err != nil || status != http.StatusOK {
		t.Fatalf("%s: got %d %.500s, %v", path, status, answer, err)
	}
	return v
}

// mustEdit sends a change and fails the test unless it succeeds.
func (w *fixture) mustEdit(t *testing.T, as, path, body string) {
	t.Helper()
	if status, answer := w.request(t, as, path, body); status != http.StatusOK || answer != "OK" {
		t.Fatalf("%s %s: got %d %q, want OK", path, body, status, answer)
	}
}

type ids struct {
	ItemRefs     []itemRef
	Continuation string
}

type contents struct {
	ID           string
	Items        []content
	Continuation string
}

const idsPath = "/reader/api/0/stream/items/ids?output=json&s="

// wantIDs fails the test unless the stream has that many items for a client.
func (w *fixture) wantIDs(t *testing.T, as, query string, want int) []itemRef {
	t.Helper()
	got := get[ids](t, w, as, idsPath+query, "").ItemRefs
	if len(got) != want {
		t.Errorf("%s has %d items in %s, want %d", as, len(got), query, want)
	}
	return got
}
