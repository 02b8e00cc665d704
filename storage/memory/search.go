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
	results := storage.Results{Total: int64(len(found)), Fuzzy: s.forgives}
	if q.Facets {
		results.Facets = facetsOf(found)
	}
	slices.SortFunc(found, match.compare)
	if q.OnePerStory {
		found = onePerStory(found)
		results.Total = int64(len(found))
	}
	if q.Cursor != "" {
		found = slices.DeleteFunc(found, func(m match) bool { return m.position.compare(from.indexPosition) <= 0 })
	}
	if limit := q.PageSize(); len(found) > limit {
		found = found[:limit]
		results.Next = indexCursor{q.Key(), found[limit-1].position, s.forgives, s.rarity}.String()
	}
	for _, m := range found {
		results.Hits = append(results.Hits, storage.Hit{ID: m.position.ID, Score: m.position.Score})
	}
	return results, nil
}

// A match is an item that matches a query, with its position in the results.
type match struct {
	item     *indexEntry
	position indexPosition
}

func (m match) compare(other match) int { return m.position.compare(other.position) }

// onePerStory returns the first match of each story.
func onePerStory(found []match) []match {
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(m match) bool {
		story := m.item.doc.Story
		seenStory := story != "" && seen[story]
		seen[story] = true
		return seenStory
	})
}

// A search is a running query.
type search struct {
	storage.Query
	forgives bool
	rarity   map[string]float64 // of the query's words, by stem; fixed for all pages, so that pages are consistent
}

// run returns all matches, unordered.
func (s *search) run(items map[string]indexEntry) []match {
	scored := s.Scored()
	texts := query.Texts(s.Where)
	if scored && s.rarity == nil {
		s.rarity = rarityOf(texts, items)
	}
	matches := query.Matches
	if s.forgives {
		matches = query.MatchesFuzzy
	}
	var found []match
	for _, it := range items {
		if !s.Admits(it.doc) || !matches(s.Where, it.doc) {
			continue
		}
		m := match{item: &it, position: indexPosition{Published: it.doc.Published.UnixMicro(), ID: it.id}}
		if scored {
			m.position.Score = s.score(&it, texts)
		}
		found = append(found, m)
	}
	return found
}

// rarityOf returns the rarity of the query's words, by stem. A prefix counts as a word.
func rarityOf(texts []query.Text, items map[string]indexEntry) map[string]float64 {
	rarity := map[string]float64{}
	for _, t := range texts {
		for _, w := range t.QueryWords() {
			rarity[w.Stem] = rarityIn(items, w.Stem)
		}
	}
	return rarity
}

// rarityIn returns the weight of a word by the number of items that contain it.
//
// Source: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009; 1 is added
// so that no word has weight 0.
func rarityIn(items map[string]indexEntry, stem string) float64 {
	have := 0.0
	for _, it := range items {
		if it.weights[stem] > 0 {
			have++
		}
	}
	return 1 + math.Log(1+(float64(len(items))-have+0.5)/(have+0.5))
}

// score returns the score of the item for the query's words.
func (s *search) score(it *indexEntry, texts []query.Text) float64 {
	sum := 0.0
	for _, t := range texts {
		words := t.QueryWords()
		for i, w := range words {
			goesOn := t.Form == query.Prefix && i == len(words)-1
			sum += s.rarity[w.Stem] * s.weight(it, w, goesOn)
		}
	}
	return sum * s.Boost(it.doc.Published, it.prominence)
}

// weight returns the weight of a word in an item: half if the item contains only a similar word, or a word
// with it as prefix.
func (s *search) weight(it *indexEntry, w query.Word, goesOn bool) float64 {
	if weight := it.weights[w.Stem]; weight > 0 || !goesOn && !s.forgives {
		return weight
	}
	most := 0.0
	for stem, weight := range it.weights {
		if goesOn && strings.HasPrefix(stem, w.Text) || s.forgives && query.WithinEdits(w.Stem, stem, query.MaxEdits(w.Text)) {
			most = max(most, weight/2)
		}
	}
	return most
}

// day returns a day as a facet value.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
