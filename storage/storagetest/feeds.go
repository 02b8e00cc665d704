package storagetest

import (
	"time"

	"feedmesh/storage"
)

func storeID(c storeTest) {
	first, err := c.ID(c.Context())
	if err != nil || first == "" {
		c.Fatalf("got ID %q, %v; want an ID", first, err)
	}
	c.addFeed("https://example.org/feed")
	if repeated, err := c.ID(c.Context()); err != nil || repeated != first {
		c.Errorf("the ID is %q, %v a moment later; want %q still", repeated, err, first)
	}
}

func addedFeed(c storeTest) {
	want := aFeed("https://example.org/feed")
	if _, err := c.AddFeeds(c.Context(), want); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the feed", c.feed(want.ID), want)

	bare := storage.Feed{ID: storage.FeedID("https://bare.example/"), URL: "https://bare.example/", Added: day}
	if _, err := c.AddFeeds(c.Context(), bare); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the bare feed", c.feed(bare.ID), bare)
}

func storedFeed(c storeTest) {
	want := aFeed("https://example.org/feed")
	id := c.addFeed(want.URL)
	other := want
	other.Title, other.Tags, other.Added = "Another", nil, day.Add(time.Hour)
	added, err := c.AddFeeds(c.Context(), other)
	if err != nil || len(added) != 0 {
		c.Errorf("adding it again added %v, %v; want none", added, err)
	}
	c.wantEqual("the feed", c.feed(id), want)
}

func addedInOrder(c storeTest) {
	stored := aFeed("https://known.example/")
	c.addFeed(stored.URL)
	z, a := aFeed("https://z.example/"), aFeed("https://a.example/")
	added, err := c.AddFeeds(c.Context(), z, stored, a, z)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("added feeds", added, []string{z.ID, a.ID})

	added, err = c.AddFeeds(c.Context())
	if err != nil || len(added) != 0 {
		c.Errorf("adding nothing added %v, %v", added, err)
	}
}

func addingIgnoresStatistics(c storeTest) {
	want := aFeed("https://example.org/feed")
	input := want
	input.Items, input.LastItem, input.Rate, input.Categories = 7, day, 1.5, map[string]float64{"go": 1}
	if _, err := c.AddFeeds(c.Context(), input); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the feed", c.feed(want.ID), want)
}

