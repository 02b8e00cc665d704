package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"feedmesh/storage"
)

// Tokens implements [storage.Tokens].
func (s *Store) Tokens(ctx context.Context) ([]storage.Token, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var all []storage.Token
	for _, token := range s.tokens {
		token.Scopes = copyList(token.Scopes)
		all = append(all, token)
	}
	slices.SortFunc(all, func(a, b storage.Token) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// AddToken implements [storage.Tokens].
func (s *Store) AddToken(ctx context.Context, token storage.Token) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, exists := s.tokens[token.ID]; exists {
		return nil
	}
	if len(s.tokens) >= storage.MaxTokens {
		return storage.ErrTooMany
	}
	token.Scopes, token.Created, token.Used = copyList(token.Scopes), micro(token.Created), time.Time{}
	s.tokens[token.ID] = token
	return nil
}

// UseToken implements [storage.Tokens].
func (s *Store) UseToken(ctx context.Context, id string, at time.Time) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if token, is := s.tokens[id]; is && token.Used.Before(micro(at)) {
		token.Used = micro(at)
		s.tokens[id] = token
	}
	return nil
}

// RemoveToken implements [storage.Tokens].
func (s *Store) RemoveToken(ctx context.Context, id string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, is := s.tokens[id]; !is {
		return storage.ErrNotFound
	}
	delete(s.tokens, id)
	return nil
}
