package storagetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"feedmesh/storage"
)

var yes, no = true, false

// readable stores n listed items, a minute apart, and returns them, oldest first.
func readable(c storeTest, feedID string, n int) []storage.Item {
	c.Helper()
	items := numbered(feedID, 0, n)
	for i := range items {
		items[i].Spam, items[i].DuplicateOf, items[i].Flags = false, "", nil
		items[i].FirstSeen = day.Add(time.Duration(i) * time.Minute)
	}
	c.put(items...)
	return items
}

func mark(c storeTest, client string, m storage.MarkChange, items ...storage.Item) {
	c.Helper()
	if err := c.Mark(c.Context(), client, m, itemIDs(items)...); err != nil {
		c.Fatalf("mark items: %v", err)
	}
}

func readAll(c storeTest, client string, stream storage.Stream, until time.Time) {
	c.Helper()
	if err := c.MarkAllRead(c.Context(), client, stream, until); err != nil {
		c.Fatalf("mark all read: %v", err)
	}
}

// wantListed fails unless exactly these items match the query, in that order, with every page size.
func wantListed(c storeTest, client string, q storage.MarkQuery, want ...storage.Item) {
	c.Helper()
	for _, limit := range []int{2, 100} {
		var got []string
		for after := (storage.MarkedItem{}); ; {
			page, err := c.ListMarked(c.Context(), client, q, after, limit)
			if err != nil {
				c.Fatalf("list marked items: %v", err)
			}
			if len(page) > limit {
				c.Fatalf("a page of %d has %d items", limit, len(page))
			}
			if len(page) == 0 {
				break
			}
			for _, m := range page {
				if m.Time.IsZero() == q.ByTime {
					c.Errorf("got the time %v of an item, by time: %t", m.Time, q.ByTime)
				}
				got = append(got, m.ItemID)
			}
			after = page[len(page)-1]
		}
		if !slices.Equal(got, itemIDs(want)) {
			c.Errorf("%s is shown %d items %.200q by pages of %d, want %d %.200q", client, len(got), got, limit, len(want), itemIDs(want))
		}
	}
}

// wantUnread fails unless exactly these items are unread, in any order.
func wantUnread(c storeTest, client string, want ...storage.Item) {
	c.Helper()
	want = slices.Clone(want)
	slices.SortFunc(want, func(a, b storage.Item) int { return cmp.Or(b.FirstSeen.Compare(a.FirstSeen), cmp.Compare(b.ID, a.ID)) })
	wantListed(c, client, storage.MarkQuery{Read: &no}, want...)
	counts := map[string]storage.UnreadCount{}
	for _, item := range want {
		u := counts[item.FeedID]
		u.Count++
		if item.FirstSeen.After(u.Newest) {
			u.Newest = item.FirstSeen
		}
		counts[item.FeedID] = u
	}
	got, err := c.CountUnread(c.Context(), client, time.Time{})
	if err != nil {
		c.Fatalf("count unread items: %v", err)
	}
	c.wantEqual("unread items by feed", got, counts)
}

func newestFirst(items []storage.Item) []storage.Item {
	items = slices.Clone(items)
	slices.Reverse(items)
	return items
}

func marksPerClient(c storeTest) {
	items := readable(c, c.addFeed("https://a.example/"), 3)
	mark(c, "ann", storage.MarkChange{Read: &yes}, items[0], items[1])
	mark(c, "ann", storage.MarkChange{Starred: &yes}, items[1], items[2])
	mark(c, "bob", storage.MarkChange{Starred: &yes}, items[0])
	mark(c, "ann", storage.MarkChange{Read: &no}, items[0])
	mark(c, "ann", storage.MarkChange{}, items[2])
	mark(c, "ann", storage.MarkChange{Read: &yes}, anItem("nobody", "nothing"))
	for client, want := range map[string][3][2]bool{
		"ann": {{false, false}, {true, true}, {false, true}}, "bob": {{false, true}, {}, {}}, "cem": {},
	} {
		// In the requested order, without missing items.
		got, err := c.MarksOf(c.Context(), client, items[2].ID, "nobody", items[0].ID, items[1].ID)
		if err != nil {
			c.Fatal(err)
		}
		var all []storage.MarkedItem
		for _, i := range []int{2, 0, 1} {
			all = append(all, storage.MarkedItem{ItemID: items[i].ID, FeedID: items[i].FeedID, FirstSeen: items[i].FirstSeen, Time: items[i].Time(),
				Read: want[i][0], Starred: want[i][1]})
		}
		c.wantEqual("what "+client+" marked", got, all)
	}
	none, err := c.MarksOf(c.Context(), "ann")
	if err != nil || len(none) != 0 {
		c.Errorf("of no items %v is marked, %v", none, err)
	}
}

