// Package storagetest contains the contract of [storage.Store] as tests. Every engine runs [TestStore].
package storagetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
)

// TestStore checks that the stores returned by open, each new and empty, fulfill the contract of
// [storage.Store]. TestStore closes them.
func TestStore(t *testing.T, open func(t *testing.T) storage.Store) {
	promises := []struct {
		name string
		test func(storeTest)
	}{
		{"ID is permanent", storeID},
		{"AddFeeds stores every field of a feed", addedFeed},
		{"AddFeeds does not change a stored feed", storedFeed},
		{"AddFeeds returns the new IDs in the given order, each once", addedInOrder},
		{"AddFeeds ignores statistics", addingIgnoresStatistics},
		{"FindFeeds pages by URL", feedsByURL},
		{"RemoveFeed deletes the feed's items and returns their IDs", removeFeed},
		{"RemoveFeed turns duplicates of removed items into originals", removeOriginal},
		{"a removed feed can be added again and is empty", addRemoved},
		{"CountFeeds returns the numbers of feeds and items", counts},
		{"missing records return ErrNotFound", notFound},

		{"SetFeed replaces all settings of a feed", setFeed},
		{"PutItems does not change settings", documentsKeepSettings},

		{"MoveFeed gives items the IDs of the target feed", movedItems},
		{"MoveFeed moves settings and statistics", movedFeed},
		{"a moved feed is deleted but still resolves", resolvedAfterMove},
		{"MoveFeed merges the feed with an existing target", mergedFeed},
		{"duplicates of a moved item remain its duplicates", movedOriginal},
		{"duplicates of a deleted item become duplicates of the kept original", deletedOriginal},
		{"moved items change their stamp but not their day", movedStamps},
		{"redirects are followed to the last feed and removed with it", movesFollowed},
		{"a feed can move back", movedBack},
		{"moving a feed to its own URL changes nothing", movedToItself},

		{"FindFeeds matches text case-insensitively", feedsByText},
		{"FindFeeds filters by tag, host, pin and ID", feedsByFilter},
		{"FindFeeds filters by slot of the host", feedsBySlot},
		{"FindFeeds pages in every order", feedsInOrder},
		{"FindFeeds uses the current title and URL", feedsRenamed},
		{"FeedTags counts tags, most used first", feedTags},

		{"Proxies are listed by ID in their latest version", proxies},
		{"RemoveProxy deletes a proxy", removeProxy},

		{"Tokens are listed by creation time", tokensInOrder},
		{"AddToken does not change a stored token", storedToken},
		{"UseToken records the last use", usedToken},
		{"RemoveToken deletes a token", removeToken},
		{"People are stored by name", peopleByName},
		{"There is always an owner", oneOwner},
		{"One of two concurrent changes keeps an owner", concurrentOwners},
		{"People are limited", manyPeople},
		{"Sessions are stored by person", sessionsByPerson},
		{"UseSession records the last use only", usedSession},
		{"A person has the sessions that were used last", manySessions},
		{"Interests are stored by client", interestsByClient},
		{"Passkeys are stored by person", passkeysByPerson},
		{"A challenge of a passkey is accepted once", usedPasskey},
		{"The passkeys of a person are limited", manyPasskeys},
		{"The first note stays", firstNote},
		{"AddToken enforces MaxTokens", manyTokens},
		{"Tokens of people are stored by person", tokensByPerson},
		{"A person has at most MaxPersonTokens", manyTokensOfPerson},
		{"Follows belong to a client", followsOfClients},
		{"Follows are limited for each client", manyFollows},
		{"Only later visits are stored", visitsOfClients},
		{"A client has one Fever credential", feverKeys},

		{"PutImport stores every field of an import", storedImport},
		{"PutImport replaces an import with the same ID", replacedImport},
		{"ListImports returns the newest first, without lines", importsNewestFirst},
		{"PutImport keeps only the newest imports", oldImports},
		{"a cancelled import stays cancelled until it is restarted", cancelImport},

		{"PutRules stores every version", storedRules},
		{"PutRules rejects rules based on an older version", rulesMadeFromOld},
		{"PutRules rejects rules that are too large", largeRules},
		{"RuleVersions pages newest first, without text", ruleVersions},
		{"PutRules keeps only the last versions of a set", oldRules},
		{"concurrent PutRules store one version", concurrentRules},

		{"PutItems stores every field of an item", storedItem},
		{"times are stored in UTC with microsecond precision", times},
		{"PutItems ignores an unchanged item", unchangedItem},
		{"SetText replaces the text until the entry changes", setText},
		{"PutItems counts the writes of a feed", feedWrites},
		{"PutItems stores a changed item as the next revision", changedItem},
		{"a revision keeps FirstSeen and an assumed date", revisionKeepsDates},
		{"PutItems reports an item listed twice in a batch once", listedTwice},
		{"equal keys in two feeds are two items", sameKeyTwoFeeds},
		{"ItemHashes returns the hashes of stored keys", itemHashes},
		{"PutItems for a missing feed stores nothing", batchForNoFeed},

		{"empty feed fields of a batch do not overwrite stored values", emptyFeedFields},
		{"feed statistics count stored items", statistics},
		{"LastItem is the newest stored date", lastItem},
		{"feed categories count new items without spam", feedCategories},
		{"feed categories fade and keep only the largest counts", feedCategoriesFade},

		{"ListSpam pages by time of judgement, newest first", spamByJudged},
		{"released spam is not listed and its key remains stored", releasedSpam},
		{"items that remain spam keep their position", spamStays},
		{"spam records move and are deleted with their feed", spamOfFeed},

		{"Activity counts items by hour and weekday of a zone", activityByHour},
		{"Activity measures lag of dated items published after their feed was added", activityLag},
		{"Activity counts items by label", activityOfLabels},
		{"Activity returns when its context ends", activityEnds},

		{"Relabel replaces labels and changes stamps", relabel},
		{"Relabel ignores missing and corrected items", relabelLeaves},
		{"UndoRelabel restores the labels from before the job", undoRelabel},
		{"UndoRelabel does not change items corrected since", undoCorrected},
		{"UndoRelabel restores only labels of its job", undoOfOtherJob},
		{"saved labels move and are deleted with their items", savedLabelsOfFeed},

		{"Correct sets the labels of an item", correct},
		{"unset parts of a correction keep their labels", correctAgain},
		{"a revision keeps corrected labels", correctedRevision},
		{"Corrections pages oldest first", correctionsInOrder},
		{"RemoveCorrection lets passes change labels again", removeCorrection},
		{"corrections move and are deleted with their items", correctionsOfFeed},
		{"a kept item inherits the correction of a deleted item", correctionOfDeleted},

		{"marks of clients are independent", marksPerClient},
		{"ListMarked pages by FirstSeen", listedItems},
		{"ListMarked pages by Time", listedByTime},
		{"MarkAllRead marks a stream read up to a time", readUpTo},
		{"CountUnread does not confuse feeds that are removed and added", unreadOfRemovedFeeds},
		{"marks move and are deleted with their items", marksMove},
		{"items read by MarkAllRead stay read when their feed moves", readFeedMoves},
		{"NumberedItems finds items by number", numberedItems},
		{"annotations belong to a client", annotationsOfClients},
		{"ListMarked filters by label", listedByLabel},
		{"annotations move and are deleted with their items", annotationsMove},
		{"Serials number listed items in order of arrival", serialsOfItems},
		{"Serials number any names on request", serialsOfNames},
		{"Serials move and are deleted with their items and feeds", serialsMove},
		{"SavedSearches are listed by name in their latest version", searchesInOrder},
		{"PutSearch enforces MaxSearches", manySearches},

		{"Views are listed by name in their latest version", viewsByName},
		{"SetFilled ignores views changed since", filledViews},
		{"ChangeMembers numbers new members and deletes those of items", storedMembers},
		{"ChangeMembers under an outdated fence changes nothing", membersUnderOldFence},
		{"ListMembers pages by time", listedMembers},
		{"RemoveMembers deletes old members of a view", removedMembers},
		{"ListMarked and CountUnreadOfViews select the items of a view", markedMembers},
		{"members are found by story and original", relatedMembers},
		{"ClaimSubscriptions claims those with something to send, each once", claimedSubscriptions},
		{"NextDelivery returns the first due time", nextDelivery},
		{"Changed announces each commit, if it announces any", announcedChanges},
		{"FinishDelivery stores progress and attempts under a claim only", finishedDeliveries},
		{"attempts are repeated when they are due", dueAttempts},
		{"ListScored pages members with their sentiments, the last first", scoredMembers},

		{"PutJob stores every field of a job", storedJob},
		{"a cancelled job stays cancelled", cancelJob},
		{"ListJobs returns the newest first, without results", jobsNewestFirst},
		{"PutJob keeps only the newest jobs and their saved labels", oldJobs},
		{"PutJob rejects a result that is too large", largeJob},

		{"Rearrange moves an event with its items", movedEvents},
		{"new items of a moved event join its story and revisions keep their placement", lateItems},
		{"Rearrange changes only items with another placement", placedAnew},
		{"item placements override event moves", placedAfterMoves},
		{"Rearrange under an outdated fence changes nothing", rearrangeUnderOldFence},
		{"Rearrange stores its note", notedWithMoves},
		{"Rearrange moves the follows of a joined story", followsOfJoinedStories},
		{"Rearrange moves a batch of a thousand items", rearrangeMany},

		{"new and revised items mark their story dirty", dirtyByItems},
		{"changed labels and clicks mark the story dirty", dirtyByLabels},
		{"moved items mark both stories dirty", dirtyByMoves},
		{"moving or removing a feed marks its stories dirty", dirtyByFeeds},
		{"a story of one item is never dirty", singleItemNeverDirty},
		{"DirtyStories lists the oldest first and keeps newer records", dirtyInOrder},
		{"numbers of dirty records are never reused", dirtyNumbersUnique},
		{"PutStories stores a large batch", manyDirtyStories},

		{"PutStories stores every field of a story", storedStory},
		{"PutStories replaces stories and deletes those in gone", replacedStory},
		{"PutStories under an outdated fence changes nothing", putStoriesUnderOldFence},
		{"StoriesByID reads a batch of stories", storiesByID},
		{"ListStories pages by rank or newest first", storiesInOrder},
		{"ListStories filters stories", storiesThatMatch},
		{"ListStories rejects a cursor of another order", storyCursors},
		{"ReadStories returns totals and the newest items", readStory},
		{"ReadStories reads a batch of stories", readStories},
		{"items without a story are no story", noStoryIsNone},
		{"Duplicates lists the oldest first", duplicates},
		{"AddClicks adds clicks that revisions keep", clicks},
		{"RecentEvents orders events by their newest item", recentEvents},
		{"ListItems pages the items of events", eventItems},
		{"Sightings pages by FirstSeen, then ID, without spam", sightingsInOrder},
		{"FeedCoverage counts items of stories that others cover", feedCoverage},
		{"PutNote stores notes and rejects an outdated fence", notes},

		{"ExpiredItems pages the items of feeds by age", expiredByAge},
		{"ExpiredItems returns all but the newest items of a feed", expiredByNumber},
		{"starred, corrected and repeated items are protected", protectedItems},
		{"PurgeItems deletes items with everything that refers to them", purgedItems},
		{"PurgeItems under an outdated fence changes nothing", purgeUnderOldFence},
		{"a purged item that its feed still lists does not come back", purgedStaysPurged},
		{"PurgeItems marks stories dirty", purgedStories},
		{"ReleaseSpace ends", releaseSpace},

		{"Items returns items in the given order", itemsInOrder},
		{"ListItems pages a partition by FirstSeen, then ID", partition},
		{"ListItems starts at the given time", partitionSince},

		{"the store sets Changed and ignores the caller's value", changedNow},
		{"every revision has its own Changed", changedAgain},
		{"an unchanged item keeps Changed", changedUnlessUnchanged},
		{"items that become originals change", changedByRemoving},
		{"Days counts the items first seen on each day", days},
		{"Days does not count removed items", daysOfRemoved},
		{"Stamps pages a day by ID", stampsInOrder},
		{"Stamps contain Changed", stampsContainChanged},
		{"ItemStamps are those of the items that are stored", itemStamps},
		{"paging misses no item while items are added", pageWhileAdding},
		{"a limit of 0 returns an empty page", pageOfNone},

		{"NextFence counts up from 1", fencesCount},
		{"PutItems under an outdated fence stores nothing", oldFence},
		{"the newest fence of each name is valid", newestFence},

		{"unusual text is stored unchanged", strangeText},
		{"a NUL in text is kept or dropped", textWithNUL},
		{"invalid UTF-8 does not break the store", brokenText},
		{"a megabyte of HTML is stored unchanged", muchText},

		{"concurrent batches of one feed lose nothing", concurrentBatches},
		{"an item stored by concurrent workers is new once", concurrentItem},
		{"concurrent NextFence calls return different fences", concurrentFences},
		{"reads continue during writes", readWhileWriting},
		{"MoveFeed during writes loses nothing", moveWhileWriting},
		{"concurrent Relabel, Correct and PutItems end consistent", relabelWhileWriting},
		{"stories summarized during writes end consistent", storiesWhileWriting},
		{"every method returns the error of a cancelled context", cancelled},
	}
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close the store: %v", err)
				}
			})
			p.test(storeTest{t, s})
		})
	}
}

