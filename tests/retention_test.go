package tests

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Old items are purged from store and index, and do not come back although their feed still lists them.
func TestRetention_PurgedItemsStayAway(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: whole nodes run")
	}
	t.Parallel()
	var entries atomic.Int64
	entries.Store(5)
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		b.WriteString(`<rss version="2.0"><channel><title>A feed</title>`)
		for n := range entries.Load() {
			fmt.Fprintf(&b, `<item><guid>entry-%d</guid><title>Entry %d about subject%d</title><description>Text number%d of it.</description></item>`, n, n, n, n)
		}
		b.WriteString(`</channel></rss>`)
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprint(w, b.String())
	})) + "/feed"
	clock := &skewed{}
	c := settings(t.TempDir())
	c.Keep = storage.Keep{Age: 90 * 24 * time.Hour}

	first := start(t, c, clock.now)
	first.add(url)
	if s := first.waitSettled(); s.Items != 5 || s.Purged != 0 {
		t.Fatalf("%d items are stored and %d purged, want 5 and 0", s.Items, s.Purged)
	}
	kept := first.items()[0]
	if _, err := client.Call(t.Context(), first.Client, wire.LabelItem, wire.LabelItemRequest{ID: kept.ID, Body: wire.Correction{}}); err != nil {
		t.Fatal(err)
	}
	first.stop()

	clock.add(100 * 24 * time.Hour)
	entries.Store(6)
	second := start(t, c, clock.now)
	var s wire.Status
	for deadline := time.Now().Add(settleTimeout); s.Purged != 4 || s.Items != 2 || s.Indexed != 2; time.Sleep(100 * time.Millisecond) {
		if s = second.status(); time.Now().After(deadline) {
			t.Fatalf("%d items are stored, %d searchable, %d purged; want 2, 2 and 4", s.Items, s.Indexed, s.Purged)
		}
	}
	if err := client.Do(t.Context(), second.Client, wire.RefreshFeed, wire.ByID{ID: storage.FeedID(url)}); err != nil {
		t.Fatal(err)
	}
	s = second.waitSettled()
	var titles []string
	for _, item := range second.items() {
		titles = append(titles, item.Title)
	}
	want := []string{"Entry 5 about subject5", kept.Title}
	if !slices.Equal(titles, want) || s.Purged != 4 {
		t.Errorf("after another poll the items are %q, want %q; %d are purged, want 4", titles, want, s.Purged)
	}
	r, err := client.Call(t.Context(), second.Client, wire.GetRetention, wire.None{})
	if err != nil || r.Keep != "90d" || r.Purged != 4 || r.LastPurged != 4 || r.Next != nil {
		t.Errorf("retention is %+v, %v; want 4 purged items and none to purge", r, err)
	}
}
