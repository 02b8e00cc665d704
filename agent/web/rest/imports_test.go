package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/opml"
	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
	"feedmesh/tests/corpus"
)

// listID returns the ID of the import of a list.
func listID(list string) string {
	sum := sha256.Sum256([]byte(list))
	return hex.EncodeToString(sum[:8])
}

// begun starts the import of a list and returns the response.
func (w *testbed) begun(t *testing.T, list string, headers ...string) wire.Import {
	t.Helper()
	a := w.request(t, "POST", "/api/feeds/import?name=list", list, headers...)
	var imp wire.Import
	if err := json.Unmarshal([]byte(a.body), &imp); a.StatusCode != 202 || err != nil {
		t.Fatalf("got %d %s, want 202 and the import", a.StatusCode, a.body)
	}
	return imp
}

// imported imports a list and returns the result.
func (w *testbed) imported(t *testing.T, list string, headers ...string) wire.Import {
	t.Helper()
	begun := w.begun(t, list, headers...)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if imp := getJSON[wire.Import](t, w, "/api/imports/"+begun.ID); imp.State == wire.ImportDone {
			return imp
		}
	}
	t.Fatal("the import does not end")
	return wire.Import{}
}

// lines returns what became of the feeds of an import, by pages of size.
func (w *testbed) lines(t *testing.T, id, outcome string, size int) []wire.ImportResult {
	t.Helper()
	var all []wire.ImportResult
	for after := 0; ; {
		page := getJSON[wire.ImportPage](t, w, fmt.Sprintf("/api/imports/%s/lines?limit=%d&after=%d&outcome=%s", id, size, after, outcome))
		for _, line := range page.Lines {
			all = append(all, line.ImportResult)
		}
		if after = page.Next; after == 0 {
			return all
		}
	}
}

// added returns the addresses that the schedule was told were added.
func (w *testbed) added(t *testing.T) []string {
	t.Helper()
	var urls []string
	for _, task := range servicetest.Published(t, w.Mesh, subjects.ObserveQueue) {
		for _, o := range task.Observations {
			if o.Outcome != subjects.Added || o.FeedID != storage.FeedID(o.URL) {
				t.Errorf("the schedule hears %+v, want an added feed under its ID", o)
			}
			urls = append(urls, o.URL)
		}
	}
	return urls
}

// Whoever added it may not have lived to tell.
func TestImportFeeds_PublishesStoredFeeds(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	moved := "https://old.example/feed"
	if _, err := w.Store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(moved), URL: moved, Added: now}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.MoveFeed(t.Context(), storage.FeedID(moved), "https://new.example/feed"); err != nil {
		t.Fatal(err)
	}
	list := []string{feedURL, moved, "https://x.example/feed"}
	got, err := w.server.Feeds.Add(t.Context(), wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: list}})
	if err != nil || got.Existing != 2 || got.Added != 1 {
		t.Fatalf("got %+v, %v; want 2 known, 1 added", got, err)
	}
	if got, want := w.added(t), []string{"https://x.example/feed", feedURL}; !slices.Equal(got, want) {
		t.Errorf("the schedule hears of %v, want %v: of none that lives elsewhere", got, want)
	}
}

func TestImport_Lists(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]string{
		"OPML": `<?xml version="1.0"?><opml version="2.0"><body><outline text="it"><outline type="rss" text="X &amp; Y" xmlUrl="HTTP://X.example:80" htmlUrl="https://x.example/"/></outline>
			<outline type="rss" xmlUrl="https://y.example/feed"/><outline type="rss" xmlUrl="https://y.example/feed#again"/><outline type="rss" xmlUrl="` + feedURL + `"/><outline type="rss" xmlUrl="ftp://z.example/"/></body></opml>`,
		"text": "# my feeds\nHTTP://X.example:80\n\nhttps://y.example/feed\r\nhttps://y.example/feed#again\n" + feedURL + "\nftp://z.example/\n",
	} {
		for _, kind := range []string{"application/xml", "text/plain", "application/octet-stream", "text/x-opml", ""} {
			w := newTestbed(t)
			got := w.imported(t, list, "Content-Type", kind)
			want := wire.Import{ID: listID(list), Name: "list", State: wire.ImportDone, Started: now, Finished: now, Total: 5, Done: 5, Added: 2, Existing: 2, Invalid: 1}
			if got != want {
				t.Errorf("%s as %q: got %+v, want %+v", name, kind, got, want)
			}
			f, err := w.Store.Feed(t.Context(), storage.FeedID("http://x.example/"))
			if err != nil || !f.Added.Equal(now) || name == "OPML" && (f.Title != "X & Y" || f.Site != "https://x.example/" || !slices.Equal(f.Tags, []string{"it"})) {
				t.Errorf("%s: got %+v, %v; want it with what the list says", name, f, err)
			}
			if got, want := w.added(t), []string{"http://x.example/", "https://y.example/feed"}; !slices.Equal(got, want) {
				t.Errorf("%s: the schedule hears of %v, want %v", name, got, want)
			}
		}
	}
}