func listedItems(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	if _, err := c.SetFeed(c.Context(), b, storage.Settings{Tags: []string{"x", "y"}}); err != nil {
		c.Fatal(err)
	}
	items, others := readable(c, a, 5), readable(c, b, 3)
	for i := range others {
		others[i].FirstSeen = others[i].FirstSeen.Add(10 * time.Minute)
	}
	if _, err := c.RemoveFeed(c.Context(), b); err != nil { // FirstSeen never changes
		c.Fatal(err)
	}
	feed := aFeed("https://b.example/")
	feed.Tags = []string{"x", "y"}
	if _, err := c.AddFeeds(c.Context(), feed); err != nil {
		c.Fatal(err)
	}
	c.put(others...)
	hidden := numbered(a, 10, 3)
	hidden[0].DuplicateOf, hidden[0].Flags = "", nil
	hidden[1].Spam, hidden[1].Flags = false, nil
	hidden[2].Spam, hidden[2].DuplicateOf, hidden[2].Flags = false, "", []string{"adult", storage.FlagMuted}
	c.put(hidden...)

	all := append(newestFirst(others), newestFirst(items)...)
	wantListed(c, "ann", storage.MarkQuery{}, all...)
	wantListed(c, "ann", storage.MarkQuery{Oldest: true}, append(slices.Clone(items), others...)...)
	wantListed(c, "ann", storage.MarkQuery{Stream: storage.Stream{FeedID: a}}, newestFirst(items)...)
	wantListed(c, "ann", storage.MarkQuery{Stream: storage.Stream{FeedID: a}, Oldest: true}, items...)
	wantListed(c, "ann", storage.MarkQuery{Stream: storage.Stream{Tag: "y"}}, newestFirst(others)...)
	for _, nothing := range []storage.Stream{{FeedID: "nobody"}, {Tag: "nothing"}, {FeedID: a, Tag: "y"}, {Tag: `y" OR 1=1`}} {
		wantListed(c, "ann", storage.MarkQuery{Stream: nothing})
	}
	wantListed(c, "ann", storage.MarkQuery{From: items[3].FirstSeen, Until: others[1].FirstSeen}, others[0], items[4], items[3])
	wantListed(c, "ann", storage.MarkQuery{From: items[3].FirstSeen, Until: others[1].FirstSeen, Oldest: true}, items[3], items[4], others[0])
	mark(c, "ann", storage.MarkChange{Starred: &yes, Read: &yes}, hidden[0], items[1])
	wantListed(c, "ann", storage.MarkQuery{Starred: &yes}, items[1], hidden[0])
	wantListed(c, "ann", storage.MarkQuery{Starred: &yes, Stream: storage.Stream{FeedID: b}})
	wantListed(c, "ann", storage.MarkQuery{Starred: &no, Stream: storage.Stream{FeedID: a}}, items[4], items[3], items[2], items[0])
	wantListed(c, "ann", storage.MarkQuery{Read: &yes}, items[1])
	for _, limit := range []int{0, -1} {
		if page, err := c.ListMarked(c.Context(), "ann", storage.MarkQuery{}, storage.MarkedItem{}, limit); err != nil || len(page) != 0 {
			c.Errorf("a page of %d has %d items, %v", limit, len(page), err)
		}
	}
}

