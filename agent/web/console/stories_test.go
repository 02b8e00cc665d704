package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// summarize stores the summaries of stories, made from their items and then changed.
func (s *site) summarize(t *testing.T, change func(*storage.Story), ids ...string) {
	t.Helper()
	var stories []storage.Story
	for _, id := range ids {
		of, err := storage.ItemsOfStory(t.Context(), s.Store, id, placement.MaxItems)
		must(t, err)
		story, ok := placement.Summarize(id, of, func(string) float64 { return 1 }, false, s.now)
		if !ok {
			t.Fatalf("story %s has too few items", id)
		}
		change(&story)
		stories = append(stories, story)
	}
	s.putStories(t, stories...)
}

func (s *site) putStories(t *testing.T, stories ...storage.Story) {
	t.Helper()
	must(t, s.Store.PutStories(t.Context(), storage.Fence{}, nil, stories, nil))
}

// putBursts stores the current bursts.
func (s *site) putBursts(t *testing.T, bursts ...placement.Burst) {
	t.Helper()
	note, err := json.Marshal(bursts)
	must(t, err)
	must(t, storage.Notes(s.Store).Put(t.Context(), storage.Fence{}, placement.BurstsNote, note))
}

// hostileStories stores a story of two events and many publishers, and stories enough for a second page.
func (s *site) hostileStories(t *testing.T) {
	t.Helper()
	evil2 := storage.Item{
		ID: "evil2", Title: evil, URL: "javascript:alert(1)", Excerpt: evil, Language: `en"><script>`, Partition: "en", EventID: "e1", StoryID: "evil", StoryReason: evil,
		Categories: []string{evil, "databases"}, Topics: []string{evil}, FirstSeen: noon.Add(-72 * time.Hour), Published: noon.Add(-time.Hour),
	}
	evil3 := evil2
	evil3.ID, evil3.DuplicateOf, evil3.DuplicateBy, evil3.DuplicateReason, evil3.FirstSeen, evil3.Published = "evil3", "evil2", "title", evil, noon.Add(-71*time.Hour), noon
	s.items(t, "evil", evil2, evil3)
	others := []storage.Item{{ID: "plain", URL: "https://a.example/", Partition: "en", EventID: `e2"><script>`, StoryID: "evil"}}
	for n := range 14 {
		i := evil2
		i.ID, i.EventID, i.URL, i.FirstSeen = fmt.Sprint("p", n), `e2"><script>`, fmt.Sprintf("https://p%d.example/", n), noon.Add(-time.Hour)
		others = append(others, i)
	}
	s.items(t, "many", others...)
	must(t, s.Store.AddClicks(t.Context(), "evil2", 3))
	s.summarize(t, func(story *storage.Story) {
		story.Title, story.Headline, story.Burst, story.Rank = evil, "evil2", true, 100
		story.Summary = []storage.Line{{Text: evil, ItemID: "evil2"}, {Text: evil, ItemID: "evil3"}}
		story.Categories = []string{evil, "databases"}
	}, "evil")
	var more []storage.Story
	for n := range 45 {
		more = append(more, storage.Story{
			ID: fmt.Sprint("s", n), Title: fmt.Sprint(evil, n), Partition: []string{subjects.OtherLanguages, "en"}[n%2], Sources: 2, Items: 2, Events: 1, Rank: float64(n),
			Categories: []string{fmt.Sprint(evil, n%12), `">`}, Topics: []string{evil, "a"}, FirstSeen: noon.Add(-time.Hour), LastSeen: noon,
		})
	}
	s.putStories(t, more...)
	s.putBursts(t, placement.Burst{Of: "topic", Name: evil, Items: 3}, placement.Burst{Of: "category", Name: "databases", Items: 2}, placement.Burst{Of: "story", Name: "evil", Items: 1})
}

