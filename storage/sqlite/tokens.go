package sqlite

import (
	"context"
	"time"

	"feedmesh/storage"
)

const allTokens = `SELECT id, name, hash, scopes, created, used FROM tokens ORDER BY created, id`

// Tokens implements [storage.Tokens].
func (s *Store) Tokens(ctx context.Context) ([]storage.Token, error) {
	all, err := collect(ctx, s.read.tokens, func(row scanner) (t storage.Token, err error) {
		err = row.Scan(&t.ID, &t.Name, &t.Hash, fromJSON(&t.Scopes), nullTime{&t.Created}, nullTime{&t.Used})
		return t, err
	})
	return all, s.wrap(ctx, "list tokens", err)
}

const (
	// A stored token may be added again when the limit is reached.
	tokenAllowed = `SELECT count(*) < ?2 OR max(id = ?1) FROM tokens`

	addToken = `INSERT OR IGNORE INTO tokens (id, name, hash, scopes, created) VALUES (?, ?, ?, ?, ?)`
)

// AddToken implements [storage.Tokens].
func (s *Store) AddToken(ctx context.Context, t storage.Token) error {
	return s.transaction(ctx, "add token", func(w *writer) error {
		var room bool
		if err := w.tokenAllowed.QueryRowContext(ctx, t.ID, storage.MaxTokens).Scan(&room); err != nil {
			return err
		}
		if !room {
			return storage.ErrTooMany
		}
		_, err := w.addToken.ExecContext(ctx, t.ID, t.Name, t.Hash, listOrNull(t.Scopes), micros(t.Created))
		return err
	})
}

const useToken = `UPDATE tokens SET used = ?2 WHERE id = ?1 AND (used IS NULL OR used < ?2)`

// UseToken implements [storage.Tokens].
func (s *Store) UseToken(ctx context.Context, id string, at time.Time) error {
	return s.transaction(ctx, "use token", func(w *writer) error {
		_, err := w.useToken.ExecContext(ctx, id, micros(at))
		return err
	})
}

const removeToken = `DELETE FROM tokens WHERE id = ? RETURNING id`

// RemoveToken implements [storage.Tokens].
func (s *Store) RemoveToken(ctx context.Context, id string) error {
	return s.transaction(ctx, "remove token", func(w *writer) error {
		_, err := scanText(w.removeToken.QueryRowContext(ctx, id))
		return err
	})
}
