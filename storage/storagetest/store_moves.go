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
func (c storeTest) move(id, url string, want ...storage.Item) {
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
func (c storeTest) wantResolved(id, want string) {
	c.Helper()
	got, err := c.ResolveFeed(c.Context(), id)
	if want == "" {
		c.wantError("resolve a missing feed", err, storage.ErrNotFound)
	} else if err != nil || got != want {
		c.Errorf("got feed %q, %v; want %q", got, err, want)
	}
}

func (c storeTest) movedItems() {
	from, other := c.addFeed(oldURL), c.addFeed("https://other.example/")
	items, kept := numbered(from, 0, 50), anItem(other, "key-000000")
	c.put(items...)
	c.put(kept)
	want := at(storage.FeedID(newURL), items...)
	c.move(from, newURL, slices.Concat(items, want)...)
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

func (c storeTest) movedFeed() {
	want := aFeed(oldURL)
	c.addFeed(oldURL)
	items := numbered(want.ID, 0, 3)
	items[0].Spam = false
	c.putBatch(storage.Batch{FeedID: want.ID, Items: items, Title: "Said", Rate: 2.5})
	want = c.feed(want.ID)
	old := want.ID
	want.ID, want.URL = storage.FeedID(newURL), newURL
	c.move(old, newURL, slices.Concat(items, at(want.ID, items...))...)
	c.wantEqual("the feed", c.feed(want.ID), want)
	c.wantResolved(old, want.ID)
	c.wantResolved(want.ID, want.ID)
	c.wantResolved("nobody", "")
}

func (c storeTest) resolvedAfterMove() {
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

func (c storeTest) mergedFeed() {
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

func (c storeTest) movesFollowed() {
	a, b := c.addFeed(oldURL), storage.FeedID(newURL)
	items := numbered(a, 0, 2)
	c.put(items...)
	c.move(a, newURL, append(items, at(b, items...)...)...)
	const last = "https://last.example/"
	end := storage.FeedID(last)
	c.move(b, last, append(at(b, items...), at(end, items...)...)...)
	for _, id := range []string{a, b, end} {
		c.wantResolved(id, end)
	}
	late := c.addFeed("https://late.example/")
	more := numbered(late, 7, 1)
	c.put(more...)
	c.move(late, newURL, append(more, at(end, more...)...)...) // a URL that redirects to another
	c.wantResolved(late, end)
	c.wantCounts(1, 3)

	if _, err := c.RemoveFeed(c.Context(), end); err != nil {
		c.Fatal(err)
	}
	for _, id := range []string{a, b, late, end} {
		c.wantResolved(id, "")
	}
	c.addFeed(oldURL)
	c.wantResolved(a, a)
}

func (c storeTest) movedBack() {
	a, b := c.addFeed(oldURL), storage.FeedID(newURL)
	items := numbered(a, 0, 2)
	c.put(items...)
	before := c.feed(a)
	c.move(a, newURL, append(items, at(b, items...)...)...)
	c.move(b, oldURL, append(items, at(b, items...)...)...)
	c.wantEqual("the feed", c.feed(a), before)
	c.wantResolved(a, a)
	c.wantResolved(b, a)
}

func (c storeTest) movedToItself() {
	feedID := c.addFeed(oldURL)
	item := anItem(feedID, "key")
	c.put(item)
	before := c.stored(item.ID)
	c.move(feedID, oldURL)
	c.wantEqual("the item", c.stored(item.ID), before)
	c.wantResolved(feedID, feedID)
	_, err := c.MoveFeed(c.Context(), storage.FeedID(newURL), newURL)
	c.wantError("move a missing feed to itself", err, storage.ErrNotFound)
}

func (c storeTest) moveWhileWriting() {
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
	for c.feed(from).Items == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Errorf("move: %v", err)
	}
	busy.Wait()
	c.wantCounts(1, 300)
	c.wantIDs("the items", stampIDs(c.stamps(day, 100)), numbered(to, 0, 300))
}
