package storagetest

import (
	"fmt"
	"time"

	"feedmesh/storage"
)

func storedItem(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	full := anItem(feedID, "full")
	bare := storage.Item{ID: storage.ItemID(feedID, "bare"), FeedID: feedID, Key: "bare", Hash: "h", Revision: 1,
		Published: day, FirstSeen: day}
	// An engine may store the key and the URL once if they are equal.
	linked := bare
	linked.Key = "https://example.org/1?a&b"
	linked.ID, linked.URL = storage.ItemID(feedID, linked.Key), linked.Key
	for _, want := range []storage.Item{full, bare, linked} {
		input := want
		input.Revision, input.Corrected, input.Clicks = 17, true, 7 // set by the store
		c.put(input)
		c.wantEqual("the item", c.item(want.ID), want)
	}
}

func times(c storeTest) {
	moscow := time.FixedZone("Moscow", 3*60*60)
	feed := aFeed("https://example.org/")
	feed.Added = time.Date(2026, 3, 1, 3, 4, 5, 123456789, moscow)
	if _, err := c.AddFeeds(c.Context(), feed); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("Added", c.feed(feed.ID).Added, time.Date(2026, 3, 1, 0, 4, 5, 123456000, time.UTC))

	input := anItem(feed.ID, "key")
	input.FirstSeen = feed.Added
	input.Published = time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC)
	input.Updated = time.Time{}
	c.put(input)
	got := c.item(input.ID)
	c.wantEqual("FirstSeen", got.FirstSeen, time.Date(2026, 3, 1, 0, 4, 5, 123456000, time.UTC))
	c.wantEqual("Published", got.Published, time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC))
	c.wantEqual("Updated", got.Updated, time.Time{})
	c.wantEqual("LastItem", c.feed(feed.ID).LastItem, got.Published)

	now := anItem(feed.ID, "now")
	now.Published = time.Now()
	c.put(now)
	c.wantEqual("now", c.item(now.ID).Published, now.Published.UTC().Truncate(time.Microsecond))
}

func unchangedItem(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	want := anItem(feedID, "key")
	c.put(want)
	repeated := want
	repeated.Title, repeated.FirstSeen, repeated.EventID = "Another", day.Add(time.Hour), "event-2"
	stored := c.put(repeated)
	c.wantIDs("the new items", stored.New, nil)
	c.wantIDs("the changed items", stored.Changed, nil)
	c.wantEqual("the item", c.item(want.ID), want)
	c.wantEqual("the number of items", c.feed(feedID).Items, int64(1))
}

func setText(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	want := anItem(feedID, "key")
	c.put(want)
	before := c.stored(want.ID).Changed
	for _, text := range []storage.ItemText{
		{HTML: "<p>the whole <b>text</b> ☃</p>", Images: []string{"https://example.org/a.png"}, Enclosures: []storage.Enclosure{{URL: "https://example.org/a.mp3", Type: "audio/mpeg", Length: 3}}, TextHash: "other"},
		{},
	} {
		got, err := c.SetText(c.Context(), want.ID, text)
		if err != nil {
			c.Fatal(err)
		}
		want.HTML, want.Images, want.Enclosures, want.TextHash = text.HTML, text.Images, text.Enclosures, text.TextHash
		c.wantEqual("the returned item", got, c.stored(want.ID))
		c.wantEqual("the item", c.item(want.ID), want)
		if !got.Changed.After(before) {
			c.Errorf("the item changed at %v, before at %v", got.Changed, before)
		}
		before = got.Changed
	}
	same := anItem(feedID, "key")
	stored := c.put(same)
	c.wantIDs("the items that an unchanged entry changes", stored.Changed, nil)
	c.wantEqual("the item", c.item(want.ID), want)
}

// An older state of the store has a lower number of writes than a newer one.
func feedWrites(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	other := c.addFeed("https://other.example/")
	item := anItem(feedID, "key")
	changed := item
	changed.Hash = "another"
	second := anItem(feedID, "second")
	for i, step := range []struct {
		item storage.Item
		want int64
	}{{item, 1}, {item, 1}, {changed, 2}, {changed, 2}, {second, 3}} {
		stored := c.put(step.item)
		c.wantEqual(fmt.Sprintf("writes reported by put %d", i), stored.Writes, step.want)
		c.wantEqual(fmt.Sprintf("writes after put %d", i), c.feed(feedID).Writes, step.want)
	}
	c.wantEqual("writes of another feed", c.feed(other).Writes, int64(0))
	if _, err := c.SetFeed(c.Context(), feedID, storage.Settings{Pinned: true}); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("writes after a change of settings", c.feed(feedID).Writes, int64(3))
}

