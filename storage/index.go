package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrBadCursor says that a cursor did not come from a result of the same query.
var ErrBadCursor = errors.New("cursor does not belong to this query")

// An Index finds items by their words. Its methods may be called concurrently.
type Index interface {
	// Put makes the items findable, in place of any with their IDs. When it
	// returns nil, they are on disk, and a search that starts later finds them.
	// If the engine refuses some for what they are, it returns a
	// [*RefusedError]; then all others are findable.
	Put(ctx context.Context, items ...Indexed) error

	// Delete makes the items with these IDs no longer findable. An ID that is
	// not there is no error.
	Delete(ctx context.Context, ids ...string) error

	// Search returns a page of the items that match the query. If no item has all
	// the words, and there is no cursor, it forgives mistakes in them: one in a
	// word of five letters or more, two in one of nine or more; never in phrases, in
	// words that may go on, or in words with digits. Results then are Forgiven.
	//
	// The score of a match grows with how rare the words are, with where they
	// stand (title, tags, author, text), and, somewhat, with how fresh the item is
	// and how many tell its story.
	Search(ctx context.Context, query Query) (Results, error)

	// Similar returns at most limit items that are about the same as the given
	// one, best first, never the item itself, spam, duplicates or muted items.
	// The item need not be indexed. Equal items give equal lists.
	Similar(ctx context.Context, item Indexed, limit int) ([]Hit, error)

	// Suggest returns at most limit words of titles that begin with the prefix,
	// most frequent first, then by word, in small letters, each with about how
	// many items have it. Spam counts too. An empty prefix has none.
	Suggest(ctx context.Context, prefix string, limit int) ([]FacetCount, error)

	Stamped

	// Count returns how many items are indexed.
	Count(ctx context.Context) (int64, error)

	io.Closer
}

// A RefusedError names the items that an [Index] can't take, whenever it is tried.
type RefusedError struct {
	IDs []string // at least one
	Err error    // why
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the index refuses %s: %v", strings.Join(e.IDs, ", "), e.Err)
}

// Unwrap returns why.
func (e *RefusedError) Unwrap() error { return e.Err }
