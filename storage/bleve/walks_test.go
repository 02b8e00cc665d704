package bleve

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// wordIndex returns an index of an item with a word.
func wordIndex(t *testing.T, word string) *Index {
	t.Helper()
	x, err := Open(filepath.Join(t.TempDir(), "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	it := storage.IndexItem{Item: storage.Item{ID: "1", Title: word, StoryID: "s", FirstSeen: time.Unix(1, 0)}, Text: "another " + word}
	if err := x.Put(t.Context(), it); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSearch_CutsLongWordsOfTextsAndQueries(t *testing.T) {
	long := strings.Repeat("ab", 1<<19)
	x := wordIndex(t, long)
	for _, word := range []string{long, long[:query.MaxWord], long[:query.MaxWord] + "c"} {
		for _, form := range []query.Form{query.AllWords, query.Prefix, query.Phrase} {
			found, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: word, Form: form}})
			if err != nil || found.Total != 1 {
				t.Errorf("%d bytes, form %v: got %d items (%v), want 1", len(word), form, found.Total, err)
			}
		}
	}
	words, err := x.Suggest(t.Context(), "abab", 10)
	if err != nil || len(words) != 1 || words[0].Value != long[:query.MaxWord] {
		t.Errorf("got %.100v (%v), want the first %d bytes of the word", words, err, query.MaxWord)
	}
}

// Indexes of earlier versions contain words as long as their texts.
func TestWalk_SkipsLongTerms(t *testing.T) {
	x := wordIndex(t, "ababc")
	long := strings.Repeat("ab", 1<<19)
	old := newDocument(&storage.IndexItem{Item: storage.Item{ID: "2"}}, func(f *keywordField) []string {
		if f.name == fieldPublished {
			return []string{sortable(time.Time{})}
		}
		return nil
	})
	old.AddField(&keywords{name: fieldTitleWord, options: shared, values: []string{long}})
	batch := x.bleve.NewBatch()
	if err := batch.IndexAdvanced(old); err != nil {
		t.Fatal(err)
	}
	if err := x.commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	x.warm()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	words, err := x.Suggest(t.Context(), "ab", 10)
	runtime.ReadMemStats(&after)
	if err != nil || len(words) != 1 || words[0].Value != "ababc" {
		t.Errorf("got %.100v (%v), want the short word only", words, err)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 32<<20 {
		t.Errorf("the walk allocated %d MB", spent>>20)
	}
}

func TestWalks_EndWithTheirRequest(t *testing.T) {
	x := wordIndex(t, "kubernetes")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	text := func(form query.Form) query.Node { return query.Text{Words: "kubernets", Form: form} }
	for name, walk := range map[string]func(now *searchState, segs []*segment) error{
		"prefix": func(_ *searchState, segs []*segment) error {
			_, err := newPlan(ended, segs, nil, storage.Query{Where: text(query.Prefix)}, false, nil)
			return err
		},
		"misspellings": func(_ *searchState, segs []*segment) error {
			w := &word{fields: wordFields[:], stem: "kubernet"}
			return w.addMisspellings(ended, segs, "kubernetes")
		},
		"weights": func(_ *searchState, segs []*segment) error {
			return (&word{fields: wordFields[:], stem: "kubernet"}).weigh(ended, segs)
		},
		"suggestions": func(_ *searchState, segs []*segment) error {
			_, err := suggestIn(ended, segs, "kub", 10)
			return err
		},
		"similar": func(_ *searchState, segs []*segment) error {
			_, err := similarIn(ended, segs, storage.IndexItem{Item: storage.Item{ID: "2", Title: "kubernetes"}}, 10)
			return err
		},
		"score": func(_ *searchState, segs []*segment) error {
			return wordFields[0].score(ended, segs[0], "kubernet", segs[0].live, []uint32{0}, []float64{0})
		},
		"places and facets": func(_ *searchState, segs []*segment) error {
			plan, err := newPlan(t.Context(), segs, nil, storage.Query{Facets: true}, false, nil)
			if err != nil {
				return err
			}
			all, err := plan.find(t.Context(), segs)
			if err != nil {
				return err
			}
			_, err = plan.results(ended, x.columns, all, cursor{})
			return err
		},
		"days": func(now *searchState, _ []*segment) error {
			_, err := daysIn(ended, now.snapshot)
			return err
		},
		"stamps": func(now *searchState, _ []*segment) error {
			_, err := stampsIn(ended, now.snapshot, time.Unix(0, 0), "", 10)
			return err
		},
		"contained stamps": func(now *searchState, _ []*segment) error {
			_, err := containedStamps(ended, now.snapshot, map[uint64][]byte{1: nil})
			return err
		},
	} {
		err := x.view(t.Context(), func(now *searchState) error {
			segs, err := now.segments(&x.boosts)
			if err != nil {
				return err
			}
			return walk(now, segs)
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want the walk to end with its request", name, err)
		}
	}
	if words, err := x.Suggest(t.Context(), "kub", 10); err != nil || len(words) != 1 {
		t.Errorf("got %v (%v), want that an ended walk leaves nothing in the cache", words, err)
	}
}
