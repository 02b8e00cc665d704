package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/service"
	"feedmesh/agent/web"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// A fakeMesh is a mesh of one agent that records published tasks.
type fakeMesh struct {
	mu          sync.Mutex
	published   []subjects.Message
	states      map[string]*subjects.State
	quarantined map[uint64]subjects.Quarantined
	loads       int
	counts      *subjects.ScheduleCounts // counts in the lease of the schedule
	polls       map[string][]subjects.Poll
	proxies     map[string]*subjects.Proxy
	rules       map[string]storage.RuleSet // in force, by set
	broken      error                      // error of all methods
	full        error                      // error of Publish
	events      chan subjects.Event        // delivered to subscribers
	schema      int                        // supported by all agents; 0: the current version
	onCluster   func(subjects.Message)     // called with each message to cluster, unless nil
}

func (m *fakeMesh) Schema(context.Context) int { return cmp.Or(m.schema, subjects.Schema) }

func (m *fakeMesh) Publish(_ context.Context, msgs ...subjects.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.broken, m.full, subjects.Encode(msgs)); err != nil {
		return err
	}
	m.published = append(m.published, msgs...)
	for _, msg := range msgs {
		if m.onCluster != nil && subjects.QueueOf(msg.Subject) == subjects.ClusterQueue.Name {
			m.onCluster(msg)
		}
	}
	return nil
}

func (m *fakeMesh) State(_ context.Context, id string) (*subjects.State, error) {
	return m.states[id], m.broken
}

func (m *fakeMesh) Polls(_ context.Context, id string) ([]subjects.Poll, error) {
	return m.polls[id], m.broken
}

func (m *fakeMesh) Proxy(_ context.Context, id string) (*subjects.Proxy, error) {
	return m.proxies[id], m.broken
}

// PutRules stores the rules in force.
func (m *fakeMesh) PutRules(ctx context.Context, set string, newest func(context.Context) (storage.RuleSet, error)) error {
	rules, err := newest(ctx)
	if m.rules == nil {
		m.rules = map[string]storage.RuleSet{}
	}
	m.rules[set] = rules
	return errors.Join(err, m.broken)
}

