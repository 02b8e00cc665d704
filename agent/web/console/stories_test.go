package console

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func pagesOfStories() map[string]shown {
	unfiltered := hostile()
	unfiltered.stories = wire.StoryPage{}
	lonely := &fake{story: wire.StoryView{Story: storage.Story{ID: "evil", Items: 1, Events: 1}, Timeline: []wire.StoryEvent{{ID: "e", Items: make([]wire.StoryItem, 1)}}}}
	return map[string]shown{
		"stories":          {"/stories", 200, hostile()},
		"some stories":     {"/stories?category=%22%3E&topic=a&language=en&sort=newest&cursor=c", 200, hostile()},
		"no stories":       {"/stories", 200, &fake{}},
		"no feeds at all":  {"/stories", 200, &fake{status: wire.Status{Feeds: wire.FeedCounts{}}}},
		"no story matches": {"/stories?topic=a", 200, unfiltered},
		"strange list":     {"/stories?language=xx&sort=%3Cscript%3E", 400, hostile()},
		"stale list":       {"/stories?cursor=c", 400, stale()},
		"stories down":     {"/stories", 503, broken()},
		"story":            {"/stories/evil", 200, hostile()},
		"story of one":     {"/stories/evil", 200, lonely},
		"no story":         {"/stories/none", 404, hostile()},
		"long story ID":    {"/stories/" + strings.Repeat("a", 100), 404, hostile()},
		"story down":       {"/stories/evil", 503, broken()},
	}
}

func TestStoriesPage_SearchFromURL(t *testing.T) {
	for address, want := range map[string]wire.StorySearch{
		"/stories":                                       {},
		"/stories?sort=rank&utm_x=1":                     {},
		"/stories?sort=newest&language=ru":               {Sort: "newest", Language: "ru"},
		"/stories?category=a&topic=b&cursor=x%2By&lang=": {Category: "a", Topic: "b", Cursor: "x+y"},
	} {
		source := hostile()
		serve(source, "GET", address)
		want.Sources, want.Limit = 2, pageSize
		if len(source.listed) != 1 || source.listed[0] != want {
			t.Errorf("%s: listed %+v, want %+v", address, source.listed, want)
		}
	}
}

