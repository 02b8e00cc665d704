package storagetest

import (
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/storage"
)

func itemsInOrder(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 50)
	c.put(items...)
	ids := []string{"unknown"}
	var want []storage.Item
	for i := range items {
		item := items[(i*7+3)%len(items)]
		want = append(want, item)
		ids = append(ids, item.ID, "unknown")
	}
	got, err := c.Items(c.Context(), ids...)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the list of items", asPut(got...), want)

	for _, ids := range [][]string{nil, {"unknown"}} {
		if got, err := c.Items(c.Context(), ids...); err != nil || len(got) != 0 {
			c.Errorf("items %q are %v, %v; want none", ids, got, err)
		}
	}
}

// partitions stores items of two partitions, three per FirstSeen, and returns those of "en" in the order of
// ListItems.
func partitions(c storeTest) []storage.Item {
	items := numbered(c.addFeed("https://example.org/"), 0, 40)
	for i := range items {
		items[i].FirstSeen = day.Add(time.Duration(i/3) * time.Microsecond)
		if i%10 == 9 {
			items[i].Partition = "ru"
		}
	}
	slices.SortFunc(items, func(a, b storage.Item) int { return strings.Compare(a.Key[8:], b.Key[8:]) })
	c.put(items...)
	en := slices.DeleteFunc(items, func(i storage.Item) bool { return i.Partition != "en" })
	slices.SortFunc(en, func(a, b storage.Item) int {
		if d := a.FirstSeen.Compare(b.FirstSeen); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return en
}

func partition(c storeTest) {
	want := partitions(c)
	for _, limit := range []int{1, 2, 7, len(want), 100} {
		var got []storage.Item
		for after := (storage.Item{}); ; after = got[len(got)-1] {
			page, err := c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", From: day.Add(-time.Hour)}, after, limit)
			if err != nil {
				c.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			if len(page) > limit {
				c.Fatalf("a page of %d has %d items", limit, len(page))
			}
			got = append(got, asPut(page...)...)
		}
		c.wantEqual("the partition", got, want)
	}
}

func partitionSince(c storeTest) {
	all := partitions(c)
	since := all[10].FirstSeen
	want := slices.DeleteFunc(slices.Clone(all), func(i storage.Item) bool { return i.FirstSeen.Before(since) })
	got, err := c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", From: since}, storage.Item{}, 100)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the partition", asPut(got...), want)

	got, err = c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", From: since}, all[2], 100)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the partition after an older item", asPut(got...), want)

	got, err = c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", From: day.Add(time.Hour)}, storage.Item{}, 100)
	if err != nil || len(got) != 0 {
		c.Errorf("a partition after its end has %d items, %v", len(got), err)
	}
}

func pageWhileAdding(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	before := numbered(feedID, 0, 200)
	c.put(before...)
	var adding sync.WaitGroup
	adding.Go(func() {
		for n := range 20 {
			if _, err := c.PutItems(c.Context(), storage.Batch{FeedID: feedID, Items: numbered(feedID, 1000+n*10, 10)}); err != nil {
				c.Errorf("put: %v", err)
			}
		}
	})
	got := stampIDs(stampsOfDay(c, day, 10))
	adding.Wait()
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		c.Errorf("the walk is not in strictly ascending order: %q", got)
	}
	for _, item := range before {
		if _, ok := slices.BinarySearch(got, item.ID); !ok {
			c.Errorf("paging misses %s, which was stored from the start", item.ID)
		}
	}
}

func pageOfNone(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	c.put(numbered(feedID, 0, 3)...)
	for _, limit := range []int{0, -1} {
		feeds, err := c.FindFeeds(c.Context(), storage.FeedQuery{Limit: limit})
		if err != nil || len(feeds) != 0 {
			c.Errorf("FindFeeds with limit %d has %d feeds, %v", limit, len(feeds), err)
		}
		versions, err := c.FeedVersions(c.Context(), nil, "", limit)
		if err != nil || len(versions) != 0 {
			c.Errorf("FeedVersions with limit %d has %d versions, %v", limit, len(versions), err)
		}
		stamps, err := c.Stamps(c.Context(), storage.Day(day), "", limit)
		if err != nil || len(stamps) != 0 {
			c.Errorf("Stamps with limit %d has %d stamps, %v", limit, len(stamps), err)
		}
		items, err := c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", From: time.Time{}}, storage.Item{}, limit)
		if err != nil || len(items) != 0 {
			c.Errorf("ListItems with limit %d has %d items, %v", limit, len(items), err)
		}
	}
}
