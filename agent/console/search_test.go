package console

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/api"
)

func TestAddressSaysWhatToSearch(t *testing.T) {
	for address, want := range map[string]api.Search{
		"/":                      {Sort: "newest"},
		"/?sort=best&q=":         {Sort: "newest"},
		"/?q=+go+1.26+&utm_x=1":  {Query: "go 1.26", Sort: "best"},
		"/?q=go&sort=newest":     {Query: "go", Sort: "newest"},
		"/?q=%D1%8F%D0%B4%D1%80": {Query: "ядр", Sort: "best"},
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

func TestStateSurvivesItsAddress(t *testing.T) {
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

func TestFaultsOfAnAddressAreTold(t *testing.T) {
	for query, want := range map[string]string{
		"q=" + strings.Repeat("я", 1001): "“q” is longer than 1,000 characters",
		"time=year":                      "“time” must be one of: day, week, month",
		"cursor=c&page=-1":               "“page” is not a number that makes sense",
		"q=%zz":                          "its address is damaged",
	} {
		if _, err := readState(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", query, err, want)
		}
	}
	if _, err := readState("q=" + strings.Repeat("%D1%8F", 1000)); err != nil {
		t.Errorf("a query as long as may be: %v", err)
	}
}

func TestFiltersAreAddedAndTakenAway(t *testing.T) {
	source := &fake{found: api.Found{Total: 2, Items: make([]api.FoundItem, 1), Facets: map[string][]api.Facet{
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
	for _, in := range elements(doc, "input") {
		kept[attr(in, "name")] = attr(in, "value")
	}
	if len(kept) != 3 || kept["q"] != "x" || kept["category"] != "a" || kept["time"] != "day" {
		t.Errorf("a new search keeps %v", kept)
	}
}

func TestFieldHasTheFocusOnlyOnTheFirstPage(t *testing.T) {
	for address, want := range map[string]bool{"/": true, "/?q=a": false, "/?feed=f": false, "/status": false, "/none": false} {
		if got := strings.Contains(body(t, serve(hostile(), "GET", address)), " autofocus"); got != want {
			t.Errorf("%s: focus %v, want %v", address, got, want)
		}
	}
}

// A cursor holds for one search, so later pages must not reckon "the past week"
// from a later now.
func TestPagesOfOneSearchShareTheirTime(t *testing.T) {
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

func TestEmptyPagesHelp(t *testing.T) {
	kept := api.Status{Feeds: api.FeedCounts{Known: 41, Polled: 12, Failing: 2}}
	searchable := api.Status{Feeds: kept.Feeds, Items: 9, Indexed: 9}
	for name, c := range map[string]struct {
		address string
		status  api.Status
		want    []string
	}{
		"no feeds":    {"/", api.Status{}, []string{"no feeds yet", "agent feeds add URL", "agent feeds import FILE"}},
		"polling":     {"/?q=a", kept, []string{"41 feeds known, 12 polled so far, 2 failing", "agent feeds add URL"}},
		"not indexed": {"/", api.Status{Feeds: kept.Feeds, Items: 9}, []string{"9 items kept, none searchable yet", "agent reindex"}},
		"one word":    {"/?q=a", searchable, []string{"Nothing matches", "check the spelling"}},
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