// A storeTest is one test with its own store.
type storeTest struct {
	*testing.T
	storage.Store
}

// day is the FirstSeen of generated items.
var day = time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)

// aFeed returns a feed with a value in every field that AddFeeds stores.
func aFeed(url string) storage.Feed {
	return storage.Feed{ID: storage.FeedID(url), URL: url, Title: "Feed at " + url, Site: url + "/site",
		Language: "en", Tags: []string{"news", "R&D <x>"}, Pinned: true, FullText: true,
		Request: &storage.Request{UserAgent: "Reader", Header: map[string]string{"Accept": "text/xml"}, User: "me", Password: "secret", Proxy: "home"},
		Added:   day, SpamThreshold: 0.7, Keep: "90d,1000"}
}

// anItem returns an item with a value in every field.
func anItem(feedID, key string) storage.Item {
	return storage.Item{
		ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: "hash-1", Revision: 1,
		URL: "https://example.org/" + key + "?a=1&b=2", Title: "Title of " + key, HTML: "<p>Text of <b>" + key + "</b></p>",
		Excerpt: "Text of " + key, Author: "Ann", Language: "en",
		Images: []string{"https://example.org/1.png?w=1&h=2", "https://example.org/2.png"}, Tags: []string{"go", ""},
		Enclosures: []storage.Enclosure{{URL: "https://example.org/1.mp3?a=1&b=2", Type: "audio/mpeg", Length: 5 << 30}, {URL: "https://example.org/2", Player: "Vimeo", Title: "A <talk>"}},
		Comments:   "https://example.org/" + key + "#comments", Source: "Another <feed>",
		Published: day.Add(-time.Hour), Assumed: "", Updated: day.Add(-time.Minute), FirstSeen: day,
		Spam: true, Categories: []string{"software", "hardware"}, Topics: []string{"sqlite"}, Reasons: []string{`"sqlite" in the title`},
		SpamScore: 0.9, Flags: []string{"muted", "sponsored"}, Score: -1.5, Sentiment: 1.0 / 3,
		Partition: "en", TextHash: "text-1", EventID: "event-1", StoryID: "story-1", StoryReason: `words alike, among them "sqlite"`,
		DuplicateOf: "item-0", DuplicateBy: "url", DuplicateScore: 0.25, DuplicateReason: "the same <address>",
	}
}