func listedByTime(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	if _, err := c.SetFeed(c.Context(), b, storage.Settings{Tags: []string{"x"}}); err != nil {
		c.Fatal(err)
	}
	items := append(numbered(a, 0, 4), numbered(b, 4, 4)...)
	for i := range items {
		items[i].Spam, items[i].DuplicateOf, items[i].Flags = false, "", nil
		items[i].FirstSeen = day.Add(time.Duration(i%2) * time.Hour)
		items[i].Published = day.Add(-time.Duration(i/2*i) * time.Minute)
	}
	items[7].Published = items[7].FirstSeen.Add(20 * time.Hour) // its time is that of its arrival
	c.put(items[:4]...)
	c.put(items[4:]...)
	newest := slices.SortedFunc(slices.Values(items), func(a, b storage.Item) int { return cmp.Or(b.Time().Compare(a.Time()), cmp.Compare(b.ID, a.ID)) })
	of := func(in func(storage.Item) bool) []storage.Item {
		return slices.DeleteFunc(slices.Clone(newest), func(i storage.Item) bool { return !in(i) })
	}
	wantListed(c, "ann", storage.MarkQuery{ByTime: true}, newest...)
	wantListed(c, "ann", storage.MarkQuery{ByTime: true, Oldest: true}, newestFirst(newest)...)
	inFeed := of(func(i storage.Item) bool { return i.FeedID == b })
	wantListed(c, "ann", storage.MarkQuery{ByTime: true, Stream: storage.Stream{FeedID: b}}, inFeed...)
	wantListed(c, "ann", storage.MarkQuery{ByTime: true, Stream: storage.Stream{Tag: "x"}, Oldest: true}, newestFirst(inFeed)...)
	late := of(func(i storage.Item) bool { return i.FirstSeen.After(day) })
	wantListed(c, "ann", storage.MarkQuery{ByTime: true, From: day.Add(time.Minute)}, late...)
	wantListed(c, "ann", storage.MarkQuery{ByTime: true, Until: day.Add(time.Minute)}, of(func(i storage.Item) bool { return i.FirstSeen.Equal(day) })...)
	readAll(c, "ann", storage.Stream{}, day)
	wantListed(c, "ann", storage.MarkQuery{ByTime: true, Read: &no}, late...)
	mark(c, "ann", storage.MarkChange{Starred: &yes}, items...)
	wantListed(c, "ann", storage.MarkQuery{ByTime: true, Starred: &yes}, newest...)
}

func readUpTo(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	if _, err := c.SetFeed(c.Context(), b, storage.Settings{Tags: []string{"x"}}); err != nil {
		c.Fatal(err)
	}
	items, others := readable(c, a, 4), readable(c, b, 3)
	wantUnread(c, "ann", append(others, items...)...)
	readAll(c, "ann", storage.Stream{FeedID: a}, items[1].FirstSeen)
	wantUnread(c, "ann", append(slices.Clone(items[2:]), others...)...)
	readAll(c, "ann", storage.Stream{Tag: "x"}, others[0].FirstSeen.Add(time.Second))
	wantUnread(c, "ann", append(slices.Clone(items[2:]), others[1:]...)...)
	readAll(c, "ann", storage.Stream{}, items[0].FirstSeen) // marks all items read
	wantUnread(c, "ann", append(slices.Clone(items[2:]), others[1:]...)...)
	wantUnread(c, "bob", append(others, items...)...)

	// An item marked unread stays unread until everything is marked read again.
	mark(c, "ann", storage.MarkChange{Read: &no}, items[0])
	mark(c, "ann", storage.MarkChange{Read: &yes}, items[3])
	wantUnread(c, "ann", append([]storage.Item{items[0], items[2]}, others[1:]...)...)
	readAll(c, "ann", storage.Stream{FeedID: b}, others[2].FirstSeen)
	wantUnread(c, "ann", items[0], items[2])
	readAll(c, "ann", storage.Stream{FeedID: a}, items[0].FirstSeen)
	wantUnread(c, "ann", items[2])
	mark(c, "ann", storage.MarkChange{Read: &no}, items[1], others[0])
	readAll(c, "ann", storage.Stream{Tag: "x"}, day.Add(time.Hour))
	wantUnread(c, "ann", items[2], items[1])
	readAll(c, "ann", storage.Stream{}, day.Add(time.Hour))
	wantUnread(c, "ann")
	readAll(c, "ann", storage.Stream{FeedID: "nobody"}, day.Add(2*time.Hour))

	late := anItem(a, "late")
	late.Spam, late.DuplicateOf, late.Flags, late.FirstSeen = false, "", nil, day.Add(2*time.Hour)
	c.put(late)
	wantUnread(c, "ann", late)
	counts, err := c.CountUnread(c.Context(), "ann", late.FirstSeen.Add(time.Microsecond))
	if err != nil || len(counts) != 0 {
		c.Errorf("since then %v are unread, %v", counts, err)
	}
	if err := c.DeleteMarks(c.Context(), "ann"); err != nil {
		c.Fatal(err)
	}
	wantUnread(c, "ann", append(append(slices.Clone(items), others...), late)...)
}

