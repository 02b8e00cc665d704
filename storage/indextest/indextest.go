// Package indextest contains the contract of [storage.Index] as tests, and benchmarks. Every engine runs
// [TestIndex].
package indextest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// An indexContract is one sentence of the contract of [storage.Index], with its test.
type indexContract struct {
	name string
	test func(t *testing.T, x storage.Index)
}

// TestIndex checks that the indexes returned by open, each new and empty, fulfill the contract of
// [storage.Index], except for the listed exceptions. TestIndex closes them.
func TestIndex(t *testing.T, open func(t *testing.T) storage.Index, lacks ...Unsupported) {
	promises := []indexContract{
		{"Put replaces an item with the same ID", putReplaces},
		{"a deleted item is not found", deletedItemNotFound},
		{"Put and Delete of nothing succeed", emptyPutAndDelete},
		{"Days counts the items first seen on each day", indexDays},
		{"Stamps pages a day by ID", stampsInOrder},
		{"Stamps returns all items of a large day", manyStamps},
		{"Stamps are those of the latest version", stampsOfLatestVersion},
		{"Count returns the number of indexed items", countItems},
		{"every call returns the error of a cancelled context", cancelledContext},
		{"methods may be called concurrently", concurrentUse},

		{"all words must occur, by stem", allWordsByStem},
		{"words are found in title, text, author and tags", wordsInAllFields},
		{"words with punctuation are found", wordsWithSigns},
		{"items of stop words only are found", stopWords},
		{"any typed text is a harmless query", harmlessText},
		{"a word in the title ranks above the same word in the text", titleRanksFirst},
		{"equal scores are ordered newest first, then by ID", equalScores},
		{"spam is found only on request, and then alone", spamOnRequest},
		{"duplicates are found only on request", duplicatesOnRequest},
		{"muted items are found only on request", mutedOnRequest},
		{"items are found by their whole topics", topicsAreFound},
		{"filters combine", filtersCombine},
		{"published after is inclusive, before is exclusive", publishedBounds},
		{"facets count matches, most frequent first, then by value", facetsCount},
		{"facets list only the most frequent values", facetsAreCut},

		{"OR matches either operand and minus excludes matches", orAndNot},
		{"phrases match consecutive words of one field", phrasesInARow},
		{"prefixes match words", prefixesMatch},
		{"a prefix longer than the stem matches the word", prefixesLongerThanStems},
		{"field queries match only their field", fieldsAreSeparate},
		{"values combine by OR, NOT and parentheses", valuesCombine},
		{"a host query matches its subdomains", hostsAndBelow},
		{"time bounds combine by OR, NOT and parentheses", timesCombine},
		{"sets of items", itemSets},
		{"flag queries admit spam, duplicates and muted items", requestedByFlag},
		{"words of scripts without spaces are found", denseScripts},
		{"German, French and Spanish words are found by other forms", otherLanguages},
		{"a search finds the items that a view has", viewsHaveWhatIsFound},
		{"the day facet counts the latest UTC days", daysAreCounted},

		{"OnePerStory returns the first item of each story", onePerStory},
		{"pages with OnePerStory contain each story once", onePerStoryPages},
		{"facets with OnePerStory count all items", onePerStoryFacets},

		{"typing errors match if no item contains the words", typosMatch},
		{"typing errors do not match if an item contains the words", typosDoNotMatchIfFound},
		{"pages of a fuzzy search contain each match once", pagesOfFuzzySearch},

		{"Similar returns items about the same subject", similarItems},
		{"Similar returns no item of the same story", similarOutsideStory},
		{"Similar returns no item without common words", nothingSimilar},
		{"Suggest returns title words, most frequent first", wordsSuggested},
		{"Suggest uses the latest version of items", suggestionsOfLatestVersion},

		{"a query without words lists everything, newest first", emptyQueryListsAll},
		{"Newest orders matches by time, then by ID", newestOrders},
		{"a page has 20 items by default, and at most MaxLimit", pageSizes},
		{"pages by time contain each match once", pagesByTime},
		{"pages by score contain each match once", pagesByScore},
		{"pages contain each match once while older items are added", pagesWhilePutting},
		{"Total counts the matches of all pages", totalOfAllPages},
		{"a cursor of another query is rejected", cursorOfAnotherQuery},
	}
	if !slices.Contains(lacks, NoBoost) {
		promises = append(promises,
			indexContract{"fresh items score higher", freshnessScoresHigher},
			indexContract{"covered stories and rule scores raise the score", coverageScoresHigher},
			indexContract{"one item of a story is enough to put if stories are apart", storiesApart})
	}
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			x := open(t)
			t.Cleanup(func() {
				if err := x.Close(); err != nil {
					t.Errorf("close the index: %v", err)
				}
			})
			p.test(t, x)
		})
	}
}

// noon is the default publication time of generated items.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// item returns an item with the given ID, title and text.
func item(id, title, text string) storage.IndexItem {
	return storage.IndexItem{
		Item: storage.Item{ID: id, FeedID: "feed", Title: title, Published: noon, FirstSeen: noon, Changed: noon},
		Text: text,
	}
}

// changed returns the item after change.
func changed(it storage.IndexItem, change func(*storage.IndexItem)) storage.IndexItem {
	change(&it)
	return it
}

