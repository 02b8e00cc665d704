package storagetest

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

// An indexPromise is one of [storage.Index], and what sees whether it is kept.
type indexPromise struct {
	name string
	test func(t *testing.T, x storage.Index)
}

// TestIndex checks that the indexes which open returns, each of them new and
// empty, keep the promises of [storage.Index], but for those that an engine lacks.
// TestIndex closes them.
func TestIndex(t *testing.T, open func(t *testing.T) storage.Index, lacks ...Lack) {
	promises := []indexPromise{
		{"an item put again replaces the one before", putReplaces},
		{"a deleted item is not found", deleteForgets},
		{"putting and deleting nothing is no error", nothingIsNoError},
		{"days count the items first seen on each", indexDays},
		{"the stamps of a day are walked in ascending order of id", stampsInOrder},
		{"a day has as many stamps as it has items", manyStamps},
		{"stamps are those of the items as last put", stampsOfLastPut},
		{"count says how many items are indexed", countCounts},
		{"a cancelled context ends a call", cancelledContext},
		{"methods may be called concurrently", concurrentUse},

		{"all words must occur, by stem", allWordsByStem},
		{"words are found in title, text, author and tags", wordsInAllParts},
		{"words with signs are found", wordsWithSigns},
		{"items of stop words only are found", stopWords},
		{"whatever is typed is searched for harmlessly", harmlessText},
		{"a word in the title ranks above the same word in the text", titleRanksFirst},
		{"equal scores come newest first, then by id", equalScores},
		{"spam comes only when asked for, and then alone", spamOnlyIfAsked},
		{"duplicates come only when asked for", duplicatesOnlyIfAsked},
		{"muted items come only when asked for", mutedOnlyIfAsked},
		{"items are found by their whole topics", topicsAreFound},
		{"filters combine", filtersCombine},
		{"published after is inclusive, before is exclusive", publishedBounds},
		{"facets count matches, most frequent first, then by value", facetsCount},
		{"facets list no more than the most frequent values", facetsAreCut},

		{"either of what OR joins is found, and nothing of what a minus excludes", orAndNot},
		{"the words of a phrase occur in a row, in one part", phrasesInARow},
		{"words that begin with a prefix are found", prefixesGoOn},
		{"the beginning of a word finds it though its stem is shorter", beginningsOutgrowStems},
		{"words of a title or an author are found there alone", partsAreApart},
		{"values combine by OR, NOT and brackets", valuesInTrees},
		{"items of a host and of those below it are found", hostsAndBelow},
		{"bounds of time combine by OR, NOT and brackets", timesInTrees},
		{"spam, duplicates and muted items come where the tree asks for them", askedByFlag},
		{"words of scripts without spaces are found", denseScripts},
		{"German, French and Spanish words are found by other forms", otherLanguages},
		{"the latest days are counted, in UTC", daysAreCounted},

		{"of each story only what comes first is found", storiesOnce},
		{"pages that have each story once visit each once", storiesOnceByPages},
		{"facets count all items of stories that come once", facetsOfStoriesOnce},

		{"mistakes in words are forgiven if nothing has the words", mistakesForgiven},
		{"nothing is forgiven where something has the words", nothingForgivenIfFound},
		{"pages of what was forgiven visit each match once", pagesOfForgiven},

		{"similar items are about the same", similarItems},
		{"nothing is similar to what has no words in common", nothingSimilar},
		{"words of titles are suggested, most frequent first", wordsSuggested},
		{"suggestions are those of the items as last put", suggestionsFollow},

		{"no words list everything, newest first", noWordsListAll},
		{"newest orders matches by time, ties by id", newestOrders},
		{"a page has 20 items unless asked otherwise, and never over the limit", pageSizes},
		{"pages by time visit each match once", pagesByTime},
		{"pages by score visit each match once", pagesByScore},
		{"pages visit each match once while older items are put", pagesWhilePutting},
		{"total counts the matches of all pages", totalOfAllPages},
		{"a cursor of another query is refused", foreignCursor},
	}
	if !slices.Contains(lacks, NoBoost) {
		promises = append(promises,
			indexPromise{"what is fresh scores higher", freshCountsMore},
			indexPromise{"what many tell, or rules raise, scores higher", toldCountsMore})
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

// noon is when made-up items are published, unless they say otherwise.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// item returns an item with the given ID, title and text.
func item(id, title, text string) storage.Indexed {
	return storage.Indexed{
		Item: storage.Item{ID: id, FeedID: "feed", Title: title, Published: noon, FirstSeen: noon, Changed: noon},
		Text: text,
	}
}

// changed returns the item as change leaves it.
func changed(it storage.Indexed, change func(*storage.Indexed)) storage.Indexed {
	change(&it)
	return it
}

// wordsOf returns what a query asks for that has these words, and nil for none.
func wordsOf(words string) query.Node {
	if strings.TrimSpace(words) == "" {
		return nil
	}
	return query.Text{Words: words}
}

// all returns the condition that all of the nodes hold, those that are nil left out.
func all(nodes ...query.Node) query.Node {
	return query.And(slices.DeleteFunc(nodes, func(n query.Node) bool { return n == nil }))
}

func is(field query.Field, value string) query.Node { return query.Is{Field: field, Value: value} }

// parsed returns what a person asks for who types this at noon.
func parsed(t *testing.T, text string) storage.Query {
	t.Helper()
	n, err := query.Parse(text, noon)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return storage.Query{Where: n}
}

func put(t *testing.T, x storage.Index, items ...storage.Indexed) {
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

// wantFound fails unless the query finds exactly the IDs, in any order.
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

// wantOrder fails unless the query finds exactly the IDs, in that order.
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

func deleteForgets(t *testing.T, x storage.Index) {
	put(t, x, item("a", "word", ""), item("b", "word", ""), item("c", "word", ""))
	if err := x.Delete(t.Context(), "a", "unknown", "c"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	wantFound(t, x, storage.Query{Where: wordsOf("word")}, "b")
	put(t, x, item("a", "word", ""))
	wantFound(t, x, storage.Query{Where: wordsOf("word")}, "a", "b")
}

func nothingIsNoError(t *testing.T, x storage.Index) {
	put(t, x)
	if err := x.Delete(t.Context()); err != nil {
		t.Errorf("delete nothing: %v", err)
	}
	wantFound(t, x, storage.Query{})
	wantFound(t, x, storage.Query{Where: wordsOf("word")})
}

func countCounts(t *testing.T, x storage.Index) {
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
