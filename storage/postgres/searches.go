package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	allSearches = `SELECT name, title, query, added FROM searches ORDER BY name`
	putSearch   = `
		INSERT INTO searches (name, title, query, added)
		SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM searches WHERE name <> $1) < $5
		ON CONFLICT (name) DO UPDATE SET title = excluded.title, query = excluded.query, added = excluded.added`
	removeSearch = `DELETE FROM searches WHERE name = $1 RETURNING name`
)

// SavedSearches implements [storage.SavedSearches].
func (s *Store) SavedSearches(ctx context.Context) ([]storage.SavedSearch, error) {
	return read(ctx, s, "list searches", func(row pgx.CollectableRow) (q storage.SavedSearch, err error) {
		err = row.Scan(&q.Name, &q.Title, &q.Query, nullTime{&q.Added})
		return q, err
	}, allSearches)
}

// PutSearch implements [storage.SavedSearches]. Concurrent calls may exceed the limit by their number.
func (s *Store) PutSearch(ctx context.Context, q storage.SavedSearch) error {
	return s.do(ctx, "save search", func(ctx context.Context) error {
		put, err := s.pool.Exec(ctx, putSearch, clean(q.Name, q.Title, q.Query, q.Added, storage.MaxSearches)...)
		if err == nil && put.RowsAffected() == 0 {
			return storage.ErrTooMany
		}
		return err
	})
}

// RemoveSearch implements [storage.SavedSearches].
func (s *Store) RemoveSearch(ctx context.Context, name string) error {
	return s.do(ctx, "remove search", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], removeSearch, name)
		return err
	})
}
