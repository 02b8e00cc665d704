package storagetest

import (
	"fmt"
	"slices"
	"time"

	"feedmesh/storage"
)

// wantRearranged rearranges and fails unless exactly these items change.
func wantRearranged(c storeTest, r storage.Rearrangement, want ...storage.Item) {
	c.Helper()
	changed, err := c.Rearrange(c.Context(), r)
	if err != nil {
		c.Fatalf("rearrange: %v", err)
	}
	c.wantIDs("the rearranged items", changed, want)
	if !slices.IsSorted(changed) {
		c.Errorf("the rearranged items are not in order of ID: %v", changed)
	}
}

// moveEvents returns a Rearrangement from pairs of an event and its new story.
func moveEvents(pairs ...string) (r storage.Rearrangement) {
	for pair := range slices.Chunk(pairs, 2) {
		r.Events = append(r.Events, storage.EventMove{EventID: pair[0], StoryID: pair[1]})
	}
	return r
}

// elsewhere returns a placement that differs from anItem's in every field.
func elsewhere(itemID string) storage.Placement {
	return storage.Placement{
		ItemID: itemID, EventID: "event-2", StoryID: "story-2", StoryReason: "because", DuplicateOf: "first",
		DuplicateBy: "hand", DuplicateScore: 2.0 / 3, DuplicateReason: `a person <said> "so"`,
	}
}

func movedEvents(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	items := []storage.Item{
		placed(a, "1", "e1", "s1"), placed(b, "2", "e1", "s1"), placed(a, "3", "e1", "strayed"), placed(b, "4", "e1", "s9"),
		placed(a, "5", "e2", "s2"), placed(b, "6", "e3", "s1"),
	}
	for _, item := range items {
		c.put(item)
	}
	before := storedByID(c, items)
	wantRearranged(c, moveEvents("e1", "s9", "nothing", "s9", "e2", "s2"), items[0], items[1], items[2])
	for i := range items[:3] {
		items[i].StoryID = "s9"
	}
	wantChanged(c, items, before, 3)
	wantRearranged(c, moveEvents("e1", "s8", "e3", "s9", "e1", "s7", "e3", "s1"), items[:4]...)
	for i := range items[:4] {
		items[i].StoryID = "s7"
	}
	for _, item := range items {
		c.wantEqual("an item after the last of several moves", c.item(item.ID), item)
	}
	wantRearranged(c, moveEvents("e1", "s7"))
	wantRearranged(c, storage.Rearrangement{})
}

// storedByID returns the items as stored, by ID.
func storedByID(c storeTest, items []storage.Item) map[string]storage.Item {
	c.Helper()
	whole := map[string]storage.Item{}
	for _, item := range items {
		whole[item.ID] = c.stored(item.ID)
	}
	return whole
}

// wantChanged fails unless the items equal want, and exactly the first n changed since before.
func wantChanged(c storeTest, items []storage.Item, before map[string]storage.Item, n int) {
	c.Helper()
	stamps := map[string]time.Time{}
	for _, stamp := range stampsOfDay(c, day, 1000) {
		stamps[stamp.ID] = stamp.Changed
	}
	for i, item := range items {
		c.wantEqual("an item", c.item(item.ID), item)
		now := c.stored(item.ID).Changed
		if now.After(before[item.ID].Changed) != (i < n) {
			c.Errorf("item %d changed at %v, before at %v", i, now, before[item.ID].Changed)
		}
		c.wantEqual("the time of its stamp", stamps[item.ID], now)
	}
}