// A feed that is added may get the place of one that was removed.
func unreadOfRemovedFeeds(c storeTest) {
	kept := readable(c, c.addFeed("https://a.example/"), 1)
	last := c.addFeed("https://b.example/")
	removed := readable(c, last, 2)
	wantUnread(c, "ann", append(slices.Clone(kept), removed...)...)
	if _, err := c.RemoveFeed(c.Context(), last); err != nil {
		c.Fatal(err)
	}
	wantUnread(c, "ann", kept...)
	added := readable(c, c.addFeed("https://c.example/"), 3)
	wantUnread(c, "ann", append(kept, added...)...)
}

func marksMove(c storeTest) {
	from, to := c.addFeed(oldURL), c.addFeed(newURL)
	items, there := readable(c, from, 6), readable(c, to, 2) // with the keys of the first two
	alone := anItem(to, "alone")
	alone.Spam, alone.DuplicateOf, alone.Flags, alone.FirstSeen = false, "", nil, day.Add(time.Hour)
	c.put(alone)
	mark(c, "ann", storage.MarkChange{Read: &yes, Starred: &yes}, items[0])
	mark(c, "ann", storage.MarkChange{Read: &yes}, there[1])
	mark(c, "ann", storage.MarkChange{Read: &no}, items[1])
	readAll(c, "ann", storage.Stream{FeedID: from}, items[3].FirstSeen)
	mark(c, "ann", storage.MarkChange{Read: &no}, items[2])
	mark(c, "ann", storage.MarkChange{Starred: &yes}, items[5])
	readAll(c, "bob", storage.Stream{FeedID: to}, day.Add(30*time.Minute))
	readAll(c, "cem", storage.Stream{}, items[4].FirstSeen)
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	moved := at(to, items...)
	wantUnread(c, "ann", moved[2], moved[4], moved[5], alone)
	wantListed(c, "ann", storage.MarkQuery{Starred: &yes}, moved[5], moved[0])
	// Items of the old feed that were never read are unread in the new feed.
	wantUnread(c, "bob", moved[2], moved[3], moved[4], moved[5], alone)
	wantUnread(c, "cem", moved[5], alone)

	if _, err := c.RemoveFeed(c.Context(), to); err != nil {
		c.Fatal(err)
	}
	wantUnread(c, "ann")
	c.addFeed(newURL)
	repeated := readable(c, to, 3)
	wantUnread(c, "ann", repeated...)
	wantUnread(c, "bob", repeated...)
	wantListed(c, "ann", storage.MarkQuery{Starred: &yes})
}

func readFeedMoves(c storeTest) {
	from := c.addFeed(oldURL)
	items := readable(c, from, 4)
	readAll(c, "ann", storage.Stream{FeedID: from}, items[2].FirstSeen)
	mark(c, "ann", storage.MarkChange{Read: &no, Starred: &yes}, items[1])
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	moved := at(storage.FeedID(newURL), items...)
	wantUnread(c, "ann", moved[1], moved[3])
	wantListed(c, "ann", storage.MarkQuery{Starred: &yes}, moved[1])
	if _, err := c.MoveFeed(c.Context(), storage.FeedID(newURL), oldURL); err != nil {
		c.Fatal(err)
	}
	wantUnread(c, "ann", items[1], items[3])
}

func numberedItems(c storeTest) {
	items := readable(c, c.addFeed("https://a.example/"), 50)
	var numbers []int64
	for _, item := range items {
		numbers = append(numbers, storage.ItemNumber(item.ID))
	}
	got, err := c.NumberedItems(c.Context(), append(numbers, 0, numbers[0], 1<<62)...)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the items with these numbers", got, itemIDs(items))
	if got, err := c.NumberedItems(c.Context()); err != nil || len(got) != 0 {
		c.Errorf("no numbers are those of %v, %v", got, err)
	}
}

// aFollow returns a record of a client.
func aFollow(client, kind, value string) storage.Follow {
	return storage.Follow{Client: client, Kind: kind, Value: value, Mute: kind == storage.FollowWord, Created: day}
}

func putFollow(c storeTest, f storage.Follow) storage.Follow {
	c.Helper()
	stored, err := storage.Follows(c.Store).Put(c.Context(), f)
	if err != nil {
		c.Fatalf("put follow: %v", err)
	}
	return stored
}

