package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
)

// keep stores and indexes items of the feed, and returns their IDs.
func (w *testbed) keep(t *testing.T, items ...storage.Item) []string {
	t.Helper()
	var ids []string
	for i := range items {
		it := &items[i]
		it.FeedID, it.ID, it.Hash, it.FirstSeen = w.feed, storage.ItemID(w.feed, it.Key), it.Key, now.Add(time.Duration(i)*time.Second)
		if it.Published.IsZero() {
			it.Published = it.FirstSeen
		}
		ids = append(ids, it.ID)
	}
	_, err := w.Store.PutItems(t.Context(), storage.Batch{FeedID: w.feed, Items: items})
	var indexed []storage.IndexItem
	for _, it := range items {
		indexed = append(indexed, storage.IndexItem{Item: it, Text: it.Excerpt})
	}
	if err := errors.Join(err, w.Index.Put(t.Context(), indexed...)); err != nil {
		t.Fatal(err)
	}
	return ids
}

// titles returns the titles of search results, in order.
func (w *testbed) titles(t *testing.T, search string) []string {
	t.Helper()
	var titles []string
	for _, it := range getJSON[wire.SearchResults](t, w, "/api/search?"+search).Items {
		titles = append(titles, it.Title)
	}
	return titles
}

// Marks belong to the client that searches.
func TestSearch_ByMarks(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.keep(t, storage.Item{Key: "one", Title: "Gadget one"}, storage.Item{Key: "two", Title: "Gadget two"}, storage.Item{Key: "three", Title: "Gadget three", Flags: []string{"starred"}})
	one, two := storage.ItemID(w.feed, "one"), storage.ItemID(w.feed, "two")
	mark := func(body string) {
		t.Helper()
		if a := w.request(t, "POST", "/api/reading/marks", body); a.StatusCode/100 != 2 {
			t.Fatalf("mark: got %d %s", a.StatusCode, a.body)
		}
	}
	want := func(q string, titles ...string) {
		t.Helper()
		got := w.titles(t, "q="+url.QueryEscape(q))
		slices.Sort(got)
		if !slices.Equal(got, titles) {
			t.Errorf("%s: got %q, want %q", q, got, titles)
		}
	}
	want("gadget is:unread", "Gadget one", "Gadget three", "Gadget two")
	want("gadget is:starred", "Gadget three") // by a rule
	mark(fmt.Sprintf(`{"ids":[%q],"read":true}`, one))
	mark(fmt.Sprintf(`{"ids":[%q],"starred":true}`, two))
	want("gadget is:unread", "Gadget three", "Gadget two")
	want("gadget -is:unread", "Gadget one")
	want("gadget is:labelled")
	for id, label := range map[string]string{one: "later", two: "for work"} {
		if a := w.request(t, "PATCH", "/api/items/"+id+"/annotation", `{"labels":["`+label+`"]}`); a.StatusCode != 200 {
			t.Fatalf("got %d %s", a.StatusCode, a.body)
		}
	}
	want("gadget is:labelled", "Gadget one", "Gadget two")
	want("gadget label:Later", "Gadget one")
	want(`label:"for work" OR label:later`, "Gadget one", "Gadget two")
	want("gadget -label:later", "Gadget three", "Gadget two")
	want("label:missing")
	want("gadget is:starred", "Gadget three", "Gadget two")
	want("gadget (is:starred OR one)", "Gadget one", "Gadget three", "Gadget two")
	if a := w.request(t, "GET", "/api/search?q="+url.QueryEscape("is:seen"), ""); a.StatusCode != 400 || !strings.Contains(a.body, "starred, unread") {
		t.Errorf("is:seen: got %d %s, want the values", a.StatusCode, a.body)
	}
}

func TestSearch_QueryAndParameters(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for q, want := range map[string][]string{
		"q=" + url.QueryEscape(`released -kernel`):                    {"Compiler released"},
		"q=" + url.QueryEscape(`"kernel released" OR missing`):        {"Kernel released"},
		"q=" + url.QueryEscape(`title:released`) + "&category=linux":  {"Kernel released"},
		"q=" + url.QueryEscape(`compiler OR kernel`) + "&language=ru": nil,
		"q=" + url.QueryEscape(`after:2026-01-02T03:00:00Z`):          {"Kernel released"},
		"q=" + url.QueryEscape(`before:2026-01-02T03:00:00Z age:<1y`): {"Compiler released"},
		"q=" + url.QueryEscape(`host:a.example`):                      {"Kernel released"},
		"q=kern&typing=true":                                          {"Kernel released"},
		"q=kern":                                                      nil,
		"q=kern+&typing=true":                                         nil,
		"q=" + url.QueryEscape(`kernel "rele`) + "&typing=true":       nil,
		"q=" + url.QueryEscape(`kernel (new OR`) + "&typing=true":     {"Kernel released"},
		"after=2026-01-02T03:04:05Z&q=released":                       {"Kernel released"},
		"before=2026-01-02T03:04:05Z&feed=" + storage.FeedID(feedURL): {"Compiler released"},
	} {
		if got := w.titles(t, q); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", q, got, want)
		}
	}
}

