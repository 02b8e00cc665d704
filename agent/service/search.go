package service

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

// Search answers requests to find items by their content.
type Search struct {
	*core
	storeSlots chan struct{} // semaphore of concurrent searches in the store
}

// Find returns a page of matching items. The index finds them and the store returns them, so items removed
// since are skipped. If the index does not answer in time, the store searches its newest items. The error may
// be a query syntax error.
func (s *Search) Find(ctx context.Context, q wire.Search) (wire.SearchResults, error) {
	c, err := readCursor(q.Cursor, s.Now())
	if err != nil {
		return wire.SearchResults{}, fmt.Errorf("search: %w", err)
	}
	parsed, err := indexQuery(q, c)
	if err != nil {
		return wire.SearchResults{}, err
	}
	if parsed.Where, err = s.namedFeeds(ctx, parsed.Where); err != nil {
		return wire.SearchResults{}, fmt.Errorf("search: %w", err)
	}
	found, results, err := s.find(ctx, parsed, c)
	if err != nil {
		return wire.SearchResults{}, fmt.Errorf("search: %w", err)
	}
	titles := s.titles(ctx)
	found.Items, err = s.foundItems(ctx, results.Hits, titles, newHighlighter(parsed.Where, results.Fuzzy))
	if err != nil {
		return wire.SearchResults{}, err
	}
	if results.Facets != nil {
		found.Facets = map[string][]wire.Facet{}
		for name, counts := range results.Facets {
			found.Facets[name] = facets(name, counts, titles)
		}
	}
	return found, nil
}

// Suggest returns words of titles that begin with a prefix.
func (s *Search) Suggest(ctx context.Context, in wire.SuggestRequest) (wire.Suggestions, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	words, err := s.Index.Suggest(indexCtx, in.Prefix, in.Limit)
	if err != nil {
		return wire.Suggestions{}, fmt.Errorf("suggest words for %q: %w", in.Prefix, asUnavailable(ctx, err))
	}
	return wire.Suggestions{Words: append([]storage.FacetCount{}, words...)}, nil
}

// indexQuery converts the search to a query of the index.
func indexQuery(q wire.Search, c cursor) (storage.Query, error) {
	parse := query.Parse
	if q.Typing {
		parse = query.ParsePartial
	}
	typed, err := parse(q.Query, c.at)
	var syntaxErr *query.SyntaxError
	if errors.As(err, &syntaxErr) {
		return storage.Query{}, fmt.Errorf("the query can't be understood at character %d: %w", utf8.RuneCountInString(q.Query[:syntaxErr.Offset])+1, err)
	}
	var where query.And
	for _, is := range []query.FieldEquals{ // in a fixed order, since cursors contain a hash of the query
		{Field: query.Feed, Value: q.Feed}, {Field: query.Category, Value: q.Category}, {Field: query.Topic, Value: q.Topic},
		{Field: query.Flag, Value: q.Flag}, {Field: query.Language, Value: q.Language},
	} {
		if is.Value != "" {
			where = append(where, is)
		}
	}
	if !q.After.IsZero() || !q.Before.IsZero() {
		where = append(where, query.TimeRange{From: q.After, Until: q.Before})
	}
	return storage.Query{
		Where: query.All(typed, where...), Spam: q.Spam, Duplicates: q.Duplicates, Muted: q.Muted, OnePerStory: q.Once,
		Newest: q.Sort == "newest", Now: c.at, Limit: q.Limit, Cursor: c.engine, Facets: q.Facets,
	}, nil
}

func facets(name string, counts []storage.FacetCount, titles func(string) string) []wire.Facet {
	list := make([]wire.Facet, len(counts))
	for i, c := range counts {
		list[i] = wire.Facet{Value: c.Value, Label: c.Value, Count: c.Count}
		if name == "feed" {
			list[i].Label = titles(c.Value)
		}
	}
	return list
}
