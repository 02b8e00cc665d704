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
		err = row.Scan(&t.ID, &t.Name, &t.Hash, fromJSON(&t.Scopes), moment{&t.Created}, moment{&t.Used})
		return t, err
	})
	return all, s.failed(ctx, "list tokens", err)
}

const (
	// A token that is known is no new one, however many there are.
	roomForToken = `SELECT count(*) < ?2 OR max(id = ?1) FROM tokens`

	addToken = `INSERT OR IGNORE INTO tokens (id, name, hash, scopes, created) VALUES (?, ?, ?, ?, ?)`
)

// AddToken implements [storage.Tokens].
func (s *Store) AddToken(ctx context.Context, t storage.Token) error {
	return s.change(ctx, "add token", func(w *writer) error {
		var room bool
		if err := w.roomForToken.QueryRowContext(ctx, t.ID, storage.MaxTokens).Scan(&room); err != nil {
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
	return s.change(ctx, "use token", func(w *writer) error {
		_, err := w.useToken.ExecContext(ctx, id, micros(at))
		return err
	})
}

const removeToken = `DELETE FROM tokens WHERE id = ? RETURNING id`

// RemoveToken implements [storage.Tokens].
func (s *Store) RemoveToken(ctx context.Context, id string) error {
	return s.change(ctx, "remove token", func(w *writer) error {
		_, err := scanText(w.removeToken.QueryRowContext(ctx, id))
		return err
	})
}
