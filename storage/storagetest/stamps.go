package storagetest

import (
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

func changedNow(c storeTest) {
	input := anItem(c.addFeed("https://example.org/"), "key")
	input.Changed = day
	before := time.Now()
	c.put(input)
	got := c.stored(input.ID).Changed
	// An engine on another machine has its own clock.
	if got.Before(before.Add(-time.Minute)) || got.After(time.Now().Add(time.Minute)) {
		c.Errorf("the item changed at %v, want just now, %v", got, before)
	}
	c.wantEqual("Changed", got, got.UTC().Truncate(time.Microsecond))
	items, err := c.Items(c.Context(), input.ID)
	if err != nil || len(items) != 1 || !items[0].Changed.Equal(got) {
		c.Errorf("read among others it is %+v, %v; want it changed at %v", items, err, got)
	}
	items, err = c.ListItems(c.Context(), storage.ItemQuery{Partition: input.Partition, From: day}, storage.Item{}, 10)
	if err != nil || len(items) != 1 || !items[0].Changed.Equal(got) {
		c.Errorf("read by its partition it is %+v, %v; want it changed at %v", items, err, got)
	}
}

func changedAgain(c storeTest) {
	item := anItem(c.addFeed("https://example.org/"), "key")
	seen := map[time.Time]bool{}
	const revisions = 30
	for n := range revisions { // some of them in the same microsecond, if the engine is fast
		item.Hash = strings.Repeat("x", n+1)
		c.put(item)
		seen[c.stored(item.ID).Changed] = true
	}
	c.wantEqual("the number of times it changed at", len(seen), revisions)
}

func changedUnlessUnchanged(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	same, other := anItem(feedID, "same"), anItem(feedID, "other")
	c.put(same, other)
	want := c.stored(same.ID)
	same.Title, same.Changed = "Another", day
	other.Hash = "hash-2"
	c.put(same, other)
	c.wantEqual("the item", c.stored(same.ID), want)
}

func changedByRemoving(c storeTest) {
	gone, kept := c.addFeed("https://gone.example/"), c.addFeed("https://kept.example/")
	first := anItem(gone, "first")
	c.put(first)
	items := numbered(kept, 0, 2)
	items[0].DuplicateOf, items[1].DuplicateOf = first.ID, "another"
	c.put(items...)
	freed, other := c.stored(items[0].ID).Changed, c.stored(items[1].ID).Changed
	if _, err := c.RemoveFeed(c.Context(), gone); err != nil {
		c.Fatal(err)
	}
	if got := c.stored(items[0].ID).Changed; got.Equal(freed) {
		c.Errorf("got unchanged time %v of the former duplicate, want a new one", got)
	}
	c.wantEqual("when the other item changed", c.stored(items[1].ID).Changed, other)
}

// threeDays stores items at the edges of three days and returns the expected Days.
func threeDays(c storeTest) map[time.Time]int64 {
	feedID := c.addFeed("https://days.example/")
	midnight := storage.Day(day)
	want := map[time.Time]int64{}
	items := numbered(feedID, 0, 6)
	for i, at := range []time.Time{
		midnight.Add(-time.Microsecond), midnight, midnight.Add(time.Microsecond), day,
		midnight.Add(24*time.Hour - time.Microsecond), time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC),
	} {
		items[i].FirstSeen = at
		want[storage.Day(at)]++
	}
	c.put(items...)
	return want
}

// wantDays fails unless Days returns exactly these numbers, and Stamps as many stamps.
func wantDays(c storeTest, want map[time.Time]int64) {
	c.Helper()
	got, err := c.Days(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	if len(got) != 0 || len(want) != 0 {
		c.wantEqual("the count of items by day", got, want)
	}
	for day, n := range got {
		c.wantEqual("the number of stamps of a day", int64(len(stampsOfDay(c, day, 2))), n)
	}
}

func days(c storeTest) {
	wantDays(c, nil)
	want := threeDays(c)
	c.wantEqual("how many days there are", len(want), 3)
	wantDays(c, want)

	repeated := anItem(storage.FeedID("https://days.example/"), "key-000000")
	repeated.Hash, repeated.FirstSeen = "hash-2", day.Add(240*time.Hour)
	c.put(repeated) // a revision keeps FirstSeen
	wantDays(c, want)
}

func daysOfRemoved(c storeTest) {
	all := threeDays(c)
	kept := anItem(c.addFeed("https://kept.example/"), "key")
	c.put(kept)
	all[storage.Day(day)]++
	wantDays(c, all)
	if _, err := c.RemoveFeed(c.Context(), storage.FeedID("https://days.example/")); err != nil {
		c.Fatal(err)
	}
	wantDays(c, map[time.Time]int64{storage.Day(day): 1})
	c.wantIDs("the walk of the day", stampIDs(stampsOfDay(c, day, 10)), []storage.Item{kept})
	if left := stampsOfDay(c, day.Add(-24*time.Hour), 10); len(left) != 0 {
		c.Errorf("day of deleted items: got %v", left)
	}
}

// stampsOfDay returns all stamps of t's day, page by page.
func stampsOfDay(c storeTest, t time.Time, limit int) []storage.Stamp {
	c.Helper()
	var all []storage.Stamp
	for after := ""; ; after = all[len(all)-1].ID {
		page, err := c.Stamps(c.Context(), storage.Day(t), after, limit)
		if err != nil {
			c.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		if len(page) > limit {
			c.Fatalf("a page of %d has %d stamps", limit, len(page))
		}
		all = append(all, page...)
	}
}

func stampIDs(stamps []storage.Stamp) []string {
	var list []string
	for _, s := range stamps {
		list = append(list, s.ID)
	}
	return list
}

func stampsInOrder(c storeTest) {
	threeDays(c)
	items := numbered(c.addFeed("https://a.example/"), 0, 25)
	for i := range items { // the order of IDs differs from the order of time
		items[i].FirstSeen = day.Add(36*time.Hour - time.Duration(i)*time.Minute)
	}
	c.put(items...)
	want := itemIDs(items)
	slices.Sort(want)
	for _, limit := range []int{1, 7, 25, 1000} {
		c.wantEqual("the walk", stampIDs(stampsOfDay(c, day.Add(36*time.Hour), limit)), want)
	}
	page, err := c.Stamps(c.Context(), storage.Day(day.Add(36*time.Hour)), want[3]+"x", 2)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the page after an ID that is not there", stampIDs(page), want[4:6])
}

func stampsContainChanged(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 20)
	c.put(items...)
	for i := range items[:5] {
		items[i].Hash = "hash-2"
	}
	c.put(items...)
	for _, stamp := range stampsOfDay(c, day, 7) {
		c.wantEqual("the time of a stamp", stamp.Changed, c.stored(stamp.ID).Changed)
	}
}

func itemStamps(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 70)
	c.put(items...)
	items[3].Hash = "hash-2"
	c.put(items[3])
	asked := append(itemIDs(items[:65]), "unknown", items[3].ID)
	stamps, err := c.ItemStamps(c.Context(), asked...)
	if err != nil {
		c.Fatal(err)
	}
	got := stampIDs(stamps)
	slices.Sort(got)
	c.wantEqual("the items", slices.Compact(got), slices.Sorted(slices.Values(itemIDs(items[:65]))))
	for _, stamp := range stamps {
		c.wantEqual("the time of a stamp", stamp.Changed, c.stored(stamp.ID).Changed)
	}
	if none, err := c.ItemStamps(c.Context()); len(none) > 0 || err != nil {
		c.Errorf("without IDs: got %v, %v", none, err)
	}
}
