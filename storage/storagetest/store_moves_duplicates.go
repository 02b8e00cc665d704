package storagetest

import (
	"slices"
	"time"

	"feedmesh/storage"
)

func (c storeTest) movedOriginal() {
	from, other := c.addFeed(oldURL), c.addFeed("https://other.example/")
	firsts := numbered(from, 0, 3)
	firsts[0].DuplicateOf, firsts[1].DuplicateOf, firsts[2].DuplicateOf = "", firsts[0].ID, "another"
	c.put(firsts...)
	repeats := numbered(other, 0, 2)
	repeats[0].DuplicateOf = firsts[0].ID
	c.put(repeats...)
	before := c.stored(repeats[0].ID).Changed

	moved := at(storage.FeedID(newURL), firsts...)
	c.move(from, newURL, slices.Concat(firsts, moved, repeats[:1])...)
	for _, item := range []storage.Item{repeats[0], moved[1]} {
		got := c.stored(item.ID)
		if got.DuplicateOf != moved[0].ID || got.DuplicateBy != item.DuplicateBy {
			c.Errorf("%s repeats %q by %q, want %q by %q", item.Key, got.DuplicateOf, got.DuplicateBy, moved[0].ID, item.DuplicateBy)
		}
	}
	if now := c.stored(repeats[0].ID).Changed; !now.After(before) {
		c.Errorf("the duplicate of another original has the old Changed %v", now)
	}
	for item, want := range map[string]string{moved[0].ID: "", moved[2].ID: "another", repeats[1].ID: "item-0"} {
		c.wantEqual("the original of an item", c.item(item).DuplicateOf, want)
	}
}

func (c storeTest) deletedOriginal() {
	from, to, other := c.addFeed(oldURL), c.addFeed(newURL), c.addFeed("https://other.example/")
	dropped, kept, repeats := numbered(from, 0, 4), numbered(to, 0, 4), numbered(other, 0, 2)
	dropped[0].DuplicateOf, kept[0].DuplicateOf = "", dropped[0].ID // the kept item is a duplicate of the deleted item
	dropped[1].DuplicateOf, kept[1].DuplicateOf = "", repeats[1].ID
	dropped[2].DuplicateOf, kept[2].DuplicateOf = kept[2].ID, ""
	dropped[3].DuplicateOf, kept[3].DuplicateOf = "", dropped[0].ID // the deleted item has no duplicates
	repeats[0].DuplicateOf, repeats[1].DuplicateOf = dropped[1].ID, ""
	for _, items := range [][]storage.Item{dropped, kept, repeats} {
		c.put(items...)
	}
	c.move(from, newURL, slices.Concat(dropped, kept, repeats[:1])...)
	for i, want := range []string{"", "", "", kept[0].ID} {
		c.wantEqual("the original of a kept item", c.item(kept[i].ID).DuplicateOf, want)
	}
	p := storage.PlacementOf(kept[1])
	p.DuplicateOf, p.DuplicateBy, p.DuplicateScore, p.DuplicateReason = "", "", 0, ""
	c.wantEqual("the placement of an original", storage.PlacementOf(c.item(kept[1].ID)), p)
	c.wantEqual("the original of another item", c.item(repeats[0].ID).DuplicateOf, kept[1].ID)
	c.wantEqual("the original of the last item", c.item(repeats[1].ID).DuplicateOf, "")
	c.wantCounts(2, 6)
}

func (c storeTest) movedStamps() {
	from := c.addFeed(oldURL)
	items := numbered(from, 0, 20)
	c.put(items...)
	before := map[string]time.Time{}
	for _, stamp := range c.stamps(day, 100) {
		before[stamp.ID] = stamp.Changed
	}
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	moved := at(storage.FeedID(newURL), items...)
	c.wantIDs("the walk of the day", stampIDs(c.stamps(day, 7)), moved)
	c.wantDays(map[time.Time]int64{storage.Day(day): 20})
	for i, item := range moved {
		if now := c.stored(item.ID).Changed; !now.After(before[items[i].ID]) {
			c.Errorf("a moved item changed at %v, before it moved", now)
		}
	}
}