func feedsByURL(c storeTest) {
	// Bytewise: upper case before lower case, "-" before "/", é after z.
	want := []string{"http://B/", "http://a-b/", "http://a/", "http://a/?x", "http://b/", "http://zz/", "http://zé/"}
	for _, n := range []int{3, 0, 6, 2, 5, 1, 4} {
		c.addFeed(want[n])
	}
	for _, limit := range []int{1, 3, len(want), 100} {
		var got []string
		for query := (storage.FeedQuery{Limit: limit}); ; {
			page, err := c.FindFeeds(c.Context(), query)
			if err != nil {
				c.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			if len(page) > limit {
				c.Fatalf("a page of %d has %d feeds", limit, len(page))
			}
			for _, f := range page {
				got = append(got, f.URL)
				c.wantEqual("a listed feed", f, aFeed(f.URL))
			}
			query.After = query.Sort.Position(page[len(page)-1])
		}
		c.wantEqual("the list of feeds", got, want)
	}
	id := storage.FeedID(want[2])
	c.put(numbered(id, 0, 1)...)
	c.put(numbered(id, 1, 1)...)
	for _, limit := range []int{1, 3, len(want), 100} {
		var got []string
		for after := ""; ; {
			page, err := c.FeedVersions(c.Context(), nil, after, limit)
			if err != nil {
				c.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			if len(page) > limit {
				c.Fatalf("a page of %d has %d versions", limit, len(page))
			}
			for _, v := range page {
				got = append(got, v.URL)
				c.wantEqual("a listed version", v, c.feed(v.ID).Version())
				if changed := v.ID == id; changed != (v.Writes == 2) {
					c.Errorf("%s has version %d", v.URL, v.Writes)
				}
			}
			after = page[len(page)-1].URL
		}
		c.wantEqual("the list of versions", got, want)
	}
}

func removeFeed(c storeTest) {
	gone, kept := c.addFeed("https://gone.example/"), c.addFeed("https://kept.example/")
	items := numbered(gone, 0, 50)
	c.put(items...)
	other := anItem(kept, "key-000000")
	c.put(other)

	removed, err := c.RemoveFeed(c.Context(), gone)
	if err != nil {
		c.Fatal(err)
	}
	c.wantIDs("the removed items", removed, items)
	_, err = c.Feed(c.Context(), gone)
	c.wantError("read the removed feed", err, storage.ErrNotFound)
	_, err = storage.ItemByID(c.Context(), c, items[7].ID)
	c.wantError("read a removed item", err, storage.ErrNotFound)
	_, err = c.RemoveFeed(c.Context(), gone)
	c.wantError("remove it again", err, storage.ErrNotFound)
	c.wantCounts(1, 1)
	c.wantEqual("the other feed's item", c.item(other.ID), other)
}

func removeOriginal(c storeTest) {
	gone, kept := c.addFeed("https://gone.example/"), c.addFeed("https://kept.example/")
	first := numbered(gone, 0, 2)
	first[0].DuplicateOf, first[1].DuplicateOf = "", first[0].ID // a duplicate within the feed
	c.put(first...)
	repeats := numbered(kept, 0, 3)
	repeats[0].DuplicateOf, repeats[1].DuplicateOf, repeats[2].DuplicateOf = first[0].ID, first[1].ID, "another"
	c.put(repeats...)

	concerned, err := c.RemoveFeed(c.Context(), gone)
	if err != nil {
		c.Fatal(err)
	}
	c.wantIDs("the affected items", concerned, append(first, repeats[:2]...))
	for i, want := range []string{"", "", "another"} {
		got := c.item(repeats[i].ID)
		if got.DuplicateOf != want || (got.DuplicateBy == "") != (want == "") || (got.DuplicateScore == 0) != (want == "") || (got.DuplicateReason == "") != (want == "") {
			c.Errorf("item %d is a duplicate of %q, as %+v, want %q", i, got.DuplicateOf, storage.PlacementOf(got), want)
		}
	}
}

func addRemoved(c storeTest) {
	id := c.addFeed("https://example.org/")
	c.put(numbered(id, 0, 3)...)
	if _, err := c.RemoveFeed(c.Context(), id); err != nil {
		c.Fatal(err)
	}
	c.addFeed("https://example.org/")
	c.wantEqual("the feed", c.feed(id), aFeed("https://example.org/"))
	items := numbered(id, 0, 2)
	c.wantIDs("the new items", c.put(items...).New, items)
	c.wantCounts(1, 2)
	removed, err := c.RemoveFeed(c.Context(), id)
	if err != nil {
		c.Fatal(err)
	}
	c.wantIDs("the removed items", removed, items)
}

func counts(c storeTest) {
	c.wantCounts(0, 0)
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	c.wantCounts(2, 0)
	c.put(numbered(a, 0, 5)...)
	c.put(numbered(b, 0, 3)...)
	c.put(numbered(b, 2, 2)...)
	c.wantCounts(2, 9)
	if _, err := c.RemoveFeed(c.Context(), a); err != nil {
		c.Fatal(err)
	}
	c.wantCounts(1, 4)
}

func notFound(c storeTest) {
	ctx := c.Context()
	_, err := c.Feed(ctx, "nobody")
	c.wantError("Feed", err, storage.ErrNotFound)
	_, err = c.RemoveFeed(ctx, "nobody")
	c.wantError("RemoveFeed", err, storage.ErrNotFound)
	_, err = c.SetFeed(ctx, "nobody", storage.Settings{Pinned: true})
	c.wantError("SetFeed", err, storage.ErrNotFound)
	_, err = c.MoveFeed(ctx, "nobody", newURL)
	c.wantError("MoveFeed", err, storage.ErrNotFound)
	c.wantError("RemoveProxy", storage.Proxies(c.Store).Remove(ctx, "nothing"), storage.ErrNotFound)
	_, err = storage.Imports(c.Store).Read(ctx, "nothing")
	c.wantError("Import", err, storage.ErrNotFound)
	_, err = c.SetText(ctx, "nothing", storage.ItemText{})
	c.wantError("SetText", err, storage.ErrNotFound)
	_, err = c.Correct(ctx, storage.Correction{ItemID: "nothing", At: day})
	c.wantError("Correct", err, storage.ErrNotFound)
	_, err = c.RemoveCorrection(ctx, "nothing")
	c.wantError("Uncorrect", err, storage.ErrNotFound)
	_, err = storage.Jobs(c.Store).Read(ctx, "nothing")
	c.wantError("Job", err, storage.ErrNotFound)
	c.wantError("CancelJob", storage.Jobs(c.Store).Cancel(ctx, "nothing"), storage.ErrNotFound)
	_, err = storage.RuleSets(c.Store).Read(ctx, "nothing", 0)
	c.wantError("Rules", err, storage.ErrNotFound)
	_, err = storage.ItemByID(ctx, c, "nothing")
	c.wantError("Item", err, storage.ErrNotFound)
	_, err = storage.ItemByID(ctx, c, "")
	c.wantError("Item with no ID", err, storage.ErrNotFound)

	hashes, err := c.ItemHashes(ctx, "nobody", []string{"key"})
	if err != nil || len(hashes) != 0 {
		c.Errorf("a missing feed has hashes %v, %v", hashes, err)
	}
	page, err := c.ListItems(ctx, storage.ItemQuery{Partition: "xx", From: day}, storage.Item{}, 10)
	if err != nil || len(page) != 0 {
		c.Errorf("a missing partition has %v, %v", page, err)
	}
}

func setFeed(c storeTest) {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	item := anItem(want.ID, "key")
	item.Spam = false
	c.put(item)
	want = c.feed(want.ID)
	c.wantEqual("how many categories it has", len(want.Categories), 2)
	for _, request := range []*storage.Request{
		nil,
		{UserAgent: "Reader <1>", User: "me", Password: "sécret&\"", Proxy: "direct"},
		{Header: map[string]string{"Accept": "*/*", "X-Key": "a,b; c=\"d\""}},
	} {
		for _, tags := range [][]string{{"work"}, nil} {
			want.Tags, want.Pinned, want.FullText, want.Request = tags, !want.Pinned, want.Pinned, request
			want.SpamThreshold = map[bool]float64{true: 1.0 / 3}[want.Pinned]
			want.Keep = map[bool]string{true: "all"}[want.Pinned]
			got, err := c.SetFeed(c.Context(), want.ID, storage.Settings{Tags: tags, Pinned: want.Pinned, FullText: want.FullText,
				Request: request, SpamThreshold: want.SpamThreshold, Keep: want.Keep})
			if err != nil {
				c.Fatal(err)
			}
			c.wantEqual("the feed that is returned", got, want)
			c.wantEqual("the feed", c.feed(want.ID), want)
		}
	}
	page, err := c.FindFeeds(c.Context(), storage.FeedQuery{Limit: 10})
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the list of feeds", page, []storage.Feed{want})
}

func documentsKeepSettings(c storeTest) {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	c.putBatch(storage.Batch{FeedID: want.ID, Title: "Another", Rate: 2})
	want.Title, want.Rate = "Another", 2
	c.wantEqual("the feed", c.feed(want.ID), want)
}
