package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// placed returns an item of an event and a story that is no duplicate.
func placed(feedID, key, event, story string) storage.Item {
	item := anItem(feedID, key)
	item.Spam, item.EventID, item.StoryID = false, event, story
	item.DuplicateOf, item.DuplicateBy, item.DuplicateScore, item.DuplicateReason = "", "", 0, ""
	return item
}

// aStory returns a story with a value in every field.
func aStory(id string) storage.Story {
	return storage.Story{
		ID: id, Partition: "en", Headline: "item-1", Title: "Title of " + id,
		Summary: []storage.Line{{Text: "A <b> & a \"quote\".", ItemID: "item-1"}, {Text: "Ещё.", ItemID: "item-2"}},
		Items:   5, Events: 2, Sources: 3, FirstSeen: day, LastSeen: day.Add(time.Hour),
		Categories: []string{"software", "R&D <x>"}, Topics: []string{"sqlite", `a "b"`}, HotScore: 1.0 / 3, Clicks: 7, Burst: true,
		Rank: 1e6 + 1.0/3, Summarized: day.Add(2 * time.Hour),
	}
}

// putStories stores the stories and deletes those in gone.
func putStories(c storeTest, stories []storage.Story, gone ...string) {
	c.Helper()
	if err := c.PutStories(c.Context(), storage.Fence{}, nil, stories, gone); err != nil {
		c.Fatalf("put stories: %v", err)
	}
}

func wantStory(c storeTest, want storage.Story) {
	c.Helper()
	got, err := storage.StoryByID(c.Context(), c, want.ID)
	if err != nil {
		c.Fatalf("read story: %v", err)
	}
	c.wantEqual("the story", got, want)
}

func storedStory(c storeTest) {
	full, bare := aStory("full"), storage.Story{ID: "bare", Items: 2, FirstSeen: day, LastSeen: day, Summarized: day}
	putStories(c, []storage.Story{full, bare})
	wantStory(c, full)
	wantStory(c, bare)
	input := full
	input.FirstSeen = day.In(time.FixedZone("Moscow", 3*60*60)).Add(789)
	putStories(c, []storage.Story{input})
	wantStory(c, full)
}

func storiesByID(c storeTest) {
	want := map[string]storage.Story{}
	var ids []string
	for n := range 45 {
		story := aStory(fmt.Sprint("story-", n))
		putStories(c, []storage.Story{story})
		if n != 7 { // not requested
			want[story.ID] = story
			ids = append(ids, story.ID, fmt.Sprint("nothing-", n), story.ID, "")
		}
	}
	for _, some := range []struct {
		ids  []string
		want map[string]storage.Story
	}{{nil, map[string]storage.Story{}}, {[]string{"nothing", "\xff"}, map[string]storage.Story{}}, {ids, want}} {
		got, err := c.StoriesByID(c.Context(), some.ids...)
		if err != nil {
			c.Fatalf("read stories: %v", err)
		}
		c.wantEqual("the summaries", got, some.want)
	}
}

func replacedStory(c storeTest) {
	repeated := storage.Story{ID: "one", Partition: "ru", Title: "Another", Items: 2, FirstSeen: day.Add(-time.Hour), LastSeen: day, Rank: -3, Summarized: day}
	putStories(c, []storage.Story{aStory("one"), aStory("other"), aStory("third")})
	putStories(c, []storage.Story{repeated}, "other", "nothing")
	wantStory(c, repeated)
	wantStory(c, aStory("third"))
	_, err := storage.StoryByID(c.Context(), c, "other")
	c.wantError("read a deleted story", err, storage.ErrNotFound)
	wantStories(c, storage.StoryQuery{}, "third", "one")
	putStories(c, nil, "one", "third")
	wantStories(c, storage.StoryQuery{})
}

func putStoriesUnderOldFence(c storeTest) {
	twoItemStory(c, "story")
	dirty := dirtyStories(c)
	putStories(c, []storage.Story{aStory("there")})
	old := fence(c, "stories")
	newest := fence(c, "stories")
	err := c.PutStories(c.Context(), old, dirty, []storage.Story{aStory("late")}, []string{"there"})
	c.wantError("put stories under an outdated fence", err, storage.ErrFenced)
	wantStories(c, storage.StoryQuery{}, "there")
	c.wantEqual("the dirty records", dirtyStories(c), dirty)
	if err := c.PutStories(c.Context(), newest, dirty, []storage.Story{aStory("late")}, []string{"there"}); err != nil {
		c.Fatal(err)
	}
	wantStories(c, storage.StoryQuery{}, "late")
	wantDirty(c, "PutStories")
}

// listStories returns all stories of a query, page by page.
func listStories(c storeTest, q storage.StoryQuery) (all []storage.Story) {
	c.Helper()
	for {
		page, next, err := c.ListStories(c.Context(), q)
		if err != nil {
			c.Fatalf("list stories: %v", err)
		}
		if len(page) > q.PageSize() || next != "" && len(page) < q.PageSize() {
			c.Fatalf("a page of %d has %d stories, next %q", q.PageSize(), len(page), next)
		}
		all = append(all, page...)
		switch {
		case next == "":
			return all
		case len(all) > 10_000:
			c.Fatal("the list has no end")
		}
		q.Cursor = next
	}
}