func TestSearch_SyntaxErrorPosition(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	a := w.request(t, "GET", "/api/search?q="+url.QueryEscape("ядро is:great"), "")
	a.isProblem(t, 400, "at character 9: is: takes one of adult")
	if !strings.Contains(a.body, `"pos":12`) {
		t.Errorf("got %s, want the bytes before the fault, 12", a.body)
	}
	_, err := w.server.Search.Find(t.Context(), wire.Search{Query: "a OR"})
	var fault *query.SyntaxError
	if !errors.As(err, &fault) || fault.Offset != 2 {
		t.Errorf("got %v, want a fault at 2", err)
	}
}

func TestSearch_CursorMatchesParameters(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	q := wire.Search{Query: "released", Feed: w.feed, Language: "en", After: now.AddDate(0, 0, -1), Limit: 1}
	for range 20 {
		found, err := w.server.Search.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		next := q
		next.Cursor = found.Next
		if found, err = w.server.Search.Find(t.Context(), next); err != nil || len(found.Items) != 1 {
			t.Fatalf("got %d items, %v on the next page, want 1", len(found.Items), err)
		}
	}
}

func TestSearch_FuzzyFallbackIsReported(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	found := getJSON[wire.SearchResults](t, w, "/api/search?q=compilr")
	if !found.Fuzzy || len(found.Items) != 1 || found.Items[0].TitleSpans[0].Text != "Compiler" || !found.Items[0].TitleSpans[0].Hit {
		t.Errorf("got %+v, want the compiler, marked, and that something was forgiven", found)
	}
	found = getJSON[wire.SearchResults](t, w, "/api/search?typing=true&q=compilr+rel")
	if !found.Fuzzy || len(found.Items) != 1 || !found.Items[0].TitleSpans[0].Hit {
		t.Errorf("got %+v while typing, want the compiler, marked, and that something was forgiven", found)
	}
	if found := getJSON[wire.SearchResults](t, w, "/api/search?q=compiler"); found.Fuzzy {
		t.Error("something was forgiven where nothing had to be")
	}
}

func TestSearch_CursorFixesRelativeTimes(t *testing.T) {
	t.Parallel()
	at := now
	w := newTestbed(t, func(d *setup) { d.Now = func() time.Time { return at } })
	var items []storage.Item
	for n := range 9 {
		items = append(items, storage.Item{Key: fmt.Sprint("k", n), Title: "fresh news", Published: now.Add(-time.Duration(n) * time.Minute)})
	}
	w.keep(t, items...)
	seen := map[string]bool{}
	q := wire.Search{Query: "fresh age:<1d", Limit: 2}
	for page := 0; page == 0 || q.Cursor != ""; page++ {
		found, err := w.server.Search.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range found.Items {
			seen[it.ID] = true
		}
		q.Cursor, at = found.Next, at.Add(5*time.Hour)
	}
	if len(seen) != 9 {
		t.Errorf("got %d items over pages that were asked for hours apart, want 9", len(seen))
	}
}

func TestSearch_OncePerStoryAndDays(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.keep(t, storage.Item{Key: "a", Title: "news one", StoryID: "s"}, storage.Item{Key: "b", Title: "news two", StoryID: "s"}, storage.Item{Key: "c", Title: "news three"})
	if got := w.titles(t, "q=news&once=true&sort=newest"); !slices.Equal(got, []string{"news three", "news two"}) {
		t.Errorf("got %q, want one of the story, and the other", got)
	}
	if got := getJSON[wire.SearchResults](t, w, "/api/search?q=news&facets=true").Facets["day"]; len(got) != 1 || got[0] != (wire.Facet{Value: "2026-01-02", Label: "2026-01-02", Count: 3}) {
		t.Errorf("got the days %v, want one with 3", got)
	}
}

func TestSimilar_OncePerStory(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	same := func(key, story string) storage.Item {
		return storage.Item{Key: key, Title: "Hole in the scheduler of the kernel", Excerpt: "root users " + key, HTML: "root users", StoryID: story}
	}
	ids := w.keep(t, same("a", "own"), same("b", "own"), same("c", "other"), same("d", "other"), same("e", ""), same("f", ""))
	similar := getJSON[wire.Similar](t, w, "/api/items/"+ids[0]+"/similar")
	var got []string
	for _, it := range similar.Items {
		got = append(got, it.Key)
	}
	if !slices.Contains(got, "e") || !slices.Contains(got, "f") || slices.Contains(got, "b") || slices.Contains(got, "c") == slices.Contains(got, "d") {
		t.Errorf("got %q, want e, f and one of c and d, not b of its own story", got)
	}
	if similar := getJSON[wire.Similar](t, w, "/api/items/"+ids[0]+"/similar?limit=1"); len(similar.Items) != 1 {
		t.Errorf("got %d items, want 1", len(similar.Items))
	}
	w.request(t, "GET", "/api/items/none/similar", "").isProblem(t, 404, "not found")
}

