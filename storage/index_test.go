package storage_test

import (
	"testing"
	"time"

	"feedmesh/storage"
)

func TestQueryKeyTellsWhatIsFoundNotWhichPage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	base := storage.Query{Words: "a", FeedID: "b", Category: "c", Topic: "t", Flag: "f", Language: "d", After: at, Before: at}
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
		"topic": func(q *storage.Query) { q.Topic = "x" }, "flag": func(q *storage.Query) { q.Flag = "x" }, "muted": func(q *storage.Query) { q.Muted = true },
		"topic for flag": func(q *storage.Query) { q.Topic, q.Flag = q.Flag, q.Topic },
		"language":       func(q *storage.Query) { q.Language = "x" }, "after": func(q *storage.Query) { q.After = at.Add(time.Microsecond) },
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

func TestSentimentHasAName(t *testing.T) {
	t.Parallel()
	for sentiment, want := range map[float64]string{
		-1: "negative", -0.2501: "negative", -0.25: "neutral", -1e-9: "neutral", 0: "", 1e-9: "neutral", 0.25: "neutral", 0.2501: "positive", 1: "positive",
	} {
		if got := storage.SentimentOf(sentiment); got != want {
			t.Errorf("%v: got %q, want %q", sentiment, got, want)
		}
	}
}

func TestMutedAreFoundWhereAskedFor(t *testing.T) {
	t.Parallel()
	for want, queries := range map[bool][]storage.Query{
		false: {{}, {Flag: "starred"}, {Spam: true, Duplicates: true}},
		true:  {{Muted: true}, {Flag: "muted"}, {Flag: "starred", Muted: true}},
	} {
		for _, q := range queries {
			if q.FindsMuted() != want {
				t.Errorf("%+v: got %t, want %t", q, !want, want)
			}
		}
	}
}
