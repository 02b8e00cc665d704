package storagetest

import (
	"time"

	"feedmesh/storage"
)

func (c storeTest) feedSays() {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	c.putBatch(storage.Batch{FeedID: want.ID})
	c.wantEqual("the feed after an empty batch", c.feed(want.ID), want)

	want.Title, want.Site, want.Language, want.Rate = "New title", "https://new.example/", "ru", 2.5
	c.putBatch(storage.Batch{FeedID: want.ID, Title: want.Title, Site: want.Site, Language: want.Language, Rate: want.Rate})
	c.wantEqual("the feed after a batch that says all", c.feed(want.ID), want)

	c.putBatch(storage.Batch{FeedID: want.ID})
	c.wantEqual("the feed after a batch that says nothing", c.feed(want.ID), want)

	want.Site = "https://newer.example/"
	c.putBatch(storage.Batch{FeedID: want.ID, Site: want.Site})
	c.wantEqual("the feed after a batch that says one thing", c.feed(want.ID), want)
}

func (c storeTest) statistics() {
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
	want.Items, want.LastItem = 30, day
	c.wantEqual("the feed", c.feed(want.ID), want)
	c.wantEqual("the feed without items", c.feed(other), aFeed("https://other.example/"))
}

func (c storeTest) lastItem() {
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