// linkOn returns the URL of a link on a page.
func linkOn(t *testing.T, s *site, target, label string) string {
	t.Helper()
	to := link(parse(t, body(t, serve(s, "GET", target))), label)
	if to == "" {
		t.Fatalf("%s has no link %q", target, label)
	}
	return to
}

func pagesOfStories(t *testing.T, all sites) map[string]shown {
	lonely := newSite(t)
	lonely.item(t, "f", storage.Item{ID: "i", EventID: "e", StoryID: "evil"})
	return map[string]shown{
		"stories":          {"/stories", 200, all.hostile},
		"some stories":     {linkOn(t, all.hostile, "/stories?category=%22%3E&topic=a&language=en&sort=newest", "More stories"), 200, all.hostile},
		"no stories":       {"/stories", 200, all.empty},
		"no feeds at all":  {"/stories", 200, all.empty},
		"no story matches": {"/stories?topic=b", 200, all.hostile},
		"strange list":     {"/stories?language=xx&sort=%3Cscript%3E", 400, all.hostile},
		"stale list":       {"/stories?cursor=c", 400, all.hostile},
		"stories down":     {"/stories", 503, all.broken},
		"story":            {"/stories/evil", 200, all.hostile},
		"story of one":     {"/stories/evil", 200, lonely},
		"no story":         {"/stories/none", 404, all.hostile},
		"long story ID":    {"/stories/" + strings.Repeat("a", 100), 404, all.hostile},
		"story down":       {"/stories/evil", 503, all.broken},
	}
}

func TestStoriesPage_SearchFromURL(t *testing.T) {
	for address, want := range map[string]wire.StorySearch{
		"/stories":                                       {},
		"/stories?sort=rank&utm_x=1":                     {},
		"/stories?sort=newest&language=ru":               {Sort: "newest", Language: "ru"},
		"/stories?category=a&topic=b&cursor=x%2By&lang=": {Category: "a", Topic: "b", Cursor: "x+y"},
	} {
		want.Sources, want.Limit = 2, pageSize
		if got := storySearchOf(t, address); got != want {
			t.Errorf("%s: searches for %+v, want %+v", address, got, want)
		}
	}
}

// storySearchOf returns the search of a list's URL, at noon.
func storySearchOf(t *testing.T, address string) wire.StorySearch {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	values, err := readParams(u.RawQuery, storyParams)
	must(t, err)
	return listing(values).search(noon)
}

