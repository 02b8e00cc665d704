package indextest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// aDay returns n items that contain the words "common" and one of "w0" to "w4". Groups of three share a date,
// and many share a score.
func aDay(n int) []storage.IndexItem {
	items := make([]storage.IndexItem, n)
	for i := range items {
		items[i] = changed(item(fmt.Sprintf("%03d", i*7%n), "", "common text"), func(it *storage.IndexItem) {
			it.Published = noon.Add(-time.Duration(i/3) * time.Minute)
			if i%4 == 0 {
				it.Title = fmt.Sprintf("common w%d", i%5)
			}
		})
	}
	return items
}

// allPages returns the IDs of all pages, in order. It calls between before every page but the first.
func allPages(t *testing.T, x storage.Index, q storage.Query, between func(page int)) []string {
	t.Helper()
	var all []string
	for page := 0; page == 0 || q.Cursor != ""; page++ {
		if page > 0 {
			between(page)
		}
		results := search(t, x, q)
		if len(results.Hits) == 0 || len(results.Hits) > q.Limit {
			t.Fatalf("page %d of %+v has %d hits", page, q, len(results.Hits))
		}
		all = append(all, ids(results)...)
		q.Cursor = results.Next
	}
	return all
}

// wantEachOnce fails unless got contains the ID of each item exactly once.
func wantEachOnce(t *testing.T, got []string, items []storage.IndexItem) {
	t.Helper()
	var want []string
	for _, it := range items {
		want = append(want, it.ID)
	}
	slices.Sort(want)
	if got = slices.Sorted(slices.Values(got)); !slices.Equal(got, want) {
		t.Errorf("pages visited %d items, want each of %d once: %v", len(got), len(want), got)
	}
}

func emptyQueryListsAll(t *testing.T, x storage.Index) {
	put(t, x, item("b", "", ""), item("a", "", ""),
		changed(item("new", "", ""), func(it *storage.IndexItem) { it.Published = noon.Add(time.Hour) }),
		changed(item("old", "", ""), func(it *storage.IndexItem) { it.Published = noon.Add(-time.Hour) }))
	wantOrder(t, x, storage.Query{}, "new", "a", "b", "old")
	for _, hit := range search(t, x, storage.Query{}).Hits {
		if hit.Score != 0 {
			t.Errorf("%s: got score %v in order of time, want 0", hit.ID, hit.Score)
		}
	}
}

func newestOrders(t *testing.T, x storage.Index) {
	put(t, x, item("b", "", "word"), item("a", "", "word"),
		changed(item("new", "", "word"), func(it *storage.IndexItem) { it.Published = noon.Add(time.Microsecond) }),
		changed(item("old", "word", "word"), func(it *storage.IndexItem) { it.Published = time.Unix(-5, 0) }),
		changed(item("dateless", "word", "word"), func(it *storage.IndexItem) { it.Published = time.Time{} }))
	wantOrder(t, x, storage.Query{Where: wordsOf("word"), Newest: true}, "new", "a", "b", "old", "dateless")
	for _, hit := range search(t, x, storage.Query{Where: wordsOf("word"), Newest: true}).Hits {
		if hit.Score != 0 {
			t.Errorf("%s: got score %v in order of time, want 0", hit.ID, hit.Score)
		}
	}
}

func pageSizes(t *testing.T, x storage.Index) {
	put(t, x, aDay(storage.MaxLimit+10)...)
	for limit, want := range map[int]int{0: 20, -1: 20, 1: 1, 30: 30, 100: 100, 101: 100, 1 << 30: 100} {
		for _, words := range []string{"", "common"} {
			if got := len(search(t, x, storage.Query{Where: wordsOf(words), Limit: limit}).Hits); got != want {
				t.Errorf("limit %d with words %q gives %d hits, want %d", limit, words, got, want)
			}
		}
	}
}

func pagesByTime(t *testing.T, x storage.Index) {
	items := aDay(30)
	put(t, x, items...)
	slices.SortFunc(items, func(a, b storage.IndexItem) int {
		if c := b.Published.Compare(a.Published); c != 0 {
			return c
		}
		return slices.Compare([]byte(a.ID), []byte(b.ID))
	})
	var want []string
	for _, it := range items {
		want = append(want, it.ID)
	}
	for _, limit := range []int{1, 4, 10, 15, 30} {
		for _, q := range []storage.Query{{}, {Where: wordsOf("common"), Newest: true}} {
			q.Limit = limit
			if got := allPages(t, x, q, func(int) {}); !slices.Equal(got, want) {
				t.Errorf("pages of %d returned %v, want %v", limit, got, want)
			}
		}
	}
}