func TestStoriesPage_FiltersAddedAndRemoved(t *testing.T) {
	source := &fake{stories: wire.StoryPage{Next: "n", Stories: []wire.StoryBrief{
		{Story: storage.Story{ID: "a", Title: "A", Categories: []string{"c1"}, Topics: []string{"t1"}}},
		{Story: storage.Story{ID: "b", Title: "B", Categories: []string{"c2", "c1"}, Topics: []string{"t2"}}},
	}}}
	doc := parse(t, body(t, serve(source, "GET", "/stories?category=c1&language=en&cursor=c")))
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
		"More stories":                      "/stories?category=c1&cursor=n&language=en",
	} {
		if got := link(doc, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
}

func TestStoriesPage_CardShowsCoverage(t *testing.T) {
	source := hostile()
	s := &source.stories.Stories[0]
	s.Title, s.URL, s.Publishers, s.Why = "Kernel released", "https://www.lwn.example/1", []string{"lwn.example", "b.example"}, "its words are alike"
	doc := parse(t, body(t, serve(source, "GET", "/stories")))
	page := words(doc)
	for _, want := range []string{"Kernel released", "Burst · 4 items from 14 publishers · just now", "lwn.example, b.example · Read at lwn.example", "For the newest item: its words are alike."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	if got := link(doc, "Read at lwn.example"); got != s.URL {
		t.Errorf("the headline's item is at %q, want %q", got, s.URL)
	}
	sparks := elements(doc, "svg")
	if len(sparks) != 1 || attr(sparks[0], "role") != "img" || attr(sparks[0], "aria-label") != "4 items in the last 73 hours, at most 3 within 2 hours" {
		t.Errorf("got %+v, want one picture, and what it shows in words", sparks)
	}
}

func TestSpark_ShowsActivityUpToNow(t *testing.T) {
	for _, c := range []struct {
		hours []int
		ago   time.Duration // age of the first item
		want  *spark
	}{
		{nil, time.Hour, nil},
		{[]int{7}, 0, &spark{3, 24, "M0 24h3v-24h-3z", "7 items in the last 1 hour"}},
		{[]int{1, 0, 4}, 3 * time.Hour, &spark{15, 24, "M0 24h3v-6h-3zM8 24h3v-24h-3z", "5 items in the last 4 hours, at most 4 within 1 hour"}},
		{[]int{1, 1000}, time.Hour, &spark{7, 24, "M0 24h3v-2h-3zM4 24h3v-24h-3z", "1,001 items in the last 2 hours, at most 1,000 within 1 hour"}},
		{[]int{1, 1}, 400 * time.Hour, &spark{167, 24, "M0 24h3v-24h-3z", "2 items within 168 hours"}},
	} {
		got := sparkOf(wire.HourlyItems{Since: noon.Add(-c.ago), Hours: c.hours}, noon)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%v: got %+v, want %+v", c.hours, got, c.want)
		}
	}
	s := sparkOf(wire.HourlyItems{Since: noon.Add(-167 * time.Hour), Hours: slices.Repeat([]int{1}, 168)}, noon)
	if strings.Count(s.Path, "M") != 42 || s.Width > 4*sparkBars {
		t.Errorf("got %d bars, want a week in bars of four hours", strings.Count(s.Path, "M"))
	}
}

func TestStoryPage_ShowsReasonsAndDuplicates(t *testing.T) {
	seen := noon.Add(-time.Hour)
	source := &fake{story: wire.StoryView{
		Story:   storage.Story{ID: "s", Partition: "en", Title: "Kernel released", Headline: "a", Items: 3, Events: 2, Sources: 3, FirstSeen: seen, LastSeen: seen},
		Summary: []wire.Quote{{Text: "It is out.", Item: wire.ItemBrief{ID: "a", URL: "https://lwn.example/1", Publisher: "lwn.example"}}},
		Timeline: []wire.StoryEvent{
			{ID: "e1", FirstSeen: seen, Items: []wire.StoryItem{{
				ItemBrief:  wire.ItemBrief{ID: "a", Title: "Kernel released", Publisher: "lwn.example", StoryWhy: "nothing like it was there", Seen: seen},
				Duplicates: []wire.ItemBrief{{ID: "b", Title: "Kernel released - B", DuplicateOf: "a", DuplicateBy: "title", DuplicateWhy: "same title but for the publisher's tail"}},
			}}},
			{ID: "e2", FirstSeen: seen, Items: []wire.StoryItem{{ItemBrief: wire.ItemBrief{ID: "c", Title: "A hole", Publisher: "c.example"}}}},
		},
	}}
	doc := parse(t, body(t, serve(source, "GET", "/stories/s")))
	page := words(doc)
	for _, want := range []string{
		"It is out. lwn.example", "Event 1 1 hour ago", "Reason: nothing like it was there.", "1 duplicate", "Same title but for the publisher's tail.",
		"Split Event 2 into a new story", "Split from this story: A hole", "Not a duplicate: Kernel released - B",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	if strings.Contains(page, "Split from this story: Kernel released") {
		t.Error("an item that others repeat can be taken out alone")
	}
	if got := link(doc, "Read the headline at lwn.example"); got != "https://lwn.example/1" {
		t.Errorf("the headline is at %q", got)
	}
	source.story.Events, source.story.Timeline = 1, source.story.Timeline[:1]
	if page := body(t, serve(source, "GET", "/stories/s")); strings.Contains(page, "into a new story") || !strings.Contains(page, ">Items") {
		t.Error("the only event of a story can be split from it")
	}
	details := elements(doc, "details")
	if len(details) != 1 || !strings.Contains(words(details[0]), "Kernel released - B") {
		t.Errorf("got %d foldings, want one with the duplicate", len(details))
	}
}

func TestItemPage_ShowsRelatedItems(t *testing.T) {
	source := &fake{
		items: map[string]wire.ItemView{"b": {Item: storage.Item{
			ID: "b", StoryID: "s", DuplicateOf: "a", DuplicateBy: "title", DuplicateScore: 1, DuplicateReason: "same title", StoryReason: "it says the same as another item of the event",
		}}},
		duplicates: wire.Duplicates{First: wire.ItemBrief{ID: "a"}, Items: []wire.ItemBrief{{ID: "b", Title: "B"}, {ID: "c", Title: "C", Publisher: "c.example", DuplicateOf: "a", DuplicateBy: "text"}}},
		related:    wire.Related{Story: storage.Story{ID: "s", Title: "Kernel released", Items: 7, Sources: 4}, Items: []wire.ItemBrief{{ID: "d", Title: "D", Publisher: "d.example"}}},
	}
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

// submit submits a form.
func submit(source Source, target, form string) *http.Response {
	request := httptest.NewRequest(http.MethodPost, target, strings.NewReader(form))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	handler(source, func() time.Time { return noon }).ServeHTTP(answer, request)
	return answer.Result()
}

// A submission is a form and its expected response.
type submission struct {
	target, form string
	status       int
	location     string
}

// submitAll submits forms in order.
func submitAll(t *testing.T, source Source, all []submission) {
	t.Helper()
	for _, c := range all {
		if got := submit(source, c.target, c.form); got.StatusCode != c.status || got.Header.Get("Location") != c.location {
			t.Errorf("%s %.100s: status %d to %q, want %d to %q", c.target, c.form, got.StatusCode, got.Header.Get("Location"), c.status, c.location)
		}
	}
}

func TestStoryPage_SplitAndJoin(t *testing.T) {
	source := &fake{story: wire.StoryView{Story: storage.Story{ID: "new"}}}
	submitAll(t, source, []submission{
		{"/stories/s/split", "event=e", 303, "/stories/s"},
		{"/stories/s/split", "item=i", 303, "/stories/s"},
		{"/stories/s/split", "", 404, ""},
		{"/stories/s/split", "item=i&event=e", 404, ""},
		{"/stories/s/split", "item=" + strings.Repeat("i", 65), 404, ""},
		{"/stories/s/join", "story=http%3A%2F%2Flocalhost%3A8080%2Fstories%2Fother%3Fx%23y", 303, "/stories/new"},
		{"/stories/s/join", "story=+other+", 303, "/stories/new"},
		{"/stories/s/join", "story=%2Fstories%2Fother", 303, "/stories/new"},
		{"/stories/s/join", "story=", 404, ""},
		{"/items/i/differ", "", 303, "/items/i"},
	})
	want := []string{"split s {EventID:e ItemID:}", "split s {EventID: ItemID:i}", "join s other", "join s other", "join s other", "differ i"}
	if !slices.Equal(source.done, want) {
		t.Errorf("done is %q, want %q", source.done, want)
	}
}

func TestStoryPage_EditErrors(t *testing.T) {
	pending := &fake{story: wire.StoryView{Pending: true}, duplicates: wire.Duplicates{Pending: true}}
	for words, c := range map[string]struct {
		source *fake
		status int
	}{
		"The change is pending":                                   {pending, 202},
		"There is nothing to split.":                              {&fake{editErr: &service.Error{Kind: service.KindConflict, Message: "there is nothing to split"}}, 409},
		sentence(service.ErrOlderAgent.Error()):                   {&fake{editErr: service.ErrOlderAgent}, 503},
		"The item or story was removed":                           {&fake{editErr: storage.ErrNotFound}, 404},
		"A component that this page depends on cannot be reached": {&fake{editErr: errors.New("nats: no responders")}, 503},
	} {
		for target, form := range map[string]string{"/stories/s/split": "event=e", "/stories/s/join": "story=o", "/items/i/differ": ""} {
			got := submit(c.source, target, form)
			if page := body(t, got); got.StatusCode != c.status || !strings.Contains(page, words) || strings.Contains(page, "nats:") {
				t.Errorf("%s: status %d, want %d with %q: %s", target, got.StatusCode, c.status, words, page)
			}
		}
	}
}

func TestStoriesPages_EmptyListsHelp(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		status  wire.Status
		want    string
	}{
		"no feeds":       {"/stories", wire.Status{}, "No feeds yet"},
		"no stories":     {"/stories", wire.Status{Feeds: wire.FeedCounts{Stored: 3}}, "after two publishers have reported the same event"},
		"no match":       {"/stories?topic=a", wire.Status{Feeds: wire.FeedCounts{Stored: 3}}, "Remove the filters"},
		"after the last": {"/stories?cursor=c", wire.Status{Feeds: wire.FeedCounts{Stored: 3}}, "No more stories"},
	} {
		if page := words(parse(t, body(t, serve(&fake{status: c.status}, "GET", c.address)))); !strings.Contains(page, c.want) {
			t.Errorf("%s: the page does not say %q: %s", name, c.want, page)
		}
	}
}

func TestSearchPage_ShowsStoryCoverage(t *testing.T) {
	source := &fake{found: wire.SearchResults{Total: 2, Items: []wire.FoundItem{
		{Item: storage.Item{ID: "a", StoryID: "s"}, Coverage: &wire.StoryCoverage{Items: 7, Sources: 1}},
		{Item: storage.Item{ID: "c", StoryID: "t"}, Coverage: &wire.StoryCoverage{Items: 1200, Sources: 1100}},
		{Item: storage.Item{ID: "b", StoryID: "alone"}},
	}}}
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
	source := hostile()
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
	source := hostile()
	serve(source, "GET", "/stories?time=week")
	if got, want := source.listed[0].After, noon.AddDate(0, 0, -7); !got.Equal(want) {
		t.Errorf("listed are those after %v, want %v", got, want)
	}
}

func TestStoryPage_OffersSimilarStories(t *testing.T) {
	source := &fake{
		story: wire.StoryView{Story: storage.Story{ID: "s", Headline: "a"}},
		similar: []wire.FoundItem{
			{Item: storage.Item{ID: "b", Title: "Another one", StoryID: "t"}},
			{Item: storage.Item{ID: "c", Title: "Its own", StoryID: "s"}},
			{Item: storage.Item{ID: "d", Title: "Of none"}},
		},
	}
	doc := parse(t, body(t, serve(source, "GET", "/stories/s")))
	if got := link(doc, "Another one"); got != "/stories/t" {
		t.Errorf("the story that is like it is at %q", got)
	}
	var offered []string
	for _, in := range elements(doc, "input") {
		if attr(in, "name") == "story" && attr(in, "type") == "hidden" {
			offered = append(offered, attr(in, "value"))
		}
	}
	if !slices.Equal(offered, []string{"t"}) {
		t.Errorf("it may be joined with %q, want the other story only", offered)
	}
}
