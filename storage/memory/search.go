package memory

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// Search implements [storage.Index].
func (x *Index) Search(ctx context.Context, q storage.Query) (storage.Results, error) {
	if err := ctx.Err(); err != nil {
		return storage.Results{}, err
	}
	from, err := parseIndexCursor(q)
	if err != nil {
		return storage.Results{}, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := search{Query: q, forgives: from.Forgiven, rarity: from.Rarity}
	found := s.run(x.items)
	if len(found) == 0 && q.Cursor == "" {
		nearly := search{Query: q, forgives: true}
		if found = nearly.run(x.items); len(found) > 0 {
			s = nearly
		}
	}
	results := storage.Results{Total: int64(len(found)), Forgiven: s.forgives}
	if q.Facets {
		results.Facets = facetsOf(found)
	}
	slices.SortFunc(found, match.compare)
	if q.Once {
		found = once(found)
		results.Total = int64(len(found))
	}
	if q.Cursor != "" {
		found = slices.DeleteFunc(found, func(m match) bool { return m.place.compare(from.indexPlace) <= 0 })
	}
	if limit := q.PageSize(); len(found) > limit {
		found = found[:limit]
		results.Next = indexCursor{q.Key(), found[limit-1].place, s.forgives, s.rarity}.String()
	}
	for _, m := range found {
		results.Hits = append(results.Hits, storage.Hit{ID: m.place.ID, Score: m.place.Score})
	}
	return results, nil
}

// A match is an item that a search found, and where it stands.
type match struct {
	item  *indexedItem
	place indexPlace
}

func (m match) compare(other match) int { return m.place.compare(other.place) }

// once returns the first match of each story.
func once(found []match) []match {
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(m match) bool {
		story := m.item.doc.Story
		again := story != "" && seen[story]
		seen[story] = true
		return again
	})
}

// A search is a query under way.
type search struct {
	storage.Query
	forgives bool
	rarity   map[string]float64 // of the words sought, by stem; the same on each page, or pages would not fit
}

// run returns all matches, in no order.
func (s *search) run(items map[string]indexedItem) []match {
	scored := s.Scored()
	sought := query.Texts(s.Where)
	if scored && s.rarity == nil {
		s.rarity = rarityOf(sought, items)
	}
	matches := query.Matches
	if s.forgives {
		matches = query.MatchesNearly
	}
	var found []match
	for _, it := range items {
		if !s.Admits(it.doc) || !matches(s.Where, it.doc) {
			continue
		}
		m := match{item: &it, place: indexPlace{Published: it.doc.Published.UnixMicro(), ID: it.id}}
		if scored {
			m.place.Score = s.score(&it, sought)
		}
		found = append(found, m)
	}
	return found
}

// rarityOf returns how rare the words are, by stem. Those that may go on count as
// the words they are.
func rarityOf(sought []query.Text, items map[string]indexedItem) map[string]float64 {
	rarity := map[string]float64{}
	for _, t := range sought {
		for _, w := range t.Sought() {
			rarity[w.Stem] = rarityIn(items, w.Stem)
		}
	}
	return rarity
}

// rarityIn weighs a word that some of all items have.
//
// Source: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25
// and Beyond, 2009; 1 is added so that no word counts for nothing.
func rarityIn(items map[string]indexedItem, stem string) float64 {
	have := 0.0
	for _, it := range items {
		if it.weights[stem] > 0 {
			have++
		}
	}
	return 1 + math.Log(1+(float64(len(items))-have+0.5)/(have+0.5))
}

// score returns what the item is worth to who seeks these words.
func (s *search) score(it *indexedItem, sought []query.Text) float64 {
	sum := 0.0
	for _, t := range sought {
		words := t.Sought()
		for i, w := range words {
			goesOn := t.Form == query.Prefix && i == len(words)-1
			sum += s.rarity[w.Stem] * s.weight(it, w, goesOn)
		}
	}
	return sum * s.Boost(it.doc.Published, it.prominence)
}

// weight returns what a word counts in an item: half of what it would if the item
// only has one that is nearly it, or goes on.
func (s *search) weight(it *indexedItem, w query.Word, goesOn bool) float64 {
	if weight := it.weights[w.Stem]; weight > 0 || !goesOn && !s.forgives {
		return weight
	}
	most := 0.0
	for stem, weight := range it.weights {
		if goesOn && strings.HasPrefix(stem, w.Text) || s.forgives && query.IsNear(w.Stem, stem, query.Forgives(w.Text)) {
			most = max(most, weight/2)
		}
	}
	return most
}

// day returns how facets name a day.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
