package storagetest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

const oldURL, newURL = "https://old.example/", "https://new.example/"

// move moves a feed and fails unless it affects exactly these items.
func move(c storeTest, id, url string, want ...storage.Item) {
	c.Helper()
	concerned, err := c.MoveFeed(c.Context(), id, url)
	if err != nil {
		c.Fatalf("move feed: %v", err)
	}
	c.wantIDs("the affected items", concerned, want)
}

// at returns the items as they are in another feed.
func at(feedID string, items ...storage.Item) []storage.Item {
	moved := slices.Clone(items)
	for i := range moved {
		moved[i].FeedID, moved[i].ID = feedID, storage.ItemID(feedID, moved[i].Key)
	}
	return moved
}

// wantResolved fails unless id resolves to the feed want; empty means not found.
func wantResolved(c storeTest, id, want string) {
	c.Helper()
	got, err := c.ResolveFeed(c.Context(), id)
	if want == "" {
		c.wantError("resolve a missing feed", err, storage.ErrNotFound)
	} else if err != nil || got != want {
		c.Errorf("got feed %q, %v; want %q", got, err, want)
	}
}

func movedItems(c storeTest) {
	from, other := c.addFeed(oldURL), c.addFeed("https://other.example/")
	items, kept := numbered(from, 0, 50), anItem(other, "key-000000")
	c.put(items...)
	c.put(kept)
	want := at(storage.FeedID(newURL), items...)
	move(c, from, newURL, slices.Concat(items, want)...)
	for i := range items {
		c.wantEqual("a moved item", c.item(want[i].ID), want[i])
		_, err := storage.ItemByID(c.Context(), c, items[i].ID)
		c.wantError("read it by its old ID", err, storage.ErrNotFound)
	}
	c.wantEqual("another feed's item", c.item(kept.ID), kept)
	c.wantCounts(2, 51)
	if repeated := c.put(want...); len(repeated.New)+len(repeated.Changed) != 0 {
		c.Errorf("the same items from there change %+v", repeated)
	}
}

func movedFeed(c storeTest) {
	want := aFeed(oldURL)
	c.addFeed(oldURL)
	items := numbered(want.ID, 0, 3)
	items[0].Spam = false
	c.putBatch(storage.Batch{FeedID: want.ID, Items: items, Title: "Said", Rate: 2.5})
	want = c.feed(want.ID)
	old := want.ID
	want.ID, want.URL, want.Writes = storage.FeedID(newURL), newURL, 0
	move(c, old, newURL, slices.Concat(items, at(want.ID, items...))...)
	c.wantEqual("the feed", c.feed(want.ID), want)
	wantResolved(c, old, want.ID)
	wantResolved(c, want.ID, want.ID)
	wantResolved(c, "nobody", "")
}

func resolvedAfterMove(c storeTest) {
	from := c.addFeed(oldURL)
	c.put(anItem(from, "key"))
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	_, err := c.Feed(c.Context(), from)
	c.wantError("read", err, storage.ErrNotFound)
	_, err = c.SetFeed(c.Context(), from, storage.Settings{Pinned: true})
	c.wantError("set", err, storage.ErrNotFound)
	_, err = c.PutItems(c.Context(), storage.Batch{FeedID: from, Items: numbered(from, 0, 2)})
	c.wantError("put", err, storage.ErrNotFound)
	_, err = c.MoveFeed(c.Context(), from, newURL)
	c.wantError("move again", err, storage.ErrNotFound)
	_, err = c.RemoveFeed(c.Context(), from)
	c.wantError("remove", err, storage.ErrNotFound)
	if hashes, err := c.ItemHashes(c.Context(), from, []string{"key"}); err != nil || len(hashes) != 0 {
		c.Errorf("the moved feed has hashes %v, %v", hashes, err)
	}
	if added, err := c.AddFeeds(c.Context(), aFeed(oldURL), aFeed(newURL)); err != nil || len(added) != 0 {
		c.Errorf("adding it added %v, %v; want no new feed", added, err)
	}
	c.wantCounts(1, 1)
}

func mergedFeed(c storeTest) {
	from, to := c.addFeed(oldURL), c.addFeed(newURL)
	olds := numbered(from, 0, 3)
	olds[0].Spam, olds[0].Categories = false, []string{"software", "management", "law"}
	c.put(olds...)
	items := numbered(to, 2, 3) // the feeds have one of them in common
	for i := range items {
		items[i].Published, items[i].Spam = day, false
	}
	c.put(items...)
	if _, err := c.SetFeed(c.Context(), to, storage.Settings{Tags: []string{"R&D <x>", "mine"}}); err != nil {
		c.Fatal(err)
	}
	want, old := c.feed(to), c.feed(from)
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	want = storage.MergeFeeds(want, old)
	want.Items, want.LastItem = 5, day
	c.wantEqual("the feed", c.feed(to), want)
	c.wantCounts(1, 5)
	c.wantEqual("the item of both", c.item(items[0].ID), items[0])
}

