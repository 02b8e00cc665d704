package storage

import (
	"context"
	"time"
)

// MaxTokens is the maximum number of tokens, low enough that every process can cache all of them.
const MaxTokens = 1000

// A Token is a client's secret and its permissions.
type Token struct {
	ID      string
	Name    string   // display name
	Hash    string   // of the secret, computed by package agent/access; the secret itself is not stored
	Scopes  []string // see package agent/access
	Created time.Time
	Used    time.Time // time of last use, accurate to about a minute; zero: never
}

var tokenTable = tableOf(Table{Name: "tokens", Keys: 1, Order: "created, id", Max: MaxTokens}, func(t *Token) []Column {
	return []Column{
		{Name: "id", Field: &t.ID}, {Name: "name", Field: &t.Name}, {Name: "hash", Field: &t.Hash}, {Name: "scopes", Field: &t.Scopes},
		{Name: "created", Field: &t.Created}, {Name: "used", Field: &t.Used, Nullable: true},
	}
})

// Tokens returns the API tokens of a [Store].
func Tokens(of Records) TokenRecords { return TokenRecords{of} }

// TokenRecords are the API tokens of a [Store].
type TokenRecords struct{ records Records }

// List returns all tokens, ordered by Created, then ID.
func (t TokenRecords) List(ctx context.Context) ([]Token, error) {
	return listRecords[Token](ctx, t.records, tokenTable, allRecords)
}

// Add stores an unused token. A token with the same ID stays unchanged. If [MaxTokens] are stored, it returns
// [ErrTooMany].
func (t TokenRecords) Add(ctx context.Context, token Token) error {
	token.Used = time.Time{}
	return changeRecord(ctx, t.records, tokenTable, func(stored *Token) (*Token, error) {
		if stored != nil {
			return stored, nil
		}
		return &token, nil
	}, token.ID)
}

// Use records the time of last use, unless a later use is recorded. A missing token is ignored.
func (t TokenRecords) Use(ctx context.Context, id string, at time.Time) error {
	return changeRecord(ctx, t.records, tokenTable, func(stored *Token) (*Token, error) {
		if stored != nil && at.After(stored.Used) {
			stored.Used = at
		}
		return stored, nil
	}, id)
}

// Remove deletes the token with the given ID, or returns [ErrNotFound].
func (t TokenRecords) Remove(ctx context.Context, id string) error {
	return removeRecord[Token](ctx, t.records, tokenTable, id)
}
