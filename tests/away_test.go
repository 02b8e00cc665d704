package tests

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/node"
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
