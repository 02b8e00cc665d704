package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// addNamed adds a feed with a title.
func addNamed(c storeTest, url, title string, change ...func(*storage.Feed)) storage.Feed {
	c.Helper()
	f := storage.Feed{ID: storage.FeedID(url), URL: url, Title: title, Added: day}
	for _, do := range change {
		do(&f)
	}
	if _, err := c.AddFeeds(c.Context(), f); err != nil {
		c.Fatal(err)
	}
	return f
}

// wantFeeds fails unless the query matches exactly these URLs, in this order, and CountFeeds returns their
// number.
func wantFeeds(c storeTest, q storage.FeedQuery, want ...string) {
	c.Helper()
	q.Limit = 100
	found, err := c.FindFeeds(c.Context(), q)
	if err != nil {
		c.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.URL)
		c.wantEqual("a found feed", f, c.feed(f.ID))
	}
	if !slices.Equal(got, want) {
		c.Errorf("%+v finds %q, want %q", q, got, want)
	}
	if n, err := c.CountFeeds(c.Context(), q); err != nil || n.Feeds != int64(len(want)) {
		c.Errorf("%+v counts %d, %v; want %d", q, n.Feeds, err, len(want))
	}
}

func feedsByText(c storeTest) {
	const a, b, long = "https://a.example/feed", "https://b.example/100%25_off", "https://long.example/"
	addNamed(c, a, "Хабр: Лучшее «за» сутки", func(f *storage.Feed) { f.Site = "https://HABR.example/All" })
	addNamed(c, b, "ÉTÉ's <b>100%_</b> 'news'\\")
	addNamed(c, long, strings.Repeat("x", 5000)+"end")
	for text, want := range map[string][]string{
		"хабр": {a}, "ЛУЧШЕЕ": {a}, "«за»": {a}, "habr.EXAMPLE/all": {a}, "été": {b}, "%_": {b}, "100%25": {b}, "_off": {b},
		"'news'\\": {b}, "<B>": {b}, "example": {a, b, long}, "xxxx": {long}, "": {a, b, long}, "a_b": nil, "сутки хабр": nil, "\x00habr": {a},
	} {
		wantFeeds(c, storage.FeedQuery{Text: text}, want...)
	}
}

func feedsByFilter(c storeTest) {
	const a, b, d = "http://a.example/1", "https://a.example/2", "https://a.example:8080/"
	const sub, longer = "https://sub.a.example/", "https://a.example.org/"
	tags := func(list ...string) func(*storage.Feed) { return func(f *storage.Feed) { f.Tags = list } }
	first := addNamed(c, a, "one", tags("news", `R&D "x"`))
	addNamed(c, b, "two", tags("News"), func(f *storage.Feed) { f.Pinned = true })
	last := addNamed(c, d, "three", tags(`a "news`, "новости", "x,", "y"), func(f *storage.Feed) { f.Request = &storage.Request{UserAgent: "other"} })
	addNamed(c, sub, "")
	addNamed(c, longer, "")
	for _, q := range []struct {
		storage.FeedQuery
		want []string
	}{
		{storage.FeedQuery{Tag: "news"}, []string{a}},
		{storage.FeedQuery{Tag: `R&D "x"`}, []string{a}},
		{storage.FeedQuery{Tag: "новости"}, []string{d}},
		{storage.FeedQuery{Tag: "new"}, nil},
		{storage.FeedQuery{Tag: ","}, nil},
		{storage.FeedQuery{Tag: "x,"}, []string{d}},
		{storage.FeedQuery{Tag: "y"}, []string{d}},
		{storage.FeedQuery{Host: "a.example"}, []string{a, b}},
		{storage.FeedQuery{Host: "a.example:8080"}, []string{d}},
		{storage.FeedQuery{Host: "example"}, nil},
		{storage.FeedQuery{Host: "%"}, nil},
		{storage.FeedQuery{Pinned: true}, []string{b}},
		{storage.FeedQuery{WithRequest: true}, []string{d}},
		{storage.FeedQuery{WithRequest: true, Text: "one"}, nil},
		{storage.FeedQuery{IDs: []string{last.ID, "none", first.ID}}, []string{a, d}},
		{storage.FeedQuery{IDs: []string{}}, nil},
		{storage.FeedQuery{IDs: []string{last.ID, first.ID}, Text: "ONE", Host: "a.example", Tag: "news"}, []string{a}},
		{storage.FeedQuery{Text: "one", Pinned: true}, nil},
	} {
		wantFeeds(c, q.FeedQuery, q.want...)
	}
}

