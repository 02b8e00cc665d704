package storagetest

import (
	"fmt"
	"slices"
	"time"

	"feedmesh/storage"
)

// aged returns n unprotected items of the feed, the first of them first seen n-1 days before day, each a day after
// the one before.
func aged(feedID string, n int) []storage.Item {
	items := numbered(feedID, 0, n)
	for i := range items {
		item := &items[i]
		item.Spam, item.DuplicateOf, item.Flags = false, "", nil
		item.EventID, item.StoryID = "event-"+item.ID, "story-"+item.ID
		item.FirstSeen = day.Add(time.Duration(i-n+1) * 24 * time.Hour)
		item.Published = item.FirstSeen.Add(-time.Hour)
	}
	return items
}

// expired returns all items that match the query, page by page.
func expired(c storeTest, q storage.ExpiredQuery, limit int) (all []storage.ExpiredItem) {
	c.Helper()
	for after := (storage.ExpiredItem{}); ; after = all[len(all)-1] {
		page, err := c.ExpiredItems(c.Context(), q, after, limit)
		if err != nil {
			c.Fatalf("list expired items: %v", err)
		}
		if len(page) > limit {
			c.Fatalf("a page of %d has %d items", limit, len(page))
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
	}
}

// wantExpired fails unless exactly these items match the query, in any order.
func wantExpired(c storeTest, q storage.ExpiredQuery, want ...storage.Item) {
	c.Helper()
	for _, limit := range []int{2, 1000} {
		var got []string
		for _, e := range expired(c, q, limit) {
			got = append(got, e.ID)
		}
		c.wantIDs("the expired items", got, want)
	}
}

// purge purges the items, and fails unless exactly want are purged.
func purge(c storeTest, items []storage.Item, want ...storage.Item) {
	c.Helper()
	purged, err := c.PurgeItems(c.Context(), storage.Fence{}, itemIDs(items)...)
	if err != nil {
		c.Fatalf("purge items: %v", err)
	}
	c.wantIDs("the purged items", purged, want)
}

func expiredByAge(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	ofA, ofB := aged(a, 7), aged(b, 5)
	c.put(ofA...)
	c.put(ofB...)
	before := day.Add(-2 * 24 * time.Hour) // the item first seen at that time is not before it
	wantExpired(c, storage.ExpiredQuery{Before: before}, slices.Concat(ofA[:4], ofB[:2])...)
	wantExpired(c, storage.ExpiredQuery{Before: before, Feeds: []string{b, "nobody"}}, ofB[:2]...)
	wantExpired(c, storage.ExpiredQuery{Before: before, Feeds: []string{}})
	wantExpired(c, storage.ExpiredQuery{Before: before, Except: []string{b}}, ofA[:4]...)
	wantExpired(c, storage.ExpiredQuery{Before: ofA[0].FirstSeen})

	all := expired(c, storage.ExpiredQuery{Before: before}, 3)
	if !slices.IsSortedFunc(all, func(a, b storage.ExpiredItem) int {
		return storage.Day(a.FirstSeen).Compare(storage.Day(b.FirstSeen))
	}) {
		c.Errorf("expired items are not listed oldest day first: %+v", all)
	}
	first := all[0]
	first.Bytes = 0
	c.wantEqual("the oldest item", first, storage.ExpiredItem{ID: ofA[0].ID, FeedID: a, FirstSeen: ofA[0].FirstSeen, Published: ofA[0].Published})
	if n := int64(len(ofA[0].HTML)); all[0].Bytes != n {
		c.Errorf("its text has %d bytes, want %d", all[0].Bytes, n)
	}

	var many []storage.Item // of one moment, as an imported archive
	for i, item := range aged(a, 1) {
		for n := range 50 {
			item.Key = fmt.Sprintf("archive-%d-%d", i, n)
			item.ID = storage.ItemID(a, item.Key)
			many = append(many, item)
		}
	}
	c.put(many...)
	if n := len(expired(c, storage.ExpiredQuery{Before: day.Add(time.Hour), Feeds: []string{a}}, 7)); n != 57 {
		c.Errorf("%d items are expired, want 57", n)
	}
}

func expiredByNumber(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	items := aged(a, 8)
	for i := range items { // published in the other order
		items[i].Published = day.Add(-time.Duration(i) * time.Minute)
	}
	items[6].Published = items[7].Published // ordered by ID
	c.put(items...)
	c.put(aged(b, 8)...)
	later := day.Add(time.Hour)
	wantExpired(c, storage.ExpiredQuery{Before: later, Feeds: []string{a}, Newest: 3}, items[3:]...)
	wantExpired(c, storage.ExpiredQuery{Before: items[5].FirstSeen, Feeds: []string{a}, Newest: 3}, items[3:5]...)
	wantExpired(c, storage.ExpiredQuery{Before: later, Feeds: []string{a}, Newest: 8})
	wantExpired(c, storage.ExpiredQuery{Before: later, Feeds: []string{a}, Newest: 100})
	last := items[6]
	if items[7].ID < last.ID {
		last = items[7]
	}
	wantExpired(c, storage.ExpiredQuery{Before: later, Feeds: []string{a}, Newest: 7}, last)
}

func protectedItems(c storeTest) {
	feedID, other := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	items := aged(feedID, 8)
	items[1].Flags = []string{"sponsored", "starred"} // by the rules
	repeated := aged(other, 1)[0]
	repeated.DuplicateOf = items[2].ID
	c.put(items...)
	c.put(repeated)
	mark(c, "ann", storage.MarkChange{Starred: &yes}, items[0])
	mark(c, "bob", storage.MarkChange{Read: &yes, Starred: &no}, items[0], items[3])
	if _, err := c.Correct(c.Context(), storage.Correction{ItemID: items[4].ID, At: day}); err != nil {
		c.Fatal(err)
	}
	all := storage.ExpiredQuery{Before: day.Add(time.Hour), Feeds: []string{feedID}}
	annotate(c, "ann", items[7], "a note")
	free := []storage.Item{items[3], items[5], items[6]}
	wantExpired(c, all, free...)
	byNumber := all
	byNumber.Newest = 1
	wantExpired(c, byNumber, free...)
	purge(c, items, free...)
	wantExpired(c, all)

	// Each protection ends.
	mark(c, "ann", storage.MarkChange{Starred: &no}, items[0])
	if _, err := c.RemoveCorrection(c.Context(), items[4].ID); err != nil {
		c.Fatal(err)
	}
	annotate(c, "ann", items[7], "")
	purge(c, []storage.Item{repeated}, repeated)
	wantExpired(c, all, items[0], items[2], items[4], items[7])
}

func purgedItems(c storeTest) {
	feedID := c.addFeed("https://a.example/")
	items := aged(feedID, 6)
	items[0].Spam = true
	c.put(items...)
	before := c.feed(feedID)
	mark(c, "ann", storage.MarkChange{Read: &yes}, items...)
	label := storage.LabelsOf(items[1])
	label.Categories = []string{"other"}
	if _, err := c.Relabel(c.Context(), "job", label); err != nil {
		c.Fatal(err)
	}
	purge(c, append(items[:4:4], anItem(feedID, "missing")), items[:4]...)
	purge(c, items[:4])
	c.wantEqual("the stored items", itemIDs(must(c.Items(c.Context(), itemIDs(items)...))), itemIDs(items[4:]))
	marked := must(c.MarksOf(c.Context(), "ann", itemIDs(items)...))
	c.wantEqual("the number of marks", len(marked), 2)
	wantSpam(c, "")
	if restored, err := c.UndoRelabel(c.Context(), "job", 10); err != nil || len(restored) != 0 {
		c.Errorf("labels of purged items are restored: %q, %v", restored, err)
	}
	got := c.feed(feedID)
	before.Items, before.Purged = 2, 4
	c.wantEqual("the feed", got, before)
	counts := must(c.CountFeeds(c.Context(), storage.FeedQuery{}))
	c.wantEqual("the counts", counts, storage.Counts{Feeds: 1, Items: 2, Purged: 4})
	perDay := must(c.Days(c.Context()))
	c.wantEqual("the number of days", len(perDay), 2)
}

func purgeUnderOldFence(c storeTest) {
	feedID := c.addFeed("https://a.example/")
	items := aged(feedID, 2)
	c.put(items...)
	old := fence(c, "keep")
	newest := fence(c, "keep")
	_, err := c.PurgeItems(c.Context(), old, itemIDs(items)...)
	c.wantError("purge under an old fence", err, storage.ErrFenced)
	c.wantCounts(1, 2)
	if purged, err := c.PurgeItems(c.Context(), newest, itemIDs(items)...); err != nil || len(purged) != 2 {
		c.Errorf("under the newest fence %d items are purged, %v; want 2", len(purged), err)
	}
}

// The classic error: a purged item that its feed still lists comes back as a new, unread item.
func purgedStaysPurged(c storeTest) {
	feedID, other := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	items := aged(feedID, 3)
	c.put(items...)
	purge(c, items[:2], items[:2]...)
	keys := []string{items[0].Key, items[1].Key, items[2].Key, "new"}
	hashes := must(c.ItemHashes(c.Context(), feedID, keys))
	c.wantEqual("the hashes", hashes, map[string]string{items[0].Key: storage.PurgedHash, items[1].Key: storage.PurgedHash, items[2].Key: items[2].Hash})
	hashes = must(c.ItemHashes(c.Context(), other, keys))
	c.wantEqual("the hashes of another feed", hashes, map[string]string{})

	// A document that was in progress during the purge, with a changed entry.
	changed := items[0]
	changed.Hash, changed.FirstSeen = "hash-2", day
	fresh := anItem(feedID, "new")
	stored := c.put(changed, items[1], items[2], fresh)
	c.wantEqual("the new items", stored.New, []string{fresh.ID})
	c.wantEqual("the changed items", len(stored.Changed), 0)
	c.wantEqual("the number of items", c.feed(feedID).Items, int64(2))

	// The memory moves and is deleted with the feed.
	if _, err := c.MoveFeed(c.Context(), feedID, newURL); err != nil {
		c.Fatal(err)
	}
	moved := storage.FeedID(newURL)
	hashes = must(c.ItemHashes(c.Context(), moved, keys[:2]))
	c.wantEqual("the hashes after a move", hashes, map[string]string{items[0].Key: storage.PurgedHash, items[1].Key: storage.PurgedHash})
	c.wantEqual("the number of purged items after a move", c.feed(moved).Purged, int64(2))
	if _, err := c.RemoveFeed(c.Context(), moved); err != nil {
		c.Fatal(err)
	}
	c.addFeed(newURL)
	hashes = must(c.ItemHashes(c.Context(), moved, keys))
	c.wantEqual("the hashes of the feed that was removed and added", hashes, map[string]string{})
}

func purgedStories(c storeTest) {
	items := twoItemStory(c, "story-1")
	for i := range items {
		items[i].DuplicateOf = ""
	}
	single := placed(items[0].FeedID, "c", "event-c", "story-2")
	c.put(single)
	plain := []storage.Item{items[0], items[1], single}
	clearDirty(c, dirtyStories(c))
	// anItem is a duplicate of a missing item, and spam: neither protects it.
	purge(c, plain[:1], plain[:1]...)
	wantDirty(c, "purging one of two items", "story-1")
	c.wantEqual("the rest of the story", must(c.ReadStories(c.Context(), 10, "story-1"))["story-1"].Count, 1)
	purge(c, plain[2:], plain[2:]...)
	wantDirty(c, "purging the only item")
	more := placed(items[0].FeedID, "d", "event-b", "story-1")
	c.put(more)
	clearDirty(c, dirtyStories(c))
	purge(c, []storage.Item{items[1], more}, items[1], more)
	wantDirty(c, "purging all items", "story-1")
	c.wantEqual("the stories without items", len(must(c.ReadStories(c.Context(), 10, "story-1", "story-2"))), 0)
}

func releaseSpace(c storeTest) {
	feedID := c.addFeed("https://a.example/")
	c.put(aged(feedID, 3)...)
	for range 100 {
		rest, err := c.ReleaseSpace(c.Context(), 1<<20)
		if err != nil {
			c.Fatal(err)
		}
		if rest == 0 {
			c.wantCounts(1, 3)
			return
		}
	}
	c.Error("there is free space after 100 MB of it were released")
}

// must returns v, and panics on an error, which ends the test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
