package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
)

func pagesOfSearches() map[string]shown {
	slow := hostile()
	slow.err = fmt.Errorf("search: %w", context.DeadlineExceeded)
	none := hostile()
	none.found = wire.SearchResults{}
	gone := hostile()
	gone.found.Items = nil
	return map[string]shown{
		"newest":         {"/", 200, hostile()},
		"results":        {"/?q=%3Cscript%3E%22%27&category=%22%3E&feed=f&language=en&time=day&show=spam&sort=newest", 200, hostile()},
		"page 2":         {"/?q=a&cursor=c&page=2", 200, hostile()},
		"no match":       {"/?q=a+b&feed=f", 200, none},
		"no items":       {"/", 200, &fake{}},
		"emptied page":   {"/?cursor=c&page=2", 200, gone},
		"bad parameter":  {"/?sort=%3Cscript%3E&time=x", 400, hostile()},
		"damaged":        {"/?q=%zz", 400, hostile()},
		"other's cursor": {"/?cursor=c", 400, stale()},
		"index down":     {"/?q=a&feed=%22", 503, broken()},
		"index slow":     {"/?q=a", 503, slow},
	}
}

func TestState_SearchFromURL(t *testing.T) {
	for address, want := range map[string]wire.Search{
		"/":                          {Sort: "newest"},
		"/?sort=best&q=":             {Sort: "newest"},
		"/?q=+go+1.26+&utm_x=1":      {Query: "go 1.26", Sort: "best", Once: true},
		"/?q=go&sort=newest":         {Query: "go", Sort: "newest", Once: true},
		"/?q=%D1%8F%D0%B4%D1%80":     {Query: "ядр", Sort: "best", Once: true},
		"/?q=go&stories=all":         {Query: "go", Sort: "best"},
		"/?q=g&typing=word":          {Query: "g", Sort: "best", Once: true, Typing: true},
		"/?q=go&typing=end":          {Query: "go ", Sort: "best", Once: true, Typing: true},
		"/?q=go&show=starred":        {Query: "go", Sort: "best", Duplicates: true, Flag: "starred"},
		"/?day=2026-09-01&time=week": {Sort: "newest", After: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), Before: time.Date(2026, 9, 2, 0, 0, 0, 0, time.UTC)},
		"/?category=a&feed=b&language=ru&cursor=x%2By": {Category: "a", Feed: "b", Language: "ru", Sort: "newest", Cursor: "x+y"},
		"/?time=week":       {Sort: "newest", After: noon.AddDate(0, 0, -7)},
		"/?show=spam":       {Sort: "newest", Spam: true, Duplicates: true},
		"/?show=duplicates": {Sort: "newest", Duplicates: true},
	} {
		source := hostile()
		serve(source, "GET", address)
		want.Facets, want.Limit = true, pageSize
		if len(source.searches) != 1 || source.searches[0] != want {
			t.Errorf("%s: searched for %+v, want %+v", address, source.searches, want)
		}
	}
}

