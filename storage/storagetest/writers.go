package storagetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

// fence issues the next fence of the given name.
func fence(c storeTest, name string) storage.Fence {
	c.Helper()
	f, err := c.NextFence(c.Context(), name)
	if err != nil {
		c.Fatalf("take a fence: %v", err)
	}
	return f
}

func fencesCount(c storeTest) {
	for n := int64(1); n <= 3; n++ {
		c.wantEqual("the fence", fence(c, "cluster.en"), storage.Fence{Name: "cluster.en", Number: n})
	}
	c.wantEqual("the fence of another name", fence(c, "cluster.ru"), storage.Fence{Name: "cluster.ru", Number: 1})
}

func oldFence(c storeTest) {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	old := fence(c, "cluster.en")
	fence(c, "cluster.en")
	_, err := c.PutItems(c.Context(), storage.Batch{FeedID: want.ID, Items: numbered(want.ID, 0, 3), Title: "Another", Rate: 3, Fence: old})
	c.wantError("put under an old fence", err, storage.ErrFenced)
	c.wantEqual("the feed", c.feed(want.ID), want)
	c.wantCounts(1, 0)
}

func newestFence(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	fence(c, "cluster.en")
	en, ru := fence(c, "cluster.en"), fence(c, "cluster.ru")
	for n, fence := range []storage.Fence{en, ru, en, {}} {
		item := numbered(feedID, n, 1)
		stored := c.putBatch(storage.Batch{FeedID: feedID, Items: item, Fence: fence})
		c.wantIDs("the new items", stored.New, item)
	}
}

func concurrentBatches(c storeTest) {
	const writers, batches, size = 4, 5, 10
	feedID := c.addFeed("https://example.org/")
	var all []storage.Item
	var writing sync.WaitGroup
	for w := range writers {
		items := numbered(feedID, w*1000, batches*size)
		all = append(all, items...)
		writing.Go(func() {
			for batch := range slices.Chunk(items, size) {
				stored, err := c.PutItems(c.Context(), storage.Batch{FeedID: feedID, Items: batch})
				if err != nil || len(stored.New) != size {
					c.Errorf("a batch of %d stored %d new items, %v", size, len(stored.New), err)
				}
			}
		})
	}
	writing.Wait()
	c.wantIDs("the stored items", stampIDs(stampsOfDay(c, day, 100)), all)
	c.wantEqual("the number of items", c.feed(feedID).Items, int64(len(all)))
}

func concurrentItem(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	items := numbered(feedID, 0, 5)
	var mu sync.Mutex
	var created []string
	var writing sync.WaitGroup
	for range 6 {
		writing.Go(func() {
			stored, err := c.PutItems(c.Context(), storage.Batch{FeedID: feedID, Items: items})
			if err != nil || len(stored.Changed) != 0 {
				c.Errorf("a batch changed %d items, %v", len(stored.Changed), err)
			}
			mu.Lock()
			defer mu.Unlock()
			created = append(created, stored.New...)
		})
	}
	writing.Wait()
	c.wantIDs("the new items of all batches", created, items)
	c.wantEqual("the number of items", c.feed(feedID).Items, int64(len(items)))
}

