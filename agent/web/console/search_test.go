package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func pagesOfSearches(t *testing.T, all sites) map[string]shown {
	slow, emptied := newSite(t), newSite(t)
	slow.down, slow.timeout = true, true
	items := make([]storage.Item, 2*pageSize)
	for n := range items {
		items[n] = storage.Item{ID: fmt.Sprint(n), Title: evil}
	}
	emptied.items(t, "f", items...)
	second := linkOn(t, emptied, "/", "More results")
	for _, i := range items {
		must(t, emptied.Index.Delete(t.Context(), i.ID))
	}
	emptied.items(t, "f", storage.Item{ID: "first", Title: evil, Published: noon.Add(time.Hour)})
	return map[string]shown{
		"newest":         {"/", 200, all.hostile},
		"results":        {"/?" + url.Values{"q": {"alert"}, "category": {evil}, "feed": {"evil"}, "time": {"day"}, "show": {"spam"}, "sort": {"newest"}}.Encode(), 200, all.hostile},
		"page 2":         {linkOn(t, all.hostile, "/?q=alert", "More results"), 200, all.hostile},
		"no match":       {"/?q=a+b&feed=f", 200, all.hostile},
		"no items":       {"/", 200, all.empty},
		"emptied page":   {second, 200, emptied},
		"bad parameter":  {"/?sort=%3Cscript%3E&time=x", 400, all.hostile},
		"damaged":        {"/?q=%zz", 400, all.hostile},
		"other's cursor": {"/?cursor=c", 400, all.hostile},
		"index down":     {"/?q=a&feed=%22", 503, all.broken},
		"index slow":     {"/?q=a", 503, slow},
	}
}

func TestSearchPage_FiltersAddedAndRemoved(t *testing.T) {
	source := newSite(t)
	source.AddFeeds(t, storage.Feed{ID: "f1", URL: "https://f.example/", Title: "One", Added: noon})
	items := make([]storage.Item, 2*pageSize)
	for n := range items {
		items[n] = storage.Item{ID: fmt.Sprint(n), Title: "x", Language: "ru", Categories: []string{"a", "b"}[:1+n%2]}
	}
	source.items(t, "f1", items...)
	doc := parse(t, body(t, serve(source, "GET", linkOn(t, source, "/?q=x&category=a&time=day", "More results"))))
	for label, want := range map[string]string{
		"a, 40 items":                 "/?q=x&time=day",
		"b, 20 items":                 "/?category=b&q=x&time=day",
		"One, 40 items":               "/?category=a&feed=f1&q=x&time=day",
		"Russian, 40 items":           "/?category=a&language=ru&q=x&time=day",
		"Any time":                    "/?category=a&q=x",
		"Past week":                   "/?category=a&q=x&time=week",
		"Spam only":                   "/?category=a&q=x&show=spam&time=day",
		"Newest":                      "/?category=a&q=x&sort=newest&time=day",
		"Remove filter Category: a ×": "/?q=x&time=day",
		"Remove filter Past day ×":    "/?category=a&q=x",
		"Clear all":                   "/?q=x",
		"First page":                  "/?category=a&q=x&time=day",
	} {
		if got := link(doc, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
	kept := map[string]string{}
	for _, in := range elements(elements(doc, "form")[0], "input") {
		kept[attr(in, "name")] = attr(in, "value")
	}
	if len(kept) != 3 || kept["q"] != "x" || kept["category"] != "a" || kept["time"] != "day" {
		t.Errorf("a new search keeps %v", kept)
	}
}

// A cursor is valid for one search, so "the past week" of later pages must refer to the time of the first
// page.
func TestSearchPages_ShareTime(t *testing.T) {
	source := newSite(t)
	source.now = noon.Add(123 * time.Millisecond)
	items := make([]storage.Item, 5*pageSize)
	for n := range items {
		items[n] = storage.Item{ID: fmt.Sprint(n), Title: "a", Language: "en", Published: noon.AddDate(0, 0, -7).Add(time.Minute)} // old on the second page
	}
	source.items(t, "f", items...)
	address, found := "/?q=a&time=week", map[string]bool{}
	for page := range 3 {
		doc := parse(t, body(t, serve(source, "GET", address)))
		address = link(doc, "More results")
		source.now = source.now.Add(time.Hour)
		for _, heading := range elements(doc, "h2") {
			for _, a := range elements(heading, "a") {
				found[attr(a, "href")] = true
			}
		}
		if want := (page + 1) * pageSize; len(found) != want {
			t.Errorf("page %d: got %d items in all, want %d", page+1, len(found), want)
		}
	}
	first := searchOf(t, "/?q=a&time=week")
	if got, want := searchOf(t, address).After, first.After; !got.Equal(want) {
		t.Errorf("page 4 is of items after %v, the first of those after %v", got, want)
	}
	if got, _ := readState(strings.TrimPrefix(address, "/?")); got["page"] != "4" || got["cursor"] == "" {
		t.Errorf("after three pages comes %s", address)
	}
}

func TestSearchPages_EmptyResultsHelp(t *testing.T) {
	feeds := func(s *site) *site {
		for n := range 41 {
			id := fmt.Sprint(n)
			s.AddFeeds(t, storage.Feed{ID: id, URL: "https://" + id + ".example/", Added: noon})
			if n < 12 {
				s.Mesh.States[id] = &subjects.State{Tier: "hot", Polled: noon, Failures: max(0, n-9)}
			}
		}
		return s
	}
	polled, stored, searchable := feeds(newSite(t)), feeds(newSite(t)), feeds(newSite(t))
	for n := range 9 {
		stored.PutItems(t, "0", storage.Item{ID: fmt.Sprint(n), Key: fmt.Sprint(n)})
		searchable.item(t, "0", storage.Item{ID: fmt.Sprint(n), Title: "x"})
	}
	for name, c := range map[string]struct {
		address string
		source  *site
		want    []string
	}{
		"no feeds":    {"/", newSite(t), []string{"No feeds yet", "agent feeds add URL", "agent feeds import FILE"}},
		"polling":     {"/?q=a", polled, []string{"41 feeds added, 12 polled so far, 2 failing", "agent feeds add URL"}},
		"not indexed": {"/", stored, []string{"9 items stored, none searchable yet", "agent reindex"}},
		"one word":    {"/?q=a", searchable, []string{"No results", "check the spelling"}},
		"words":       {"/?q=a+b&feed=f", searchable, []string{"fewer words", "search without filters", "Feed: f"}},
	} {
		page := words(parse(t, body(t, serve(c.source, "GET", c.address))))
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page does not say %q: %s", name, want, page)
			}
		}
	}
}

