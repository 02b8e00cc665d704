package storagetest

import (
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

// relabelTo relabels items and fails unless exactly those change.
func relabelTo(c storeTest, job string, labels []storage.Labels, want ...storage.Item) {
	c.Helper()
	changed, err := c.Relabel(c.Context(), job, labels...)
	if err != nil {
		c.Fatalf("relabel: %v", err)
	}
	c.wantIDs("the relabelled items", changed, want)
	if !slices.IsSorted(changed) {
		c.Errorf("the relabelled items are not in order of ID: %v", changed)
	}
}

// otherLabels returns labels that differ from anItem's in every field.
func otherLabels(item storage.Item) storage.Labels {
	return storage.Labels{
		ItemID: item.ID, Spam: !item.Spam, SpamScore: 0.1, Flags: []string{"starred"}, Categories: []string{"C++ & <more>", "law"},
		Topics: []string{"copyright"}, Reasons: []string{`"copy" in the text`, "and so on"}, Score: 2.0 / 3, Sentiment: -0.5,
	}
}

func relabel(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 30)
	c.put(items...)
	var labels []storage.Labels
	before := map[string]time.Time{}
	for i, item := range items {
		before[item.ID] = c.stored(item.ID).Changed
		switch {
		case i < 20:
			labels = append(labels, otherLabels(item))
		case i < 25:
			labels = append(labels, storage.LabelsOf(item))
		}
	}
	feed := c.feed(feedID)
	relabelTo(c, "", labels, items[:20]...)
	for i, item := range items {
		want := item
		if i < 20 {
			want = labels[i].ApplyTo(item)
		}
		c.wantEqual("the item", c.item(item.ID), want)
		if now := c.stored(item.ID).Changed; now.After(before[item.ID]) != (i < 20) {
			c.Errorf("item %d changed at %v, before at %v", i, now, before[item.ID])
		}
	}
	c.wantEqual("the feed", c.feed(feedID), feed)
	relabelTo(c, "", labels)
	bare := storage.Labels{ItemID: items[0].ID}
	relabelTo(c, "", []storage.Labels{bare}, items[0])
	c.wantEqual("the item without labels", c.item(items[0].ID), bare.ApplyTo(items[0]))
	empty := storage.Labels{ItemID: items[0].ID, Flags: []string{}, Categories: []string{}, Topics: []string{}, Reasons: []string{}}
	relabelTo(c, "", []storage.Labels{empty})
	relabelTo(c, "", nil)
	for _, stamp := range stampsOfDay(c, day, 100) {
		c.wantEqual("the time of a stamp", stamp.Changed, c.stored(stamp.ID).Changed)
	}
}

func relabelLeaves(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 3)
	c.put(items...)
	right := correctItem(c, storage.Correction{ItemID: items[0].ID, Topics: []string{"pets"}, At: day})
	first, last := otherLabels(items[1]), otherLabels(items[1])
	first.Score, last.Score = 7, 8
	relabelTo(c, "job", []storage.Labels{otherLabels(items[0]), {ItemID: "nothing", Spam: true}, first, last}, items[1])
	c.wantEqual("the corrected item", c.stored(items[0].ID), right)
	c.wantEqual("the item labelled twice", c.item(items[1].ID), last.ApplyTo(items[1]))
	c.wantEqual("the item left out", c.item(items[2].ID), items[2])
	wantRestored(c, "job", 10, items[1])
}

// wantRestored fails unless undoing the job restores the labels of exactly these items.
func wantRestored(c storeTest, job string, limit int, want ...storage.Item) {
	c.Helper()
	restored, err := c.UndoRelabel(c.Context(), job, limit)
	if err != nil {
		c.Fatalf("undo: %v", err)
	}
	c.wantIDs("the restored items", restored, want)
	if !slices.IsSorted(restored) {
		c.Errorf("the restored items are not in order of ID: %v", restored)
	}
}

func undoRelabel(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 10)
	c.put(items...)
	slices.SortFunc(items, func(a, b storage.Item) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
	bare := storage.Labels{ItemID: items[0].ID}
	relabelTo(c, "", []storage.Labels{bare}, items[0])
	items[0] = bare.ApplyTo(items[0])
	for _, item := range items {
		relabelTo(c, "one", []storage.Labels{otherLabels(item)}, item)
	}
	third := otherLabels(items[1])
	third.Topics = []string{"third"}
	relabelTo(c, "one", []storage.Labels{third}, items[1]) // the first saved labels are kept
	relabelTo(c, "two", []storage.Labels{otherLabels(items[1])}, items[1])
	relabelTo(c, "", []storage.Labels{storage.LabelsOf(items[2])}, items[2]) // already has its old labels

	wantRestored(c, "another", 10)
	wantRestored(c, "one", 0)
	before := c.stored(items[2].ID).Changed
	wantRestored(c, "one", 4, items[:4]...)
	for _, item := range items[:4] {
		c.wantEqual("a restored item", c.item(item.ID), item)
	}
	c.wantEqual("when an item changed that had its labels", c.stored(items[2].ID).Changed, before)
	c.wantEqual("an item that is not yet restored", c.item(items[4].ID), otherLabels(items[4]).ApplyTo(items[4]))
	wantRestored(c, "one", 100, items[4:]...)
	for _, item := range items {
		c.wantEqual("a restored item", c.item(item.ID), item)
	}
	wantRestored(c, "one", 100)
	wantRestored(c, "two", 100, items[1])
	c.wantEqual("what another job gives back", c.item(items[1].ID), third.ApplyTo(items[1]))
}