// SubscribeEvents delivers the events sent to events.
func (m *fakeMesh) SubscribeEvents(ctx context.Context, each func(subjects.Event)) error {
	for {
		select {
		case e := <-m.events:
			each(e)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Single runs run immediately, as the holder of every lease.
func (m *fakeMesh) Single(ctx context.Context, _ string, run func(context.Context) error) error {
	return run(ctx)
}

func (m *fakeMesh) LoadStates(_ context.Context, each func(subjects.FeedState)) error {
	m.loads++
	for id, s := range m.states {
		each(subjects.FeedState{FeedID: id, State: s})
	}
	return m.broken
}

func (m *fakeMesh) Depths(context.Context) ([]subjects.Depth, error) {
	return []subjects.Depth{{Queue: "index", Tasks: 3, Bytes: 1 << 20, Oldest: 61.5, Fill: 0.25}, {Queue: "quarantine"}}, m.broken
}

func (m *fakeMesh) Agents(context.Context) ([]subjects.Agent, error) {
	return []subjects.Agent{{ID: "a1", Host: "pi", Version: "1", Roles: []string{"crawl", "api"}, Started: now, Seen: now, Rules: map[string]int64{"prepare": 1}}}, m.broken
}

func (m *fakeMesh) Leases(context.Context) (map[string]subjects.Lease, error) {
	return map[string]subjects.Lease{"schedule": {Agent: "a1", Host: "pi", Renewals: 7, Feeds: m.counts}}, m.broken
}

func (m *fakeMesh) Quarantined(_ context.Context, after uint64, limit int) ([]subjects.Quarantined, error) {
	var list []subjects.Quarantined
	for _, seq := range slices.Sorted(maps.Keys(m.quarantined)) {
		if seq > after && len(list) < limit {
			list = append(list, m.quarantined[seq])
		}
	}
	return list, m.broken
}

func (m *fakeMesh) QuarantinedTask(_ context.Context, seq uint64) (subjects.Quarantined, error) {
	q, is := m.quarantined[seq]
	if !is {
		return q, mesh.ErrNoTask
	}
	return q, m.broken
}

func (m *fakeMesh) Replay(ctx context.Context, seq uint64) error {
	return m.DeleteQuarantined(ctx, seq)
}

func (m *fakeMesh) DeleteQuarantined(_ context.Context, seq uint64) error {
	if _, is := m.quarantined[seq]; !is {
		return mesh.ErrNoTask
	}
	delete(m.quarantined, seq)
	return m.broken
}

// tasks returns the tasks published to a queue.
func tasks[T subjects.Task](t *testing.T, m *fakeMesh, queue subjects.Queue[T]) []T {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []T
	for _, msg := range m.published {
		if subjects.QueueOf(msg.Subject) != queue.Name {
			continue
		}
		task, err := queue.Decode(msg.Data)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, task)
	}
	return list
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)

const feedURL = "https://feeds.example/a.xml"

// A testbed is the API over a small store: one feed with two items, two more
// feeds, and tasks 3 and 4 in quarantine.
type testbed struct {
	*httptest.Server
	mesh        *fakeMesh
	store       storage.Store
	index       storage.Index
	checks      []wire.Check
	feed, item  string // IDs
	server      *Server
	stopImports func() // stops the imports
}

// A setup is what a testbed is made from.
type setup struct {
	service.Deps
	Options
}

func newTestbed(t *testing.T, change ...func(*setup)) *testbed {
	t.Helper()
	w := &testbed{
		mesh:  &fakeMesh{states: map[string]*subjects.State{}, quarantined: map[uint64]subjects.Quarantined{}},
		store: enginetest.Store(t), index: enginetest.Index(t),
		checks: []wire.Check{{Name: "store", OK: true}, {Name: "mesh", OK: true}},
		feed:   storage.FeedID(feedURL),
	}
	for seq := uint64(3); seq <= 4; seq++ {
		w.mesh.quarantined[seq] = subjects.Quarantined{Seq: seq, Queue: "parse", Subject: "parse", Task: "t", Reason: "no <good>", Attempts: 5, At: now, Message: []byte(`{"schema":1}`)}
	}
	w.mesh.states[w.feed] = &subjects.State{URL: feedURL, Tier: "hot", Next: now, Reason: "it is busy", Polled: now, Outcome: subjects.Failed, Failures: 2, Class: "dns", Error: "no such host"}
	w.mesh.polls = map[string][]subjects.Poll{w.feed: {{At: now, Duration: 15 * time.Millisecond, Class: "dns"}, {At: now.Add(-time.Hour), Duration: time.Second, Status: 200, Size: 1 << 20, ProxyID: "p1", Reason: "price: 2.3 items a day"}}}
	w.mesh.states["gone"] = &subjects.State{Tier: "cold", Polled: now, Outcome: subjects.Gone, Failures: 1}
	w.mesh.states["out"] = &subjects.State{Tier: "cold", Crawl: "c"}

	before := now.Add(-time.Hour)
	_, err := w.store.AddFeeds(t.Context(),
		storage.Feed{ID: w.feed, URL: feedURL, Title: "A <b>feed</b>", Site: "https://feeds.example/", Tags: []string{"it", "news"}, Added: before},
		storage.Feed{ID: storage.FeedID("https://b.example/"), URL: "https://b.example/", Added: before},
		storage.Feed{ID: storage.FeedID("https://c.example/"), URL: "https://c.example/", Title: "ключ & ]]>", Added: before})
	items := []storage.Item{
		{Key: "1", Title: "Kernel released", HTML: "<p>It has a <b>new</b> scheduler.</p>", Excerpt: "It has", URL: "https://a.example/1", Published: now, Categories: []string{"linux"}, Images: []string{"https://a.example/i.png"}},
		{Key: "2", Title: "Compiler released", HTML: "<p>It is faster.</p>", Published: now.Add(-time.Hour), Updated: now},
	}
	for i := range items {
		it := &items[i]
		it.FeedID, it.ID, it.Hash, it.FirstSeen, it.Language = w.feed, storage.ItemID(w.feed, it.Key), it.Key, now, "en"
	}
	w.item = items[0].ID
	if err == nil {
		_, err = w.store.PutItems(t.Context(), storage.Batch{FeedID: w.feed, Items: items})
	}
	var indexed []storage.IndexItem
	for _, it := range items {
		stored, fault := storage.ItemByID(t.Context(), w.store, it.ID)
		err = errors.Join(err, fault)
		indexed = append(indexed, storage.IndexItem{Item: stored, Text: it.HTML})
	}
	if err := errors.Join(err, w.index.Put(t.Context(), indexed...)); err != nil {
		t.Fatal(err)
	}

	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "feedmesh_items_stored_total", Help: "Items."})
	registry.MustRegister(counter)
	counter.Add(2)
	d := setup{Options: Options{Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{})}, Deps: service.Deps{
		Store: w.store, Index: w.index, Mesh: w.mesh, Version: "test", Now: func() time.Time { return now },
		Fetcher: fetch.New(fetch.Options{
			UserAgent: "test", Timeout: 5 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 4,
			Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		}),
		Checks:       func(context.Context) []wire.Check { return w.checks },
		RuleSetSpecs: []service.RuleSetSpec{{Name: "prepare", Does: "cleans", Default: []byte("keep all\n"), Check: checkLines}, classifyBook()},
		Decider:      func() workbench.Decider { return ruled{} },
		Log:          slog.New(slog.DiscardHandler),
	}}
	for _, f := range change {
		f(&d)
	}
	w.server = New(service.New(d.Deps), d.Options)
	w.Server = httptest.NewServer(w.handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "the page at %s", r.URL.Path)
	})))
	t.Cleanup(w.Close)
	w.stopImports = w.runImports(t)
	return w
}

// handler returns the API and all that is mounted beside it, with other pages.
func (w *testbed) handler(pages http.Handler) http.Handler {
	mounts := web.Mounts(w.server.Service, w.server.Login)
	mounts["/"] = pages
	return w.server.Handler(mounts)
}

// runImports runs imports until the test ends or the returned function is called.
func (w *testbed) runImports(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.server.Imports.Run(ctx); err != nil {
			t.Errorf("taking in lists ended: %v", err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
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
