package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/node"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/service"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// A fakeMesh is a mesh of one agent that discards its tasks.
type fakeMesh struct {
	mu          sync.Mutex
	published   []subjects.Message
	states      map[string]*subjects.State
	quarantined map[uint64]subjects.Quarantined
	polls       map[string][]subjects.Poll
	waiting     uint64                     // index tasks waiting
	rules       map[string]storage.RuleSet // rule sets in use, by name
}

func (m *fakeMesh) Schema(context.Context) int { return subjects.Schema }

func (m *fakeMesh) Publish(_ context.Context, msgs ...subjects.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := subjects.Encode(msgs)
	m.published = append(m.published, msgs...)
	return err
}

func (m *fakeMesh) State(_ context.Context, id string) (*subjects.State, error) {
	return m.states[id], nil
}

func (m *fakeMesh) Polls(_ context.Context, id string) ([]subjects.Poll, error) {
	return m.polls[id], nil
}

// PutRules stores the rules in use.
func (m *fakeMesh) PutRules(ctx context.Context, set string, newest func(context.Context) (storage.RuleSet, error)) error {
	rules, err := newest(ctx)
	if m.rules == nil {
		m.rules = map[string]storage.RuleSet{}
	}
	m.rules[set] = rules
	return err
}

// Single returns a lease for every actor.
func (m *fakeMesh) Single(ctx context.Context, _ string, run func(context.Context) error) error {
	return run(ctx)
}

func (m *fakeMesh) SubscribeEvents(ctx context.Context, _ func(subjects.Event)) error {
	<-ctx.Done()
	return nil
}

func (m *fakeMesh) LoadStates(_ context.Context, each func(subjects.FeedState)) error {
	for id, s := range m.states {
		each(subjects.FeedState{FeedID: id, State: s})
	}
	return nil
}

func (m *fakeMesh) Proxy(context.Context, string) (*subjects.Proxy, error) { return nil, nil }

// Depths returns one index task less on each call.
func (m *fakeMesh) Depths(context.Context) ([]subjects.Depth, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting > 0 {
		m.waiting--
	}
	return []subjects.Depth{{Queue: "index", Tasks: m.waiting, Bytes: 1 << 20, Oldest: 61, Fill: 0.25}}, nil
}

func (m *fakeMesh) Agents(context.Context) ([]subjects.Agent, error) {
	return []subjects.Agent{{ID: "a1", Host: "pi", Version: "1", Roles: []string{"crawl", "api"}, Started: time.Now(), Rules: map[string]int64{"prepare": 1}}}, nil
}

func (m *fakeMesh) Leases(context.Context) (map[string]subjects.Lease, error) {
	return map[string]subjects.Lease{"schedule": {Agent: "a1", Host: "pi"}}, nil
}

func (m *fakeMesh) Quarantined(_ context.Context, after uint64, limit int) ([]subjects.Quarantined, error) {
	var list []subjects.Quarantined
	for seq := after + 1; seq <= 10 && len(list) < limit; seq++ {
		if q, is := m.quarantined[seq]; is {
			list = append(list, q)
		}
	}
	return list, nil
}

func (m *fakeMesh) QuarantinedTask(_ context.Context, seq uint64) (subjects.Quarantined, error) {
	q, is := m.quarantined[seq]
	if !is {
		return q, mesh.ErrNoTask
	}
	return q, nil
}

func (m *fakeMesh) Replay(ctx context.Context, seq uint64) error {
	return m.DeleteQuarantined(ctx, seq)
}

func (m *fakeMesh) DeleteQuarantined(_ context.Context, seq uint64) error {
	if _, is := m.quarantined[seq]; !is {
		return mesh.ErrNoTask
	}
	delete(m.quarantined, seq)
	return nil
}

const (
	feedURL = "https://feeds.example/a.xml"
	escape  = "\x1b]0;owned\a"
)

// A testbed is a node's API over a small store, with commands that call it.
type testbed struct {
	*httptest.Server
	mesh   *fakeMesh
	store  storage.Store
	index  storage.Index
	checks []wire.Check
	api    *service.Service
	feed   string // feed ID
	item   string // item ID
}