func changedItem(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	old := anItem(feedID, "key")
	c.wantIDs("the new items", c.put(old).New, []storage.Item{old})

	want := storage.Item{ID: old.ID, FeedID: feedID, Key: "key", Hash: "hash-2", Revision: 2, Title: "Another",
		Published: day.Add(-2 * time.Hour), FirstSeen: old.FirstSeen, Partition: "ru", EventID: "event-2", StoryID: "story-2"}
	fresh := anItem(feedID, "fresh")
	stored := c.put(want, fresh)
	want = storage.PlacementOf(old).ApplyTo(want)
	want.Partition = old.Partition
	c.wantIDs("the new items", stored.New, []storage.Item{fresh})
	c.wantIDs("the changed items", stored.Changed, []storage.Item{old})
	c.wantEqual("the second revision", c.item(old.ID), want)
	c.wantEqual("the number of items", c.feed(feedID).Items, int64(2))

	page, err := c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", From: day}, storage.Item{}, 10)
	if err != nil {
		c.Fatal(err)
	}
	c.wantIDs("the items of its partition", itemIDs(page), []storage.Item{want, fresh})

	old.Revision = 3
	c.put(old)
	c.wantEqual("the third revision", c.item(old.ID), old)
}

func revisionKeepsDates(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	later := day.Add(24 * time.Hour)
	dated, early := day.Add(-time.Hour), day.Add(-5*time.Hour)
	for i, test := range []struct {
		name                    string
		oldDate                 time.Time
		oldAssumed, nextAssumed string
		nextDate, wantDate      time.Time
		wantAssumed             string
	}{
		{"a date stays where the next is only assumed", dated, "", "missing", later, dated, ""},
		{"an assumed date stays where the next is only assumed", day, "missing", "future", later, day, "missing"},
		{"a date takes the place of an assumed one", day, "missing", "", early, early, ""},
		{"a date takes the place of another", dated, "", "", early, early, ""},
	} {
		old := anItem(feedID, fmt.Sprint("key-", i))
		old.Published, old.Assumed = test.oldDate, test.oldAssumed
		c.put(old)
		next := old
		next.Hash, next.FirstSeen, next.Published, next.Assumed = "hash-2", later, test.nextDate, test.nextAssumed
		c.put(next)

		want := next
		want.Revision, want.FirstSeen, want.Published, want.Assumed = 2, day, test.wantDate, test.wantAssumed
		c.wantEqual(test.name+": the item", c.item(old.ID), want)
	}
}

func listedTwice(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	one, other := anItem(feedID, "key"), anItem(feedID, "key")
	other.Hash, other.Title = "hash-2", "Another"
	stored := c.put(one, one, other)
	c.wantIDs("the new items", stored.New, []storage.Item{one})
	c.wantIDs("the changed items", stored.Changed, nil)
	c.wantEqual("the title", c.item(one.ID).Title, "Another")
	c.wantEqual("the number of items", c.feed(feedID).Items, int64(1))

	one.Hash, other.Hash = "hash-3", "hash-4"
	stored = c.put(one, other)
	c.wantIDs("the new items", stored.New, nil)
	c.wantIDs("the changed items", stored.Changed, []storage.Item{one})
	c.wantEqual("the hash", c.item(one.ID).Hash, "hash-4")
}

func sameKeyTwoFeeds(c storeTest) {
	a, b := anItem(c.addFeed("https://a.example/"), "key"), anItem(c.addFeed("https://b.example/"), "key")
	b.Title = "Another"
	c.put(a)
	c.wantIDs("the new items", c.put(b).New, []storage.Item{b})
	c.wantEqual("one item", c.item(a.ID), a)
	c.wantEqual("the other item", c.item(b.ID), b)
}

func itemHashes(c storeTest) {
	feedID, other := c.addFeed("https://example.org/"), c.addFeed("https://other.example/")
	items := numbered(feedID, 0, 70)
	want := map[string]string{}
	var keys []string
	for i := range items {
		items[i].Hash = fmt.Sprint("hash-", i)
		want[items[i].Key] = items[i].Hash
		keys = append(keys, items[i].Key, items[i].Key, fmt.Sprint("unknown-", i), "KEY-000001", "key-000001 ")
	}
	c.put(items...)
	got, err := c.ItemHashes(c.Context(), feedID, keys)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("stored hashes", got, want)

	for what, got := range map[string]func() (map[string]string, error){
		"another feed": func() (map[string]string, error) { return c.ItemHashes(c.Context(), other, keys) },
		"no keys":      func() (map[string]string, error) { return c.ItemHashes(c.Context(), feedID, nil) },
	} {
		if hashes, err := got(); err != nil || len(hashes) != 0 {
			c.Errorf("%s: got hashes %v, %v", what, hashes, err)
		}
	}
}

func batchForNoFeed(c storeTest) {
	item := anItem("nobody", "key")
	_, err := c.PutItems(c.Context(), storage.Batch{FeedID: "nobody", Title: "Nobody's", Items: []storage.Item{item}})
	c.wantError("put", err, storage.ErrNotFound)
	_, err = storage.ItemByID(c.Context(), c, item.ID)
	c.wantError("read the item", err, storage.ErrNotFound)
	c.wantCounts(0, 0)
}