// numbered returns n items of the feed, numbered from from, in one partition.
func numbered(feedID string, from, n int) []storage.Item {
	items := make([]storage.Item, n)
	for i := range items {
		items[i] = anItem(feedID, fmt.Sprintf("key-%06d", from+i))
	}
	return items
}

// addFeed adds a feed with the given URL and returns its ID.
func (c storeTest) addFeed(url string) string {
	c.Helper()
	f := aFeed(url)
	if _, err := c.AddFeeds(c.Context(), f); err != nil {
		c.Fatalf("add feed: %v", err)
	}
	return f.ID
}

// feed returns the feed with the given ID.
func (c storeTest) feed(id string) storage.Feed {
	c.Helper()
	f, err := c.Feed(c.Context(), id)
	if err != nil {
		c.Fatalf("read feed: %v", err)
	}
	return f
}

// item returns the stored item without Changed, which the store adds.
func (c storeTest) item(id string) storage.Item {
	c.Helper()
	return asPut(c.stored(id))[0]
}

// stored returns the item with the given ID, with all fields.
func (c storeTest) stored(id string) storage.Item {
	c.Helper()
	i, err := storage.ItemByID(c.Context(), c, id)
	if err != nil {
		c.Fatalf("read item: %v", err)
	}
	return i
}

