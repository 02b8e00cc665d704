package storage_test

import (
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

func TestQuery_KeyIgnoresPage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	where := func(nodes ...query.Node) query.Node { return query.And(nodes) }
	word, feed := query.Text{Words: "a"}, query.FieldEquals{Field: query.Feed, Value: "b"}
	base := storage.Query{Where: where(word, feed, query.TimeRange{From: at})}
	for name, change := range map[string]func(*storage.Query){
		"limit": func(q *storage.Query) { q.Limit = 7 }, "cursor": func(q *storage.Query) { q.Cursor = "x" }, "facets": func(q *storage.Query) { q.Facets = true },
		"zone": func(q *storage.Query) {
			q.Where = where(word, feed, query.TimeRange{From: at.In(time.FixedZone("", 3600))})
		},
		"now": func(q *storage.Query) { q.Now = at },
	} {
		q := base
		change(&q)
		if q.Key() != base.Key() {
			t.Errorf("%s: got another key, want the same", name)
		}
	}
	seen := map[string]string{base.Key(): "base"}
	for name, change := range map[string]func(*storage.Query){
		"no condition": func(q *storage.Query) { q.Where = nil },
		"nothing fits": func(q *storage.Query) { q.Where = query.Or{} },
		"words":        func(q *storage.Query) { q.Where = where(query.Text{Words: "A"}, feed, query.TimeRange{From: at}) },
		"phrase": func(q *storage.Query) {
			q.Where = where(query.Text{Words: "a", Form: query.Phrase}, feed, query.TimeRange{From: at})
		},
		"title": func(q *storage.Query) {
			q.Where = where(query.Text{Words: "a", In: query.Title}, feed, query.TimeRange{From: at})
		},
		"prefix": func(q *storage.Query) {
			q.Where = where(query.Text{Words: "a", Form: query.Prefix}, feed, query.TimeRange{From: at})
		},
		"field": func(q *storage.Query) {
			q.Where = where(word, query.FieldEquals{Field: query.Story, Value: "b"}, query.TimeRange{From: at})
		},
		"moved": func(q *storage.Query) {
			q.Where = where(word, query.FieldEquals{Field: query.Feed, Value: "b feed:b"}, query.TimeRange{From: at})
		},
		"bound":       func(q *storage.Query) { q.Where = where(word, feed, query.TimeRange{From: at.Add(time.Microsecond)}) },
		"other bound": func(q *storage.Query) { q.Where = where(word, feed, query.TimeRange{Until: at}) },
		"or":          func(q *storage.Query) { q.Where = query.Or{word, feed, query.TimeRange{From: at}} },
		"not":         func(q *storage.Query) { q.Where = where(query.Not{Node: word}, feed, query.TimeRange{From: at}) },
		"spam":        func(q *storage.Query) { q.Spam = true }, "muted": func(q *storage.Query) { q.Muted = true },
		"duplicates": func(q *storage.Query) { q.Duplicates = true }, "order": func(q *storage.Query) { q.Newest = true },
		"once": func(q *storage.Query) { q.OnePerStory = true },
	} {
		q := base
		change(&q)
		if before, is := seen[q.Key()]; is {
			t.Errorf("%s: got the key of %s, want another", name, before)
		}
		seen[q.Key()] = name
	}
}

func TestQuery_PageSizeIsBounded(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{-1: 20, 0: 20, 1: 1, 20: 20, storage.MaxLimit: storage.MaxLimit, storage.MaxLimit + 1: storage.MaxLimit} {
		if got := (storage.Query{Limit: limit}).PageSize(); got != want {
			t.Errorf("limit %d: got %d, want %d", limit, got, want)
		}
	}
}

func TestQuery_IncludesFlagOnRequest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "is:starred": false, "is:spam": false, "muted": false, "-is:muted": false, "a -(b is:muted)": false,
		"is:muted": true, "a is:muted": true, "a OR (b is:muted)": true,
	} {
		where, err := query.Parse(text, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if got := (storage.Query{Where: where, Spam: true, Duplicates: true}).IncludesFlag(storage.FlagMuted); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
		if !(storage.Query{Where: where, Muted: true}).IncludesFlag(storage.FlagMuted) {
			t.Errorf("%q with Muted: got false, want true", text)
		}
	}
}

func TestQuery_BoostIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	q := storage.Query{Now: now}
	last := 1.6 + 1e-9
	for _, age := range []time.Duration{-time.Hour, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 1e6 * time.Hour} {
		got := q.Boost(now.Add(-age), 15)
		if got >= last || got < 1.3 {
			t.Errorf("%v old: got %v, want less than %v, and no less than 1.3", age, got, last)
		}
		last = got
	}
	if got := (storage.Query{}).Boost(now, 0); got != 1 {
		t.Errorf("got %v without prominence and freshness, want 1", got)
	}
	if got := q.Boost(time.Time{}, 0); got < 1 || got > 1.01 {
		t.Errorf("got %v without a date, want 1", got)
	}
}