// feedsBySlot compares the slots of hosts with those of [storage.HostSlot].
func feedsBySlot(c storeTest) {
	want := make([][]string, storage.HostSlots)
	add := func(url string) {
		addNamed(c, url, "")
		slot := storage.HostSlot(url)
		want[slot] = append(want[slot], url)
	}
	for i := range 200 {
		add(fmt.Sprintf("https://www%d.example/feed?u=http://other.example/%d", i, i))
	}
	for _, url := range []string{
		"https://a.example/", "https://a.example:8443/", "http://a.example:80/x:y@z/", "http://127.0.0.1:8080/", "http://[2001:db8::1]/", "http://[2001:db8::1]:80/a]b",
		"http://[open/", "https://xn--e1afmkfd.example/лента", "https://пример.example/", "http://", "no address", "://",
	} {
		add(url)
	}
	if a, b := storage.HostSlot("https://a.example/"), storage.HostSlot("http://a.example:8443/x"); a != b {
		c.Errorf("ports of a host are in slots %d and %d", a, b)
	}
	for slot, urls := range want {
		slices.Sort(urls)
		wantFeeds(c, storage.FeedQuery{Slot: &slot}, urls...)
		var listed []string
		err := storage.ForEachVersion(c.Context(), c.Store, &slot, func(v storage.FeedVersion) error {
			listed = append(listed, v.URL)
			return nil
		})
		if err != nil {
			c.Fatal(err)
		}
		c.wantEqual("the versions of a slot", listed, urls)
	}
}

func feedsInOrder(c storeTest) {
	// By title, bytewise in lower case; d and e differ only by URL.
	for url, title := range map[string]string{"https://a/": "Zebra", "https://b/": "aleph", "https://c/": "Яблоко", "https://d/": "Same", "https://e/": "same", "https://f/": ""} {
		addNamed(c, url, title, func(f *storage.Feed) { f.Added = day.Add(-time.Duration(url[8]) * time.Hour) })
	}
	for feed, items := range map[string]int{"https://c/": 3, "https://a/": 1, "https://e/": 2} {
		batch := numbered(storage.FeedID(feed), 0, items)
		for i := range batch {
			batch[i].Published = day.Add(time.Duration(items) * time.Minute)
			if feed == "https://a/" {
				batch[i].Published = day.Add(time.Hour)
			}
		}
		c.put(batch...)
	}
	none := []string{"https://b/", "https://d/", "https://f/"} // without items, ordered by ID
	slices.SortFunc(none, func(a, b string) int { return strings.Compare(storage.FeedID(a), storage.FeedID(b)) })
	for sort, want := range map[storage.FeedSort][]string{
		storage.FeedsByURL:   {"https://a/", "https://b/", "https://c/", "https://d/", "https://e/", "https://f/"},
		storage.FeedsByTitle: {"https://f/", "https://b/", "https://d/", "https://e/", "https://a/", "https://c/"},
		storage.FeedsByItems: slices.Concat([]string{"https://c/", "https://e/", "https://a/"}, none),
		storage.FeedsByLast:  slices.Concat([]string{"https://a/", "https://c/", "https://e/"}, none),
		storage.FeedsByAdded: {"https://a/", "https://b/", "https://c/", "https://d/", "https://e/", "https://f/"},
	} {
		wantFeeds(c, storage.FeedQuery{Sort: sort}, want...)
		for _, limit := range []int{1, 2, 4} {
			q, got := storage.FeedQuery{Sort: sort, Limit: limit}, []string(nil)
			for {
				page, err := c.FindFeeds(c.Context(), q)
				if err != nil {
					c.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				for _, f := range page {
					got = append(got, f.URL)
				}
				q.After = sort.Position(page[len(page)-1])
			}
			if !slices.Equal(got, want) {
				c.Errorf("in order %q, %d at a time, there are %q, want %q", sort, limit, got, want)
			}
		}
	}
	if page, err := c.FindFeeds(c.Context(), storage.FeedQuery{}); err != nil || len(page) != 0 {
		c.Errorf("a page of none has %d feeds, %v", len(page), err)
	}
}

func feedsRenamed(c storeTest) {
	const old, moved = "https://old.example/", "https://new.example/"
	f := addNamed(c, old, "Before")
	c.putBatch(storage.Batch{FeedID: f.ID, Title: "Затем", Site: "https://site.example/", Items: numbered(f.ID, 0, 1)})
	wantFeeds(c, storage.FeedQuery{Text: "before"})
	wantFeeds(c, storage.FeedQuery{Text: "затем"}, old)
	wantFeeds(c, storage.FeedQuery{Text: "site.example"}, old)
	if _, err := c.MoveFeed(c.Context(), f.ID, moved); err != nil {
		c.Fatal(err)
	}
	wantFeeds(c, storage.FeedQuery{Text: "ЗАТЕМ"}, moved)
	wantFeeds(c, storage.FeedQuery{Text: "old.example"})
	if _, err := c.RemoveFeed(c.Context(), storage.FeedID(moved)); err != nil {
		c.Fatal(err)
	}
	wantFeeds(c, storage.FeedQuery{})
}

func feedTags(c storeTest) {
	tags := func(url string, list ...string) {
		addNamed(c, url, "", func(f *storage.Feed) { f.Tags = list })
	}
	tags("https://a/", "b", "<c> & \"d\"")
	tags("https://b/", "b", "a")
	tags("https://c/")
	want := []storage.TagCount{{Tag: "b", Feeds: 2}, {Tag: "<c> & \"d\"", Feeds: 1}, {Tag: "a", Feeds: 1}}
	for limit, n := range map[int]int{100: 3, 2: 2, 0: 0} {
		got, err := c.FeedTags(c.Context(), limit)
		if err != nil || !slices.Equal(got, want[:n]) {
			c.Errorf("the first %d tags are %v, %v; want %v", limit, got, err, want[:n])
		}
	}
}