func movesFollowed(c storeTest) {
	a, b := c.addFeed(oldURL), storage.FeedID(newURL)
	items := numbered(a, 0, 2)
	c.put(items...)
	move(c, a, newURL, append(items, at(b, items...)...)...)
	const last = "https://last.example/"
	end := storage.FeedID(last)
	move(c, b, last, append(at(b, items...), at(end, items...)...)...)
	for _, id := range []string{a, b, end} {
		wantResolved(c, id, end)
	}
	late := c.addFeed("https://late.example/")
	more := numbered(late, 7, 1)
	c.put(more...)
	move(c, late, newURL, append(more, at(end, more...)...)...) // a URL that redirects to another
	wantResolved(c, late, end)
	c.wantCounts(1, 3)

	if _, err := c.RemoveFeed(c.Context(), end); err != nil {
		c.Fatal(err)
	}
	for _, id := range []string{a, b, late, end} {
		wantResolved(c, id, "")
	}
	c.addFeed(oldURL)
	wantResolved(c, a, a)
}

func movedBack(c storeTest) {
	a, b := c.addFeed(oldURL), storage.FeedID(newURL)
	items := numbered(a, 0, 2)
	c.put(items...)
	before := c.feed(a)
	before.Writes = 0 // it is a new feed
	move(c, a, newURL, append(items, at(b, items...)...)...)
	move(c, b, oldURL, append(items, at(b, items...)...)...)
	c.wantEqual("the feed", c.feed(a), before)
	wantResolved(c, a, a)
	wantResolved(c, b, a)
}

func movedToItself(c storeTest) {
	feedID := c.addFeed(oldURL)
	item := anItem(feedID, "key")
	c.put(item)
	before := c.stored(item.ID)
	move(c, feedID, oldURL)
	c.wantEqual("the item", c.stored(item.ID), before)
	wantResolved(c, feedID, feedID)
	_, err := c.MoveFeed(c.Context(), storage.FeedID(newURL), newURL)
	c.wantError("move a missing feed to itself", err, storage.ErrNotFound)
}

func moveWhileWriting(c storeTest) {
	from, to := c.addFeed(oldURL), c.addFeed(newURL)
	var busy sync.WaitGroup
	for _, id := range []string{from, to} {
		busy.Go(func() {
			for n := range 30 {
				batch := storage.Batch{FeedID: id, Items: numbered(id, n*10, 10)}
				if _, err := c.PutItems(c.Context(), batch); err != nil && (id == to || !errors.Is(err, storage.ErrNotFound)) {
					c.Errorf("put: %v", err)
				}
			}
		})
	}
	for deadline := time.Now().Add(time.Minute); c.feed(from).Items == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatal("no items after a minute")
		}
	}
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Errorf("move: %v", err)
	}
	busy.Wait()
	c.wantCounts(1, 300)
	c.wantIDs("the items", stampIDs(stampsOfDay(c, day, 100)), numbered(to, 0, 300))
}

func movedOriginal(c storeTest) {
	from, other := c.addFeed(oldURL), c.addFeed("https://other.example/")
	firsts := numbered(from, 0, 3)
	firsts[0].DuplicateOf, firsts[1].DuplicateOf, firsts[2].DuplicateOf = "", firsts[0].ID, "another"
	c.put(firsts...)
	repeats := numbered(other, 0, 2)
	repeats[0].DuplicateOf = firsts[0].ID
	c.put(repeats...)
	before := c.stored(repeats[0].ID).Changed

	moved := at(storage.FeedID(newURL), firsts...)
	move(c, from, newURL, slices.Concat(firsts, moved, repeats[:1])...)
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

func deletedOriginal(c storeTest) {
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
	move(c, from, newURL, slices.Concat(dropped, kept, repeats[:1])...)
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

func movedStamps(c storeTest) {
	from := c.addFeed(oldURL)
	items := numbered(from, 0, 20)
	c.put(items...)
	before := map[string]time.Time{}
	for _, stamp := range stampsOfDay(c, day, 100) {
		before[stamp.ID] = stamp.Changed
	}
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	moved := at(storage.FeedID(newURL), items...)
	c.wantIDs("the walk of the day", stampIDs(stampsOfDay(c, day, 7)), moved)
	wantDays(c, map[time.Time]int64{storage.Day(day): 20})
	for i, item := range moved {
		if now := c.stored(item.ID).Changed; !now.After(before[items[i].ID]) {
			c.Errorf("a moved item changed at %v, before it moved", now)
		}
	}
}