func TestState_RoundTripsURL(t *testing.T) {
	for _, s := range []state{
		{},
		{"q": `"a b" & <c> #d=e;f%zz+ядро`, "category": "ai-ml", "sort": "newest"},
		{"feed": "f", "language": "ru", "time": "day", "show": "spam", "cursor": "a+/=", "page": "3", "at": "1790683200"},
	} {
		u, err := url.Parse(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		got, err := readState(u.RawQuery)
		if err != nil || got.URL() != s.URL() || len(got) != len(s) {
			t.Errorf("%v came back as %v, %v", s, got, err)
		}
	}
}

func TestState_ReportsInvalidParameters(t *testing.T) {
	for query, want := range map[string]string{
		"q=" + strings.Repeat("я", 1001): "“q” is longer than 1,000 characters",
		"time=year":                      "“time” must be one of: day, week, month",
		"cursor=c&page=-1":               "“page” is not a valid number",
		"day=2026-9-1":                   "“day” is not a date: write 2026-03-01",
		"q=%zz":                          "the URL is malformed",
	} {
		if _, err := readState(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", query, err, want)
		}
	}
	if _, err := readState("q=" + strings.Repeat("%D1%8F", 1000)); err != nil {
		t.Errorf("a query as long as may be: %v", err)
	}
}

func TestSearchPage_FiltersAddedAndRemoved(t *testing.T) {
	source := &fake{found: wire.SearchResults{Total: 2, Items: make([]wire.FoundItem, 1), Facets: map[string][]wire.Facet{
		"category": {{Value: "a", Count: 2}, {Value: "b", Count: 1}},
		"feed":     {{Value: "f1", Label: "One", Count: 2}},
		"language": {{Value: "ru", Label: "ru", Count: 2}},
	}}}
	doc := parse(t, body(t, serve(source, "GET", "/?q=x&category=a&time=day&cursor=c&page=2")))
	for label, want := range map[string]string{
		"a, 2 items":                  "/?q=x&time=day",
		"b, 1 item":                   "/?category=b&q=x&time=day",
		"One, 2 items":                "/?category=a&feed=f1&q=x&time=day",
		"Russian, 2 items":            "/?category=a&language=ru&q=x&time=day",
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
	source, now := hostile(), noon.Add(123*time.Millisecond)
	source.found.Next = "c2"
	h := handler(source, func() time.Time { return now })
	address := "/?q=a&time=week"
	for range 3 {
		doc := parse(t, get(t, h, address))
		address = link(doc, "More results")
		now = now.Add(time.Hour)
	}
	for i, q := range source.searches {
		if !q.After.Equal(source.searches[0].After) {
			t.Errorf("page %d is of items after %v, the first of those after %v", i+1, q.After, source.searches[0].After)
		}
	}
	if got, _ := readState(strings.TrimPrefix(address, "/?")); got["page"] != "4" || got["cursor"] != "c2" {
		t.Errorf("after three pages comes %s", address)
	}
}

func TestSearchPages_EmptyResultsHelp(t *testing.T) {
	kept := wire.Status{Feeds: wire.FeedCounts{Stored: 41, Polled: 12, Failing: 2}}
	searchable := wire.Status{Feeds: kept.Feeds, Items: 9, Indexed: 9}
	for name, c := range map[string]struct {
		address string
		status  wire.Status
		want    []string
	}{
		"no feeds":    {"/", wire.Status{}, []string{"No feeds yet", "agent feeds add URL", "agent feeds import FILE"}},
		"polling":     {"/?q=a", kept, []string{"41 feeds added, 12 polled so far, 2 failing", "agent feeds add URL"}},
		"not indexed": {"/", wire.Status{Feeds: kept.Feeds, Items: 9}, []string{"9 items stored, none searchable yet", "agent reindex"}},
		"one word":    {"/?q=a", searchable, []string{"No results", "check the spelling"}},
		"words":       {"/?q=a+b&feed=f", searchable, []string{"fewer words", "search without filters", "Feed: f"}},
	} {
		page := words(parse(t, body(t, serve(&fake{status: c.status}, "GET", c.address))))
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page does not say %q", name, want)
			}
		}
	}
}

func TestSearchPage_ShowsSyntaxErrorPosition(t *testing.T) {
	for q, f := range map[string]query.SyntaxError{
		`go "never closed`: {Offset: 3, Message: "this quote is never closed"},
		"ядро )":           {Offset: 9, Message: "this bracket was never opened"},
		"go -":             {Offset: 4, Message: "what must not occur?"},
		"яд":               {Offset: 1, Message: "inside of a character"},
		"a":                {Offset: 99, Message: "after the end"},
	} {
		source := hostile()
		source.err = fmt.Errorf("search: %w", &f)
		r := serve(source, "GET", "/?q="+url.QueryEscape(q))
		doc := parse(t, body(t, r))
		shown := elements(doc, "pre")
		if r.StatusCode != 400 || len(shown) != 1 {
			t.Fatalf("%s: status %d with %d queries shown, want 400 with one", q, r.StatusCode, len(shown))
		}
		if got := strings.TrimSpace(strings.ReplaceAll(words(shown[0]), "\u00a0", "")); got != strings.TrimSpace(q) {
			t.Errorf("the query is shown as %q, want %q", got, q)
		}
		if page := words(doc); !strings.Contains(page, sentence(f.Message)) {
			t.Errorf("%s: the page does not say %q", q, f.Message)
		}
		if field := elements(doc, "input")[0]; attr(field, "value") != q || attr(field, "aria-describedby") != "fault" {
			t.Errorf("%s: the field is %+v, want the query, described by its fault", q, field.Attr)
		}
	}
	if f := newSyntaxError("go )", &query.SyntaxError{Offset: 3, Message: "m"}); f.Before != "go " || f.At != ")" || f.After != "" {
		t.Errorf("cut to %+v", f)
	}
}

func TestSearchPage_ReportsCloseMatchesAndFallback(t *testing.T) {
	source := hostile()
	source.found.Fuzzy = true
	if page := words(parse(t, body(t, serve(source, "GET", "/?q=kuberentes")))); !strings.Contains(page, "No item has all these words. Showing close matches.") {
		t.Errorf("the page does not say that it forgave: %s", page)
	}
	source = hostile()
	source.found.By, source.found.Why = wire.ByStore, "The search index does not answer."
	if page := words(parse(t, body(t, serve(source, "GET", "/?q=a")))); !strings.Contains(page, "The search index does not answer.") {
		t.Errorf("the page does not say that the store searched: %s", page)
	}
}

