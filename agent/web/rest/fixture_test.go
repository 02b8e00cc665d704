package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)

const feedURL = "https://feeds.example/a.xml"

// A testbed is the API over a small store: one feed with two items, two more
// feeds, and tasks 3 and 4 in quarantine.
type testbed struct {
	*servicetest.Testbed
	*httptest.Server
	feed, item  string // IDs
	server      *Server
	stopImports func()
}

// A setup is what a testbed is made from.
type setup struct {
	service.Deps
	Options
}

func newTestbed(t *testing.T, change ...func(*setup)) *testbed {
	t.Helper()
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "feedmesh_items_stored_total", Help: "Items."})
	registry.MustRegister(counter)
	counter.Add(2)
	s := setup{Options: Options{Public: web.Public(), Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{})}}
	w := &testbed{feed: storage.FeedID(feedURL)}
	w.Testbed = servicetest.New(t, func() time.Time { return now }, func(d *service.Deps) {
		s.Deps = *d
		s.MakeBackup = func(context.Context) (wire.Download, error) {
			return wire.Download{Name: "feedmesh-1.db", Type: wire.MakeBackup.Type, Size: 6, Body: io.NopCloser(strings.NewReader("backup"))}, nil
		}
		for _, f := range change {
			f(&s)
		}
		*d = s.Deps
	})
	for seq := uint64(3); seq <= 4; seq++ {
		w.Mesh.Tasks[seq] = subjects.Quarantined{Seq: seq, Queue: "parse", Subject: "parse", Task: "t", Reason: "no <good>", Attempts: 5, At: now, Message: []byte(`{"schema":1}`)}
	}
	w.Mesh.States[w.feed] = &subjects.State{URL: feedURL, Tier: "hot", Next: now, Reason: "it is busy", Polled: now, Outcome: subjects.Failed, Failures: 2, Class: "dns", Error: "no such host"}
	w.Mesh.PollLog[w.feed] = []subjects.Poll{{At: now, Duration: 15 * time.Millisecond, Class: "dns"}, {At: now.Add(-time.Hour), Duration: time.Second, Status: 200, Size: 1 << 20, ProxyID: "p1", Reason: "price: 2.3 items a day"}}
	w.Mesh.States["gone"] = &subjects.State{Tier: "cold", Polled: now, Outcome: subjects.Gone, Failures: 1}
	w.Mesh.States["out"] = &subjects.State{Tier: "cold", Crawl: "c"}

	before := now.Add(-time.Hour)
	w.AddFeeds(t,
		storage.Feed{ID: w.feed, URL: feedURL, Title: "A <b>feed</b>", Site: "https://feeds.example/", Tags: []string{"it", "news"}, Added: before},
		storage.Feed{ID: storage.FeedID("https://b.example/"), URL: "https://b.example/", Added: before},
		storage.Feed{ID: storage.FeedID("https://c.example/"), URL: "https://c.example/", Title: "ключ & ]]>", Added: before})
	items := w.PutItems(t, w.feed,
		storage.Item{Key: "1", Language: "en", Title: "Kernel released", HTML: "<p>It has a <b>new</b> scheduler.</p>", Excerpt: "It has", URL: "https://a.example/1", Published: now, Categories: []string{"linux"}, Images: []string{"https://a.example/i.png"}},
		storage.Item{Key: "2", Language: "en", Title: "Compiler released", HTML: "<p>It is faster.</p>", Published: now.Add(-time.Hour), Updated: now})
	w.item = items[0].ID
	w.IndexItems(t, items...)

	w.server = New(w.Service, s.Options)
	w.Server = httptest.NewServer(w.handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "the page at %s", r.URL.Path)
	})))
	t.Cleanup(w.Server.Close)
	w.stopImports = servicetest.Start(t, "imports", w.Imports.Run)
	return w
}

// handler returns the API and all that is mounted beside it, with other pages.
func (w *testbed) handler(pages http.Handler) http.Handler {
	mounts := web.Mounts(w.server.Service, web.Logins{Reader: w.server.Login, Fever: w.server.FeverLogin}, w.server.CORSOrigins)
	mounts["/"] = pages
	return w.server.Handler(mounts)
}

// An answer is an HTTP response with its body.
type answer struct {
	*http.Response
	body string
}

// request sends a request. headers are pairs of name and value, including Host.
func (w *testbed) request(t *testing.T, method, path, content string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(content, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return exchange(t, r)
}

// exchange sends a request without following redirects, and reads the response.
func exchange(t *testing.T, r *http.Request) answer {
	t.Helper()
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp, string(b)}
}

// get requests JSON, and fails unless the status is 200.
func getJSON[T any](t *testing.T, w *testbed, path string) T {
	t.Helper()
	a := w.request(t, "GET", path, "")
	var v T
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.StatusCode != 200 {
		t.Fatalf("GET %s: got %d %s, %v", path, a.StatusCode, a.body, err)
	}
	return v
}

// isProblem fails unless an answer is a problem with a status and a text.
func (a answer) isProblem(t *testing.T, status int, detail string) {
	t.Helper()
	var p struct {
		Status        int
		Title, Detail string
	}
	err := json.Unmarshal([]byte(a.body), &p)
	if a.StatusCode != status || a.Header.Get("Content-Type") != "application/problem+json" || err != nil || p.Status != status || p.Title == "" || !strings.Contains(p.Detail, detail) {
		t.Errorf("%s %s: got %d, %s, %s; want a problem of status %d with %q", a.Request.Method, a.Request.URL.RequestURI(), a.StatusCode, a.Header.Get("Content-Type"), a.body, status, detail)
	}
}

// serve serves a handler of another package under the same guard.
func (w *testbed) serve(t *testing.T, h http.Handler, pattern string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(pattern, h)
	mux.Handle("/", http.NotFoundHandler())
	web := httptest.NewServer(w.server.guarded(mux, nil))
	t.Cleanup(web.Close)
	return web
}
