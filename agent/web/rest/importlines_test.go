package rest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// clocked returns a server with a clock that can be advanced.
func clocked(t *testing.T) (*testbed, *atomic.Int64) {
	t.Helper()
	var ahead atomic.Int64
	w := newTestbed(t, func(d *setup) { d.Now = func() time.Time { return now.Add(time.Duration(ahead.Load())) } })
	return w, &ahead
}

func TestImportLines_VerdictFollowsFeedState(t *testing.T) {
	t.Parallel()
	w, ahead := clocked(t)
	want := map[string]string{
		feedURL: wire.VerdictDuplicate, "no address": wire.VerdictInvalid, "=cmd|' /C calc'!A0": wire.VerdictInvalid,
		"https://read.example/": wire.VerdictRead, "https://page.example/": wire.VerdictNoFeed, "https://inside.example/": wire.VerdictBlocked,
		"https://404.example/": wire.VerdictFailed, "https://gone.example/": wire.VerdictGone, "https://new.example/": wire.VerdictAdded, "https://moved.example/": wire.VerdictRedirected,
	}
	var list strings.Builder
	for _, address := range slices.Sorted(maps.Keys(want)) {
		fmt.Fprintf(&list, "<outline xmlUrl=%q/>\n", address)
	}
	imp := w.imported(t, "<opml><body>"+list.String()+"</body></opml>")
	w.stopImports()
	ahead.Store(int64(time.Hour))
	for name, s := range map[string]*subjects.State{
		"read": {Polled: now}, "page": {Polled: now, Failures: 1, Class: "web page"}, "inside": {Polled: now, Failures: 1, Class: "blocked"},
		"404": {Polled: now, Failures: 2, Class: "http 4xx", Status: 404}, "gone": {Polled: now, Outcome: subjects.Gone, Failures: 1}, "new": {},
	} {
		w.Mesh.States[storage.FeedID("https://"+name+".example/")] = s
	}
	var all wire.ImportPage
	for after := 0; ; {
		page := getJSON[wire.ImportPage](t, w, fmt.Sprintf("/api/imports/%s/lines?limit=3&after=%d", imp.ID, after))
		all.Lines = append(all.Lines, page.Lines...)
		if after = page.Next; after == 0 {
			break
		}
	}
	if len(all.Lines) != len(want) {
		t.Fatalf("got %d lines, want %d", len(all.Lines), len(want))
	}
	for _, line := range all.Lines {
		if line.Verdict != want[line.URL] {
			t.Errorf("%s: got %s (%s), want %s", line.URL, line.Verdict, line.Detail, want[line.URL])
		}
		if line.Verdict == wire.VerdictFailed && (line.Status != 404 || line.Detail != "The address does not exist (HTTP 404).") {
			t.Errorf("%s: got %d, %q; want the status and words", line.URL, line.Status, line.Detail)
		}
	}
	for _, verdict := range wire.Verdicts {
		n := 0
		for _, v := range want {
			if v == verdict {
				n++
			}
		}
		if page := getJSON[wire.ImportPage](t, w, "/api/imports/"+imp.ID+"/lines?limit=1000&verdict="+url.QueryEscape(verdict)); len(page.Lines) != n || page.Next != 0 {
			t.Errorf("%s: got %d lines, want %d", verdict, len(page.Lines), n)
		}
	}

	a := w.request(t, "GET", "/api/imports/"+imp.ID+"/report", "")
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(rows) != len(want)+1 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") || a.Header.Get("Content-Disposition") == "" {
		t.Fatalf("got %d rows, %v, %v; want a file with a head and %d", len(rows), err, a.Header, len(want))
	}
	for _, row := range rows {
		for _, cell := range row {
			if strings.HasPrefix(cell, "=") {
				t.Errorf("the cell %q is a formula", cell)
			}
		}
	}
}

func TestImport_CancelKeepsAddedFeeds(t *testing.T) {
	t.Parallel()
	w, ahead := clocked(t)
	w.stopImports() // no import runs yet
	var list strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&list, "https://%d.example/\n", i)
	}
	imp := w.begun(t, list.String())
	if a := w.request(t, "POST", "/api/imports/"+imp.ID+"/cancel", ""); a.StatusCode != 202 {
		t.Fatalf("got %d %s, want 202", a.StatusCode, a.body)
	}
	if err := w.server.Imports.RunAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := getJSON[wire.Import](t, w, "/api/imports/"+imp.ID)
	if got.State != wire.ImportEnded || !got.Cancel || got.Done != 0 || got.Finished.IsZero() {
		t.Errorf("the import is %+v, want it cancelled", got)
	}
	page := getJSON[wire.ImportPage](t, w, "/api/imports/"+imp.ID+"/lines?limit=1")
	if page.Lines[0].Verdict != wire.VerdictLeftOut {
		t.Errorf("a line is %+v, want it omitted", page.Lines[0])
	}
	// When sent again, the list restarts and completes.
	ahead.Store(int64(time.Second))
	if again := w.begun(t, list.String()); again.ID != imp.ID || again.State != wire.ImportRunning {
		t.Fatalf("sent again it is %+v, want it running", again)
	}
	if err := w.server.Imports.RunAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(getJSON[wire.Import](t, w, "/api/imports/"+imp.ID))
	if !strings.Contains(string(data), `"state":"done"`) || !strings.Contains(string(data), `"added":2500`) {
		t.Errorf("finally it is %s, want all added", data)
	}
}
