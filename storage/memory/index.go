package memory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/classify/query"
	"feedmesh/classify/stem"
	"feedmesh/storage"
)

var _ storage.Index = (*Index)(nil)

// An Index is a [storage.Index] in memory. Every search reads every item, under a lock. The zero Index is
// empty and ready for use.
type Index struct {
	mu    sync.RWMutex
	items map[string]indexEntry
}

// An indexEntry contains the fields of an item that searches need.
type indexEntry struct {
	id             string
	doc            *query.Document
	sentiment      string // see [storage.SentimentOf]
	prominence     int
	day            time.Time
	changed        time.Time
	weights        map[string]float64 // by stem
	subjectWeights map[string]float64 // by stem, without stop words
}

// Put implements [storage.Index].
func (x *Index) Put(ctx context.Context, items ...storage.IndexItem) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.items == nil {
		x.items = make(map[string]indexEntry)
	}
	for _, it := range items {
		if it.ID == "" {
			return errors.New("index an item: it has no ID")
		}
		x.items[it.ID] = newIndexEntry(it)
	}
	return nil
}

// newIndexEntry weights the item's words by field: words in the title weigh more.
func newIndexEntry(it storage.IndexItem) indexEntry {
	weights, about := make(map[string]float64), make(map[string]float64)
	for _, part := range []struct {
		text   string
		weight float64
	}{
		{it.Title, 8}, {strings.Join(it.Tags, " | "), 3}, {it.Author, 2}, {it.Text, 1},
	} {
		seen := map[string]bool{}
		for _, w := range query.Words(part.text) {
			if seen[w.Stem] {
				continue
			}
			seen[w.Stem] = true
			weights[w.Stem] += part.weight
			if !isStopWord(w.Text, it.Language) {
				about[w.Stem] += part.weight
			}
		}
	}
	it.Published = micro(it.Published)
	return indexEntry{
		id: it.ID, doc: it.Document(), sentiment: storage.SentimentOf(it.Sentiment), prominence: it.Prominence(),
		day: storage.Day(it.FirstSeen), changed: micro(it.Changed), weights: weights, subjectWeights: about,
	}
}

// isStopWord reports whether a word is too common to describe the subject of a text.
func isStopWord(word, language string) bool {
	return stem.StopWords("en")[word] || stem.StopWords("ru")[word] || stem.StopWords(language)[word]
}

// Delete implements [storage.Index].
func (x *Index) Delete(ctx context.Context, ids ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		delete(x.items, id)
	}
	return nil
}

// Days implements [storage.StampReader].
func (x *Index) Days(ctx context.Context) (map[time.Time]int64, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	days := map[time.Time]int64{}
	for _, it := range x.items {
		days[it.day]++
	}
	return days, ctx.Err()
}

// Stamps implements [storage.StampReader].
func (x *Index) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var page []storage.Stamp
	for _, it := range x.items {
		if it.id > after && it.day.Equal(day) {
			page = append(page, storage.Stamp{ID: it.id, Changed: it.changed})
		}
	}
	slices.SortFunc(page, byID)
	return first(page, limit), ctx.Err()
}

// Count implements [storage.Index].
func (x *Index) Count(ctx context.Context) (int64, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return int64(len(x.items)), ctx.Err()
}

// Close implements [storage.Index]. It does nothing.
func (x *Index) Close() error { return nil }
