package storagetest

import (
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// listSpam returns all spam of a feed, or of all feeds, page by page.
func listSpam(c storeTest, feedID string, limit int) []storage.SpamItem {
	c.Helper()
	var all []storage.SpamItem
	for after := (storage.SpamItem{}); ; after = all[len(all)-1] {
		page, _, err := c.ListSpam(c.Context(), storage.SpamQuery{FeedID: feedID}, after, limit)
		if err != nil {
			c.Fatalf("list spam: %v", err)
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

// wantSpam fails unless these are all spam items of a feed, or of all feeds, in any order.
func wantSpam(c storeTest, feedID string, want ...storage.Item) {
	c.Helper()
	var got []string
	for _, found := range listSpam(c, feedID, 7) {
		got = append(got, found.ID)
	}
	c.wantIDs("the spam", got, want)
	_, n, err := c.ListSpam(c.Context(), storage.SpamQuery{FeedID: feedID}, storage.SpamItem{}, 0)
	if err != nil || n != int64(len(want)) {
		c.Errorf("%d items are spam, %v; want %d", n, err, len(want))
	}
}

func spamByJudged(c storeTest) {
	wantSpam(c, "")
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	items := append(numbered(a, 0, 10), numbered(b, 10, 10)...)
	var spam, ofB []storage.Item
	for i := range items {
		items[i].Spam = i%3 != 0
		if !items[i].Spam {
			continue
		}
		spam = append(spam, items[i])
		if items[i].FeedID == b {
			ofB = append(ofB, items[i])
		}
	}
	before := time.Now().Add(-time.Minute)
	c.put(items[:5]...)
	c.put(items[10:]...)
	c.put(items[5:10]...)
	wantSpam(c, "", spam...)
	wantSpam(c, b, ofB...)
	wantSpam(c, "nobody")

	whole := listSpam(c, "", 100)
	for i, found := range whole {
		c.wantEqual("an item that is spam", found.Item, c.stored(found.ID))
		if found.Judged.Before(before) || found.Judged.After(time.Now().Add(time.Minute)) {
			c.Errorf("an item was judged at %v, want just now", found.Judged)
		}
		if i > 0 && (found.Judged.After(whole[i-1].Judged) || found.Judged.Equal(whole[i-1].Judged) && found.ID < whole[i-1].ID) {
			c.Errorf("item %d, judged at %v, follows an item judged at %v", i, found.Judged, whole[i-1].Judged)
		}
	}
	for _, limit := range []int{1, 4} {
		c.wantEqual("the same page by page", listSpam(c, "", limit), whole)
	}
	for _, limit := range []int{0, -1} {
		page, _, err := c.ListSpam(c.Context(), storage.SpamQuery{}, storage.SpamItem{}, limit)
		if err != nil || len(page) != 0 {
			c.Errorf("a page of %d has %d items, %v", limit, len(page), err)
		}
	}
	// An item released between two pages leaves no gap.
	if _, err := c.Relabel(c.Context(), "", storage.Labels{ItemID: whole[2].ID}); err != nil {
		c.Fatal(err)
	}
	page, _, err := c.ListSpam(c.Context(), storage.SpamQuery{}, whole[2], 100)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the page after one that is released", page, whole[3:])
}

func releasedSpam(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 4)
	items[3].Spam = false
	c.put(items...)
	wantSpam(c, "", items[:3]...)

	items[0].Spam, items[0].Hash = false, "hash-2"
	c.put(items[0])
	wantSpam(c, "", items[1:3]...)
	if _, err := c.Relabel(c.Context(), "", storage.Labels{ItemID: items[1].ID}); err != nil {
		c.Fatal(err)
	}
	wantSpam(c, "", items[2])
	no, yes := false, true
	correctItem(c, storage.Correction{ItemID: items[2].ID, Spam: &no, At: day})
	wantSpam(c, "")
	correctItem(c, storage.Correction{ItemID: items[3].ID, Spam: &yes, At: day})
	wantSpam(c, "", items[3])

	var keys []string
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	hashes, err := c.ItemHashes(c.Context(), feedID, keys)
	if err != nil || len(hashes) != 4 {
		c.Errorf("of 4 keys %v are stored, %v", hashes, err)
	}
}

func spamStays(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 3)
	for _, item := range items {
		c.put(item)
	}
	before := listSpam(c, "", 10)
	repeated := items[0]
	repeated.Hash, repeated.SpamScore = "hash-2", 0.6
	c.put(repeated)
	labels := storage.LabelsOf(items[1])
	labels.SpamScore, labels.Reasons = 0.55, []string{"another reason"}
	if _, err := c.Relabel(c.Context(), "", labels); err != nil {
		c.Fatal(err)
	}
	yes := true
	correctItem(c, storage.Correction{ItemID: items[2].ID, Spam: &yes, At: day})
	for i, found := range listSpam(c, "", 10) {
		c.wantEqual("its place", found.ID, before[i].ID)
		c.wantEqual("when it was judged", found.Judged, before[i].Judged)
		c.wantEqual("the item", found.Item, c.stored(found.ID))
	}
	c.wantEqual("its new score", c.stored(items[1].ID).SpamScore, 0.55)
	for _, spam := range []bool{false, true} {
		if _, err := c.Relabel(c.Context(), "", storage.Labels{ItemID: items[0].ID, Spam: spam}); err != nil {
			c.Fatal(err)
		}
	}
	if now := listSpam(c, "", 10); now[0].ID != items[0].ID || !now[0].Judged.After(before[0].Judged) {
		c.Errorf("the item that became spam again is %v, judged at %v", now[0].ID, now[0].Judged)
	}
}

func spamOfFeed(c storeTest) {
	from, to, other := c.addFeed(oldURL), c.addFeed(newURL), c.addFeed("https://other.example/")
	items, there, others := numbered(from, 0, 4), numbered(to, 3, 2), numbered(other, 0, 1)
	there[0].Spam = false // has the same key as a spam item
	for _, some := range [][]storage.Item{items, there, others} {
		c.put(some...)
	}
	judged := map[string]time.Time{}
	for _, found := range listSpam(c, from, 10) {
		judged[found.Key] = found.Judged
	}
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	moved := append(at(to, items[:3]...), there[1])
	wantSpam(c, from)
	wantSpam(c, to, moved...)
	wantSpam(c, "", append(slices.Clone(moved), others...)...)
	for _, found := range listSpam(c, to, 10) {
		if strings.Compare(found.Key, "key-000003") < 0 {
			c.wantEqual("when it was judged", found.Judged, judged[found.Key])
		}
	}
	if _, err := c.RemoveFeed(c.Context(), to); err != nil {
		c.Fatal(err)
	}
	wantSpam(c, "", others...)
}