func TestSearchPage_CountOfUnknownTotal(t *testing.T) {
	for address, want := range map[string]string{
		"/":                                 "1,234 items, page 1 of 62",
		"/?q=a&page=3":                      "1,234 results, page 1",
		"/?q=a&cursor=c&page=3&stories=all": "1,234 items, page 3 of 62",
		"/?q=a&cursor=c&page=3":             "1,234 results, page 3",
	} {
		source := hostile()
		source.found.Total, source.found.Next = 1234, "n"
		if got := elements(parse(t, body(t, serve(source, "GET", address))), "p"); !slices.ContainsFunc(got, func(p *html.Node) bool { return words(p) == want }) {
			t.Errorf("%s: no paragraph is %q", address, want)
		}
	}
	source := hostile()
	source.found.Total, source.found.Next, source.found.By = 20, "n", wire.ByStore
	if page := words(parse(t, body(t, serve(source, "GET", "/?q=a&stories=all")))); !strings.Contains(page, "At least 20 items, page 1 ") {
		t.Errorf("the page says more than the store does: %s", page)
	}
}

func TestSearchPage_OffersAnyWord(t *testing.T) {
	for address, want := range map[string]string{
		"/?q=solar+wind&feed=f":         "/?feed=f&q=solar+OR+wind",
		"/?q=solar+wind&typing=word":    "/?q=solar+OR+wind",
		"/?q=solar":                     "",
		"/?q=%22solar+wind%22+-eclipse": "",
	} {
		doc := parse(t, body(t, serve(&fake{status: wire.Status{Items: 9, Indexed: 9}}, "GET", address)))
		if got := link(doc, "search for any of these words"); got != want {
			t.Errorf("%s: any of the words is at %q, want %q", address, got, want)
		}
	}
}

func TestSearchPage_DaysHistogramAndList(t *testing.T) {
	source := &fake{found: wire.SearchResults{Total: 12, Items: make([]wire.FoundItem, 1), Facets: map[string][]wire.Facet{
		"day": {{Value: "2026-09-29", Count: 9}, {Value: "2026-09-27", Count: 3}, {Value: "2026-03-01", Count: 900}, {Value: "soon", Count: 1}},
	}}}
	doc := parse(t, body(t, serve(source, "GET", "/?q=x&day=2026-09-27")))
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
	if h := (state{}).days(source.found.Facets["day"]); h.Bars[0].X != 28*(dayWidth+dayGap) || h.Width != maxDays*(dayWidth+dayGap)-dayGap {
		t.Errorf("the picture is %+v, want days in their places", h)
	}
	if h := (state{}).days([]wire.Facet{{Value: "2026-09-29", Count: 9}}); h != nil {
		t.Errorf("one day is a picture: %+v", h)
	}
}

// Scripts replace parts of a page, so parts must equal those of the whole page and be as safe.
func TestSearchPage_PartsMatchWholePage(t *testing.T) {
	for part, c := range map[string]struct {
		facets bool
		has    []string
		lacks  []string
	}{
		"hits":    {false, []string{`<h1>`, `data-list`}, []string{`id="by-time"`, "<main"}},
		"filters": {true, []string{`id="by-time"`}, []string{`<h1>`, "<main"}},
		"results": {true, []string{`<h1>`, `id="hits"`, `id="filters"`}, []string{"<main", "<html"}},
	} {
		source := hostile()
		r := requestPart(source, "/?q=go&typing=word", part)
		page := body(t, r)
		if r.StatusCode != 200 || r.Header.Get(partHeader) != part || source.searches[0].Facets != c.facets {
			t.Errorf("%s: status %d, part %q, facets %v", part, r.StatusCode, r.Header.Get(partHeader), source.searches[0].Facets)
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
		if whole := body(t, serve(hostile(), "GET", "/?q=go&typing=word")); !strings.Contains(whole, page) && part != "hits" {
			t.Errorf("%s is not what the whole page has", part)
		}
	}
	for _, part := range []string{"top", "search", "message", `"><script>`} {
		r := requestPart(hostile(), "/?q=go", part)
		if r.Header.Get(partHeader) != "" || !strings.Contains(body(t, r), "<main") {
			t.Errorf("the part %s is answered, want the whole page", part)
		}
	}
	if r := requestPart(broken(), "/?q=go", "hits"); r.StatusCode != 503 || r.Header.Get(partHeader) != "hits" || strings.Contains(body(t, r), "<main") {
		t.Error("a search that fails is no part of the page")
	}
}

// requestPart requests a part of a page, as a script does.
func requestPart(source Source, target, part string) *http.Response {
	request := httptest.NewRequest("GET", target, nil)
	request.Header.Set(partHeader, part)
	answer := httptest.NewRecorder()
	handler(source, func() time.Time { return noon }).ServeHTTP(answer, request)
	return answer.Result()
}
