package tests

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/node"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/tests/engines"
)

func TestStart_WaitsForTheSearchEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a search engine")
	}
	t.Parallel()
	search := engines.NewMeilisearch(t)
	search.Kill()
	c := settings(t.TempDir())
	c.Search = config.Address(strings.Replace(search.URL(), "http", "meilisearch", 1))
	c.SearchKey = config.Secret(search.Key())

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := node.Run(ctx, c, node.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Errorf("got %v from an agent stopped while it waits, want nil", err)
	}

	back := make(chan error, 1)
	time.AfterFunc(3*time.Second, func() { back <- search.Start() })
	n := start(t, c, nil)
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	if st := n.status(); len(st.Agents) != 1 {
		t.Errorf("got %+v, want an agent that serves", st)
	}
}

// A node that was started without its search engine polls and stores; the items are searchable when the engine is back.
func TestStart_PollsWithoutTheSearchEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a search engine")
	}
	t.Parallel()
	search := engines.NewMeilisearch(t)
	var entries atomic.Int64
	entries.Store(3)
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var items strings.Builder
		for n := range entries.Load() {
			items.WriteString(item(fmt.Sprintf("Entry %d about subject%d", n, n), time.Now().Add(-time.Duration(n+1)*time.Hour)))
		}
		w.Write([]byte(document(items.String())))
	}))
	c := settings(t.TempDir())
	c.Schedule.Interval = time.Second
	c.Search = config.Address(strings.Replace(search.URL(), "http", "meilisearch", 1))
	c.SearchKey = config.Secret(search.Key())
	first := start(t, c, nil)
	first.add(url)
	if s := first.waitSettled(); s.Items != 3 {
		t.Fatalf("%d items are stored, want 3", s.Items)
	}
	first.stop()

	search.Kill()
	entries.Store(8)
	second := start(t, c, nil)
	for deadline := time.Now().Add(settleTimeout); second.status().Items != 8; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not polled while the search engine is away: %+v", second.status())
		}
	}
	ready, err := second.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(ready.Checks, func(c wire.Check) bool { return c.Name == "index" })
	if ready.Ready || i < 0 || ready.Checks[i].OK || !strings.Contains(ready.Checks[i].Detail, search.URL()) {
		t.Errorf("readiness: got %+v, want the index named as away", ready)
	}
	if err := search.Start(); err != nil {
		t.Fatal(err)
	}
	if s := second.waitSettled(); s.Indexed != 8 {
		t.Errorf("%d items are searchable after the search engine is back, want 8", s.Indexed)
	}
}