// asPut returns the items without Changed.
func asPut(items ...storage.Item) []storage.Item {
	for i := range items {
		items[i].Changed = time.Time{}
	}
	return items
}

// put stores the items as a batch of the first item's feed.
func (c storeTest) put(items ...storage.Item) storage.Stored {
	c.Helper()
	return c.putBatch(storage.Batch{FeedID: items[0].FeedID, Items: items})
}

func (c storeTest) putBatch(b storage.Batch) storage.Stored {
	c.Helper()
	stored, err := c.PutItems(c.Context(), b)
	if err != nil {
		c.Fatalf("put items: %v", err)
	}
	return stored
}

// wantCounts fails unless Counts returns exactly these numbers.
func (c storeTest) wantCounts(feeds, items int64) {
	c.Helper()
	got, err := c.CountFeeds(c.Context(), storage.FeedQuery{})
	if want := (storage.Counts{Feeds: feeds, Items: items}); err != nil || got != want {
		c.Errorf("counts are %+v, %v; want %+v", got, err, want)
	}
}

// wantEqual fails unless got equals want; what names the value.
func (c storeTest) wantEqual(what string, got, want any) {
	c.Helper()
	if !reflect.DeepEqual(got, want) {
		c.Errorf("%s is\n%+v, want\n%+v", what, got, want)
	}
}

// wantIDs fails unless got contains exactly the IDs of items, in any order.
func (c storeTest) wantIDs(what string, got []string, items []storage.Item) {
	c.Helper()
	got, want := slices.Sorted(slices.Values(got)), itemIDs(items)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.Errorf("%s are %d IDs %.200q, want %d IDs %.200q", what, len(got), got, len(want), want)
	}
}

// wantError fails unless err is want.
func (c storeTest) wantError(operation string, err, want error) {
	c.Helper()
	if !errors.Is(err, want) {
		c.Errorf("%s: error is %v, want %v", operation, err, want)
	}
}

func itemIDs(items []storage.Item) []string {
	var list []string
	for _, i := range items {
		list = append(list, i.ID)
	}
	return list
}