func wantFollows(c storeTest, client string, want ...storage.Follow) {
	c.Helper()
	got, err := storage.Follows(c.Store).List(c.Context(), client)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the follows", append([]storage.Follow{}, got...), append([]storage.Follow{}, want...))
}

func followsOfClients(c storeTest) {
	topic, word, other := aFollow("ann", storage.FollowTopic, "Go"), aFollow("ann", storage.FollowWord, "биржа труда"), aFollow("bob", storage.FollowTopic, "Go")
	topic.Created = day.Add(time.Hour)
	for _, f := range []storage.Follow{topic, word, other} {
		putFollow(c, f)
	}
	wantFollows(c, "ann", word, topic)
	again := topic
	again.Mute, again.Created = true, day.Add(time.Minute)
	stored := putFollow(c, again)
	again.Created = topic.Created
	c.wantEqual("the changed follow", stored, again)
	wantFollows(c, "ann", word, again)

	follows := storage.Follows(c.Store)
	if err := follows.Remove(c.Context(), "ann", storage.FollowWord, word.Value); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove it again", follows.Remove(c.Context(), "ann", storage.FollowWord, word.Value), storage.ErrNotFound)
	if err := storage.Visits(c.Store).Put(c.Context(), storage.Visit{Client: "ann", Last: day}); err != nil {
		c.Fatal(err)
	}
	if err := c.DeleteMarks(c.Context(), "ann"); err != nil {
		c.Fatal(err)
	}
	wantFollows(c, "ann")
	wantFollows(c, "bob", other)
	_, err := storage.Visits(c.Store).Read(c.Context(), "ann")
	c.wantError("read the visit", err, storage.ErrNotFound)
}

func manyFollows(c storeTest) {
	for i := range storage.MaxFollows {
		putFollow(c, aFollow("ann", storage.FollowTopic, fmt.Sprint(i)))
	}
	putFollow(c, aFollow("ann", storage.FollowTopic, "7"))
	putFollow(c, aFollow("bob", storage.FollowTopic, "one"))
	_, err := storage.Follows(c.Store).Put(c.Context(), aFollow("ann", storage.FollowStory, "another"))
	c.wantError("put another", err, storage.ErrTooMany)
}

func visitsOfClients(c storeTest) {
	visits := storage.Visits(c.Store)
	_, err := visits.Read(c.Context(), "ann")
	c.wantError("read none", err, storage.ErrNotFound)
	first, second := storage.Visit{Client: "ann", Last: day}, storage.Visit{Client: "ann", Before: day, Last: day.Add(time.Hour)}
	for _, v := range []storage.Visit{first, second, first} {
		if err := visits.Put(c.Context(), v); err != nil {
			c.Fatal(err)
		}
	}
	got, err := visits.Read(c.Context(), "ann")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the visit", got, second)
}

// serials returns the numbers of names.
func serials(c storeTest, names ...string) []int64 {
	c.Helper()
	got, err := c.SerialsOf(c.Context(), names...)
	if err != nil {
		c.Fatalf("read numbers: %v", err)
	}
	numbers := make([]int64, len(names))
	for i, name := range names {
		numbers[i] = got[name]
	}
	if slices.Contains(numbers, 0) {
		c.Errorf("got the numbers %v of %q, want one for each", numbers, names)
	}
	return numbers
}

// wantSerials fails unless the listed items with a number after, or before, another are these.
func wantSerials(c storeTest, after, before int64, limit int, want ...storage.Item) {
	c.Helper()
	got, err := c.ListSerials(c.Context(), after, before, limit)
	if err != nil {
		c.Fatalf("list numbers: %v", err)
	}
	names := []string{}
	for i, n := range got {
		names = append(names, n.Name)
		if i > 0 && (n.Number > got[i-1].Number) != (before == 0) {
			c.Errorf("got the numbers %v, want them in order", got)
		}
	}
	c.wantEqual("the items by number", names, append([]string{}, itemIDs(want)...))
}

func numberItems(c storeTest, since time.Time) {
	c.Helper()
	if err := c.NumberItems(c.Context(), since); err != nil {
		c.Fatalf("number items: %v", err)
	}
}

