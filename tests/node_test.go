// Package tests runs whole nodes, from feeds to searchable items.
package tests

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/agent/role/work"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/subjects"
)

// loopback is allowed in tests, because their servers use it.
var loopback = config.Networks("127.0.0.0/8", "::1/128")

// settings returns the settings of a node with its own folder and port.
func settings(dir string) config.Config {
	c := config.Default()
	c.Data, c.Listen, c.Starter, c.AllowNet = dir, "127.0.0.1:0", false, loopback
	c.Schedule.HostSpacing = 0 // many feeds of the tests are on one host
	return c
}

// startTimeout bounds the start of a node, in parallel with other tests.
const startTimeout = 3 * time.Minute

// A running node.
type running struct {
	*client.Client
	t    *testing.T
	stop func() // stops the node and waits for its end
}

// start runs a node in this process until the test ends or stop is called.
func start(t *testing.T, c config.Config, clock work.Clock) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- node.Run(ctx, c, node.Options{
			Version: "test", Clock: clock, Log: slog.New(slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Ready: func(addr string) { ready <- addr },
		})
	}()
	select {
	case addr := <-ready:
		client, err := client.NewClient("http://"+addr, string(c.Token))
		if err != nil {
			t.Fatal(err)
		}
		r := &running{Client: client, t: t}
		stopped := false
		r.stop = func() {
			if stopped {
				return
			}
			stopped = true
			cancel()
			if err := <-done; err != nil {
				t.Errorf("the node ended with: %v", err)
			}
		}
		t.Cleanup(r.stop)
		return r
	case err := <-done:
		cancel()
		t.Fatalf("the node did not start: %v", err)
	case <-time.After(startTimeout):
		cancel()
		t.Fatal("the node did not start within", startTimeout)
	}
	return nil
}

// logTo writes a node's log to the test's log.
type logTo struct{ t *testing.T }

func (l logTo) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil { // logging after the end of a test panics
		l.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// add adds feeds and checks that all of them are accepted.
func (r *running) add(urls ...string) {
	r.t.Helper()
	in, err := client.Call(r.t.Context(), r.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls}})
	if err != nil {
		r.t.Fatal(err)
	}
	if in.Invalid > 0 {
		r.t.Fatalf("%d addresses are invalid: %+v", in.Invalid, in.Results)
	}
}

func (r *running) status() wire.Status {
	r.t.Helper()
	s, err := client.Call(r.t.Context(), r.Client, wire.GetStatus, wire.None{})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// settleTimeout bounds how long a node works on its feeds: hundreds of real documents, with the race detector,
// which slows it down tenfold, in parallel with other tests.
const settleTimeout = 8 * time.Minute

// waitSettled waits until every feed has been polled and all queues are empty.
func (r *running) waitSettled() wire.Status {
	r.t.Helper()
	var last wire.Status
	calm := 0
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		last = r.status()
		waiting := uint64(0)
		for _, q := range last.Queues {
			if q.Queue != subjects.QuarantineStream {
				waiting += q.Tasks
			}
		}
		if waiting > 0 || last.Feeds.InFlight > 0 || last.Feeds.Polled < last.Feeds.Stored || last.Indexed != last.Items {
			calm = 0
			continue
		}
		if calm++; calm == 5 {
			return last
		}
	}
	r.t.Fatalf("not settled within %v: %+v", settleTimeout, last)
	return last
}

// eachFeed calls do for every feed, with its state: a page whose states the busy node did not read in time is
// requested again.
func (r *running) eachFeed(do func(wire.Feed)) {
	r.t.Helper()
	for after, began := "", time.Now(); ; {
		page, err := client.Call(r.t.Context(), r.Client, wire.ListFeeds, wire.FeedSearch{After: after, Limit: 500})
		if err != nil {
			r.t.Fatal(err)
		}
		if slices.ContainsFunc(page.Feeds, func(f wire.Feed) bool { return f.Unknown }) && time.Since(began) < settleTimeout {
			continue
		}
		for _, f := range page.Feeds {
			do(f)
		}
		if after = page.Next; after == "" {
			return
		}
	}
}

// items returns all items, duplicates included, newest first.
func (r *running) items() []wire.FoundItem {
	r.t.Helper()
	var items []wire.FoundItem
	for cursor := ""; ; {
		found, err := client.Call(r.t.Context(), r.Client, wire.SearchItems, wire.Search{Duplicates: true, Sort: "newest", Limit: 100, Cursor: cursor})
		if err != nil {
			r.t.Fatal(err)
		}
		items = append(items, found.Items...)
		if cursor = found.Next; cursor == "" {
			return items
		}
	}
}

// serve serves h on this machine until the test ends.
func serve(t *testing.T, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