// wordsOf returns a query node for these words, and nil for none.
func wordsOf(words string) query.Node {
	if strings.TrimSpace(words) == "" {
		return nil
	}
	return query.Text{Words: words}
}

// all returns the conjunction of the nodes, ignoring nil.
func all(nodes ...query.Node) query.Node {
	return query.And(slices.DeleteFunc(nodes, func(n query.Node) bool { return n == nil }))
}

func is(field query.Field, value string) query.Node {
	return query.FieldEquals{Field: field, Value: value}
}

// parsed returns the query of a typed text at noon.
func parsed(t *testing.T, text string) storage.Query {
	t.Helper()
	n, err := query.Parse(text, noon)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return storage.Query{Where: n}
}

func put(t *testing.T, x storage.Index, items ...storage.IndexItem) {
	t.Helper()
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatalf("put %d items: %v", len(items), err)
	}
}

func search(t *testing.T, x storage.Index, q storage.Query) storage.Results {
	t.Helper()
	results, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %+v: %v", q, err)
	}
	return results
}

// wantFound fails unless the query matches exactly the IDs, in any order.
func wantFound(t *testing.T, x storage.Index, q storage.Query, want ...string) {
	t.Helper()
	results := search(t, x, q)
	got := ids(results)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || results.Total != int64(len(want)) {
		t.Errorf("search %+v found %v of %d, want %v", q, got, results.Total, want)
	}
}

// wantOrder fails unless the query matches exactly the IDs, in that order.
func wantOrder(t *testing.T, x storage.Index, q storage.Query, want ...string) {
	t.Helper()
	if got := ids(search(t, x, q)); !slices.Equal(got, want) {
		t.Errorf("search %+v found %v, want %v", q, got, want)
	}
}

func ids(results storage.Results) []string {
	var ids []string
	for _, hit := range results.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func putReplaces(t *testing.T, x storage.Index) {
	put(t, x, item("a", "old", ""), item("b", "same", ""), item("a", "middle", ""))
	wantFound(t, x, storage.Query{Where: wordsOf("old")})
	wantFound(t, x, storage.Query{Where: wordsOf("middle")}, "a")
	put(t, x, item("a", "new", ""))
	wantFound(t, x, storage.Query{Where: wordsOf("middle")})
	wantFound(t, x, storage.Query{Where: wordsOf("new")}, "a")
	wantFound(t, x, storage.Query{}, "a", "b")
}

func deletedItemNotFound(t *testing.T, x storage.Index) {
	put(t, x, item("a", "word", ""), item("b", "word", ""), item("c", "word", ""))
	if err := x.Delete(t.Context(), "a", "unknown", "c"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	wantFound(t, x, storage.Query{Where: wordsOf("word")}, "b")
	put(t, x, item("a", "word", ""))
	wantFound(t, x, storage.Query{Where: wordsOf("word")}, "a", "b")
}

func emptyPutAndDelete(t *testing.T, x storage.Index) {
	put(t, x)
	if err := x.Delete(t.Context()); err != nil {
		t.Errorf("delete nothing: %v", err)
	}
	wantFound(t, x, storage.Query{})
	wantFound(t, x, storage.Query{Where: wordsOf("word")})
}

func countItems(t *testing.T, x storage.Index) {
	want := func(want int64) {
		t.Helper()
		if got, err := x.Count(t.Context()); err != nil || got != want {
			t.Errorf("count is %d, %v, want %d", got, err, want)
		}
	}
	want(0)
	put(t, x, item("a", "", ""), item("b", "", ""))
	put(t, x, item("b", "again", ""), item("c", "", ""))
	want(3)
	if err := x.Delete(t.Context(), "a", "a", "d"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	want(2)
}

func cancelledContext(t *testing.T, x storage.Index) {
	put(t, x, item("a", "word", ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, searchErr := x.Search(ctx, storage.Query{Where: wordsOf("word")})
	_, daysErr := x.Days(ctx)
	_, stampsErr := x.Stamps(ctx, storage.Day(noon), "", 10)
	_, countErr := x.Count(ctx)
	for call, err := range map[string]error{
		"put": x.Put(ctx, item("b", "word", "")), "delete": x.Delete(ctx, "a"),
		"search": searchErr, "days": daysErr, "stamps": stampsErr, "count": countErr,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned %v, want context.Canceled", call, err)
		}
	}
	wantFound(t, x, storage.Query{}, "a")
}

func concurrentUse(t *testing.T, x storage.Index) {
	const writers, rounds = 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				id := fmt.Sprintf("%d-%d", w, r)
				if err := x.Put(t.Context(), item(id, "word", ""), item(id+"-gone", "word", "")); err != nil {
					t.Errorf("put: %v", err)
				}
				results, err := x.Search(t.Context(), storage.Query{Where: wordsOf("word"), Limit: 100})
				if err != nil || !slices.Contains(ids(results), id) {
					t.Errorf("search after put(%s) found %v, %v", id, ids(results), err)
				}
				if err := x.Delete(t.Context(), id+"-gone"); err != nil {
					t.Errorf("delete: %v", err)
				}
				if _, err := x.Count(t.Context()); err != nil {
					t.Errorf("count: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if got := search(t, x, storage.Query{}).Total; got != writers*rounds {
		t.Errorf("%d items are left, want %d", got, writers*rounds)
	}
}
