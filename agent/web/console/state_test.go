package console

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
)

// searchOf returns the search of a page's URL, at noon.
func searchOf(t *testing.T, address string) wire.Search {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	s, err := readState(u.RawQuery)
	must(t, err)
	return s.search(noon)
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
		want.Facets, want.Limit = true, pageSize
		if got := searchOf(t, address); got != want {
			t.Errorf("%s: searches for %+v, want %+v", address, got, want)
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
