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

// An Index is a [storage.Index] that lives in memory and reads every item for
// every search. The zero Index is empty and ready for use.
type Index struct {
	mu    sync.RWMutex
	items map[string]indexedItem
}

// An indexedItem is what a search needs of an item.
type indexedItem struct {
	id         string
	doc        *query.Document
	sentiment  string // see [storage.SentimentOf]
	prominence int
	day        time.Time
	changed    time.Time
	weights    map[string]float64 // by stem
	about      map[string]float64 // likewise, without stop words
}

// Put implements [storage.Index].
func (x *Index) Put(ctx context.Context, items ...storage.Indexed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.items == nil {
		x.items = make(map[string]indexedItem)
	}
	for _, it := range items {
		if it.ID == "" {
			return errors.New("index an item: it has no ID")
		}
		x.items[it.ID] = indexItem(it)
	}
	return nil
}

// indexItem weighs the item's words by where they stand: a word in the title
// counts for more than the same word anywhere else.
func indexItem(it storage.Indexed) indexedItem {
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
			if !isStop(w.Text, it.Language) {
				about[w.Stem] += part.weight
			}
		}
	}
	it.Published = micro(it.Published)
	return indexedItem{
		id: it.ID, doc: it.Document(), sentiment: storage.SentimentOf(it.Sentiment), prominence: it.Prominence(),
		day: storage.Day(it.FirstSeen), changed: micro(it.Changed), weights: weights, about: about,
	}
}

// isStop reports whether a word says nothing of what a text is about.
func isStop(word, language string) bool {
	return stem.Stop("en")[word] || stem.Stop("ru")[word] || stem.Stop(language)[word]
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

// Days implements [storage.Stamped].
func (x *Index) Days(ctx context.Context) (map[time.Time]int64, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	days := map[time.Time]int64{}
	for _, it := range x.items {
		days[it.day]++
	}
	return days, ctx.Err()
}

// Stamps implements [storage.Stamped].
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

// Close implements [io.Closer]. There is nothing to close.
func (x *Index) Close() error { return nil }
