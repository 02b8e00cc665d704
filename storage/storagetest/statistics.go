package storagetest

import (
	"time"

	"feedmesh/storage"
)

func emptyFeedFields(c storeTest) {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	c.putBatch(storage.Batch{FeedID: want.ID})
	c.wantEqual("the feed after an empty batch", c.feed(want.ID), want)

	want.Title, want.Site, want.Language, want.Rate = "New title", "https://new.example/", "ru", 2.5
	c.putBatch(storage.Batch{FeedID: want.ID, Title: want.Title, Site: want.Site, Language: want.Language, Rate: want.Rate})
	c.wantEqual("the feed after a batch with all fields", c.feed(want.ID), want)

	c.putBatch(storage.Batch{FeedID: want.ID})
	c.wantEqual("the feed after a batch without fields", c.feed(want.ID), want)

	want.Site = "https://newer.example/"
	c.putBatch(storage.Batch{FeedID: want.ID, Site: want.Site})
	c.wantEqual("the feed after a batch with one field", c.feed(want.ID), want)
}

func statistics(c storeTest) {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	other := c.addFeed("https://other.example/")
	items := numbered(want.ID, 0, 30)
	for i := range items {
		items[i].Published = day.Add(-time.Duration(i) * time.Hour)
	}
	c.put(items[10:]...)
	c.put(items[:20]...)
	c.put(items...)
	want.Items, want.LastItem, want.Writes = 30, day, 2
	c.wantEqual("the feed", c.feed(want.ID), want)
	c.wantEqual("the feed without items", c.feed(other), aFeed("https://other.example/"))
}

func lastItem(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 3)
	for i := range items {
		items[i].Published = day.Add(-time.Duration(i) * time.Hour)
	}
	c.put(items...)
	c.wantEqual("the last item's date", c.feed(feedID).LastItem, items[0].Published)

	items[0].Hash, items[0].Published = "hash-2", day.Add(-10*time.Hour)
	c.put(items[0])
	c.wantEqual("its date once the newest was put back", c.feed(feedID).LastItem, items[1].Published)

	items[1].Hash, items[1].Published = "hash-2", day.Add(10*time.Hour)
	items[2].Hash, items[2].Published = "hash-2", day.Add(5*time.Hour)
	c.put(items[1], items[2])
	c.wantEqual("its date once others were put forward", c.feed(feedID).LastItem, items[1].Published)
}

func feedCategories(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 5)
	for i, categories := range [][]string{{"go"}, {"go", "data", "C++ & <more>"}, nil, {"go", "data"}, {"go"}} {
		items[i].Spam, items[i].Categories = i == 4, categories
	}
	third := 1.0 / 3
	want := map[string]float64{"go": 1 + third, "data": third, "C++ & <more>": third}
	c.put(items[0], items[1], items[2], items[4])
	c.wantEqual("the feed's categories", c.feed(feedID).Categories, want)

	for i := range items[:3] { // revisions
		items[i].Hash, items[i].Categories = "hash-2", []string{"law"}
	}
	c.put(items[:3]...)
	c.wantEqual("the feed's categories after revisions", c.feed(feedID).Categories, want)

	c.put(items...)
	want["go"] += 0.5
	want["data"] += 0.5
	c.wantEqual("the feed's categories with one more item", c.feed(feedID).Categories, want)
	page, err := c.FindFeeds(c.Context(), storage.FeedQuery{Limit: 10})
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the list of feeds", page, []storage.Feed{c.feed(feedID)})
	c.wantEqual("what a feed of spam is about", feedOfSpam(c).Categories, map[string]float64(nil))
}

func feedOfSpam(c storeTest) storage.Feed {
	id := c.addFeed("https://spam.example/")
	c.put(numbered(id, 0, 3)...)
	return c.feed(id)
}

func feedCategoriesFade(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 130)
	for i := range items {
		items[i].Spam, items[i].Categories = false, []string{"old"}
		switch {
		case i >= 118:
			items[i].Categories = []string{string(rune('a' + i - 118))} // a to l, once each
		case i >= 100:
			items[i].Categories = []string{"new"}
		}
	}
	c.put(items[:100]...)
	c.wantEqual("the feed's categories", c.feed(feedID).Categories, map[string]float64{"old": 100})
	c.put(items[100:118]...)
	c.wantEqual("the feed's categories after more items", c.feed(feedID).Categories, map[string]float64{"old": 50, "new": 17.5})
	c.put(items[118:]...)
	want := map[string]float64{"old": 50, "new": 17.5, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1}
	c.wantEqual("the feed's categories at the end", c.feed(feedID).Categories, want)
}
