package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// correctItem applies a correction to an item, and returns it.
func correctItem(c storeTest, correction storage.Correction) storage.Item {
	c.Helper()
	item, err := c.Correct(c.Context(), correction)
	if err != nil {
		c.Fatalf("correct: %v", err)
	}
	c.wantEqual("the item that is returned", item, c.stored(correction.ItemID))
	return item
}

// wantCorrections fails unless Corrections returns exactly these, in this order.
func wantCorrections(c storeTest, want ...storage.Correction) {
	c.Helper()
	for _, limit := range []int{1, 2, 100} {
		var got []storage.Correction
		for after := (storage.Correction{}); ; after = got[len(got)-1] {
			page, err := c.Corrections(c.Context(), after, limit)
			if err != nil {
				c.Fatalf("list corrections: %v", err)
			}
			if len(page) > limit {
				c.Fatalf("a page of %d has %d corrections", limit, len(page))
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		c.wantEqual("the list of corrections", got, want)
	}
}

func correct(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	no, yes := false, true
	for i, test := range []struct {
		correction storage.Correction
		why        string
		want       func(*storage.Item)
	}{
		{storage.Correction{Spam: &no}, "not spam", func(i *storage.Item) { i.Spam = false }},
		{storage.Correction{Spam: &yes, Categories: []string{"law & <order>", "go"}}, "spam; categories law & <order>, go",
			func(i *storage.Item) { i.Categories = []string{"law & <order>", "go"} }},
		{storage.Correction{Categories: []string{}, Topics: []string{"pets"}}, "categories none; topics pets",
			func(i *storage.Item) { i.Categories, i.Topics = nil, []string{"pets"} }},
		{storage.Correction{}, "right as it is", func(i *storage.Item) {}},
	} {
		want := anItem(feedID, fmt.Sprint("key-", i))
		c.put(want)
		before := c.stored(want.ID).Changed
		test.correction.ItemID, test.correction.At, test.correction.By = want.ID, day.Add(time.Duration(i)), "Ann <ann>"
		got := correctItem(c, test.correction)
		test.want(&want)
		want.Corrected, want.Reasons = true, append([]string{"a person said so: " + test.why}, want.Reasons...)
		c.wantEqual("the corrected item", c.item(want.ID), want)
		if !got.Changed.After(before) {
			c.Errorf("the corrected item changed at %v, before at %v", got.Changed, before)
		}
	}
}

func correctAgain(c storeTest) {
	item := anItem(c.addFeed("https://example.org/"), "key")
	c.put(item)
	no := false
	correctItem(c, storage.Correction{ItemID: item.ID, Spam: &no, Topics: []string{}, At: day, By: "Ann"})
	moscow := time.Date(2026, 3, 3, 3, 4, 5, 123456789, time.FixedZone("Moscow", 3*60*60))
	got := correctItem(c, storage.Correction{ItemID: item.ID, Categories: []string{"law"}, At: moscow, By: "Bob"})
	c.wantEqual("its labels", storage.LabelsOf(got), storage.Labels{
		ItemID: item.ID, SpamScore: item.SpamScore, Flags: item.Flags, Categories: []string{"law"},
		Reasons: []string{"a person said so: not spam; categories law; topics none", item.Reasons[0]}, Score: item.Score, Sentiment: item.Sentiment,
	})
	wantCorrections(c, storage.Correction{ItemID: item.ID, Spam: &no, Categories: []string{"law"}, Topics: []string{},
		At: time.Date(2026, 3, 3, 0, 4, 5, 123456000, time.UTC), By: "Bob"})
}

func correctedRevision(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	right, other := anItem(feedID, "right"), anItem(feedID, "other")
	c.put(right, other)
	no := false
	correctItem(c, storage.Correction{ItemID: right.ID, Spam: &no, At: day})
	want := c.item(right.ID)
	for _, item := range []*storage.Item{&right, &other} {
		*item = otherLabels(storage.Item{ID: item.ID}).ApplyTo(*item)
		item.Hash, item.Title = "hash-2", "Another"
	}
	c.put(right, other)
	want.Hash, want.Title, want.Revision = "hash-2", "Another", 2
	c.wantEqual("the corrected item", c.item(right.ID), want)
	other.Revision = 2
	c.wantEqual("the other item", c.item(other.ID), other)
	wantSpam(c, "", other)
}

func correctionsInOrder(c storeTest) {
	wantCorrections(c)
	items := numbered(c.addFeed("https://example.org/"), 0, 5)
	c.put(items...)
	yes := true
	var want []storage.Correction
	for i, item := range items {
		correction := storage.Correction{ItemID: item.ID, Spam: &yes, Topics: []string{"a"}, At: day.Add(-time.Duration(i/2) * time.Microsecond), By: "Ann"}
		correctItem(c, correction)
		want = append(want, correction)
	}
	slices.SortFunc(want, func(a, b storage.Correction) int {
		if d := a.At.Compare(b.At); d != 0 {
			return d
		}
		return strings.Compare(a.ItemID, b.ItemID)
	})
	wantCorrections(c, want...)
	for _, limit := range []int{0, -1} {
		page, err := c.Corrections(c.Context(), storage.Correction{}, limit)
		if err != nil || len(page) != 0 {
			c.Errorf("a page of %d has %d corrections, %v", limit, len(page), err)
		}
	}
	last := want[0]
	last.At = day.Add(time.Hour)
	correctItem(c, last)
	wantCorrections(c, append(want[1:], last)...)
}

func removeCorrection(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 2)
	c.put(items...)
	no := false
	right := correctItem(c, storage.Correction{ItemID: items[0].ID, Spam: &no, At: day})
	got, err := c.RemoveCorrection(c.Context(), items[0].ID)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the item that is returned", got, c.stored(items[0].ID))
	if !got.Changed.After(right.Changed) {
		c.Errorf("it changed at %v, before at %v", got.Changed, right.Changed)
	}
	right.Corrected, right.Changed = false, got.Changed
	c.wantEqual("the item", got, right)
	wantCorrections(c)
	relabelTo(c, "", []storage.Labels{otherLabels(items[0])}, items[0])

	before := c.stored(items[1].ID)
	if got, err := c.RemoveCorrection(c.Context(), items[1].ID); err != nil {
		c.Fatal(err)
	} else {
		c.wantEqual("an item without corrections", got, before)
	}
}

func correctionsOfFeed(c storeTest) {
	from, other := c.addFeed(oldURL), c.addFeed("https://other.example/")
	items, others := numbered(from, 0, 3), numbered(other, 0, 2)
	c.put(items...)
	c.put(others...)
	no := false
	kept := storage.Correction{ItemID: items[1].ID, Spam: &no, Categories: []string{}, At: day, By: "Ann"}
	correctItem(c, kept)
	correctItem(c, storage.Correction{ItemID: others[0].ID, Spam: &no, At: day})
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	if _, err := c.RemoveFeed(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	kept.ItemID = storage.ItemID(storage.FeedID(newURL), items[1].Key)
	wantCorrections(c, kept)
	if got := c.stored(kept.ItemID); !got.Corrected || got.Spam {
		c.Errorf("the moved item is %+v, want it corrected still", got)
	}
	relabelTo(c, "", []storage.Labels{{ItemID: kept.ItemID}})
}

func correctionOfDeleted(c storeTest) {
	from, to := c.addFeed(oldURL), c.addFeed(newURL)
	dropped, kept := numbered(from, 0, 3), numbered(to, 0, 3)
	c.put(dropped...)
	c.put(kept...)
	no, yes := false, true
	correction := storage.Correction{ItemID: dropped[0].ID, Spam: &no, At: day, By: "Ann"}
	correctItem(c, correction)
	correctItem(c, storage.Correction{ItemID: dropped[1].ID, Spam: &no, At: day})
	own := storage.Correction{ItemID: kept[1].ID, Spam: &yes, At: day.Add(time.Hour)}
	right := correctItem(c, own)
	before := c.stored(kept[0].ID)
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	correction.ItemID = kept[0].ID
	wantCorrections(c, correction, own)
	want := correction.ApplyTo(kept[0])
	c.wantEqual("the item that inherits", c.item(kept[0].ID), want)
	if now := c.stored(kept[0].ID).Changed; !now.After(before.Changed) {
		c.Errorf("it changed at %v, before at %v", now, before.Changed)
	}
	c.wantEqual("the item with its own correction", c.stored(kept[1].ID), right)
	c.wantEqual("the item without correction", c.item(kept[2].ID), kept[2])
	wantSpam(c, "", kept[1:]...)
}