func TestSearchPage_ShowsSyntaxErrorPosition(t *testing.T) {
	source := newSite(t)
	for _, q := range []string{`go "never closed`, "(go"} {
		_, err := query.Parse(q, noon)
		var wrong *query.SyntaxError
		if !errors.As(err, &wrong) {
			t.Fatalf("%s: got %v, want a syntax error", q, err)
		}
		showsSyntaxError(t, serve(source, "GET", "/?q="+url.QueryEscape(q)), q, wrong)
	}
	for q, f := range map[string]query.SyntaxError{ // also those that the parser does not return
		`go "never closed`: {Offset: 3, Message: "this quote is never closed"},
		"ядро )":           {Offset: 9, Message: "this bracket was never opened"},
		"go -":             {Offset: 4, Message: "what must not occur?"},
		"яд":               {Offset: 1, Message: "inside of a character"},
		"a":                {Offset: 99, Message: "after the end"},
	} {
		w := httptest.NewRecorder()
		c := searchPages{&console{Service: source.Service}}
		c.showSearch(w, httptest.NewRequest("GET", "/", nil), 400, state{"q": q}, searchPage{Fault: newSyntaxError(q, &f)})
		showsSyntaxError(t, w.Result(), q, &f)
	}
	if f := newSyntaxError("go )", &query.SyntaxError{Offset: 3, Message: "m"}); f.Before != "go " || f.At != ")" || f.After != "" {
		t.Errorf("cut to %+v", f)
	}
}

// showsSyntaxError checks the page of a query with a syntax error.
func showsSyntaxError(t *testing.T, r *http.Response, q string, f *query.SyntaxError) {
	t.Helper()
	doc := parse(t, body(t, r))
	shown := elements(doc, "pre")
	if r.StatusCode != 400 || len(shown) != 1 {
		t.Fatalf("%s: status %d with %d queries shown, want 400 with one", q, r.StatusCode, len(shown))
	}
	if got := strings.TrimSpace(strings.ReplaceAll(words(shown[0]), "\u00a0", "")); got != strings.TrimSpace(q) {
		t.Errorf("the query is shown as %q, want %q", got, q)
	}
	if page := words(doc); f.Message == "" || !strings.Contains(page, locale.Sentence(locale.Data(strings.TrimSuffix(f.Message, "."))).In(locale.English)) {
		t.Errorf("%s: the page does not say %q", q, f.Message)
	}
	if field := elements(doc, "input")[0]; attr(field, "value") != q || attr(field, "aria-describedby") != "fault" {
		t.Errorf("%s: the field is %+v, want the query, described by its fault", q, field.Attr)
	}
}

// searchable returns a site with items of one word, each in an event of its own.
func searchable(t *testing.T, n int) *site {
	t.Helper()
	s := newSite(t)
	items := make([]storage.Item, n)
	for i := range items {
		items[i] = storage.Item{ID: fmt.Sprint(i), Title: "a kubernetes", Language: "en"}
	}
	s.items(t, "f", items...)
	return s
}

