package storagetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedmesh/storage"
)

func viewsByName(c storeTest) {
	views := storage.Views(c.Store)
	wantAny := func(want bool) {
		c.Helper()
		if got, err := views.Any(c.Context()); err != nil || got != want {
			c.Errorf("got any view %v, %v; want %v", got, err, want)
		}
	}
	wantAny(false)
	put := func(v storage.View) {
		c.Helper()
		if err := views.Change(c.Context(), v.Name, func(*storage.View) (*storage.View, error) { return &v, nil }); err != nil {
			c.Fatal(err)
		}
	}
	a := storage.View{Name: "a", Number: 1 << 62, Owner: "ann", Definition: "view a = from tag:Хабр where \"x < y\"", Changed: day}
	b := storage.View{Name: "b", Number: 2, Definition: "view b = from all", Changed: day, Filled: day}
	put(b)
	put(storage.View{Name: "a", Number: 1, Changed: day})
	put(a)
	got, err := views.List(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the views", got, []storage.View{a, b})
	wantAny(true)
	if err := views.Remove(c.Context(), "b"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove a view that is not there", views.Remove(c.Context(), "b"), storage.ErrNotFound)
	_, err = views.Get(c.Context(), "b")
	c.wantError("get a view that is not there", err, storage.ErrNotFound)
	failed := errors.New("no")
	c.wantError("change a view", views.Change(c.Context(), "a", func(stored *storage.View) (*storage.View, error) {
		c.wantEqual("the stored view", *stored, a)
		return nil, failed
	}), failed)
}

func filledViews(c storeTest) {
	views := storage.Views(c.Store)
	v := storage.View{Name: "a", Number: 7, Definition: "view a = from all", Changed: day}
	if err := views.Change(c.Context(), "a", func(*storage.View) (*storage.View, error) { return &v, nil }); err != nil {
		c.Fatal(err)
	}
	old, fence := membersFences(c)
	set := func(fence storage.Fence, number int64, name string, changed time.Time) error {
		return views.SetFilled(c.Context(), fence, storage.View{Name: name, Number: number, Changed: changed, Filled: changed})
	}
	c.wantError("an outdated fence", set(old, 7, "a", day), storage.ErrFenced)
	for _, err := range []error{set(fence, 8, "a", day), set(fence, 7, "a", day.Add(time.Second)), set(fence, 7, "b", day)} {
		if err != nil {
			c.Fatal(err)
		}
	}
	wantFilled := func(want bool) {
		c.Helper()
		if got, err := views.Get(c.Context(), "a"); err != nil || got.IsFilled() != want {
			c.Errorf("got %+v, %v; want it filled %v", got, err, want)
		}
	}
	wantFilled(false)
	if err := set(fence, 7, "a", day); err != nil {
		c.Fatal(err)
	}
	wantFilled(true)
	if err := views.SetFilled(c.Context(), fence, storage.View{Name: "a", Number: 7, Changed: day}); err != nil {
		c.Fatal(err)
	}
	wantFilled(false)
	if all, err := views.List(c.Context()); err != nil || len(all) != 1 {
		c.Errorf("got %v, %v", all, err)
	}
}

// membersFences returns an outdated fence and the current one.
func membersFences(c storeTest) (old, current storage.Fence) {
	c.Helper()
	fences := make([]storage.Fence, 2)
	for i := range fences {
		var err error
		if fences[i], err = c.NextFence(c.Context(), "views"); err != nil {
			c.Fatal(err)
		}
	}
	return fences[0], fences[1]
}

// aMember returns a member that enters.
func aMember(view int64, itemID string, minute int) storage.Member {
	return storage.Member{View: view, ItemID: itemID, Entered: day, Published: day.Add(time.Duration(minute) * time.Minute)}
}

func changeMembers(c storeTest, gone []string, members ...storage.Member) {
	c.Helper()
	if err := c.ChangeMembers(c.Context(), storage.Fence{}, members, gone); err != nil {
		c.Fatal(err)
	}
}

// membersOf returns the members that are one of the items, by view and item.
func membersOf(c storeTest, ids ...string) []storage.Member {
	c.Helper()
	members, err := c.MembersOfItems(c.Context(), ids...)
	if err != nil {
		c.Fatal(err)
	}
	slices.SortFunc(members, func(a, b storage.Member) int {
		return cmp.Or(cmp.Compare(a.View, b.View), cmp.Compare(a.ItemID, b.ItemID))
	})
	return members
}

func storedMembers(c storeTest) {
	past := aMember(2, "x", 1)
	past.Past, past.StoryID, past.OriginalID = true, "story", "original"
	changeMembers(c, nil, aMember(1, "x", 1), aMember(1, "a", 2), past)
	got := membersOf(c, "x", "z")
	if len(got) != 2 || got[0].Serial == 0 || got[0].Serial >= got[1].Serial {
		c.Fatalf("got %+v", got)
	}
	first := got[0].Serial
	got[0].Serial, got[1].Serial = 0, 0
	c.wantEqual("the members", got, []storage.Member{aMember(1, "x", 1), past})

	absent := aMember(1, "x", 1)
	absent.Serial, absent.Absent = first, true
	changeMembers(c, nil, absent)
	c.wantEqual("the absent member", membersOf(c, "x")[0], absent)

	last := membersOf(c, "x", "a")
	highest := slices.MaxFunc(last, func(a, b storage.Member) int { return cmp.Compare(a.Serial, b.Serial) }).Serial
	changeMembers(c, []string{"x", "a"})
	if left := membersOf(c, "x", "a"); len(left) != 0 {
		c.Errorf("members of deleted items are left: %+v", left)
	}
	changeMembers(c, nil, aMember(1, "x", 1))
	if again := membersOf(c, "x"); again[0].Serial <= highest {
		c.Errorf("serial %d after %d was given out", again[0].Serial, highest)
	}
}

func membersUnderOldFence(c storeTest) {
	old, fence := membersFences(c)
	c.wantError("an outdated fence", c.ChangeMembers(c.Context(), old, []storage.Member{aMember(1, "x", 1)}, nil), storage.ErrFenced)
	if err := c.ChangeMembers(c.Context(), fence, []storage.Member{aMember(1, "y", 1)}, nil); err != nil {
		c.Fatal(err)
	}
	_, err := c.RemoveMembers(c.Context(), old, 1, time.Time{}, 10)
	c.wantError("an outdated fence", err, storage.ErrFenced)
	if got := membersOf(c, "x", "y"); len(got) != 1 || got[0].ItemID != "y" {
		c.Errorf("got %+v", got)
	}
}

func listedMembers(c storeTest) {
	var want []string
	var members []storage.Member
	for i := range 25 {
		id := fmt.Sprintf("item-%02d", i)
		members = append(members, aMember(1, id, -i/3)) // some at the same time
		want = append(want, id)
	}
	hidden := aMember(1, "absent", 0)
	hidden.Absent = true
	changeMembers(c, nil, append(members, hidden, aMember(2, "other", 0))...)
	all := func(q storage.MemberQuery) (ids []string) {
		c.Helper()
		for after := (storage.Member{}); ; {
			page, err := c.ListMembers(c.Context(), q, after, 4)
			if err != nil {
				c.Fatal(err)
			}
			if len(page) == 0 {
				return ids
			}
			for _, m := range page {
				ids = append(ids, m.ItemID)
			}
			after = page[len(page)-1]
		}
	}
	c.wantEqual("the newest", all(storage.MemberQuery{View: 1}), want)
	c.wantEqual("those of the window", all(storage.MemberQuery{View: 1, Since: day.Add(-2 * time.Minute)}), want[:9])
	oldest := slices.Clone(want)
	slices.Reverse(oldest)
	c.wantEqual("the oldest", all(storage.MemberQuery{View: 1, Oldest: true}), oldest)
	c.wantEqual("the oldest of the window", all(storage.MemberQuery{View: 1, Oldest: true, Since: day.Add(-2 * time.Minute)}), oldest[16:])

	counts, err := c.CountMembers(c.Context(), time.Time{}, 1, 2, 3)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the numbers of members", counts, map[int64]int64{1: 25, 2: 1})
	if counts, err = c.CountMembers(c.Context(), day.Add(-2*time.Minute), 1); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the numbers in the window", counts, map[int64]int64{1: 9})
}

func removedMembers(c storeTest) {
	absent := aMember(1, "d", 0)
	absent.Absent = true
	changeMembers(c, nil, aMember(1, "a", -9), aMember(1, "b", -8), aMember(1, "c", 0), absent, aMember(3, "a", -9))
	remove := func(before time.Time, limit, want int) {
		c.Helper()
		if n, err := c.RemoveMembers(c.Context(), storage.Fence{}, 1, before, limit); err != nil || n != want {
			c.Errorf("got %d members removed, %v; want %d", n, err, want)
		}
	}
	wantViews := func(want ...int64) {
		c.Helper()
		got, err := c.ViewsWithMembers(c.Context())
		if err != nil {
			c.Fatal(err)
		}
		c.wantEqual("the views with members", got, want)
	}
	wantViews(1, 3)
	remove(day.Add(-time.Minute), 1, 1)
	remove(day.Add(-time.Minute), 10, 1)
	remove(day.Add(-time.Minute), 10, 0)
	remove(time.Time{}, 10, 2)
	wantViews(3)
}

func relatedMembers(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 6)
	for i := range items {
		items[i].StoryID, items[i].DuplicateOf = []string{"one", "two", ""}[i/2], ""
	}
	items[1].DuplicateOf, items[3].DuplicateOf = items[0].ID, items[0].ID // item 1 is no original of item 4
	items[4].DuplicateOf = items[1].ID
	c.put(items...)
	var members []storage.Member
	for i, item := range items {
		members = append(members, aMember(1, item.ID, i))
	}
	absent := aMember(2, items[0].ID, 0)
	absent.Absent = true
	changeMembers(c, nil, append(members, absent, aMember(2, items[1].ID, 1), aMember(3, items[1].ID, 1))...)
	want := func(what string, got []storage.RelatedMember, err error, want ...storage.RelatedMember) {
		c.Helper()
		if err != nil {
			c.Fatal(err)
		}
		for i := range got {
			if got[i].Serial == 0 {
				c.Errorf("%s: no serial in %+v", what, got[i])
			}
			got[i].Serial = 0
		}
		byID := func(a, b storage.RelatedMember) int {
			return cmp.Or(cmp.Compare(a.View, b.View), cmp.Compare(a.ItemID, b.ItemID))
		}
		slices.SortFunc(got, byID)
		slices.SortFunc(want, byID)
		c.wantEqual(what, got, want)
	}
	of := func(of string, view int64, n int) storage.RelatedMember {
		return storage.RelatedMember{Of: of, View: view, ItemID: items[n].ID, Published: day.Add(time.Duration(n) * time.Minute)}
	}
	got, err := c.MembersOfStories(c.Context(), []int64{1, 2}, "one", "", "missing")
	want("members of stories", got, err, of("one", 1, 0), of("one", 1, 1), of("one", 2, 1))
	original := items[0].ID
	got, err = c.MembersOfOriginals(c.Context(), []int64{1, 2}, original, "")
	want("members of originals", got, err, of(original, 1, 0), of(original, 1, 1), of(original, 1, 3), of(original, 2, 1))
	got, err = c.MembersOfOriginals(c.Context(), []int64{1}, items[1].ID)
	want("members of an original that is a duplicate itself", got, err, of(items[1].ID, 1, 4))
}

func markedMembers(c storeTest) {
	items := readable(c, c.addFeed("https://a.example/"), 5)
	var members []storage.Member
	for _, i := range []int{0, 1, 3, 4} {
		members = append(members, storage.Member{View: 7, ItemID: items[i].ID, Entered: day, Published: items[i].Time()})
	}
	members[3].Absent = true
	changeMembers(c, nil, append(members, storage.Member{View: 8, ItemID: items[2].ID, Entered: day, Published: items[2].Time()})...)
	mark(c, "ann", storage.MarkChange{Read: &yes}, items[1])
	mark(c, "ann", storage.MarkChange{Starred: &yes}, items[0], items[2])
	annotate(c, "ann", items[3], "", "later")

	byTime := func(items ...storage.Item) []storage.Item {
		slices.SortFunc(items, func(a, b storage.Item) int { return cmp.Or(b.Time().Compare(a.Time()), cmp.Compare(b.ID, a.ID)) })
		return items
	}
	all := byTime(items[0], items[1], items[3])
	wantListed(c, "ann", storage.MarkQuery{View: 7, ByTime: true}, all...)
	wantListed(c, "ann", storage.MarkQuery{View: 7, ByTime: true, Oldest: true}, newestFirst(all)...)
	wantListed(c, "ann", storage.MarkQuery{View: 7, ByTime: true, Since: all[1].Time()}, byTime(slices.DeleteFunc(slices.Clone(all), func(i storage.Item) bool { return i.Time().Before(all[1].Time()) })...)...)
	wantListed(c, "ann", storage.MarkQuery{View: 7, ByTime: true, Read: &no}, byTime(items[0], items[3])...)
	wantListed(c, "ann", storage.MarkQuery{View: 7, Read: &yes}, items[1])
	wantListed(c, "ann", storage.MarkQuery{View: 7, ByTime: true, Starred: &yes}, items[0])
	wantListed(c, "ann", storage.MarkQuery{View: 7, ByTime: true, Label: "later"}, items[3])
	wantListed(c, "ann", storage.MarkQuery{View: 9, ByTime: true})

	count := func(limit int, since time.Time, views ...storage.MemberQuery) map[int64]int64 {
		c.Helper()
		got, err := c.CountUnreadOfViews(c.Context(), "ann", since, views, limit)
		if err != nil {
			c.Fatal(err)
		}
		return got
	}
	both := []storage.MemberQuery{{View: 7}, {View: 8}, {View: 9}}
	c.wantEqual("unread items of views", count(100, time.Time{}, both...), map[int64]int64{7: 2, 8: 1})
	c.wantEqual("those published since", count(100, time.Time{}, storage.MemberQuery{View: 8, Since: items[2].Time().Add(time.Microsecond)}), map[int64]int64{})
	c.wantEqual("those first seen since", count(100, items[3].FirstSeen, both...), map[int64]int64{7: 1})
	c.wantEqual("those among the two newest", count(2, time.Time{}, both...), map[int64]int64{7: 1})
	c.wantEqual("those of no view", count(100, time.Time{}), map[int64]int64{})
	if err := c.MarkAllRead(c.Context(), "ann", storage.Stream{}, items[4].FirstSeen); err != nil {
		c.Fatal(err)
	}
	mark(c, "ann", storage.MarkChange{Read: &no}, items[0])
	c.wantEqual("one marked as unread", count(100, time.Time{}, both...), map[int64]int64{7: 1})
	wantListed(c, "ann", storage.MarkQuery{View: 7, ByTime: true, Read: &no}, items[0])

	hidden := numbered(items[0].FeedID, 5, 1)[0]
	hidden.Spam, hidden.FirstSeen = true, day
	c.put(hidden)
	changeMembers(c, nil, storage.Member{View: 7, ItemID: hidden.ID, Entered: day, Published: hidden.Time()})
	wantListed(c, "bob", storage.MarkQuery{View: 7, ByTime: true}, byTime(append(slices.Clone(all), hidden)...)...)
	wantListed(c, "bob", storage.MarkQuery{View: 7, ByTime: true, Read: &no}, all...)
}
