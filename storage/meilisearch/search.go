package meilisearch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// Search implements [storage.Index].
func (x *Index) Search(ctx context.Context, q storage.Query) (storage.Results, error) {
	after, err := parseCursor(q)
	if err != nil {
		return storage.Results{}, err
	}
	stems := stemsOf(q.Words)
	conditions, ok := filterOf(q)
	if !ok || strings.TrimSpace(q.Words) != "" && len(stems) == 0 {
		return nothing(q), nil
	}
	// The page, and apart from it what is the same for all pages.
	page := x.request(stems, conditions)
	scored := len(stems) > 0 && !q.Newest
	if scored {
		pageByScore(page, after, q.PageSize())
	} else {
		pageByTime(page, conditions, after, q.PageSize())
	}
	whole := x.request(stems, conditions)
	whole.HitsPerPage = new(int64) // none, but their exact number
	if q.Facets {
		whole.Facets = storage.FacetNames
	}
	found, err := x.find(ctx, page, whole)
	if err != nil {
		return storage.Results{}, x.failed(ctx, "search", err)
	}
	if found == nil {
		return nothing(q), nil
	}
	results, err := resultsOf(q, found[0], after, scored)
	if err == nil && q.Facets {
		results.Facets, err = facetsOf(found[1].FacetDistribution)
	}
	if err != nil {
		return storage.Results{}, x.failed(ctx, "read what a search found", err)
	}
	results.Total = found[1].TotalHits
	return results, nil
}

// nothing returns the results of a query without matches.
func nothing(q storage.Query) storage.Results {
	var none storage.Results
	if q.Facets {
		none.Facets, _ = facetsOf(nil)
	}
	return none
}

// filterOf returns the query's conditions but for its words. If it is not ok,
// no item meets them: all our values are in small letters but for topics, and
// Meilisearch would take others for the same.
func filterOf(q storage.Query) (f filter, ok bool) {
	for a, value := range map[attribute]string{
		attrFeed: q.FeedID, attrCategory: q.Category, attrFlag: q.Flag, attrLanguage: q.Language,
	} {
		if value == "" {
			continue
		}
		if value != strings.ToLower(value) {
			return nil, false
		}
		f.add(compare(a, "=", value))
	}
	if q.Topic != "" {
		f.add(compare(attrTopic, "=", q.Topic))
	}
	if !q.FindsMuted() {
		f.add(not(compare(attrFlag, "=", storage.Muted)))
	}
	if q.Spam {
		f.add(compare(attrSpam, "=", "true"))
	} else {
		f.add(compare(attrSpam, "=", "false"))
	}
	if !q.Duplicates {
		f.add(compare(attrDuplicate, "=", "false"))
	}
	if !q.After.IsZero() {
		f.add(compare(attrPublished, ">=", timeOf(q.After)))
	}
	if !q.Before.IsZero() {
		f.add(compare(attrPublished, "<", timeOf(q.Before)))
	}
	return f, true
}

// request returns a request for the documents that have all the stems and meet
// the conditions.
func (x *Index) request(stems []string, f filter) *upstream.SearchRequest {
	r := &upstream.SearchRequest{IndexUID: x.name, Filter: f.request()}
	if len(stems) > 0 {
		r.Query = phrases(stems)
		r.MatchingStrategy = upstream.All
		r.AttributesToSearchOn = names(stemAttributes...)
	}
	return r
}

// maxPhrases is the most words or phrases of a query that Meilisearch heeds.
const maxPhrases = 10

// phrases returns the stems as a query in which each is a phrase of its own:
// phrases match without typos, and to their end. If there are more stems than
// phrases may be, the last phrase has all that are left. Where Meilisearch
// keeps no distances, a phrase matches where its words occur in one attribute,
// in whatever order, and attrStems has them all.
func phrases(stems []string) string {
	var all []string
	for len(stems) >= maxPhrases && len(all) < maxPhrases-1 || len(stems) > 0 && len(stems)+len(all) <= maxPhrases {
		all, stems = append(all, stems[0]), stems[1:]
	}
	if len(stems) > 0 {
		all = append(all, strings.Join(stems, " "))
	}
	return `"` + strings.Join(all, `" "`) + `"`
}