func TestStoriesPage_FiltersAddedAndRemoved(t *testing.T) {
	source := newSite(t)
	stories := []storage.Story{
		{ID: "a", Title: "A", Partition: "en", Sources: 2, Rank: 100, Categories: []string{"c1"}, Topics: []string{"t1"}},
		{ID: "b", Title: "B", Partition: "en", Sources: 2, Rank: 99, Categories: []string{"c2", "c1"}, Topics: []string{"t2"}},
	}
	for n := range 3 * pageSize {
		stories = append(stories, storage.Story{ID: fmt.Sprint(n), Partition: "en", Sources: 2, Rank: float64(n%2) * 1000, Categories: []string{"c1"}})
	}
	source.putStories(t, stories...)
	second := linkOn(t, source, "/stories?category=c1&language=en", "More stories")
	doc := parse(t, body(t, serve(source, "GET", second)))
	if next := link(doc, "More stories"); !strings.HasPrefix(next, "/stories?category=c1&cursor=") || !strings.HasSuffix(next, "&language=en") || next == second {
		t.Errorf("more stories are at %q", next)
	}
	for label, want := range map[string]string{
		"A":                                 "/stories/a",
		"c1":                                "/stories?language=en",
		"c2":                                "/stories?category=c2&language=en",
		"t2":                                "/stories?category=c1&language=en&topic=t2",
		"Russian":                           "/stories?category=c1&language=ru",
		"Other languages":                   "/stories?category=c1&language=other",
		"English":                           "/stories?category=c1",
		"Newest":                            "/stories?category=c1&language=en&sort=newest",
		"Remove filter Category: c1 ×":      "/stories?language=en",
		"Remove filter Language: English ×": "/stories?category=c1",
		"Clear all":                         "/stories",
		"First page":                        "/stories?category=c1&language=en",
	} {
		if got := link(doc, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
}

func TestStoriesPage_CardShowsCoverage(t *testing.T) {
	source := newSite(t)
	source.items(t, "f",
		storage.Item{ID: "a", Partition: "en", EventID: "e1", StoryID: "s", URL: "https://www.lwn.example/1", FirstSeen: noon.Add(-72 * time.Hour)},
		storage.Item{ID: "b", Partition: "en", EventID: "e1", StoryID: "s", URL: "https://b.example/1", FirstSeen: noon.Add(-72 * time.Hour)},
		storage.Item{ID: "c", Partition: "en", EventID: "e1", StoryID: "s", URL: "https://b.example/2", FirstSeen: noon.Add(-72 * time.Hour)},
		storage.Item{ID: "d", Partition: "en", EventID: "e1", StoryID: "s", URL: "https://b.example/3", StoryReason: "its words are alike"},
	)
	source.summarize(t, func(s *storage.Story) { s.Title, s.Headline, s.Sources, s.Burst = "Kernel released", "a", 14, true }, "s")
	doc := parse(t, body(t, serve(source, "GET", "/stories")))
	page := words(doc)
	for _, want := range []string{"Kernel released", "Burst · 4 items from 14 publishers · just now", "lwn.example, b.example · Read at lwn.example", "For the newest item: its words are alike."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	if got, want := link(doc, "Read at lwn.example"), "https://www.lwn.example/1"; got != want {
		t.Errorf("the headline's item is at %q, want %q", got, want)
	}
	sparks := elements(doc, "svg")
	if len(sparks) != 1 || attr(sparks[0], "role") != "img" || attr(sparks[0], "aria-label") != "4 items in the last 73 hours, at most 3 within 2 hours" {
		t.Errorf("got %+v, want one picture, and what it shows in words", sparks)
	}
}

func TestItemPage_ShowsRelatedItems(t *testing.T) {
	source := newSite(t)
	items := []storage.Item{
		{ID: "a", Title: "Kernel released", URL: "https://a.example/"},
		{ID: "b", Title: "B", DuplicateOf: "a", DuplicateBy: "title", DuplicateScore: 1, DuplicateReason: "same title", StoryReason: "it says the same as another item of the event"},
		{ID: "c", Title: "C", URL: "https://c.example/", DuplicateOf: "a", DuplicateBy: "text"},
		{ID: "d", Title: "D", URL: "https://d.example/", FirstSeen: noon.Add(time.Minute)},
		{ID: "e", URL: "https://d.example/"}, {ID: "f", URL: "https://d.example/"}, {ID: "g", URL: "https://d.example/"},
	}
	for n := range items {
		items[n].Partition, items[n].EventID, items[n].StoryID = "en", "e", "s"
	}
	source.items(t, "f", items...)
	source.summarize(t, func(s *storage.Story) { s.Title = "Kernel released" }, "s")
	doc := parse(t, body(t, serve(source, "GET", "/items/b")))
	page := words(doc)
	for _, want := range []string{
		"This is a duplicate of an earlier item. Same title.", "Not a duplicate", "Story: 7 items from 4 publishers", "Story: Kernel released",
		"D d.example", "1 duplicate", "Same text.", "it says the same as another item of the event",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	if got := link(doc, "Kernel released"); got != "/stories/s" {
		t.Errorf("its story is at %q", got)
	}
}

func TestStoriesPages_EmptyListsHelp(t *testing.T) {
	feeds, many := newSite(t), newSite(t)
	feeds.AddFeeds(t, storage.Feed{ID: "a", URL: "https://a.example/", Added: noon})
	many.AddFeeds(t, storage.Feed{ID: "a", URL: "https://a.example/", Added: noon})
	var stories []storage.Story
	for n := range pageSize + 1 {
		stories = append(stories, storage.Story{ID: fmt.Sprint(n), Partition: "en", Sources: 2, Rank: float64(n)})
	}
	many.putStories(t, stories...)
	second := linkOn(t, many, "/stories", "More stories")
	must(t, many.Store.PutStories(t.Context(), storage.Fence{}, nil, nil, []string{"0"}))
	for name, c := range map[string]struct {
		address string
		source  *site
		want    string
	}{
		"no feeds":       {"/stories", newSite(t), "No feeds yet"},
		"no stories":     {"/stories", feeds, "after two publishers have reported the same event"},
		"no match":       {"/stories?topic=a", feeds, "Remove the filters"},
		"after the last": {second, many, "No more stories"},
	} {
		if page := words(parse(t, body(t, serve(c.source, "GET", c.address)))); !strings.Contains(page, c.want) {
			t.Errorf("%s: the page does not say %q: %s", name, c.want, page)
		}
	}
}

func TestSearchPage_ShowsStoryCoverage(t *testing.T) {
	source := newSite(t)
	source.items(t, "f",
		storage.Item{ID: "a", Title: "a", Language: "en", StoryID: "s", EventID: "e1"}, storage.Item{ID: "c", Title: "a", Language: "en", StoryID: "t", EventID: "e2"},
		storage.Item{ID: "b", Title: "a", Language: "en", StoryID: "alone", EventID: "e3"})
	source.putStories(t, storage.Story{ID: "s", Partition: "en", Items: 7, Sources: 1}, storage.Story{ID: "t", Partition: "en", Items: 1200, Sources: 1100})
	doc := parse(t, body(t, serve(source, "GET", "/?q=a")))
	for label, want := range map[string]string{"7 items about it": "/stories/s", "1,100 publishers": "/stories/t"} {
		if got := link(doc, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
	if page := body(t, serve(source, "GET", "/?q=a")); strings.Contains(page, "/stories/alone") {
		t.Error("an item that nobody else tells of leads to a story")
	}
}

func TestStoriesPage_ShowsBursts(t *testing.T) {
	source := newSite(t)
	source.putBursts(t, placement.Burst{Of: "topic", Name: evil, Items: 3}, placement.Burst{Of: "category", Name: "databases", Items: 2}, placement.Burst{Of: "story", Name: "evil", Items: 1})
	doc := parse(t, body(t, serve(source, "GET", "/stories")))
	if got := link(doc, "databases"); got != "/stories?category=databases" {
		t.Errorf("a bursting category leads to %q", got)
	}
	if page := words(doc); !strings.Contains(page, "Trending: "+evil+" databases") {
		t.Errorf("the page does not tell what bursts: %s", page)
	}
	if page := body(t, serve(source, "GET", "/stories?language=en")); strings.Contains(page, "Trending:") {
		t.Error("a list of some stories tells what bursts among all")
	}
}

func TestStoriesPage_TimeFilter(t *testing.T) {
	if got, want := storySearchOf(t, "/stories?time=week").After, noon.AddDate(0, 0, -7); !got.Equal(want) {
		t.Errorf("listed are those after %v, want %v", got, want)
	}
	source := newSite(t)
	source.putStories(t,
		storage.Story{ID: "old", Title: "Old", Partition: "en", Sources: 2, LastSeen: noon.AddDate(0, 0, -8)},
		storage.Story{ID: "new", Title: "New", Partition: "en", Sources: 2, LastSeen: noon.AddDate(0, 0, -6)})
	if doc := parse(t, body(t, serve(source, "GET", "/stories?time=week"))); link(doc, "New") == "" || link(doc, "Old") != "" {
		t.Errorf("got %s, want the stories of the past week", words(doc))
	}
}