func TestSearchPage_ReportsCloseMatchesAndFallback(t *testing.T) {
	source := searchable(t, 1)
	if page := words(parse(t, body(t, serve(source, "GET", "/?q=kuberentes")))); !strings.Contains(page, "No item has all these words. Showing close matches.") {
		t.Errorf("the page does not say that it forgave: %s", page)
	}
	must(t, source.Index.Close())
	if page := words(parse(t, body(t, serve(source, "GET", "/?q=kubernetes")))); !strings.Contains(page, "The search index does not answer.") {
		t.Errorf("the page does not say that the store searched: %s", page)
	}
}

func TestSearchPage_CountOfUnknownTotal(t *testing.T) {
	source := searchable(t, 1234)
	says := func(address, want string) {
		t.Helper()
		if got := elements(parse(t, body(t, serve(source, "GET", address))), "p"); !slices.ContainsFunc(got, func(p *html.Node) bool { return words(p) == want }) {
			t.Errorf("%s: no paragraph is %q", address, want)
		}
	}
	third := func(address string) string {
		return linkOn(t, source, linkOn(t, source, address, "More results"), "More results")
	}
	says("/", "1,234 items, page 1 of 62")
	says("/?q=kubernetes", "1,234 results, page 1")
	says("/?q=kubernetes&page=3", "1,234 results, page 1")
	says(third("/?q=kubernetes&stories=all"), "1,234 items, page 3 of 62")
	says(third("/?q=kubernetes"), "1,234 results, page 3")
	must(t, source.Index.Close())
	if page := words(parse(t, body(t, serve(source, "GET", "/?q=kubernetes&stories=all")))); !strings.Contains(page, "At least 20 items, page 1 ") {
		t.Errorf("the page says more than the store does: %s", page)
	}
}

func TestSearchPage_OffersAnyWord(t *testing.T) {
	source := searchable(t, 9)
	for address, want := range map[string]string{
		"/?q=solar+wind&feed=f":         "/?feed=f&q=solar+OR+wind",
		"/?q=solar+wind&typing=word":    "/?q=solar+OR+wind",
		"/?q=solar":                     "",
		"/?q=%22solar+wind%22+-eclipse": "",
	} {
		doc := parse(t, body(t, serve(source, "GET", address)))
		if got := link(doc, "search for any of these words"); got != want {
			t.Errorf("%s: any of the words is at %q, want %q", address, got, want)
		}
	}
}

// An embeddingIndex records searches of an index that has an embedder.
type embeddingIndex struct{ *recordingIndex }

func (embeddingIndex) HasEmbedder(context.Context) bool { return true }

