package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

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
	"q", "feed", "category", "topic", "flag", "language", "after", "before", "spam", "duplicates", "muted", "once", "unique", "sort", "limit",
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