func pagesByScore(t *testing.T, x storage.Index) {
	items := aDay(30)
	put(t, x, items...)
	want := ids(search(t, x, storage.Query{Where: wordsOf("common text"), Limit: 100}))
	wantEachOnce(t, want, items)
	for _, limit := range []int{1, 4, 10, 15, 30} {
		got := allPages(t, x, storage.Query{Where: wordsOf("common text"), Limit: limit}, func(int) {})
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d returned %v, want %v", limit, got, want)
		}
	}
}

func pagesWhilePutting(t *testing.T, x storage.Index) {
	for i, q := range []storage.Query{{}, {Where: wordsOf("common text"), Newest: true}, {Where: wordsOf("common text")}} {
		items := aDay(20)
		for n := range items {
			items[n].FeedID = fmt.Sprint(i)
			items[n].ID += fmt.Sprint("-", i)
		}
		put(t, x, items...)
		feed := fmt.Sprint(i)
		q.Where, q.Limit = all(q.Where, is(query.Feed, feed)), 3
		got := allPages(t, x, q, func(page int) {
			// Older items with lower scores sort behind all others.
			put(t, x, changed(item(fmt.Sprint("late", i, page), "", "common text"), func(it *storage.IndexItem) {
				it.FeedID, it.Published = feed, noon.AddDate(-1, 0, -page)
			}), item(fmt.Sprint("other", i, page), "", "something text"))
		})
		got = slices.DeleteFunc(got, func(id string) bool { return strings.HasPrefix(id, "late") })
		wantEachOnce(t, got, items)
	}
}

func totalOfAllPages(t *testing.T, x storage.Index) {
	put(t, x, aDay(25)...)
	put(t, x, item("other", "other", ""))
	for _, q := range []storage.Query{{Where: wordsOf("common")}, {Where: wordsOf("common"), Newest: true}, {Where: query.TimeRange{Until: noon}}} {
		q.Limit = 10
		byTime := len(query.Texts(q.Where)) == 0
		if byTime {
			put(t, x, changed(item("other", "other", ""), func(it *storage.IndexItem) { it.Published = noon.Add(-1e9) }))
		}
		want := map[bool]int64{true: 23, false: 25}[byTime]
		for range 3 {
			results := search(t, x, q)
			if results.Total != want {
				t.Errorf("total of %+v is %d, want %d", q, results.Total, want)
			}
			q.Cursor = results.Next
		}
		if q.Cursor != "" {
			t.Errorf("%+v: got a next page after the last", q)
		}
	}
	if next := search(t, x, storage.Query{Where: wordsOf("common"), Limit: 25}).Next; next != "" {
		t.Errorf("a full last page has the next %q", next)
	}
}

func cursorOfAnotherQuery(t *testing.T, x storage.Index) {
	put(t, x, aDay(10)...)
	q := storage.Query{Where: wordsOf("common"), Limit: 2}
	cursor := search(t, x, q).Next
	q.Cursor, q.Limit, q.Facets = cursor, 3, true
	if _, err := x.Search(t.Context(), q); err != nil {
		t.Errorf("a cursor with another limit and facets: %v", err)
	}
	for _, q := range []storage.Query{
		{Where: wordsOf("common text")}, {}, {Where: all(wordsOf("common"), is(query.Feed, "feed"))}, {Where: all(wordsOf("common"), is(query.Category, "c"))},
		{Where: all(wordsOf("common"), is(query.Topic, "c"))}, {Where: all(wordsOf("common"), is(query.Flag, "starred"))}, {Where: wordsOf("common"), Muted: true},
		{Where: all(wordsOf("common"), is(query.Language, "en"))}, {Where: all(wordsOf("common"), query.TimeRange{From: noon})}, {Where: all(wordsOf("common"), query.TimeRange{Until: noon})},
		{Where: wordsOf("common"), Spam: true}, {Where: wordsOf("common"), Duplicates: true}, {Where: wordsOf("common"), Newest: true}, {Where: wordsOf("***")},
	} {
		q.Cursor = cursor
		if _, err := x.Search(t.Context(), q); !errors.Is(err, storage.ErrBadCursor) {
			t.Errorf("a cursor of another query than %+v: %v, want ErrBadCursor", q, err)
		}
	}
	for _, garbage := range []string{
		"x", "***", cursor[:len(cursor)/2], cursor + "AAAA", "e30", "bnVsbA",
		base64.RawURLEncoding.EncodeToString([]byte(`{"s":"x"}`)),
	} {
		for _, words := range []string{"", "common", "***"} {
			_, err := x.Search(t.Context(), storage.Query{Where: wordsOf(words), Cursor: garbage})
			if !errors.Is(err, storage.ErrBadCursor) {
				t.Errorf("cursor %q: %v, want ErrBadCursor", garbage, err)
			}
		}
	}
}