// newTestbed returns a store with one feed, two items and one quarantined task. The titles contain terminal
// controls.
func newTestbed(t *testing.T, change ...func(*service.Deps)) *testbed {
	t.Helper()
	isolate(t)
	w := &testbed{
		mesh: &fakeMesh{
			states:      map[string]*subjects.State{},
			quarantined: map[uint64]subjects.Quarantined{},
		},
		store: enginetest.Store(t), index: enginetest.Index(t),
		checks: []wire.Check{{Name: "store", OK: true}},
		feed:   storage.FeedID(feedURL),
	}
	for seq := uint64(3); seq <= 4; seq++ {
		w.mesh.quarantined[seq] = subjects.Quarantined{
			Seq: seq, Queue: "parse", Subject: "parse", Task: "t", Reason: "no good\nat all", Attempts: 5,
			At: time.Now(), Message: []byte(`{"feed_id":"x"}`),
		}
	}
	w.mesh.states[w.feed] = &subjects.State{
		URL: feedURL, Tier: "hot", Next: time.Now().Add(10*time.Minute + 30*time.Second), Reason: "it is busy",
		Polled: time.Now(), Outcome: subjects.Failed, Failures: 2, Class: "dns", Error: "no such host",
	}
	w.mesh.polls = map[string][]subjects.Poll{w.feed: {{At: time.Now(), Duration: 15 * time.Millisecond, Class: "dns"}, {At: time.Now(), Duration: time.Second, Status: 200, Size: 4321, ProxyID: "eu", Reason: "pinned: every 5 min, by a user"}}}
	w.fill(t)
	d := service.Deps{
		Store: w.store, Index: w.index, Mesh: w.mesh, Version: "test",
		Now:          func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
		Fetcher:      nearby{fetch.New(fetch.Options{Timeout: 5 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})},
		Checks:       func(context.Context) []wire.Check { return w.checks },
		RuleSetSpecs: []service.RuleSetSpec{{Name: "prepare", Does: "cleans", Default: []byte("keep all\n"), Check: checkLines}, classifyBook()},
		Decider:      func() workbench.Decider { return rulesOnly{} },
		Log:          slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&d)
	}
	w.api = service.New(d)
	w.Server = httptest.NewServer(rest.New(w.api, rest.Options{Metrics: http.NotFoundHandler()}).Handler(nil))
	t.Cleanup(w.Close)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.api.Imports.Run(ctx); err != nil {
			t.Errorf("taking in lists ended: %v", err)
		}
	})
	running.Go(func() {
		if err := w.api.Jobs.Run(ctx); err != nil {
			t.Errorf("doing jobs ended: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return w
}

// nearby fetches from this machine; all other hosts fail.
type nearby struct{ *fetch.Client }

func (n nearby) Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error) {
	if !strings.HasPrefix(r.URL, "http://127.0.0.1:") {
		return fetch.Document{}, &fetch.Error{Class: fetch.ClassDNS, Err: errors.New("no such host")}
	}
	return n.Client.Fetch(ctx, r, now)
}

func (w *testbed) fill(t *testing.T) {
	ctx, now := t.Context(), time.Now().UTC()
	items := []storage.Item{
		{Key: "1", Hash: "1", Title: "Kernel released " + escape, HTML: "<p>It has a new scheduler.</p>", URL: "https://a.example/1", Published: now.Add(-3*time.Minute - time.Second)},
		{Key: "2", Hash: "2", Title: "Compiler released", HTML: "<p>It is faster.</p>", URL: "https://a.example/2", Published: now.Add(-2 * time.Hour)},
	}
	for i := range items {
		it := &items[i]
		it.FeedID, it.ID, it.FirstSeen, it.Language = w.feed, storage.ItemID(w.feed, it.Key), now, "en"
	}
	w.item = items[0].ID
	_, err := w.store.AddFeeds(ctx, storage.Feed{ID: w.feed, URL: feedURL, Title: "A " + escape, Added: now})
	if err == nil {
		_, err = w.store.PutItems(ctx, storage.Batch{FeedID: w.feed, Items: items})
	}
	var indexed []storage.IndexItem
	for _, it := range items {
		indexed = append(indexed, storage.IndexItem{Item: it, Text: it.HTML})
	}
	if err := errors.Join(err, w.index.Put(ctx, indexed...)); err != nil {
		t.Fatal(err)
	}
}

// isolate clears the environment's settings for a test.
func isolate(t *testing.T) {
	for _, name := range []string{"CONFIG", "API", "TOKEN", "JSON", "ROLES", "DATA", "LISTEN", "NATS"} {
		t.Setenv("FEEDMESH_"+name, "")
		unset(t, "FEEDMESH_"+name)
	}
}

// A commandOutput is the output and exit code of a command line.
type commandOutput struct {
	code     int
	out, err string
}

// do runs a command line against the testbed's API.
func (w *testbed) do(t *testing.T, args ...string) commandOutput {
	t.Helper()
	t.Setenv("FEEDMESH_API", w.URL)
	return do(t, "", args...)
}

// do runs a command line with a node that does nothing.
func do(t *testing.T, stdin string, args ...string) commandOutput {
	t.Helper()
	return doWith(t, &program{
		version: "test", in: strings.NewReader(stdin),
		node: func(context.Context, config.Config, node.Options) error { return nil },
	}, args...)
}

func doWith(t *testing.T, p *program, args ...string) commandOutput {
	t.Helper()
	var out, err bytes.Buffer
	p.out, p.err = &out, &err
	if p.lookup == nil {
		p.lookup = func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil }
	}
	if p.in == nil {
		p.in = io.MultiReader()
	}
	code := p.run(t.Context(), args)
	return commandOutput{code, out.String(), err.String()}
}

// check fails the test if the exit code differs, or if standard output or standard error lacks a text.
func (s commandOutput) check(t *testing.T, code int, out, err string) {
	t.Helper()
	if s.code != code || !strings.Contains(s.out, out) || !strings.Contains(s.err, err) {
		t.Errorf("got code %d, stdout %q, stderr %q; want %d, %q, %q", s.code, s.out, s.err, code, out, err)
	}
	if strings.ContainsAny(s.out+s.err, "\x1b\a") {
		t.Errorf("a control character reaches the terminal: %q %q", s.out, s.err)
	}
}

// checkLines accepts a text if all its lines begin with "keep".
func checkLines(text []byte) error {
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("keep")) {
			return fmt.Errorf("%q is no rule", bytes.TrimSpace(line))
		}
	}
	return nil
}
