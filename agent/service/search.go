package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/classify/text"
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

// passageLength is the length of the passage of an item's text in a search, in characters.
const passageLength = 240

// foundItems returns the stored items of the hits, in the same order. Items removed since they were indexed
// are skipped.
func (s *Search) foundItems(ctx context.Context, hits []storage.Hit, titles func(string) string, m *highlighter) ([]wire.FoundItem, error) {
	ids := make([]string, len(hits))
	scores := make(map[string]float64, len(hits))
	for i, h := range hits {
		ids[i], scores[h.ID] = h.ID, h.Score
	}
	items, err := s.Store.Items(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the items found: %w", err)
	}
	coverage, err := s.coverage(ctx, items)
	if err != nil {
		return nil, err
	}
	found := make([]wire.FoundItem, len(items))
	for i, item := range items {
		plain := text.PlainText(item.HTML)
		item.HTML = ""
		found[i] = wire.FoundItem{
			Item: item, FeedTitle: titles(item.FeedID), Score: scores[item.ID],
			TitleSpans: highlight(item.Title, m, len(item.Title)),
			TextSpans:  highlight(plain, m, passageLength),
			Coverage:   coverage[item.StoryID],
		}
	}
	return found, nil
}

// highlight returns the part of a text with the most matching words.
func highlight(plain string, m *highlighter, max int) []wire.Span {
	var spans []wire.Span
	for _, s := range text.Highlight(plain, m.matcher(plain), max) {
		spans = append(spans, wire.Span(s))
	}
	return spans
}

// coverage returns the coverage of the items' stories by story ID; stories of a single publisher are absent.
func (s *Search) coverage(ctx context.Context, items []storage.Item) (map[string]*wire.StoryCoverage, error) {
	var ids []string
	for _, item := range items {
		if item.StoryID != "" {
			ids = append(ids, item.StoryID)
		}
	}
	stories, err := s.Store.StoriesByID(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the stories of the results: %w", err)
	}
	coverage := make(map[string]*wire.StoryCoverage, len(stories))
	for id, story := range stories {
		coverage[id] = &wire.StoryCoverage{Items: story.Items, Sources: story.Sources}
	}
	return coverage, nil
}

// SavedSearches answers requests about saved searches.
type SavedSearches struct{ *core }

// List returns all saved searches, ordered by name.
func (s *SavedSearches) List(ctx context.Context, _ wire.None) (wire.SavedSearches, error) {
	all, err := storage.SavedSearches(s.Store).List(ctx)
	return wire.SavedSearches{Searches: append([]storage.SavedSearch{}, all...)}, err
}

// Get returns one saved search.
func (s *SavedSearches) Get(ctx context.Context, in wire.SavedSearchName) (storage.SavedSearch, error) {
	all, err := storage.SavedSearches(s.Store).List(ctx)
	if err != nil {
		return storage.SavedSearch{}, err
	}
	for _, search := range all {
		if search.Name == in.Name {
			return search, nil
		}
	}
	return storage.SavedSearch{}, fmt.Errorf("search %s: %w", in.Name, storage.ErrNotFound)
}

// Save saves a search under a name, and replaces one of that name. An invalid search is a conflict.
func (s *SavedSearches) Save(ctx context.Context, in wire.SaveSearchRequest) (storage.SavedSearch, error) {
	values, err := url.ParseQuery(strings.TrimPrefix(in.Body.Query, "?"))
	if err != nil {
		return storage.SavedSearch{}, errorf(KindConflict, "the query is not what stands after the question mark of a search's address: %v", err)
	}
	if err := s.checkSavable(values); err != nil {
		return storage.SavedSearch{}, err
	}
	search := storage.SavedSearch{Name: in.Name, Title: in.Body.Title, Query: values.Encode(), Added: s.Now()}
	err = storage.SavedSearches(s.Store).Put(ctx, search)
	if errors.Is(err, storage.ErrTooMany) {
		return search, errorf(KindConflict, "there are %d saved searches, which is all there may be: remove one first", storage.MaxSearches)
	}
	return search, err
}

// Remove removes a saved search, or returns [storage.ErrNotFound].
func (s *SavedSearches) Remove(ctx context.Context, in wire.SavedSearchName) (wire.None, error) {
	if err := storage.SavedSearches(s.Store).Remove(ctx, in.Name); err != nil {
		return wire.None{}, fmt.Errorf("search %s: %w", in.Name, err)
	}
	return wire.None{}, nil
}

// savableParams are the parameters of a saved search: those of a search that select items, and those of the
// console's search page.
var savableParams = []string{
	"q", "feed", "category", "topic", "flag", "language", "after", "before", "spam", "duplicates", "muted", "once", "sort", "limit",
	"show", "day", "stories",
}

// checkSavable rejects unsupported parameters, which a search would ignore and return all items.
func (s *SavedSearches) checkSavable(values url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(savableParams, name) {
			return errorf(KindConflict, "%q is no parameter of a search: what is looked for goes into q, as q=go+-rust", name)
		}
	}
	var syntaxErr *query.SyntaxError
	if _, err := indexQuery(wire.Search{Query: values.Get("q")}, cursor{at: s.Now()}); errors.As(err, &syntaxErr) {
		return errorf(KindConflict, "%v", err)
	}
	return nil
}
