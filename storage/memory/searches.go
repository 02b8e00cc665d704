package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"feedmesh/storage"
)

// SavedSearches implements [storage.SavedSearches].
func (s *Store) SavedSearches(ctx context.Context) ([]storage.SavedSearch, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.searches), func(a, b storage.SavedSearch) int { return cmp.Compare(a.Name, b.Name) }), nil
}

// PutSearch implements [storage.SavedSearches].
func (s *Store) PutSearch(ctx context.Context, search storage.SavedSearch) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, exists := s.searches[search.Name]; !exists && len(s.searches) >= storage.MaxSearches {
		return storage.ErrTooMany
	}
	search.Added = micro(search.Added)
	s.searches[search.Name] = search
	return nil
}

// RemoveSearch implements [storage.SavedSearches].
func (s *Store) RemoveSearch(ctx context.Context, name string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.searches[name]; !ok {
		return storage.ErrNotFound
	}
	delete(s.searches, name)
	return nil
}