func serialsOfItems(c storeTest) {
	a := c.addFeed("https://a.example/")
	items := readable(c, a, 6)
	hidden := anItem(a, "hidden")
	hidden.Spam, hidden.DuplicateOf, hidden.Flags, hidden.FirstSeen = true, "", nil, day.Add(time.Hour)
	c.put(hidden)
	numberItems(c, items[2].FirstSeen)
	numberItems(c, items[2].FirstSeen)
	wantSerials(c, 0, 0, 10, items[2:]...)
	late := anItem(a, "late") // its document was received before those of items that have numbers
	late.Spam, late.DuplicateOf, late.Flags, late.FirstSeen = false, "", nil, items[3].FirstSeen.Add(time.Second)
	c.put(late)
	numberItems(c, items[2].FirstSeen)
	all := append(slices.Clone(items[2:]), late)
	wantSerials(c, 0, 0, 10, all...)
	numbers := serials(c, itemIDs(all)...)
	wantSerials(c, numbers[1], 0, 2, all[2:4]...)
	wantSerials(c, numbers[4], 0, 10)
	wantSerials(c, 0, numbers[3], 2, all[2], all[1])
	wantSerials(c, 0, numbers[0], 2)
	wantSerials(c, 0, 1<<53, 1, late)
	wantSerials(c, 0, 0, -1)
	c.wantEqual("the number of a hidden item", serials(c, hidden.ID)[0] > numbers[4], true)
	wantSerials(c, numbers[4], 0, 10) // which is not listed
	n, err := c.CountSerials(c.Context())
	if err != nil || n != 6 {
		c.Errorf("got %d items with numbers, %v; want 6", n, err)
	}
}

func serialsOfNames(c storeTest) {
	names := []string{storage.TagSerial("b"), storage.FeedSerial("a"), storage.TagSerial("a")}
	numbers := serials(c, names...)
	if !slices.IsSorted(numbers) {
		c.Errorf("got %v, want numbers in the given order", numbers)
	}
	c.wantEqual("the same numbers", serials(c, names[2], names[0]), []int64{numbers[2], numbers[0]})
	got, err := c.NamesOf(c.Context(), numbers[1], numbers[0], 1<<52)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the names", got, map[int64]string{numbers[0]: names[0], numbers[1]: names[1]})
	if got, err := c.NamesOf(c.Context()); err != nil || len(got) != 0 {
		c.Errorf("of no number: got %v, %v", got, err)
	}
	if n, err := c.CountSerials(c.Context()); err != nil || n != 0 {
		c.Errorf("got %d items with numbers, %v; want none", n, err)
	}
}

func serialsMove(c storeTest) {
	from, to := c.addFeed(oldURL), c.addFeed(newURL)
	items, there := readable(c, from, 4), readable(c, to, 2) // with the keys of the first two
	own := serials(c, append(itemIDs(items), storage.FeedSerial(from))...)
	kept := serials(c, there[0].ID)
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	moved := itemIDs(at(to, items...))
	c.wantEqual("the numbers after a move", serials(c, moved[0], moved[2], moved[3], storage.FeedSerial(to)), []int64{kept[0], own[2], own[3], own[4]})
	got, err := c.NamesOf(c.Context(), own[0], own[1])
	if err != nil || len(got) != 0 {
		c.Errorf("got %v of merged items, %v; want none", got, err)
	}
	if _, err := c.RemoveFeed(c.Context(), to); err != nil {
		c.Fatal(err)
	}
	got, err = c.NamesOf(c.Context(), own[2], own[3], own[4], kept[0])
	if err != nil || len(got) != 0 {
		c.Errorf("got %v of a removed feed, %v; want none", got, err)
	}
	c.addFeed(newURL)
	again := readable(c, to, 1)
	if n := serials(c, again[0].ID)[0]; n <= own[4] {
		c.Errorf("got the number %d again, want one after %d", n, own[4])
	}
}

// annotate sets the labels and the note of a client's annotation of an item.
func annotate(c storeTest, client string, item storage.Item, note string, labels ...string) {
	c.Helper()
	err := storage.Annotations(c.Store).Change(c.Context(), client, item.ID, func(a *storage.Annotation) error {
		a.Labels, a.Note, a.Changed = labels, note, day
		return nil
	})
	if err != nil {
		c.Fatalf("change annotation: %v", err)
	}
}

// wantAnnotation fails unless a client's annotation of an item has this note and these labels.
func wantAnnotation(c storeTest, client string, item storage.Item, note string, labels ...string) {
	c.Helper()
	got, err := storage.Annotations(c.Store).Read(c.Context(), client, item.ID)
	if err != nil {
		c.Fatalf("read annotation: %v", err)
	}
	c.wantEqual("the annotation", got, storage.Annotation{Client: client, ItemID: item.ID, Labels: labels, Note: note, Changed: day})
}