func lateItems(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	first := placed(feedID, "first", "e1", "s1")
	c.put(first)
	wantRearranged(c, moveEvents("e1", "s2", "empty", "s3"), first)
	late := []storage.Item{placed(feedID, "late", "e1", "s1"), placed(feedID, "other", "e2", "s1"), placed(feedID, "none", "empty", "s1"), placed(feedID, "bare", "", "")}
	c.put(late...)
	for i, want := range []string{"s2", "s1", "s3", ""} {
		late[i].StoryID = want
		c.wantEqual("a late item", c.item(late[i].ID), late[i])
	}
	wantRearranged(c, moveEvents("e1", "s4"), first, late[0])
	wantRearranged(c, moveEvents("e1", "s1"), first, late[0]) // its first story
	later := placed(feedID, "later", "e1", "s4")
	c.put(later)
	c.wantEqual("the story of a later item", c.item(later.ID).StoryID, "s1")

	// A revision keeps its placement, whatever the document states.
	apart := storage.PlacementOf(later)
	apart.StoryID = "apart"
	wantRearranged(c, storage.Rearrangement{Items: []storage.Placement{apart}}, later)
	edited := placed(feedID, "later", "e2", "s5")
	edited.Hash = "hash-2"
	c.put(edited)
	c.wantEqual("the placement of an edited item", storage.PlacementOf(c.item(later.ID)), apart)
}

func placedAnew(c storeTest) {
	items := numbered(c.addFeed("https://example.org/"), 0, 50)
	c.put(items...)
	before := storedByID(c, items)
	r := storage.Rearrangement{Items: []storage.Placement{elsewhere("nothing"), {ItemID: items[0].ID}}}
	for i, item := range items {
		p := storage.PlacementOf(item)
		if i < 30 {
			p = elsewhere(item.ID)
		}
		if i < 40 {
			r.Items = append(r.Items, p)
		}
	}
	wantRearranged(c, r, items[:30]...)
	for i := range items[:30] {
		items[i] = elsewhere("").ApplyTo(items[i])
	}
	wantChanged(c, items, before, 30)
	wantRearranged(c, r)
	for i, change := range []func(*storage.Placement){
		func(p *storage.Placement) { p.EventID = "event-3" },
		func(p *storage.Placement) { p.StoryID = "story-3" },
		func(p *storage.Placement) { p.StoryReason = "" },
		func(p *storage.Placement) { p.DuplicateOf = "" },
		func(p *storage.Placement) { p.DuplicateBy = "title" },
		func(p *storage.Placement) { p.DuplicateScore = 0.9 },
		func(p *storage.Placement) { p.DuplicateReason = "words" },
		func(p *storage.Placement) { *p = storage.Placement{ItemID: p.ItemID} },
	} {
		p := storage.PlacementOf(items[i])
		change(&p)
		wantRearranged(c, storage.Rearrangement{Items: []storage.Placement{p}}, items[i])
		c.wantEqual("an item placed anew", c.item(items[i].ID), p.ApplyTo(items[i]))
	}
}

func placedAfterMoves(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := []storage.Item{placed(feedID, "1", "e1", "s1"), placed(feedID, "2", "e1", "s1"), placed(feedID, "3", "e2", "s2")}
	c.put(items...)
	before := storedByID(c, items)
	r := moveEvents("e1", "s3", "e2", "s4")
	stays, joins := storage.PlacementOf(items[1]), storage.PlacementOf(items[2])
	joins.EventID, joins.StoryID = "e1", "s3"
	r.Items = []storage.Placement{stays, joins}
	items[0].StoryID = "s3"
	items[2] = joins.ApplyTo(items[2])
	items[1], items[2] = items[2], items[1]
	wantRearranged(c, r, items[:2]...)
	wantChanged(c, items, before, 2)
	// The item that stayed still belongs to its event.
	wantRearranged(c, moveEvents("e1", "s5"), items...)
	// A placement overrides the move of its event.
	p := storage.PlacementOf(items[0])
	p.StoryID = "s1"
	wantRearranged(c, storage.Rearrangement{Items: []storage.Placement{p}}, items[0])
	c.wantEqual("the story of an item placed anew", c.item(items[0].ID).StoryID, "s1")
}

