package storage

import (
	"context"
	"errors"
	"time"
)

// MaxTokens is how many tokens there may be: so many that all of them can be
// held in memory wherever they are checked.
const MaxTokens = 1000

// ErrTooMany says that a [Store] has as many of a thing as it takes.
var ErrTooMany = errors.New("too many")

// Tokens is the part of a [Store] that remembers what clients may show.
type Tokens interface {
	// Tokens returns all tokens, ordered by Created, then ID.
	Tokens(ctx context.Context) ([]Token, error)

	// AddToken stores a token that was never used. One whose ID is known
	// stays as it is. Where there are [MaxTokens], it is refused with
	// [ErrTooMany].
	AddToken(ctx context.Context, token Token) error

	// UseToken remembers when a token was used last, unless it was used later
	// than that, or is gone.
	UseToken(ctx context.Context, id string, at time.Time) error

	// RemoveToken forgets the token with the given ID. It returns
	// [ErrNotFound] if there is none.
	RemoveToken(ctx context.Context, id string) error
}

// A Token is a secret that a client shows, and what it may do with it.
type Token struct {
	ID      string
	Name    string    // by which a person knows it
	Hash    string    // of the secret, as package agent/access makes it; the secret itself is kept nowhere
	Scopes  []string  // see package agent/access
	Created time.Time // when it was made
	Used    time.Time // when it was used last, within a minute or so; zero: never
}
