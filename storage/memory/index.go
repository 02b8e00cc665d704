package memory

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
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
	id, feed, language string
	categories, topics []string
	flags              []string
	sentiment          string // see [storage.SentimentOf]
	published          int64  // microseconds, as everywhere in storage
	day                time.Time
	changed            time.Time
	spam, duplicate    bool
	weights            map[string]float64 // by stem
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
	weights := make(map[string]float64)
	for _, part := range []struct {
		text   string
		weight float64
	}{
		{it.Title, 8}, {strings.Join(it.Tags, " | "), 3}, {it.Author, 2}, {it.Text, 1},
	} {
		for _, stem := range stemsOf(part.text) {
			weights[stem] += part.weight
		}
	}
	return indexedItem{
		id: it.ID, feed: it.FeedID, language: it.Language, categories: it.Categories, topics: it.Topics,
		flags: it.Flags, sentiment: storage.SentimentOf(it.Sentiment),
		published: it.Published.UnixMicro(), spam: it.Spam, duplicate: it.DuplicateOf != "",
		day: storage.Day(it.FirstSeen), changed: micro(it.Changed), weights: weights,
	}
}

// stemsOf returns the stems of the words of s, each once.
func stemsOf(s string) []string {
	var stems []string
	for _, word := range text.Words(s) {
		stems = append(stems, stem.Of(word.Text, ""))
	}
	slices.Sort(stems)
	return slices.Compact(stems)
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

// Search implements [storage.Index].
func (x *Index) Search(ctx context.Context, q storage.Query) (storage.Results, error) {
	if err := ctx.Err(); err != nil {
		return storage.Results{}, err
	}
	from, err := parseIndexCursor(q)
	if err != nil {
		return storage.Results{}, err
	}
	facets := make(facetCounts)
	var found []indexPlace
	total := int64(0)
	for _, at := range x.matches(q, facets) {
		total++
		if q.Cursor == "" || at.compare(from) > 0 {
			found = append(found, at)
		}
	}
	slices.SortFunc(found, indexPlace.compare)

	results := storage.Results{Total: total}
	limit := q.PageSize()
	if len(found) > limit {
		found = found[:limit]
		results.Next = found[limit-1].cursor(q)
	}
	for _, at := range found {
		results.Hits = append(results.Hits, storage.Hit{ID: at.ID, Score: at.Score})
	}
	if q.Facets {
		results.Facets = facets.top()
	}
	return results, nil
}

// matches returns where each match stands and counts the matches into facets.
func (x *Index) matches(q storage.Query, facets facetCounts) []indexPlace {
	stems := stemsOf(q.Words)
	byWords := strings.TrimSpace(q.Words) != ""
	if byWords && len(stems) == 0 {
		return nil // nothing but punctuation
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []indexPlace
	for _, it := range x.items {
		score, ok := it.score(stems)
		if !ok || !it.passes(q) {
			continue
		}
		if q.Newest {
			score = 0
		}
		found = append(found, indexPlace{Score: score, Published: it.published, ID: it.id})
		facets.add("feed", it.feed)
		facets.add("language", it.language)
		facets.add("sentiment", it.sentiment)
		for _, category := range it.categories {
			facets.add("category", category)
		}
		for _, topic := range it.topics {
			facets.add("topic", topic)
		}
	}
	return found
}

// score returns the weight of the stems in the item, and whether it has all.
func (it *indexedItem) score(stems []string) (sum float64, ok bool) {
	for _, stem := range stems {
		weight, ok := it.weights[stem]
		if !ok {
			return 0, false
		}
		sum += weight
	}
	return sum, true
}

func (it *indexedItem) passes(q storage.Query) bool {
	return (q.FeedID == "" || it.feed == q.FeedID) &&
		(q.Language == "" || it.language == q.Language) &&
		(q.Category == "" || slices.Contains(it.categories, q.Category)) &&
		(q.Topic == "" || slices.Contains(it.topics, q.Topic)) &&
		(q.Flag == "" || slices.Contains(it.flags, q.Flag)) &&
		(q.FindsMuted() || !slices.Contains(it.flags, storage.Muted)) &&
		(q.After.IsZero() || it.published >= q.After.UnixMicro()) &&
		(q.Before.IsZero() || it.published < q.Before.UnixMicro()) &&
		it.spam == q.Spam && (q.Duplicates || !it.duplicate)
}

// An indexPlace is where an item stands in the order of a query's results.
type indexPlace struct {
	Query     string  `json:"q,omitempty"` // in cursors only
	Score     float64 `json:"s,omitempty"`
	Published int64   `json:"t"`
	ID        string  `json:"i"`
}

// compare orders by score, then newest first, then by ID.
func (a indexPlace) compare(b indexPlace) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Published, a.Published), cmp.Compare(a.ID, b.ID))
}

func (a indexPlace) cursor(q storage.Query) string {
	a.Query = q.Key()
	b, _ := json.Marshal(a) // a struct of strings and finite numbers
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseIndexCursor(q storage.Query) (at indexPlace, err error) {
	if q.Cursor == "" {
		return at, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || json.Unmarshal(b, &at) != nil || at.Query != q.Key() {
		return at, storage.ErrBadCursor
	}
	return at, nil
}

// facetCounts counts matches by facet and value.
type facetCounts map[string]map[string]int64

func (f facetCounts) add(facet, value string) {
	if value == "" {
		return
	}
	if f[facet] == nil {
		f[facet] = make(map[string]int64)
	}
	f[facet][value]++
}

// top returns the most frequent values of each facet.
func (f facetCounts) top() map[string][]storage.FacetCount {
	top := make(map[string][]storage.FacetCount)
	for _, facet := range storage.FacetNames {
		counts := []storage.FacetCount{}
		for value, n := range f[facet] {
			counts = append(counts, storage.FacetCount{Value: value, Count: n})
		}
		slices.SortFunc(counts, func(a, b storage.FacetCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
		})
		top[facet] = counts[:min(len(counts), storage.MaxFacet)]
	}
	return top
}