func rearrangeUnderOldFence(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := []storage.Item{placed(feedID, "1", "e1", "s1"), placed(feedID, "2", "e2", "s1")}
	c.put(items...)
	dirty := dirtyStories(c)
	old := fence(c, "cluster.en")
	newest := fence(c, "cluster.en")
	r := moveEvents("e1", "s2")
	r.Fence, r.Items, r.Name, r.Note = old, []storage.Placement{elsewhere(items[1].ID)}, "cluster.en", []byte("late")
	_, err := c.Rearrange(c.Context(), r)
	c.wantError("rearrange under an old fence", err, storage.ErrFenced)
	for _, item := range items {
		c.wantEqual("the item", c.item(item.ID), item)
	}
	c.wantEqual("the dirty records", dirtyStories(c), dirty)
	if note, err := storage.Notes(c.Store).Read(c.Context(), "cluster.en"); err != nil || note != nil {
		c.Errorf("it noted %q, %v", note, err)
	}
	late := placed(feedID, "3", "e1", "s1")
	c.put(late)
	c.wantEqual("the story of an item of an event that did not move", c.item(late.ID).StoryID, "s1")
	r.Fence = newest
	wantRearranged(c, r, items[0], items[1], late)
}

func notedWithMoves(c storeTest) {
	if err := storage.Notes(c.Store).Put(c.Context(), storage.Fence{}, "other", []byte("other")); err != nil {
		c.Fatal(err)
	}
	item := placed(c.addFeed("https://example.org/"), "1", "e1", "s1")
	c.put(item)
	fence := fence(c, "cluster.en")
	for i, want := range []storage.Item{item, {}} {
		r := moveEvents("e1", "s2")
		r.Fence, r.Name, r.Note = fence, "hands", fmt.Append(nil, i)
		if i == 0 {
			wantRearranged(c, r, want)
		} else {
			wantRearranged(c, r)
		}
		if note, err := storage.Notes(c.Store).Read(c.Context(), "hands"); err != nil || string(note) != fmt.Sprint(i) {
			c.Errorf("the note is %q, %v; want %d", note, err, i)
		}
	}
	wantRearranged(c, storage.Rearrangement{Note: []byte("nameless")})
	if note, err := storage.Notes(c.Store).Read(c.Context(), ""); err != nil || len(note) != 0 {
		c.Errorf("without a name it noted %q, %v", note, err)
	}
	if note, err := storage.Notes(c.Store).Read(c.Context(), "other"); err != nil || string(note) != "other" {
		c.Errorf("another note is %q, %v", note, err)
	}
}

func rearrangeMany(c storeTest) {
	const n = 1200
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, n)
	r := moveEvents("event-0", "moved")
	for i := range items {
		items[i].EventID = fmt.Sprint("event-", i%2)
		if i%2 == 1 {
			r.Items = append(r.Items, elsewhere(items[i].ID))
		}
	}
	c.put(items...)
	wantRearranged(c, r, items...)
	for story, want := range map[string]int{"moved": n / 2, "story-2": n / 2} {
		if made, err := storage.ItemsOfStory(c.Context(), c, story, 0); err != nil || made.Count != want {
			c.Errorf("story %s has %d items, %v; want %d", story, made.Count, err, want)
		}
	}
}

func followsOfJoinedStories(c storeTest) {
	muted := aFollow("cid", storage.FollowStory, "small")
	muted.Mute = true
	for _, f := range []storage.Follow{
		aFollow("ann", storage.FollowStory, "small"), aFollow("ann", storage.FollowWord, "small"),
		aFollow("bob", storage.FollowStory, "small"), aFollow("bob", storage.FollowStory, "whole"), muted,
	} {
		putFollow(c, f)
	}
	muted.Value = "whole"
	r := storage.Rearrangement{Joins: []storage.StoryJoin{{StoryID: "small", Into: "large"}, {StoryID: "large", Into: "whole"}, {StoryID: "whole", Into: "whole"}}}
	for range 2 {
		wantRearranged(c, r)
		wantFollows(c, "ann", aFollow("ann", storage.FollowStory, "whole"), aFollow("ann", storage.FollowWord, "small"))
		wantFollows(c, "bob", aFollow("bob", storage.FollowStory, "whole"))
		wantFollows(c, "cid", muted)
	}
}
