package storage

import (
	"context"
	"errors"
	"time"
)

// MaxTokens is the maximum number of tokens, low enough that every process can cache all of them.
const MaxTokens = 1000

// ErrTooMany reports that a [Store] already contains the maximum number of such records.
var ErrTooMany = errors.New("too many")

// Tokens is the part of a [Store] that stores API tokens.
type Tokens interface {
	// Tokens returns all tokens, ordered by Created, then ID.
	Tokens(ctx context.Context) ([]Token, error)

	// AddToken stores an unused token. A token with the same ID stays unchanged. If [MaxTokens] are stored,
	// it returns [ErrTooMany].
	AddToken(ctx context.Context, token Token) error

	// UseToken records the time of last use, unless a later use is recorded. A missing token is ignored.
	UseToken(ctx context.Context, id string, at time.Time) error

	// RemoveToken deletes the token with the given ID, or returns [ErrNotFound].
	RemoveToken(ctx context.Context, id string) error
}

// A Token is a client's secret and its permissions.
type Token struct {
	ID      string
	Name    string    // display name
	Hash    string    // of the secret, computed by package agent/access; the secret itself is not stored
	Scopes  []string  // see package agent/access
	Created time.Time // delete
	Used    time.Time // time of last use, accurate to about a minute; zero: never
}