func undoCorrected(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 6)
	c.put(items...)
	slices.SortFunc(items, func(a, b storage.Item) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
	for _, item := range items {
		relabelTo(c, "job", []storage.Labels{otherLabels(item)}, item)
	}
	for _, item := range items[:4] {
		correctItem(c, storage.Correction{ItemID: item.ID, Topics: []string{"pets"}, At: day})
	}
	right := c.stored(items[0].ID)
	wantRestored(c, "job", 2, items[4:]...) // none of these counts
	c.wantEqual("the corrected item", c.stored(items[0].ID), right)
	if _, err := c.RemoveCorrection(c.Context(), items[0].ID); err != nil {
		c.Fatal(err)
	}
	wantRestored(c, "job", 2)
}

func undoOfOtherJob(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 2)
	c.put(items...)
	relabelTo(c, "one", []storage.Labels{otherLabels(items[0])}, items[0])
	relabelTo(c, "two", []storage.Labels{otherLabels(items[1])}, items[1])
	wantRestored(c, "another", 10)
	wantRestored(c, "one", 10, items[0])
	wantRestored(c, "one", 10)
	c.wantEqual("the other item", c.item(items[1].ID), otherLabels(items[1]).ApplyTo(items[1]))
	wantRestored(c, "two", 10, items[1])
}

func savedLabelsOfFeed(c storeTest) {
	from, to, other := c.addFeed(oldURL), c.addFeed(newURL), c.addFeed("https://other.example/")
	items, there, others := numbered(from, 0, 3), numbered(to, 1, 2), numbered(other, 0, 2)
	there[0].Score, there[1].Score = 7, 8
	for _, some := range [][]storage.Item{items, there, others} {
		c.put(some...)
	}
	for _, item := range slices.Concat(items, there[1:], others) {
		relabelTo(c, "job", []storage.Labels{otherLabels(item)}, item)
	}
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	if _, err := c.RemoveFeed(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	moved := at(to, items[0])[0]
	wantRestored(c, "job", 10, moved, there[1]) // saved labels of deleted items are deleted
	for _, item := range []storage.Item{moved, there[0], there[1]} {
		c.wantEqual("an item", c.item(item.ID), item)
	}
	// Items added again are new, without labels saved by the job.
	c.addFeed("https://other.example/")
	c.put(others...)
	wantRestored(c, "job", 10)
}

func relabelWhileWriting(c storeTest) {
	a, b := c.addFeed(oldURL), c.addFeed("https://b.example/")
	items := append(numbered(a, 0, 20), numbered(b, 0, 20)...)
	c.put(items[:20]...)
	c.put(items[20:]...)
	no := false
	var busy sync.WaitGroup
	for n := range 3 {
		busy.Go(func() {
			for round := range 5 {
				var labels []storage.Labels
				for _, item := range items {
					l := otherLabels(item)
					l.Score = float64(round*10 + n)
					labels = append(labels, l)
				}
				if n == 1 {
					slices.Reverse(labels)
				}
				if _, err := c.Relabel(c.Context(), "job", labels...); err != nil {
					c.Errorf("relabel: %v", err)
				}
			}
		})
	}
	busy.Go(func() {
		for i := range items[:10] {
			if _, err := c.Correct(c.Context(), storage.Correction{ItemID: items[30+i].ID, Spam: &no, At: day}); err != nil {
				c.Errorf("correct: %v", err)
			}
		}
	})
	busy.Go(func() {
		for round := range 5 {
			batch := storage.Batch{FeedID: b, Items: slices.Clone(items[20:])}
			for i := range batch.Items {
				batch.Items[i].Hash = []string{"x", "y", "z"}[round%3]
			}
			if _, err := c.PutItems(c.Context(), batch); err != nil {
				c.Errorf("put: %v", err)
			}
		}
	})
	busy.Go(func() {
		if _, err := c.MoveFeed(c.Context(), a, newURL); err != nil {
			c.Errorf("move: %v", err)
		}
	})
	busy.Wait()
	var spam []storage.Item
	for _, stamp := range stampsOfDay(c, day, 100) {
		if item := c.stored(stamp.ID); item.Spam {
			spam = append(spam, item)
		}
	}
	wantSpam(c, "", spam...)
	for _, item := range items[30:] {
		if got := c.stored(item.ID); got.Spam || !got.Corrected {
			c.Errorf("a corrected item is %+v", got)
		}
	}
	c.wantCounts(2, 40)
}
