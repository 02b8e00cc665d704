package tests

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tests/engines"
)

// previousAgent starts the program of the previous version on a data folder, and
// returns a client of it and a function that stops it.
func previousAgent(t *testing.T, program, data string) (*running, func()) {
	t.Helper()
	port, err := engines.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", port)
	p := &engines.Process{Name: "previous", Path: program, Args: []string{
		"--data", data, "--listen", listen, "--starter=false", "--allow-net", "127.0.0.0/8", "--allow-net", "::1/128",
		"--schedule-host-spacing", "0s", "--schedule-interval", "24h",
	}}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	api, err := client.NewClient("http://"+listen, "")
	if err != nil {
		t.Fatal(err)
	}
	stop := func() {
		p.Stop(syscall.SIGTERM, time.Minute)
	}
	t.Cleanup(stop)
	r := &running{Client: api, t: t, stop: stop}
	deadline := time.Now().Add(startTimeout)
	for {
		if _, err := client.Call(t.Context(), api, wire.GetStatus, wire.None{}); err == nil {
			return r, stop
		}
		if !p.Running() || time.Now().After(deadline) {
			t.Fatalf("the previous version does not answer:\n%s", p.Log())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestUpgrade_OpensThePreviousVersionsDataFolder imports feeds with the program of the
// previous version, opens its data folder with this version and goes back again: no feed
// is polled and no item is stored or indexed anew.
func TestUpgrade_OpensThePreviousVersionsDataFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the previous version")
	}
	t.Parallel()
	program, err := engines.BuildPrevious(t.TempDir())
	if errors.Is(err, engines.ErrNoHistory) {
		t.Skip("SKIPPED, NOT TESTED: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}

	const feeds, entries = 20, 10
	var requests atomic.Int64
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		var items strings.Builder
		for i := range entries {
			title := fmt.Sprintf("Lighthouse %d of coast %s reports weather", i, r.URL.Path[1:])
			items.WriteString(item(title, time.Now().Add(-time.Duration(i)*time.Hour)))
		}
		w.Write([]byte(document(items.String())))
	}))
	var urls []string
	for i := range feeds {
		urls = append(urls, fmt.Sprintf("%s/%d", address, i))
	}

	data := t.TempDir()
	old, stop := previousAgent(t, program, data)
	old.add(urls...)
	before := old.waitSettled()
	ids := idsOf(old)
	stop()
	polled := requests.Load()
	if before.Items != feeds*entries || polled < feeds {
		t.Fatalf("the previous version stored %d items with %d requests, want %d items", before.Items, polled, feeds*entries)
	}

	c := settings(data)
	c.Schedule.Interval = 24 * time.Hour
	n := start(t, c, nil)
	after := n.waitSettled()
	if after.Items != before.Items || after.Indexed != before.Indexed || after.Feeds.Stored != before.Feeds.Stored {
		t.Errorf("this version has %d items, %d indexed, %d feeds; the previous version had %d, %d, %d",
			after.Items, after.Indexed, after.Feeds.Stored, before.Items, before.Indexed, before.Feeds.Stored)
	}
	if got := idsOf(n); got != ids {
		t.Errorf("this version finds other items:\n%s\nthe previous one:\n%s", got, ids)
	}
	for name, want := range map[string]string{"feedmesh_items_stored_total": "0", "feedmesh_items_indexed_total": "0"} {
		if got := metricOf(n, name); got != want {
			t.Errorf("%s is %s after the upgrade, want %s", name, got, want)
		}
	}
	found, err := client.Call(t.Context(), n.Client, wire.SearchItems, wire.Search{Query: "lighthouse weather", Limit: 5})
	if err != nil || len(found.Items) == 0 {
		t.Errorf("search after the upgrade: %d items, %v", len(found.Items), err)
	}
	n.stop()
	upgraded := requests.Load()
	if upgraded != polled {
		t.Errorf("%d requests for feeds that were not due, after the upgrade", upgraded-polled)
	}

	back, stop := previousAgent(t, program, data)
	if s := back.waitSettled(); s.Items != before.Items || s.Indexed != before.Indexed {
		t.Errorf("back on the previous version: %d items, %d indexed, want %d, %d", s.Items, s.Indexed, before.Items, before.Indexed)
	}
	stop()
	// The previous version can't read the schedule's journal (docs/decisions/0008-schedule-journal.md).
	if again := requests.Load() - upgraded; again > feeds {
		t.Errorf("%d requests back on the previous version, want one for each of %d feeds at most", again, feeds)
	}
}

// idsOf returns the IDs of all items, newest first.
func idsOf(r *running) string {
	var ids []string
	for _, i := range r.items() {
		ids = append(ids, i.ID)
	}
	return strings.Join(ids, "\n")
}

// metricOf returns the value of a metric without labels, "" if there is none.
func metricOf(r *running, name string) string {
	for line := range strings.Lines(r.get("/metrics")) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