func concurrentFences(c storeTest) {
	var mu sync.Mutex
	var numbers []int64
	var taking sync.WaitGroup
	for range 10 {
		taking.Go(func() {
			f, err := c.NextFence(c.Context(), "schedule")
			if err != nil {
				c.Errorf("take a fence: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			numbers = append(numbers, f.Number)
		})
	}
	taking.Wait()
	slices.Sort(numbers)
	c.wantEqual("the list of fences", numbers, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
}

func readWhileWriting(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	first := anItem(feedID, "first")
	c.put(first)
	var busy sync.WaitGroup
	busy.Go(func() {
		for n := range 10 {
			if _, err := c.PutItems(c.Context(), storage.Batch{FeedID: feedID, Items: numbered(feedID, n*10, 10)}); err != nil {
				c.Errorf("put: %v", err)
			}
		}
	})
	for range 4 {
		busy.Go(func() {
			for range 20 {
				feed, err := c.Feed(c.Context(), feedID)
				if err != nil || feed.Items%10 != 1 {
					c.Errorf("the feed has %d items, %v; want whole batches", feed.Items, err)
				}
				if _, err := storage.ItemByID(c.Context(), c, first.ID); err != nil {
					c.Errorf("read: %v", err)
				}
			}
		})
	}
	busy.Wait()
}

func cancelled(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	c.put(anItem(feedID, "old"))
	oldID := storage.ItemID(feedID, "old")
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Feed":       func() error { _, err := c.Feed(ctx, feedID); return err },
		"AddFeeds":   func() error { _, err := c.AddFeeds(ctx, aFeed("https://late.example/")); return err },
		"RemoveFeed": func() error { _, err := c.RemoveFeed(ctx, feedID); return err },
		"ItemHashes": func() error { _, err := c.ItemHashes(ctx, feedID, []string{"old"}); return err },
		"PutItems": func() error {
			_, err := c.PutItems(ctx, storage.Batch{FeedID: feedID, Items: numbered(feedID, 0, 3)})
			return err
		},
		"Item":  func() error { _, err := storage.ItemByID(ctx, c, oldID); return err },
		"Items": func() error { _, err := c.Items(ctx, oldID); return err },
		"ListItems": func() error {
			_, err := c.ListItems(ctx, storage.ItemQuery{Partition: "en", From: day}, storage.Item{}, 10)
			return err
		},
		"Days":       func() error { _, err := c.Days(ctx); return err },
		"Stamps":     func() error { _, err := c.Stamps(ctx, storage.Day(day), "", 10); return err },
		"ItemStamps": func() error { _, err := c.ItemStamps(ctx, oldID); return err },
		"NextFence":  func() error { _, err := c.NextFence(ctx, "schedule"); return err },

		"ExpiredItems": func() error {
			_, err := c.ExpiredItems(ctx, storage.ExpiredQuery{Before: day}, storage.ExpiredItem{}, 10)
			return err
		},
		"PurgeItems":   func() error { _, err := c.PurgeItems(ctx, storage.Fence{}, oldID); return err },
		"ReleaseSpace": func() error { _, err := c.ReleaseSpace(ctx, 1<<20); return err },

		"SetFeed":      func() error { _, err := c.SetFeed(ctx, feedID, storage.Settings{}); return err },
		"MoveFeed":     func() error { _, err := c.MoveFeed(ctx, feedID, newURL); return err },
		"ResolveFeed":  func() error { _, err := c.ResolveFeed(ctx, feedID); return err },
		"FindFeeds":    func() error { _, err := c.FindFeeds(ctx, storage.FeedQuery{Limit: 10}); return err },
		"FeedVersions": func() error { _, err := c.FeedVersions(ctx, nil, "", 10); return err },
		"CountFeeds":   func() error { _, err := c.CountFeeds(ctx, storage.FeedQuery{}); return err },
		"FeedTags":     func() error { _, err := c.FeedTags(ctx, 10); return err },
		"Proxies":      func() error { _, err := storage.Proxies(c.Store).List(ctx); return err },
		"PutProxy":     func() error { return storage.Proxies(c.Store).Put(ctx, aProxy("late")) },
		"RemoveProxy":  func() error { return storage.Proxies(c.Store).Remove(ctx, "late") },
		"Tokens":       func() error { _, err := storage.Tokens(c.Store).List(ctx); return err },
		"AddToken":     func() error { return storage.Tokens(c.Store).Add(ctx, aToken("late", day)) },
		"UseToken":     func() error { return storage.Tokens(c.Store).Use(ctx, "late", day) },
		"RemoveToken":  func() error { return storage.Tokens(c.Store).Remove(ctx, "late") },
		"People":       func() error { _, err := storage.People(c.Store).List(ctx); return err },
		"ChangePerson": func() error { return changePerson(ctx, c, aPerson("late", storage.RoleOwner)) },
		"Sessions":     func() error { _, err := storage.Sessions(c.Store).List(ctx, "late"); return err },
		"AddSession":   func() error { return storage.Sessions(c.Store).Add(ctx, aSession("late", "a", day)) },
		"PersonTokens": func() error { _, err := storage.PersonTokens(c.Store).All(ctx); return err },
		"Follows":      func() error { _, err := storage.Follows(c.Store).List(ctx, "late"); return err },
		"PutFollow": func() error {
			_, err := storage.Follows(c.Store).Put(ctx, aFollow("late", storage.FollowTopic, "go"))
			return err
		},
		"RemoveFollow": func() error { return storage.Follows(c.Store).Remove(ctx, "late", storage.FollowTopic, "go") },
		"Visit":        func() error { _, err := storage.Visits(c.Store).Read(ctx, "late"); return err },
		"PutVisit":     func() error { return storage.Visits(c.Store).Put(ctx, storage.Visit{Client: "late", Last: day}) },
		"Interests":    func() error { _, err := storage.Interests(c.Store).Read(ctx, "late"); return err },
		"PutInterest":  func() error { return putInterest(ctx, c, storage.Interest{Client: "late", On: true}) },
		"Passkeys":     func() error { _, err := storage.Passkeys(c.Store).List(ctx, "late"); return err },
		"AddPasskey":   func() error { return storage.Passkeys(c.Store).Add(ctx, aPasskey("late", "a", day)) },
		"PutImport":    func() error { return storage.Imports(c.Store).Put(ctx, anImport("late", day)) },
		"CancelImport": func() error { return storage.Imports(c.Store).Cancel(ctx, "late") },
		"Import":       func() error { _, err := storage.Imports(c.Store).Read(ctx, "late"); return err },
		"ListImports":  func() error { _, err := storage.Imports(c.Store).List(ctx, 10); return err },

		"ListSpam":    func() error { _, _, err := c.ListSpam(ctx, storage.SpamQuery{}, storage.SpamItem{}, 10); return err },
		"Relabel":     func() error { _, err := c.Relabel(ctx, "late", storage.Labels{ItemID: oldID}); return err },
		"UndoRelabel": func() error { _, err := c.UndoRelabel(ctx, "late", 10); return err },
		"SetText":     func() error { _, err := c.SetText(ctx, oldID, storage.ItemText{}); return err },
		"Correct":     func() error { _, err := c.Correct(ctx, storage.Correction{ItemID: oldID, At: day}); return err },
		"Corrections": func() error { _, err := c.Corrections(ctx, storage.Correction{}, 10); return err },
		"Uncorrect":   func() error { _, err := c.RemoveCorrection(ctx, oldID); return err },
		"Mark":        func() error { return c.Mark(ctx, "late", storage.MarkChange{Read: &yes}, oldID) },
		"MarkAllRead": func() error { return c.MarkAllRead(ctx, "late", storage.Stream{}, day) },
		"ListMarked": func() error {
			_, err := c.ListMarked(ctx, "late", storage.MarkQuery{}, storage.MarkedItem{}, 10)
			return err
		},
		"MarksOf":       func() error { _, err := c.MarksOf(ctx, "late", oldID); return err },
		"CountUnread":   func() error { _, err := c.CountUnread(ctx, "late", day); return err },
		"NumberedItems": func() error { _, err := c.NumberedItems(ctx, 1); return err },
		"ForgetMarks":   func() error { return c.DeleteMarks(ctx, "late") },
		"SavedSearches": func() error { _, err := storage.SavedSearches(c.Store).List(ctx); return err },
		"PutSearch":     func() error { return storage.SavedSearches(c.Store).Put(ctx, aSearch("late")) },
		"RemoveSearch":  func() error { return storage.SavedSearches(c.Store).Remove(ctx, "late") },
		"PutJob":        func() error { return storage.Jobs(c.Store).Put(ctx, aJob("late", day)) },
		"CancelJob":     func() error { return storage.Jobs(c.Store).Cancel(ctx, "late") },
		"Job":           func() error { _, err := storage.Jobs(c.Store).Read(ctx, "late"); return err },
		"ListJobs":      func() error { _, err := storage.Jobs(c.Store).List(ctx, 10); return err },

		"Rearrange":     func() error { _, err := c.Rearrange(ctx, moveEvents("event-1", "late")); return err },
		"ItemsOfStory":  func() error { _, err := storage.ItemsOfStory(ctx, c, "story-1", 10); return err },
		"ReadStories":   func() error { _, err := c.ReadStories(ctx, 10, "story-1"); return err },
		"Repeats":       func() error { _, err := c.Duplicates(ctx, "item-0", 10); return err },
		"Click":         func() error { return c.AddClicks(ctx, oldID, 1) },
		"UntoldStories": func() error { _, err := c.DirtyStories(ctx, 10); return err },
		"ToldStories":   func() error { _, err := c.StoriesByID(ctx, "story"); return err },
		"TellStories":   func() error { return c.PutStories(ctx, storage.Fence{}, nil, []storage.Story{aStory("late")}, nil) },
		"Story":         func() error { _, err := storage.StoryByID(ctx, c, "late"); return err },
		"ListStories":   func() error { _, _, err := c.ListStories(ctx, storage.StoryQuery{}); return err },
		"LiveEvents":    func() error { _, err := c.RecentEvents(ctx, "en", day, 10); return err },
		"ListItems of events": func() error {
			_, err := c.ListItems(ctx, storage.ItemQuery{Partition: "en", Events: []string{"event"}}, storage.Item{}, 10)
			return err
		},
		"Sightings": func() error { _, err := c.Sightings(ctx, day, day.Add(time.Hour), storage.Sighting{}, 10); return err },
		"Reach":     func() error { _, err := c.FeedCoverage(ctx, day, 2); return err },
		"Note":      func() error { _, err := storage.Notes(c.Store).Read(ctx, "late"); return err },
		"PutNote":   func() error { return storage.Notes(c.Store).Put(ctx, storage.Fence{}, "late", []byte("late")) },

		"PutRules":     func() error { _, err := storage.RuleSets(c.Store).Put(ctx, someRules("late", 0)); return err },
		"Rules":        func() error { _, err := storage.RuleSets(c.Store).Read(ctx, "late", 0); return err },
		"RuleVersions": func() error { _, err := storage.RuleSets(c.Store).Versions(ctx, "late", 0, 10); return err },
	} {
		start := time.Now()
		c.wantError(name, call(), context.Canceled)
		if elapsed := time.Since(start); elapsed > time.Second {
			c.Errorf("%s: took %v to return", name, elapsed)
		}
	}
	c.wantCounts(1, 1)
	c.wantEqual("the item", c.item(oldID), anItem(feedID, "old"))
	c.wantEqual("the next fence", fence(c, "schedule").Number, int64(1))
	c.put(numbered(feedID, 0, 3)...)
}