func annotationsOfClients(c storeTest) {
	items, all := readable(c, c.addFeed("https://a.example/"), 2), storage.Annotations(c.Store)
	annotate(c, "ann", items[0], "заметка", "to read", "это")
	annotate(c, "ann", items[1], "", "to read")
	annotate(c, "bob", items[0], "a note")
	wantAnnotation(c, "ann", items[0], "заметка", "to read", "это")
	wantAnnotation(c, "bob", items[0], "a note")
	got, err := all.List(c.Context(), "ann")
	if err != nil || len(got) != 2 || got[0].Note != "" {
		c.Errorf("got %+v, %v; want two without notes", got, err)
	}
	annotate(c, "ann", items[1], "")
	_, err = all.Read(c.Context(), "ann", items[1].ID)
	c.wantError("read an empty annotation", err, storage.ErrNotFound)
	if err := c.DeleteMarks(c.Context(), "ann"); err != nil {
		c.Fatal(err)
	}
	_, err = all.Read(c.Context(), "ann", items[0].ID)
	c.wantError("read a deleted annotation", err, storage.ErrNotFound)
	wantAnnotation(c, "bob", items[0], "a note")
}

func listedByLabel(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	items := readable(c, a, 4)
	other := readable(c, b, 1)[0]
	hidden := anItem(a, "hidden")
	hidden.Spam, hidden.DuplicateOf, hidden.Flags, hidden.FirstSeen = true, "", nil, day.Add(time.Hour)
	c.put(hidden)
	for _, i := range []storage.Item{items[0], items[2], other, hidden} {
		annotate(c, "ann", i, "", "one", "two")
	}
	annotate(c, "ann", items[1], "one", "on")
	annotate(c, "bob", items[3], "", "one")
	mark(c, "ann", storage.MarkChange{Read: &yes, Starred: &yes}, items[0])
	labelled := storage.MarkQuery{Label: "one", Stream: storage.Stream{FeedID: a}}
	wantListed(c, "ann", labelled, hidden, items[2], items[0])
	wantListed(c, "bob", labelled, items[3])
	wantListed(c, "cid", labelled)
	labelled.Oldest = true
	wantListed(c, "ann", labelled, items[0], items[2], hidden)
	labelled.Read = &no
	wantListed(c, "ann", labelled, items[2], hidden)
	labelled.Read, labelled.Starred = nil, &yes
	wantListed(c, "ann", labelled, items[0])
	wantListed(c, "ann", storage.MarkQuery{Label: "two", Stream: storage.Stream{FeedID: b}, ByTime: true, Read: &no}, other)
	wantListed(c, "ann", storage.MarkQuery{Label: "on"}, items[1])
	wantListed(c, "ann", storage.MarkQuery{Label: `one" OR 1=1`})
}

func annotationsMove(c storeTest) {
	from, to := c.addFeed(oldURL), c.addFeed(newURL)
	items, there := readable(c, from, 4), readable(c, to, 3) // with the keys of the first three
	annotate(c, "ann", items[0], "old", "a", "b")
	annotate(c, "ann", there[0], "new", "b", "c")
	annotate(c, "ann", items[1], "", "a")
	annotate(c, "ann", items[2], "only")
	annotate(c, "ann", there[2], "")
	annotate(c, "ann", items[3], "moved", "d")
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	moved := at(to, items...)
	wantAnnotation(c, "ann", moved[0], "new\nold", "a", "b", "c")
	wantAnnotation(c, "ann", moved[1], "", "a")
	wantAnnotation(c, "ann", moved[2], "only")
	wantAnnotation(c, "ann", moved[3], "moved", "d")
	got, err := storage.Annotations(c.Store).List(c.Context(), "ann")
	if err != nil || len(got) != 4 {
		c.Errorf("got %d annotations, %v; want 4", len(got), err)
	}
	if _, err := c.RemoveFeed(c.Context(), to); err != nil {
		c.Fatal(err)
	}
	got, err = storage.Annotations(c.Store).List(c.Context(), "ann")
	if err != nil || len(got) != 0 {
		c.Errorf("got %d annotations of a removed feed, %v; want none", len(got), err)
	}
}