func TestSuggest_Words(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	if got := getJSON[wire.Suggestions](t, w, "/api/suggest?prefix=Rel").Words; !slices.Equal(got, []storage.FacetCount{{Value: "released", Count: 2}}) {
		t.Errorf("got %v, want released, 2", got)
	}
	if got := getJSON[wire.Suggestions](t, w, "/api/suggest"); got.Words == nil || len(got.Words) != 0 {
		t.Errorf("got %v for no prefix, want a list of none", got)
	}
}

// A slow index does not answer before the timeout.
type slowIndex struct{ storage.Index }

func (slowIndex) Search(ctx context.Context, _ storage.Query) (storage.Results, error) {
	<-ctx.Done()
	return storage.Results{}, fmt.Errorf("search: %w", ctx.Err())
}

func closedBleve(t *testing.T) storage.Index {
	t.Helper()
	x, err := bleve.Open(filepath.Join(t.TempDir(), "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSearch_StoreFallback(t *testing.T) {
	t.Parallel()
	for name, index := range map[string]storage.Index{"closed": closedBleve(t), "slow": slowIndex{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestbed(t, func(d *setup) { d.Index = index })
			var items []storage.Item
			for n := range 1200 { // more than a batch
				items = append(items, storage.Item{Key: fmt.Sprint("k", n), Title: "dull", Language: "ru"})
			}
			items[0].Title, items[3].Title, items[900].Title = "rare words", "rare words", "words"
			items[900].Excerpt, items[901].Title, items[902].Title = "rarely rare", "rare words", "rare words"
			items[901].Spam, items[902].DuplicateOf = true, "x"
			items[3].StoryID, items[900].StoryID = "s", "s"
			w.keep(t, items...)
			found := getJSON[wire.SearchResults](t, w, "/api/search?q=rare+words&facets=true")
			var got []string
			for _, it := range found.Items {
				got = append(got, it.Key)
			}
			if want := []string{"k900", "k3", "k0"}; !slices.Equal(got, want) || found.By != wire.ByStore || found.Why == "" || found.Total != 3 || found.Next != "" || found.Facets != nil {
				t.Errorf("got %q, %+v; want %q by the store, and why", got, found, want)
			}
			if hit := found.Items[1].TitleSpans; len(hit) == 0 || !hit[0].Hit {
				t.Errorf("got %v, want the matches highlighted", hit)
			}
			if got := w.titles(t, "q="+url.QueryEscape(`"rare words" -lang:en`)+"&once=true"); len(got) != 2 {
				t.Errorf("got %q for a phrase, want 2", got)
			}
			// Page by page.
			page := getJSON[wire.SearchResults](t, w, "/api/search?q=rare&limit=2")
			next := getJSON[wire.SearchResults](t, w, "/api/search?q=rare&limit=2&cursor="+page.Next)
			if len(page.Items) != 2 || len(next.Items) != 1 || next.Items[0].Key != "k0" {
				t.Errorf("got %d items, then %+v; want 2, then k0", len(page.Items), next.Items)
			}
			w.request(t, "GET", "/api/search?q=rare&spam=true", "").isProblem(t, 503, "search:")
		})
	}
}

// A refusingIndex refuses queries that it can't express.
type refusingIndex struct{ storage.Index }

func (refusingIndex) Search(context.Context, storage.Query) (storage.Results, error) {
	return storage.Results{}, fmt.Errorf("search: %w", &query.SyntaxError{Message: "leave out OR"})
}

// The store does not answer what the index refuses.
func TestSearch_IndexRefusesQuery(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, func(d *setup) { d.Index = refusingIndex{} })
	w.request(t, "GET", "/api/search?q=one+OR+two", "").isProblem(t, 400, "leave out OR")
	newTestbed(t).request(t, "GET", "/api/search?q=one&semantic=50", "").isProblem(t, 422, "--search-embedder")
}

func TestSearch_StoreCursorAfterRecovery(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.server.Index = slowIndex{}
	page := getJSON[wire.SearchResults](t, w, "/api/search?q=released&limit=1")
	w.server.Index = w.Index
	next := getJSON[wire.SearchResults](t, w, "/api/search?q=released&limit=1&cursor="+page.Next)
	if len(page.Items) != 1 || len(next.Items) != 1 || page.Items[0].ID == next.Items[0].ID || next.By != wire.ByStore {
		t.Errorf("got %+v, then %+v; want the other item of the store", page, next)
	}
	w.request(t, "GET", "/api/search?q=released&cursor=abc.store.e30", "").isProblem(t, 400, "cursor does not belong")
}