func TestImport_VerdictOfEachLine(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	var list strings.Builder
	for i := range 2_500 {
		fmt.Fprintf(&list, "https://many.example/%d\n", i)
	}
	list.WriteString("https://many.example/0\nftp://z.example/\n" + feedURL + "\n")
	imp := w.imported(t, list.String())
	if imp.Added != 2500 || imp.Existing != 2 || imp.Invalid != 1 {
		t.Fatalf("got %+v, want 2500 added, 2 known, 1 invalid", imp)
	}
	for _, size := range []int{7, 1000} {
		all := w.lines(t, imp.ID, "", size)
		if len(all) != 2503 || all[0].Outcome != wire.ImportAdded || all[0].Line != 1 || all[2500].Outcome != wire.ImportExisting || all[2502].Outcome != wire.ImportExisting {
			t.Errorf("by %d: got %d lines, want 2503 with their outcomes", size, len(all))
		}
	}
	bad := w.lines(t, imp.ID, wire.ImportInvalid, 1)
	if len(bad) != 1 || bad[0].Line != 2502 || !strings.Contains(bad[0].Reason, "must start with http:// or https://") {
		t.Errorf("got %+v, want the one invalid line and why", bad)
	}
	if got := strings.Count(w.request(t, "GET", "/api/feeds/export", "").body, "xmlUrl="); got != 2_503 {
		t.Errorf("got %d feeds out, want 2503", got)
	}
	if got := len(servicetest.Published(t, w.Mesh, subjects.ObserveQueue)); got != 3 {
		t.Errorf("got %d observe tasks, want 3", got)
	}
}

func TestImport_IsIdempotent(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	const list = "https://x.example/\nhttps://y.example/\n"
	w.imported(t, list)
	w.server.Now = func() time.Time { return now.Add(time.Hour) }
	if got := w.imported(t, list); got.Added != 0 || got.Existing != 2 {
		t.Errorf("again: got %+v, want 2 known", got)
	}
	if got := getJSON[wire.Imports](t, w, "/api/imports"); len(got.Imports) != 1 {
		t.Errorf("got %+v, want one import of one list", got)
	}
}

// A dyingStore dies with its process after some of its writes.
type dyingStore struct {
	storage.Store
	left atomic.Int64
}

var errDied = errors.New("killed")

func (s *dyingStore) AddFeeds(ctx context.Context, feeds ...storage.Feed) ([]string, error) {
	if s.left.Add(-1) < 0 {
		return nil, errDied
	}
	return s.Store.AddFeeds(ctx, feeds...)
}

func (s *dyingStore) ChangeRecord(ctx context.Context, table *storage.Table, change storage.RecordChange) error {
	if s.left.Add(-1) < 0 {
		return errDied
	}
	return s.Store.ChangeRecord(ctx, table, change)
}

// However many writes a process lives for, those after it end the work with the
// counts of one that was never interrupted, and the schedule hears of all feeds.
func TestImport_ResumesAfterCrash(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 2_100 {
		fmt.Fprintf(&list, "https://many.example/%d\n", i%2_050) // the last 50 come twice
	}
	step := int64(1)
	if testing.Short() {
		step = 3
	}
	for lives := int64(2); lives <= 8; lives += step { // a chunk takes two writes, the end one
		store := &dyingStore{Store: enginetest.Store(t)}
		w := newTestbed(t, func(d *setup) { d.Store = store })
		w.stopImports()
		store.left.Store(1)
		imp := w.begun(t, list.String())
		for range 20 { // each process after it lives as long
			store.left.Store(lives)
			_ = w.server.Imports.RunAll(t.Context())
		}
		got := getJSON[wire.Import](t, w, "/api/imports/"+imp.ID)
		want := wire.Import{ID: imp.ID, Name: "list", State: wire.ImportDone, Started: now, Finished: now, Total: 2100, Done: 2100, Added: 2050, Existing: 50}
		if got != want {
			t.Errorf("living for %d writes: got %+v, want %+v", lives, got, want)
		}
		urls := w.added(t)
		slices.Sort(urls)
		if n := len(slices.Compact(urls)); n != want.Added {
			t.Errorf("living for %d writes: the schedule hears of %d feeds, want %d", lives, n, want.Added)
		}
	}
}

func TestImport_RejectsInvalidLists(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.request(t, "POST", "/api/feeds/import", strings.Repeat("a.example\n", service.MaxListed+1)).isProblem(t, 422, "200001 feeds, more than 200000: split it")
	for i := range service.MaxWaiting {
		if err := storage.Imports(w.Store).Put(t.Context(), storage.Import{ID: fmt.Sprint(i), Started: now, Total: 1, Lines: []byte(".not gzip")}); err != nil {
			t.Fatal(err)
		}
	}
	w.request(t, "POST", "/api/feeds/import", "b.example\n").isProblem(t, 429, "20 imports are waiting already")
}

// TestImport_LargeList sends the addresses of the shared lists as OPML. A list of
// 38,000 should be accepted within ten seconds; how long it took is in the log, as
// other tests share the machine.
func TestImport_LargeList(t *testing.T) {
	t.Parallel()
	feeds := listed(t)
	var file bytes.Buffer
	if err := opml.Write(&file, "all", feeds); err != nil {
		t.Fatal(err)
	}
	w := newTestbed(t)
	began := time.Now()
	w.begun(t, file.String())
	accepted := time.Since(began)
	got := w.imported(t, file.String()) // the one that is under way
	t.Logf("%d feeds, %d bytes: accepted after %v, done after %v", len(feeds), file.Len(), accepted, time.Since(began))
	if got.Added+got.Existing != len(feeds) || got.Added < len(feeds)*99/100 || got.Invalid != 0 {
		t.Errorf("got %+v, want %d feeds, nearly all of them added", got, len(feeds))
	}
}

// listed returns the feeds of real lists.
func listed(t *testing.T) (feeds []opml.Feed) {
	t.Helper()
	type line struct {
		URL, Title, Site string
		Category         []string
	}
	for _, l := range corpus.Lines[line](t, filepath.Join(corpus.Folder(t, "feedlists"), "all-feeds.jsonl.gz")) {
		feeds = append(feeds, opml.Feed{URL: l.URL, Title: l.Title, Site: l.Site, Tags: l.Category})
	}
	slices.SortStableFunc(feeds, func(a, b opml.Feed) int { return cmp.Compare(a.URL, b.URL) })
	return feeds
}
