package node

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/role"
	"feedmesh/agent/role/work"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

// The node starts twice: the feeds must have the same addresses after a restart.
func TestSimulate_FeedsPolledAcrossRestart(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.Simulate = 20
	for range 2 {
		r := start(t, c)
		eventually(t, "20 feeds polled and their items stored", func() bool {
			s, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
			return err == nil && s.Feeds.Stored == 20 && s.Feeds.Polled >= 18 && s.Items > 200 && s.Feeds.Failing <= 2
		})
		r.stop()
	}
}

func TestSimulate_RequiresEmptyStore(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t)
	if _, err := store.AddFeeds(t.Context(), storage.Feed{ID: "f", URL: "http://f.example/", Added: time.Now()}); err != nil {
		t.Fatal(err)
	}
	c := settings(t.TempDir())
	c.Simulate = 20
	p := &process{config: c, options: Options{Log: slog.New(slog.DiscardHandler)}}
	err := importStarter(t.Context(), p, &role.Env{Env: &work.Env{Store: store}})
	if want := "the store has feeds that are not simulated, for example http://f.example/: use --simulate with an empty data folder"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
