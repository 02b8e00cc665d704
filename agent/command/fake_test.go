package command

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/node"
	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web/rest"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	feedURL = "https://feeds.example/a.xml"
	escape  = "\x1b]0;owned\a"
)

// A testbed is a node's API over a small store, with commands that call it.
type testbed struct {
	*servicetest.Testbed
	*httptest.Server
	feed string // feed ID
	item string // item ID
}

// newTestbed returns a store with one feed, two items and two quarantined tasks. The titles contain terminal
// controls. Each look at the queues finds one task less.
func newTestbed(t *testing.T, change ...func(*service.Deps)) *testbed {
	t.Helper()
	isolate(t)
	labels := servicetest.Labels()
	labels.Warn = func([]byte) []string { return []string{"rules:1: it is \x1b[0modd"} }
	change = slices.Insert(change, 0, func(d *service.Deps) { d.RuleSetSpecs = []service.RuleSetSpec{servicetest.Lines(), labels} })
	now := func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
	w := &testbed{Testbed: servicetest.New(t, now, change...), feed: storage.FeedID(feedURL)}
	w.Checks = w.Checks[:1]
	w.Mesh.Queues, w.Mesh.Draining = []subjects.Depth{{Queue: "index", Bytes: 1 << 20, Oldest: 61, Fill: 0.25}}, true
	for seq := uint64(3); seq <= 4; seq++ {
		w.Mesh.Tasks[seq] = subjects.Quarantined{
			Seq: seq, Queue: "parse", Subject: "parse", Task: "t", Reason: "no good\nat all", Attempts: 5,
			At: time.Now(), Message: []byte(`{"feed_id":"x"}`),
		}
	}
	w.Mesh.States[w.feed] = &subjects.State{
		URL: feedURL, Tier: "hot", Next: time.Now().Add(10*time.Minute + 30*time.Second), Reason: "it is busy",
		Polled: time.Now(), Outcome: subjects.Failed, Failures: 2, Class: "dns", Error: "no such host",
	}
	w.Mesh.PollLog[w.feed] = []subjects.Poll{{At: time.Now(), Duration: 15 * time.Millisecond, Class: "dns"}, {At: time.Now().Add(-time.Minute), Duration: time.Second, Status: 200, Size: 4321, ProxyID: "eu", Reason: "pinned: every 5 min, by a user"}}
	w.AddFeeds(t, storage.Feed{ID: w.feed, URL: feedURL, Title: "A " + escape, Added: now()})
	items := w.PutItems(t, w.feed,
		storage.Item{Key: "1", Language: "en", Title: "Kernel released " + escape, HTML: "<p>It has a new scheduler.</p>", URL: "https://a.example/1", Published: now().Add(-3*time.Minute - time.Second)},
		storage.Item{Key: "2", Language: "en", Title: "Compiler released", HTML: "<p>It is faster.</p>", URL: "https://a.example/2", Published: now().Add(-2 * time.Hour)})
	w.item = items[0].ID
	for i := range items { // the index is outdated
		items[i].Changed, items[i].Revision = time.Time{}, 0
	}
	w.IndexItems(t, items...)
	w.Server = httptest.NewServer(rest.New(w.Service, rest.Options{Metrics: http.NotFoundHandler()}).Handler(nil))
	t.Cleanup(w.Server.Close)
	servicetest.Start(t, "imports", w.Imports.Run)
	servicetest.Start(t, "jobs", w.Jobs.Run)
	return w
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