func TestSearchPage_SemanticSearch(t *testing.T) {
	source := newSite(t)
	source.items(t, "f", storage.Item{ID: "i", Title: "x", Published: noon})
	w := serve(source, "GET", "/?q=x&semantic=50")
	if page := body(t, w); w.StatusCode != 400 || !strings.Contains(page, "--search-embedder") {
		t.Errorf("without an embedder: status %d, want 400 and what to do: %s", w.StatusCode, page)
	}
	if got := link(parse(t, body(t, serve(source, "GET", "/?q=x"))), "By meaning"); got != "" {
		t.Errorf("without an embedder: the filter leads to %q, want none", got)
	}
	recorded := &recordingIndex{Index: source.Index}
	source.Service.Index = embeddingIndex{recorded}
	doc := parse(t, body(t, serve(source, "GET", "/?q=x")))
	for label, want := range map[string]string{"By words and meaning": "/?q=x&semantic=50", "By meaning": "/?q=x&semantic=100"} {
		if got := link(doc, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
	for _, address := range []string{"/", "/?q=x&sort=newest"} {
		if got := link(parse(t, body(t, serve(source, "GET", address))), "By meaning"); got != "" {
			t.Errorf("%s: the filter leads to %q, want none", address, got)
		}
	}
	serve(source, "GET", "/?q=x&semantic=100")
	if last := recorded.queries[len(recorded.queries)-1]; last.Semantic != 100 {
		t.Errorf("searched for %+v, want a semantic search", last)
	}
}

func TestSearchPage_DaysHistogramAndList(t *testing.T) {
	source := newSite(t)
	at := func(n int, day time.Time) (items []storage.Item) {
		for i := range n {
			items = append(items, storage.Item{ID: fmt.Sprint(day, i), Title: "x", Published: day})
		}
		return items
	}
	march := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	source.items(t, "f", slices.Concat(at(9, noon), at(3, noon.AddDate(0, 0, -2)), at(900, march))...)
	doc := parse(t, body(t, serve(source, "GET", "/?q=x")))
	for label, want := range map[string]string{"29 Sep 2026, 9 items": "/?day=2026-09-29&q=x", "27 Sep 2026, 3 items": "/?day=2026-09-27&q=x", "1 Mar 2026, 900 items": ""} {
		if got := link(doc, label); got != want {
			t.Errorf("without a chosen day %q leads to %q, want %q", label, got, want)
		}
	}
	// The index counts only the chosen day. The page of results with other days, as an index may return them:
	w := httptest.NewRecorder()
	s := state{"q": "x", "day": "2026-09-27"}
	facet := []wire.Facet{{Value: "2026-09-29", Count: 9}, {Value: "2026-09-27", Count: 3}, {Value: "2026-03-01", Count: 900}, {Value: "soon", Count: 1}}
	found := wire.SearchResults{Total: 12, Items: make([]wire.FoundItem, 1), Facets: map[string][]wire.Facet{"day": facet}}
	searchPages{&console{Service: source.Service}}.showSearch(w, httptest.NewRequest("GET", "/", nil), 200, s, s.show(found, noon))
	doc = parse(t, w.Body.String())
	for label, want := range map[string]string{
		"29 Sep 2026, 9 items": "/?day=2026-09-29&q=x", "27 Sep 2026, 3 items": "/?q=x", "1 Mar 2026, 900 items": "", "Remove filter 27 Sep 2026 ×": "/?q=x",
	} {
		if got := link(doc, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
	bars := elements(elements(doc, "svg")[0], "a")
	if len(bars) != 2 || attr(bars[1], "href") != "/?day=2026-09-29&q=x" || attr(bars[0], "class") != "active" {
		t.Errorf("got %d bars, want two days of the last 31, the earlier one marked", len(bars))
	}
	if h := (state{}).days(facet); h.Bars[0].X != 28*(dayWidth+dayGap) || h.Width != maxDays*(dayWidth+dayGap)-dayGap {
		t.Errorf("the picture is %+v, want days in their places", h)
	}
	if h := (state{}).days([]wire.Facet{{Value: "2026-09-29", Count: 9}}); h != nil {
		t.Errorf("one day is a picture: %+v", h)
	}
}

// Scripts replace parts of a page, so parts must equal those of the whole page and be as safe.
func TestSearchPage_PartsMatchWholePage(t *testing.T) {
	source := hostile(t)
	for part, c := range map[string]struct {
		facets bool // whether the part needs facets of the index
		has    []string
		lacks  []string
	}{
		"hits":    {false, []string{`<h1>`, `data-list`}, []string{`id="by-time"`, "<main"}},
		"filters": {true, []string{`id="by-time"`}, []string{`<h1>`, "<main"}},
		"results": {true, []string{`<h1>`, `id="hits"`, `id="filters"`}, []string{"<main", "<html"}},
	} {
		searched := &recordingIndex{Index: source.Index}
		source.Service.Index = searched
		r := requestPart(source, "/?q=alert&typing=word", part)
		page := body(t, r)
		if r.StatusCode != 200 || r.Header.Get(partHeader) != part || len(searched.queries) != 1 || searched.queries[0].Facets != c.facets {
			t.Errorf("%s: status %d, part %q, searched for %+v", part, r.StatusCode, r.Header.Get(partHeader), searched.queries)
		}
		for _, want := range c.has {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s", part, want)
			}
		}
		for _, no := range c.lacks {
			if strings.Contains(page, no) {
				t.Errorf("%s has %s", part, no)
			}
		}
		if strings.Contains(page, "<script") || strings.Contains(page, "<img") {
			t.Errorf("%s has hostile elements", part)
		}
		if whole := body(t, serve(source, "GET", "/?q=alert&typing=word")); !strings.Contains(whole, page) && part != "hits" {
			t.Errorf("%s is not what the whole page has", part)
		}
	}
	for _, part := range []string{"top", "search", "message", `"><script>`} {
		r := requestPart(source, "/?q=go", part)
		if r.Header.Get(partHeader) != "" || !strings.Contains(body(t, r), "<main") {
			t.Errorf("the part %s is answered, want the whole page", part)
		}
	}
	if r := requestPart(broken(t), "/?q=go", "hits"); r.StatusCode != 503 || r.Header.Get(partHeader) != "hits" || strings.Contains(body(t, r), "<main") {
		t.Error("a search that fails is no part of the page")
	}
}

// A recordingIndex records the searches.
type recordingIndex struct {
	storage.Index
	queries []storage.Query
}

func (i *recordingIndex) Search(ctx context.Context, q storage.Query) (storage.Results, error) {
	i.queries = append(i.queries, q)
	return i.Index.Search(ctx, q)
}

// requestPart requests a part of a page, as a script does.
func requestPart(s *site, target, part string) *http.Response {
	r := httptest.NewRequest("GET", target, nil)
	r.Header.Set(partHeader, part)
	return s.answer(r)
}
