package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const allTokens = `SELECT id, name, hash, scopes, created, used FROM tokens ORDER BY created, id`

// Tokens implements [storage.Tokens].
func (s *Store) Tokens(ctx context.Context) ([]storage.Token, error) {
	return read(ctx, s, "list tokens", func(row pgx.CollectableRow) (t storage.Token, err error) {
		err = row.Scan(&t.ID, &t.Name, &t.Hash, &t.Scopes, nullTime{&t.Created}, nullTime{&t.Used})
		return t, err
	}, allTokens)
}

const (
	// The lock serializes AddToken, so that concurrent calls cannot exceed the limit. UseToken does not wait
	// for it.
	lockTokens = `LOCK TABLE tokens IN SHARE UPDATE EXCLUSIVE MODE`

	// A stored token may be added again when the limit is reached.
	tokenAllowed = `SELECT count(*) < $2 OR coalesce(bool_or(id = $1), false) FROM tokens`

	addToken = `
		INSERT INTO tokens (id, name, hash, scopes, created) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO NOTHING`
)

// AddToken implements [storage.Tokens].
func (s *Store) AddToken(ctx context.Context, t storage.Token) error {
	return s.transaction(ctx, "add token", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockTokens); err != nil {
			return err
		}
		room, err := one(ctx, tx, pgx.RowTo[bool], tokenAllowed, t.ID, storage.MaxTokens)
		if err != nil {
			return err
		}
		if !room {
			return storage.ErrTooMany
		}
		_, err = tx.Exec(ctx, addToken, clean(t.ID, t.Name, t.Hash, listOrNull(t.Scopes), t.Created)...)
		return err
	})
}

const useToken = `UPDATE tokens SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)`

// UseToken implements [storage.Tokens].
func (s *Store) UseToken(ctx context.Context, id string, at time.Time) error {
	return s.do(ctx, "use token", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, useToken, clean(id, at)...)
		return err
	})
}

const removeToken = `DELETE FROM tokens WHERE id = $1 RETURNING id`

// RemoveToken implements [storage.Tokens].
func (s *Store) RemoveToken(ctx context.Context, id string) error {
	return s.do(ctx, "remove token", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], removeToken, id)
		return err
	})
}
