package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// The store's file is gone, and the schedule still has its feeds: starting would delete all that is left of them.
func TestRun_EmptyStoreBesideAFullScheduleIsRefused(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Starter = true
	r := start(t, c)
	eventually(t, "the schedule has the feeds", func() bool {
		status, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
		return err == nil && status.Feeds.Stored > 0 && status.Active["schedule"].Feeds != nil && status.Active["schedule"].Feeds.InFlight+status.Active["schedule"].Feeds.Polled > 0
	})
	r.stop()
	files, err := filepath.Glob(filepath.Join(c.Data, "store.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got the files %v, %v", files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // a second start is as safe as the first
		err = Run(t.Context(), c, Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "the schedule has 40 feeds") || !strings.Contains(err.Error(), "--accept-empty-store") {
			t.Errorf("got %v, want it refused with what to do", err)
		}
	}
	c.Starter, c.AcceptEmptyStore = false, true
	r = start(t, c)
	eventually(t, "the schedule forgot the feeds", func() bool {
		status, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
		return err == nil && status.Feeds.Stored == 0 && status.Active["schedule"].Feeds != nil && *status.Active["schedule"].Feeds == (subjects.ScheduleCounts{})
	})
}
