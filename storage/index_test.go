package storage_test

import (
	"testing"
	"time"

	"feedmesh/storage"
)

func TestQueryKeyTellsWhatIsFoundNotWhichPage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	base := storage.Query{Words: "a", FeedID: "b", Category: "c", Language: "d", After: at, Before: at}
	for name, change := range map[string]func(*storage.Query){
		"limit": func(q *storage.Query) { q.Limit = 7 }, "cursor": func(q *storage.Query) { q.Cursor = "x" }, "facets": func(q *storage.Query) { q.Facets = true },
		"zone": func(q *storage.Query) { q.After = at.In(time.FixedZone("", 3600)) },
	} {
		q := base
		change(&q)
		if q.Key() != base.Key() {
			t.Errorf("%s: got another key, want the same", name)
		}
	}
	seen := map[string]string{base.Key(): "base"}
	for name, change := range map[string]func(*storage.Query){
		"words": func(q *storage.Query) { q.Words = "A" }, "feed": func(q *storage.Query) { q.FeedID = "" }, "category": func(q *storage.Query) { q.Category = "x" },
		"language": func(q *storage.Query) { q.Language = "x" }, "after": func(q *storage.Query) { q.After = at.Add(time.Microsecond) },
		"before": func(q *storage.Query) { q.Before = time.Time{} }, "spam": func(q *storage.Query) { q.Spam = true },
		"duplicates": func(q *storage.Query) { q.Duplicates = true }, "order": func(q *storage.Query) { q.Newest = true },
		"moved": func(q *storage.Query) { q.Words, q.FeedID = `a" "b`, "" }, "swapped": func(q *storage.Query) { q.Words, q.FeedID = "b", "a" },
	} {
		q := base
		change(&q)
		if before, is := seen[q.Key()]; is {
			t.Errorf("%s: got the key of %s, want another", name, before)
		}
		seen[q.Key()] = name
	}
}

func TestPageSizeKeepsWithinBounds(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{-1: 20, 0: 20, 1: 1, 20: 20, storage.MaxLimit: storage.MaxLimit, storage.MaxLimit + 1: storage.MaxLimit} {
		if got := (storage.Query{Limit: limit}).PageSize(); got != want {
			t.Errorf("limit %d: got %d, want %d", limit, got, want)
		}
	}
}
