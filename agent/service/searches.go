package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

func (s *Server) savedSearchRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/searches", "list-searches", "All saved searches, ordered by name", 503), s.listSearches)
	huma.Register(api, op("GET", "/api/searches/{name}", "get-search", "One saved search", 404, 503), s.getSearch)
	huma.Register(api, op("PUT", "/api/searches/{name}", "save-search", "Save a search, or change it", 400, 409, 422, 503), s.saveSearch)
	remove := op("DELETE", "/api/searches/{name}", "remove-search", "Remove a saved search", 404, 503)
	remove.DefaultStatus = http.StatusNoContent
	huma.Register(api, remove, s.removeSearch)
}

// byName names a saved search in a path.
type byName struct {
	Name string `path:"name" maxLength:"64"`
}

func (s *Server) listSearches(ctx context.Context, _ *struct{}) (*body[wire.SavedSearches], error) {
	all, err := s.Searches(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.SavedSearches]{Body: wire.SavedSearches{Searches: append([]storage.SavedSearch{}, all...)}}, nil
}

func (s *Server) getSearch(ctx context.Context, in *byName) (*body[storage.SavedSearch], error) {
	all, err := s.Searches(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	for _, search := range all {
		if search.Name == in.Name {
			return &body[storage.SavedSearch]{Body: search}, nil
		}
	}
	return nil, s.problem(fmt.Errorf("search %s: %w", in.Name, storage.ErrNotFound))
}

func (s *Server) saveSearch(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"64" pattern:"^[a-z0-9][a-z0-9-]*$" patternDescription:"lower-case letters, digits and hyphens"`
	Body wire.SearchSetting
}) (*body[storage.SavedSearch], error) {
	saved, err := s.PutSearch(ctx, in.Name, in.Body)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[storage.SavedSearch]{Body: saved}, nil
}

func (s *Server) removeSearch(ctx context.Context, in *byName) (*struct{}, error) {
	if err := s.RemoveSearch(ctx, in.Name); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

// Searches returns all saved searches, ordered by name.
func (s *Server) Searches(ctx context.Context) ([]storage.SavedSearch, error) {
	return storage.SavedSearches(s.Store).List(ctx)
}

// PutSearch saves a search under a name, and replaces one of that name. An invalid search is a
// [*ConflictError].
func (s *Server) PutSearch(ctx context.Context, name string, setting wire.SearchSetting) (storage.SavedSearch, error) {
	values, err := url.ParseQuery(strings.TrimPrefix(setting.Query, "?"))
	if err != nil {
		return storage.SavedSearch{}, errorf(KindConflict, "the query is not what stands after the question mark of a search's address: %v", err)
	}
	if err := s.checkSavable(values); err != nil {
		return storage.SavedSearch{}, err
	}
	search := storage.SavedSearch{Name: name, Title: setting.Title, Query: values.Encode(), Added: s.Now()}
	err = storage.SavedSearches(s.Store).Put(ctx, search)
	if errors.Is(err, storage.ErrTooMany) {
		return search, errorf(KindConflict, "there are %d saved searches, which is all there may be: remove one first", storage.MaxSearches)
	}
	return search, err
}

// savableParams are the parameters of a saved search: those of a search that select items, and those of the
// console's search page.
var savableParams = []string{
	"q", "feed", "category", "topic", "flag", "language", "after", "before", "spam", "duplicates", "muted", "once", "sort", "limit",
	"show", "day", "stories",
}

// checkSavable rejects unsupported parameters, which a search would ignore and return all items.
func (s *Server) checkSavable(values url.Values) error {
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

// RemoveSearch removes a saved search, or returns [storage.ErrNotFound].
func (s *Server) RemoveSearch(ctx context.Context, name string) error {
	if err := storage.SavedSearches(s.Store).Remove(ctx, name); err != nil {
		return fmt.Errorf("search %s: %w", name, err)
	}
	return nil
}
