package meilisearch

import (
	"context"
	"time"

	"feedmesh/storage"
)

// searchTimeout is the timeout of a search.
const searchTimeout = 2 * time.Second

// A reader implements the methods of [storage.Index] that read.
type reader struct{ *connection }

// Search implements [storage.Index]. Meilisearch has no word rarity and cannot weigh freshness against
// relevance: the score depends on the position of words, and ties are ordered by prominence, then newest
// first.
func (r reader) Search(ctx context.Context, q storage.Query) (storage.Results, error) {
	after, err := parseCursor(q)
	if err != nil {
		return storage.Results{}, err
	}
	branches, err := branchesOf(q.Where, false)
	if err == nil && isSemantic(q) {
		_, _, err = meaningOf(q.Where)
	}
	if err != nil {
		return storage.Results{}, err
	}
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	results, err := r.search(within, q, after, branches)
	if err != nil {
		return storage.Results{}, r.failed(ctx, "search", err)
	}
	return results, nil
}

// search returns a page of the results of the branches. If nothing matches, a retry allows typos.
func (r reader) search(ctx context.Context, q storage.Query, after cursor, branches []branch) (storage.Results, error) {
	in, err := r.searched(ctx)
	if err != nil {
		return storage.Results{}, err
	}
	s := &search{connection: r.connection, in: in, query: q, scored: q.Scored(), after: after}
	if branches, err = (expander{s}).expanded(ctx, branches); err != nil {
		return storage.Results{}, err
	}
	if after.Fuzzy {
		s.searches, err = s.typoRequests(ctx, branches)
	} else {
		s.searches = s.strict(branches)
	}
	if err != nil {
		return storage.Results{}, err
	}
	results, err := s.page(ctx)
	if err != nil || results.Total > 0 || q.Cursor != "" || isSemantic(q) {
		return results, err
	}
	if s.searches, err = s.typoRequests(ctx, branches); err != nil || s.searches == nil {
		return results, err
	}
	s.after.Fuzzy = true
	forgiven, err := s.page(ctx)
	if err != nil || forgiven.Total == 0 {
		return results, err
	}
	return forgiven, nil
}

// page returns the page after the cursor.
func (s *search) page(ctx context.Context) (storage.Results, error) {
	var found *findings
	var err error
	switch {
	case isSemantic(s.query):
		found, err = s.semantic(ctx)
	case len(s.searches) == 0:
		found = &findings{}
	default:
		found, err = s.findPage(ctx)
	}
	if err != nil {
		return storage.Results{}, err
	}
	results := s.results(found)
	results.Total, results.Fuzzy = found.total, s.after.Fuzzy && found.total > 0
	if s.query.Facets {
		results.Facets, err = facetsOf(found.facets)
	}
	return results, err
}
