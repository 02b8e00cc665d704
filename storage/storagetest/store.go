// Package storagetest has the contracts of [storage.Store] and [storage.Index]
// as tests that every engine runs.
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

// TestStore checks that the stores which open returns, each of them new and
// empty, keep the promises of [storage.Store]. TestStore closes them.
func TestStore(t *testing.T, open func(t *testing.T) storage.Store) {
	promises := []struct {
		name string
		test func(storeTest)
	}{
		{"a store has an ID that stays", storeTest.storeID},
		{"an added feed comes back as it was", storeTest.addedFeed},
		{"a feed that is known already stays as it is", storeTest.knownFeed},
		{"added feeds are named in the order given, each once", storeTest.addedInOrder},
		{"adding a feed ignores its statistics", storeTest.addingIgnoresStatistics},
		{"feeds are listed by URL, page by page", storeTest.feedsByURL},
		{"removing a feed removes its items and returns their IDs", storeTest.removeFeed},
		{"duplicates of removed items stand for themselves", storeTest.removeFirst},
		{"a removed feed can be added again, and starts empty", storeTest.addRemoved},
		{"counts say how many feeds and items there are", storeTest.counts},
		{"what is not there is not found", storeTest.notFound},

		{"what a person decides of a feed is replaced whole", storeTest.setFeed},
		{"a document decides nothing for a person", storeTest.documentsDecideNothing},

		{"a moved feed's items get the IDs they have there", storeTest.movedItems},
		{"a feed moves with all that is known of it", storeTest.movedFeed},
		{"a moved feed is no more, yet known", storeTest.goneAfterMove},
		{"a feed that moves to another becomes one with it", storeTest.mergedFeed},
		{"what repeated a moved item repeats it still", storeTest.movedFirst},
		{"what repeated a dropped item repeats the kept one, the first now", storeTest.droppedFirst},
		{"moved items have changed, and are of the same day", storeTest.movedStamps},
		{"moves are followed to the end, and forgotten with it", storeTest.movesFollowed},
		{"a feed can move back", storeTest.movedBack},
		{"a feed that moves to itself stays as it is", storeTest.movedToItself},

		{"feeds are found by what they are called, whatever the case", storeTest.feedsByText},
		{"feeds are found by tag, host, pin and ID", storeTest.feedsByFilter},
		{"feeds are ordered in each way, page by page", storeTest.feedsInOrder},
		{"a feed is found by its new title, and where it moved", storeTest.feedsRenamed},
		{"tags are counted, most used first", storeTest.feedTags},

		{"proxies are listed by ID, as last put", storeTest.proxies},
		{"a removed proxy is gone", storeTest.removeProxy},

		{"tokens are listed by when they were made", storeTest.tokensComeBack},
		{"a token that is known stays as it is", storeTest.knownToken},
		{"a token says when it was used last", storeTest.usedToken},
		{"a removed token is gone", storeTest.removeToken},
		{"there are no more tokens than there may be", storeTest.manyTokens},

		{"an import comes back as it was put", storeTest.importComesBack},
		{"an import put again replaces the one before", storeTest.importGoesOn},
		{"imports are listed newest first, without their lines", storeTest.importsNewestFirst},
		{"only the newest imports are kept", storeTest.oldImports},
		{"an import that is to end stays so until it is begun anew", storeTest.cancelImport},

		{"rules come back as they were put, version by version", storeTest.rulesComeBack},
		{"rules made from a version that is not the newest change nothing", storeTest.rulesMadeFromOld},
		{"rules that are too large change nothing", storeTest.largeRules},
		{"versions are listed newest first, page by page, without their text", storeTest.ruleVersions},
		{"only the last versions of a set are kept", storeTest.oldRules},
		{"of rules put at once one version is the next", storeTest.concurrentRules},

		{"an item comes back as it was put", storeTest.itemComesBack},
		{"times come back in UTC to the microsecond", storeTest.times},
		{"an unchanged item changes nothing", storeTest.unchangedItem},
		{"a changed item becomes the next revision", storeTest.changedItem},
		{"a revision keeps first-seen and an assumed date", storeTest.revisionKeepsDates},
		{"an item listed twice in a batch is reported once", storeTest.listedTwice},
		{"the same key in two feeds is two items", storeTest.sameKeyTwoFeeds},
		{"known keys come with their hashes", storeTest.known},
		{"a batch for no feed stores nothing", storeTest.batchForNoFeed},

		{"what a feed says of itself is overwritten only by something", storeTest.feedSays},
		{"statistics count what is stored", storeTest.statistics},
		{"the last item is the newest there still is", storeTest.lastItem},
		{"a feed counts what its new items are about, but for spam", storeTest.feedCategories},
		{"what was long ago weighs less, and only the largest counts are kept", storeTest.feedCategoriesFade},

		{"spam is listed newest judged first, page by page", storeTest.spamByJudged},
		{"what is spam no more is not listed, and its key stays known", storeTest.spamNoMore},
		{"what stays spam stays in its place", storeTest.spamStays},
		{"spam moves and goes with its feed", storeTest.spamOfFeed},

		{"what came is counted by hour and weekday of a zone", storeTest.activityByHour},
		{"lag is that of items which say when they were published, once their feed was there", storeTest.activityLag},
		{"what came is counted by what it is", storeTest.activityOfLabels},
		{"counting what came ends with its context", storeTest.activityEnds},

		{"relabelled items have the new labels, and have changed", storeTest.relabel},
		{"relabelling stays within the items that are there and not corrected", storeTest.relabelLeaves},
		{"a job gives back what items had before it", storeTest.undoRelabel},
		{"a job gives nothing back to what was corrected since", storeTest.undoCorrected},
		{"a job that is forgotten gives nothing back", storeTest.forgetRelabel},
		{"what a job keeps moves and goes with its items", storeTest.keptLabelsOfFeed},

		{"a corrected item is what a person says", storeTest.correct},
		{"what a correction leaves open stays", storeTest.correctAgain},
		{"a revision keeps corrected labels", storeTest.correctedRevision},
		{"corrections are listed oldest first, page by page", storeTest.correctionsInOrder},
		{"what is corrected no more is open to passes", storeTest.uncorrect},
		{"corrections move and go with their items", storeTest.correctionsOfFeed},
		{"an item that is kept takes over the dropped one's correction", storeTest.correctionOfDropped},

		{"marks come back, each client's own", storeTest.marksComeBack},
		{"items that readers are shown are listed by when they came, page by page", storeTest.listedItems},
		{"all of a stream is read up to a time", storeTest.readUpTo},
		{"marks move and go with their items", storeTest.marksMove},
		{"what is read up to a time stays so where its feed moves", storeTest.readFeedMoves},
		{"items are found by their numbers", storeTest.numberedItems},
		{"saved searches are listed by name, as last put", storeTest.searchesComeBack},
		{"only so many searches are saved", storeTest.manySearches},

		{"a job comes back as it was put", storeTest.jobComesBack},
		{"a job that is to end stays so", storeTest.cancelJob},
		{"jobs are listed newest first, without their results", storeTest.jobsNewestFirst},
		{"only the newest jobs are kept, and what is kept under them", storeTest.oldJobs},
		{"a job whose result is too large changes nothing", storeTest.largeJob},

		{"an event that moves takes its items along", storeTest.movedEvents},
		{"new items of a moved event belong where it is now, edited ones where they were placed", storeTest.lateItems},
		{"an item is placed anew, and only what is elsewhere has changed", storeTest.placedAnew},
		{"items are placed after events moved, as they say", storeTest.placedAfterMoves},
		{"a rearrangement under an old fence changes nothing", storeTest.rearrangeUnderOldFence},
		{"a note is put with a rearrangement", storeTest.notedWithMoves},
		{"a thousand items are rearranged at once", storeTest.rearrangeMany},

		{"a story is marked when its items come, or are edited", storeTest.markedByItems},
		{"a story is marked when its items have other labels or clicks", storeTest.markedByLabels},
		{"a story is marked when items move to it or from it", storeTest.markedByMoves},
		{"a story is marked when its items move or go with their feed", storeTest.markedByFeeds},
		{"an item that is alone in its story marks nothing", storeTest.aloneMarksNothing},
		{"marks are listed oldest first, and newer ones stay", storeTest.marksInOrder},
		{"a mark that is forgotten is never there again", storeTest.marksNamedOnce},
		{"many stories are told at once", storeTest.manyMarks},

		{"a story comes back as it was told", storeTest.storyComesBack},
		{"a story told again replaces the one before, and one that is gone is none", storeTest.storyToldAgain},
		{"telling under an old fence changes nothing", storeTest.tellUnderOldFence},
		{"stories are read by id, many at once", storeTest.storiesByID},
		{"stories are listed by rank or newest first, page by page", storeTest.storiesInOrder},
		{"only stories that match are listed", storeTest.storiesThatMatch},
		{"cursors of stories belong to their order", storeTest.storyCursors},
		{"a story says what it is made of, newest first", storeTest.readStory},
		{"several stories are read as each is", storeTest.readStories},
		{"items of no story are no story", storeTest.noStoryIsNone},
		{"what repeats an item is listed oldest first", storeTest.repeats},
		{"clicks are counted, and stay", storeTest.clicks},
		{"the events that live are those with the newest items", storeTest.liveEvents},
		{"items of events are listed by first-seen, then ID", storeTest.eventItems},
		{"sightings are listed by first-seen, then ID, without spam", storeTest.sightingsInOrder},
		{"a feed's reach counts items of stories that others tell too", storeTest.reach},
		{"notes come back as they were put, but for those under an old fence", storeTest.notes},

		{"items come in the order asked for", storeTest.itemsInOrder},
		{"a lane is read by first-seen, then ID, page by page", storeTest.lane},
		{"a lane starts at the time asked for", storeTest.laneSince},

		{"the store says when an item changed, whatever the caller says", storeTest.changedNow},
		{"each revision has changed at another time", storeTest.changedAgain},
		{"an unchanged item has changed when it did", storeTest.changedNoMore},
		{"items that stand for themselves have changed", storeTest.changedByRemoving},
		{"days count the items first seen on each", storeTest.days},
		{"removed items are of no day", storeTest.daysOfRemoved},
		{"the stamps of a day are walked in ascending order of ID", storeTest.stampsInOrder},
		{"stamps say when items changed", storeTest.stampsSayChanged},
		{"a walk misses nothing while items are added", storeTest.walkWhileAdding},
		{"a page of none is empty", storeTest.pageOfNone},

		{"fences of a name count up from 1", storeTest.fencesCount},
		{"a batch under an old fence stores nothing", storeTest.oldFence},
		{"the newest fence of each name is good", storeTest.newestFence},

		{"strange text comes back as it was", storeTest.strangeText},
		{"a NUL in text is kept or left out", storeTest.textWithNUL},
		{"text that is not UTF-8 does no harm", storeTest.brokenText},
		{"a megabyte of HTML comes back as it was", storeTest.muchText},

		{"concurrent batches of one feed lose nothing", storeTest.concurrentBatches},
		{"one item put by many at once is new once", storeTest.concurrentItem},
		{"fences taken at once differ", storeTest.concurrentFences},
		{"reading goes on while others write", storeTest.readWhileWriting},
		{"a feed that moves while others write loses nothing", storeTest.moveWhileWriting},
		{"passes, corrections and documents at once agree in the end", storeTest.relabelWhileWriting},
		{"stories that are told while others write are right in the end", storeTest.storiesWhileWriting},
		{"a cancelled context ends every method with its error", storeTest.cancelled},
		{"a store that is there answers a ping", storeTest.ping},
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

// A storeTest is one test with a store of its own.
type storeTest struct {
	*testing.T
	storage.Store
}

// day is when the made-up items are from.
var day = time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)

// aFeed returns a feed that says something in every field AddFeeds keeps.
func aFeed(url string) storage.Feed {
	return storage.Feed{ID: storage.FeedID(url), URL: url, Title: "Feed at " + url, Site: url + "/site",
		Language: "en", Tags: []string{"news", "R&D <x>"}, Pinned: true, FullText: true,
		Request: &storage.Request{UserAgent: "Reader", Header: map[string]string{"Accept": "text/xml"}, User: "me", Password: "secret", Proxy: "home"},
		Added:   day, SpamThreshold: 0.7}
}

// anItem returns an item that says something in every field.
func anItem(feedID, key string) storage.Item {
	return storage.Item{
		ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: "hash-1", Revision: 1,
		URL: "https://example.org/" + key + "?a=1&b=2", Title: "Title of " + key, HTML: "<p>Text of <b>" + key + "</b></p>",
		Excerpt: "Text of " + key, Author: "Ann", Language: "en",
		Images: []string{"https://example.org/1.png?w=1&h=2", "https://example.org/2.png"}, Tags: []string{"go", ""},
		Enclosures: []storage.Enclosure{{URL: "https://example.org/1.mp3?a=1&b=2", Type: "audio/mpeg", Length: 5 << 30}, {URL: "https://example.org/2"}},
		Comments:   "https://example.org/" + key + "#comments", Source: "Another <feed>",
		Published: day.Add(-time.Hour), Assumed: "", Updated: day.Add(-time.Minute), FirstSeen: day,
		Spam: true, Categories: []string{"software", "hardware"}, Topics: []string{"sqlite"}, Why: []string{`"sqlite" in the title`},
		SpamScore: 0.9, Flags: []string{"muted", "sponsored"}, Score: -1.5, Sentiment: 1.0 / 3,
		Lane: "en", TextHash: "text-1", EventID: "event-1", StoryID: "story-1", StoryWhy: `words alike, among them "sqlite"`,
		DuplicateOf: "item-0", DuplicateBy: "url", DuplicateScore: 0.25, DuplicateWhy: "the same <address>",
	}
}

// numbered returns n items of the feed, from number from, in one lane.
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

// item returns the item with the given ID as it was put: without Changed, which
// the store adds.
func (c storeTest) item(id string) storage.Item {
	c.Helper()
	return asPut(c.stored(id))[0]
}

// stored returns the item with the given ID, whole.
func (c storeTest) stored(id string) storage.Item {
	c.Helper()
	i, err := c.Item(c.Context(), id)
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

// put stores the items as a batch of the feed that the first of them is of.
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

// wantCounts fails unless there are so many feeds and items.
func (c storeTest) wantCounts(feeds, items int64) {
	c.Helper()
	got, err := c.Counts(c.Context())
	if want := (storage.Counts{Feeds: feeds, Items: items}); err != nil || got != want {
		c.Errorf("counts are %+v, %v; want %+v", got, err, want)
	}
}

// wantEqual fails unless got is exactly want, a what.
func (c storeTest) wantEqual(what string, got, want any) {
	c.Helper()
	if !reflect.DeepEqual(got, want) {
		c.Errorf("%s is\n%+v, want\n%+v", what, got, want)
	}
}

// wantIDs fails unless got has exactly the IDs of items, in any order.
func (c storeTest) wantIDs(what string, got []string, items []storage.Item) {
	c.Helper()
	got, want := slices.Sorted(slices.Values(got)), itemIDs(items)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.Errorf("%s are %d IDs %.200q, want %d IDs %.200q", what, len(got), got, len(want), want)
	}
}

// wantError fails unless err is want.
func (c storeTest) wantError(doing string, err, want error) {
	c.Helper()
	if !errors.Is(err, want) {
		c.Errorf("%s: error is %v, want %v", doing, err, want)
	}
}

func itemIDs(items []storage.Item) []string {
	var list []string
	for _, i := range items {
		list = append(list, i.ID)
	}
	return list
}
