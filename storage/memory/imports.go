package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"feedmesh/storage"
)

// PutImport implements [storage.Imports].
func (s *Store) PutImport(ctx context.Context, imp storage.Import) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	old := s.imports[imp.ID]
	imp.Cancel = imp.Cancel || old.Cancel && old.Started.Equal(imp.Started)
	s.imports[imp.ID] = copyImport(imp)
	kept := s.newestImports()
	for _, old := range kept[min(len(kept), storage.MaxImports):] {
		delete(s.imports, old.ID)
	}
	return nil
}

// CancelImport implements [storage.Imports].
func (s *Store) CancelImport(ctx context.Context, id string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	imp, ok := s.imports[id]
	if !ok {
		return storage.ErrNotFound
	}
	imp.Cancel = true
	s.imports[id] = imp
	return nil
}

func (s *Store) newestImports() []storage.Import {
	return slices.SortedFunc(maps.Values(s.imports), func(a, b storage.Import) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID))
	})
}

// Import implements [storage.Imports].
func (s *Store) Import(ctx context.Context, id string) (storage.Import, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Import{}, err
	}
	defer s.mu.Unlock()
	imp, ok := s.imports[id]
	if !ok {
		return storage.Import{}, storage.ErrNotFound
	}
	return copyImport(imp), nil
}

// ListImports implements [storage.Imports].
func (s *Store) ListImports(ctx context.Context, limit int) ([]storage.Import, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	page := first(s.newestImports(), limit)
	for i := range page {
		page[i].Lines = nil
	}
	return page, nil
}
