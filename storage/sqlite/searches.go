package sqlite

import (
	"context"

	"feedmesh/storage"
)

const (
	allSearches = `SELECT name, title, query, added FROM searches ORDER BY name`
	putSearch   = `
		INSERT INTO searches (name, title, query, added)
		SELECT ?1, ?2, ?3, ?4 WHERE (SELECT count(*) FROM searches WHERE name <> ?1) < ?5
		ON CONFLICT (name) DO UPDATE SET title = excluded.title, query = excluded.query, added = excluded.added`
	removeSearch = `DELETE FROM searches WHERE name = ? RETURNING name`
)

// SavedSearches implements [storage.SavedSearches].
func (s *Store) SavedSearches(ctx context.Context) ([]storage.SavedSearch, error) {
	all, err := collect(ctx, s.read.searches, func(row scanner) (q storage.SavedSearch, err error) {
		err = row.Scan(&q.Name, &q.Title, &q.Query, nullTime{&q.Added})
		return q, err
	})
	return all, s.wrap(ctx, "list searches", err)
}

// PutSearch implements [storage.SavedSearches].
func (s *Store) PutSearch(ctx context.Context, q storage.SavedSearch) error {
	return s.transaction(ctx, "save search", func(w *writer) error {
		put, err := changes(w.putSearch.ExecContext(ctx, q.Name, q.Title, q.Query, micros(q.Added), storage.MaxSearches))
		if err == nil && !put {
			return storage.ErrTooMany
		}
		return err
	})
}

// RemoveSearch implements [storage.SavedSearches].
func (s *Store) RemoveSearch(ctx context.Context, name string) error {
	return s.transaction(ctx, "remove search", func(w *writer) error {
		_, err := scanText(w.removeSearch.QueryRowContext(ctx, name))
		return err
	})
}