// wantStories fails unless a query lists exactly these stories, in this order.
func wantStories(c storeTest, q storage.StoryQuery, want ...string) {
	c.Helper()
	var got []string
	for _, s := range listStories(c, q) {
		got = append(got, s.ID)
	}
	if !slices.Equal(got, want) {
		c.Errorf("%+v lists\n%q, want\n%q", q, got, want)
	}
}

func storiesInOrder(c storeTest) {
	// IDs, ranks and times are ordered differently, and contain ties.
	var stories []storage.Story
	for n := range 57 {
		s := aStory(fmt.Sprintf("story-%02d", n*23%57))
		s.Rank = []float64{-1e9, 0, 1.0 / 3, 1e15}[n%4]
		s.LastSeen = day.Add(time.Duration(n%5-2) * 365 * 24 * time.Hour)
		stories = append(stories, s)
	}
	putStories(c, stories)
	slices.SortFunc(stories, func(a, b storage.Story) int { return strings.Compare(a.ID, b.ID) })
	for _, newest := range []bool{false, true} {
		slices.SortStableFunc(stories, func(a, b storage.Story) int {
			switch {
			case newest:
				return b.LastSeen.Compare(a.LastSeen)
			case a.Rank > b.Rank:
				return -1
			case a.Rank < b.Rank:
				return 1
			}
			return strings.Compare(a.ID, b.ID)
		})
		for _, limit := range []int{1, 2, 7, 19, 57, 100, 0, -1, 1000} {
			c.wantEqual("the list", listStories(c, storage.StoryQuery{Newest: newest, Limit: limit}), stories)
		}
		slices.SortFunc(stories, func(a, b storage.Story) int { return strings.Compare(a.ID, b.ID) })
	}
}

func storiesThatMatch(c storeTest) {
	en, ru, small := aStory("a-en"), aStory("b-ru"), aStory("c-small")
	ru.Partition, ru.Categories, ru.Topics = "ru", []string{"law"}, []string{`"`, "copyright", "SQLite"}
	small.Sources, small.Categories, small.Topics = 2, nil, []string{"sql", "ite", `\`}
	small.FirstSeen, small.LastSeen = day.Add(-time.Hour), day.Add(-time.Minute)
	putStories(c, []storage.Story{small, ru, en})
	for _, test := range []struct {
		query storage.StoryQuery
		want  []string
	}{
		{storage.StoryQuery{}, []string{"a-en", "b-ru", "c-small"}},
		{storage.StoryQuery{Partition: "ru"}, []string{"b-ru"}},
		{storage.StoryQuery{Partition: "r"}, nil},
		{storage.StoryQuery{Category: "law"}, []string{"b-ru"}},
		{storage.StoryQuery{Category: "R&D <x>"}, []string{"a-en"}},
		{storage.StoryQuery{Category: "sqlite"}, nil},
		{storage.StoryQuery{Topic: "sqlite"}, []string{"a-en"}},
		{storage.StoryQuery{Topic: "sql"}, []string{"c-small"}},
		{storage.StoryQuery{Topic: `a "b"`}, []string{"a-en"}},
		{storage.StoryQuery{Topic: "b"}, nil},
		{storage.StoryQuery{Topic: `"`}, []string{"b-ru"}},
		{storage.StoryQuery{Topic: `\`}, []string{"c-small"}},
		{storage.StoryQuery{Topic: ","}, nil},
		{storage.StoryQuery{Topic: "s%"}, nil},
		{storage.StoryQuery{After: day.Add(-time.Minute)}, []string{"a-en", "b-ru", "c-small"}},
		{storage.StoryQuery{After: day}, []string{"a-en", "b-ru"}},
		{storage.StoryQuery{Before: day}, []string{"c-small"}},
		{storage.StoryQuery{Before: day.Add(time.Microsecond)}, []string{"a-en", "b-ru", "c-small"}},
		{storage.StoryQuery{Sources: 3}, []string{"a-en", "b-ru"}},
		{storage.StoryQuery{Sources: 4}, nil},
		{storage.StoryQuery{Partition: "en", Topic: "sql", Sources: 2, Before: day, After: day.Add(-time.Hour)}, []string{"c-small"}},
	} {
		for _, newest := range []bool{false, true} {
			test.query.Newest, test.query.Limit = newest, 1
			wantStories(c, test.query, test.want...)
		}
	}
}

func storyCursors(c storeTest) {
	putStories(c, []storage.Story{aStory("a"), aStory("b")})
	_, byRank, err := c.ListStories(c.Context(), storage.StoryQuery{Limit: 1})
	if err != nil {
		c.Fatal(err)
	}
	_, newest, err := c.ListStories(c.Context(), storage.StoryQuery{Limit: 1, Newest: true})
	if err != nil {
		c.Fatal(err)
	}
	for _, q := range []storage.StoryQuery{
		{Cursor: newest}, {Cursor: byRank, Newest: true}, {Cursor: "garbage"}, {Cursor: "e30"}, {Cursor: byRank[1:]},
	} {
		_, _, err := c.ListStories(c.Context(), q)
		c.wantError(fmt.Sprintf("list with the cursor %q", q.Cursor), err, storage.ErrBadCursor)
	}
	// A story deleted between two pages leaves no gap.
	putStories(c, nil, "a")
	wantStories(c, storage.StoryQuery{Cursor: byRank}, "b")
	wantStories(c, storage.StoryQuery{Cursor: newest, Newest: true, Partition: "en"}, "b")
}
