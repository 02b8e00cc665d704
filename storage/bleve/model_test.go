package bleve_test

import (
	"cmp"
	"slices"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A model is the specification of [storage.Index.Search]: it evaluates a query on every item. It has no scores.
type model map[string]storage.IndexItem

func (m model) put(items ...storage.IndexItem) {
	for _, it := range items {
		m[it.ID] = it
	}
}

// search returns the IDs on all pages, newest first, the facets and whether the words are only similar.
func (m model) search(q storage.Query) (ids []string, facets map[string][]storage.FacetCount, fuzzy bool) {
	found := m.matches(q, query.Matches)
	if len(found) == 0 {
		found = m.matches(q, query.MatchesFuzzy)
		fuzzy = len(found) > 0
	}
	slices.SortFunc(found, func(a, b storage.IndexItem) int {
		return cmp.Or(b.Published.Compare(a.Published), cmp.Compare(a.ID, b.ID))
	})
	stories := map[string]bool{}
	for _, it := range found {
		if it.StoryID == "" || !q.OnePerStory || !stories[it.StoryID] {
			ids = append(ids, it.ID)
		}
		stories[it.StoryID] = true
	}
	return ids, facetsOf(found), fuzzy
}

func (m model) matches(q storage.Query, matches func(query.Node, *query.Document) bool) (found []storage.IndexItem) {
	for _, it := range m {
		if d := it.Document(); admits(q, d) && matches(q.Where, d) {
			found = append(found, it)
		}
	}
	return found
}

// admits reports whether a query admits a document's flags: spam, duplicates and muted items only if requested.
func admits(q storage.Query, d *query.Document) bool {
	for _, flag := range []string{storage.FlagSpam, storage.FlagDuplicate, storage.FlagMuted} {
		if slices.Contains(d.Flags, flag) && !q.IncludesFlag(flag) {
			return false
		}
	}
	return !q.Spam || slices.Contains(d.Flags, storage.FlagSpam)
}

// facetsOf counts the items by each of the facets, as [storage.Results] defines.
func facetsOf(items []storage.IndexItem) map[string][]storage.FacetCount {
	facets := map[string][]storage.FacetCount{}
	for facet, values := range map[string]func(storage.IndexItem) []string{
		"category":  func(it storage.IndexItem) []string { return it.Categories },
		"topic":     func(it storage.IndexItem) []string { return it.Topics },
		"feed":      func(it storage.IndexItem) []string { return []string{it.FeedID} },
		"language":  func(it storage.IndexItem) []string { return []string{it.Language} },
		"day":       func(it storage.IndexItem) []string { return []string{it.Published.UTC().Format(time.DateOnly)} },
		"sentiment": func(it storage.IndexItem) []string { return []string{storage.SentimentOf(it.Sentiment)} },
	} {
		counts := map[string]int64{}
		for _, it := range items {
			for _, value := range values(it) {
				counts[value]++
			}
		}
		delete(counts, "")
		facets[facet] = topOf(facet, counts)
	}
	return facets
}

// topOf returns the most frequent values, or the latest days.
func topOf(facet string, counts map[string]int64) []storage.FacetCount {
	top, most := []storage.FacetCount{}, storage.MaxFacet
	for value, n := range counts {
		top = append(top, storage.FacetCount{Value: value, Count: n})
	}
	order := func(a, b storage.FacetCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	}
	if facet == "day" {
		most = storage.MaxDays
		order = func(a, b storage.FacetCount) int { return cmp.Compare(b.Value, a.Value) }
	}
	slices.SortFunc(top, order)
	return top[:min(len(top), most)]
}