// pageByTime asks for the documents after the cursor's, newest first, and for
// one more than fit in, which tells whether there is another page.
func pageByTime(r *upstream.SearchRequest, f filter, after cursor, size int) {
	r.Sort = []string{string(attrPublished) + ":desc", string(attrID) + ":asc"}
	r.Limit = int64(size) + 1
	if after.Key == "" {
		return
	}
	f = slices.Clone(f)
	f.add(compare(attrPublished, "<", after.Published),
		both(compare(attrPublished, "=", after.Published), compare(attrID, ">", after.Key)))
	r.Filter = f.request()
}

// slack is by how many places the last hit of a page may have moved, for what
// was put or deleted since, and the next page yet begins after it.
const slack = 30

// pageByScore asks for the documents from before the cursor's place on, to find
// its document again.
func pageByScore(r *upstream.SearchRequest, after cursor, size int) {
	r.ShowRankingScore = true
	r.Offset = max(0, after.Place-1-slack)
	r.Limit = after.Place - r.Offset + slack + int64(size) + 1
}

// find returns what each request found, or nil if there are no documents.
func (x *Index) find(ctx context.Context, requests ...*upstream.SearchRequest) ([]upstream.SearchResponse, error) {
	for _, r := range requests {
		r.AttributesToRetrieve = names(attrID, attrPublished)
	}
	found, err := x.server.MultiSearchWithContext(ctx, &upstream.MultiSearchRequest{Queries: requests})
	if isMissing(err) || hasCode(err, "invalid_search_attributes_to_search_on") && x.isEmpty(ctx) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return found.Results, nil
}

// isEmpty reports whether there is no document. Then Meilisearch says that what
// we search in is not searchable: it knows no attribute before the first one.
func (x *Index) isEmpty(ctx context.Context) bool {
	stats, err := x.stats(ctx)
	return err == nil && stats.NumberOfDocuments == 0
}

// A hit is a document found.
type hit struct {
	ID        string  `json:"id"`
	Published string  `json:"published"`
	Score     float64 `json:"_rankingScore"`
}

// resultsOf returns the page after the cursor.
func resultsOf(q storage.Query, found upstream.SearchResponse, after cursor, scored bool) (storage.Results, error) {
	var hits []hit
	if err := found.Hits.DecodeInto(&hits); err != nil {
		return storage.Results{}, err
	}
	var begin int64
	if scored && after.Place > 0 {
		begin = after.Place - found.Offset
		if i := slices.IndexFunc(hits, func(h hit) bool { return h.ID == after.Key }); i >= 0 {
			begin = int64(i) + 1
		}
	}
	hits = hits[min(begin, int64(len(hits))):]

	var results storage.Results
	if size := q.PageSize(); len(hits) > size {
		hits = hits[:size]
		last := cursor{Query: q.Key(), Published: hits[size-1].Published, Key: hits[size-1].ID}
		if scored {
			last.Place = found.Offset + begin + int64(size)
		}
		results.Next = last.String()
	}
	for _, h := range hits {
		results.Hits = append(results.Hits, storage.Hit{ID: idOf(h.ID), Score: h.Score})
	}
	return results, nil
}

// facetsOf returns the most frequent values of each facet.
func facetsOf(distribution json.RawMessage) (map[string][]storage.FacetCount, error) {
	var found map[string]map[string]int64
	if len(distribution) > 0 {
		if err := json.Unmarshal(distribution, &found); err != nil {
			return nil, err
		}
	}
	facets := make(map[string][]storage.FacetCount)
	for _, facet := range storage.FacetNames {
		counts := []storage.FacetCount{}
		for value, n := range found[facet] {
			counts = append(counts, storage.FacetCount{Value: value, Count: n})
		}
		slices.SortFunc(counts, func(a, b storage.FacetCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
		})
		facets[facet] = counts[:min(len(counts), storage.MaxFacet)]
	}
	return facets, nil
}
