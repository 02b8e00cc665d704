package storage

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
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

	// Search returns a page of the items that match the query.
	Search(ctx context.Context, query Query) (Results, error)

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

// Indexed is an item together with what an [Index] reads but no one stores:
// the plain text of its HTML.
type Indexed struct {
	Item
	Text string
}

// A Query says which items to find. All of its conditions must hold; a zero
// field is no condition.
type Query struct {
	Words    string    // all of them must occur in title, text, author or tags, by stem
	FeedID   string    //
	Category string    //
	Topic    string    // capitals may count as small letters
	Flag     string    // one of the flags of an [Item]
	Language string    //
	After    time.Time // published at or after
	Before   time.Time // published before

	Spam       bool // spam only; otherwise none of it
	Duplicates bool // duplicates too; otherwise the first of their kind only
	Muted      bool // those flagged [Muted] too; otherwise none of them, unless Flag asks for them

	Newest bool   // newest first; otherwise best first, if there are Words
	Limit  int    // items a page; at most [MaxLimit]
	Cursor string // Next of the page before
	Facets bool   // count what there is by category, topic, feed, language and sentiment
}

// Key is equal for two queries if they find the same items in the same order,
// whatever the page: an engine's cursors carry it, to be told from others.
func (q Query) Key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %d %d %t %t %t %t", q.Words, q.FeedID, q.Category, q.Topic, q.Flag, q.Language,
		q.After.UnixMicro(), q.Before.UnixMicro(), q.Spam, q.Duplicates, q.Muted, q.Newest))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// FindsMuted reports whether items flagged [Muted] are among those to find.
func (q Query) FindsMuted() bool { return q.Muted || q.Flag == Muted }

// PageSize returns how many items a page has: Limit within its bounds, or 20
// if there is none.
func (q Query) PageSize() int {
	if q.Limit <= 0 {
		return 20
	}
	return min(q.Limit, MaxLimit)
}

// MaxLimit is the largest page an [Index] returns.
const MaxLimit = 100

// MaxFacet is the largest number of values a facet lists.
const MaxFacet = 20

// Results is one page of what a [Query] found.
type Results struct {
	Hits  []Hit
	Total int64  // how many match, over all pages
	Next  string // Cursor of the next page; empty if this is the last

	// Facets counts the matches by each of [FacetNames]: at most [MaxFacet]
	// values each, most frequent first, then by value. Nil unless asked for.
	Facets map[string][]FacetCount
}

// FacetNames are the facets that an [Index] counts. The values of "sentiment"
// are those of [SentimentOf]; all others are of the item's field.
var FacetNames = []string{"category", "topic", "feed", "language", "sentiment"}

// SentimentOf returns what a person would call an [Item]'s Sentiment: "negative"
// below -0.25, "positive" above 0.25, "neutral" between them, and nothing for
// exactly 0, which says that nobody looked or nothing was found.
func SentimentOf(sentiment float64) string {
	switch {
	case sentiment < -0.25:
		return "negative"
	case sentiment > 0.25:
		return "positive"
	case sentiment != 0:
		return "neutral"
	}
	return ""
}

// A Hit is one item found.
type Hit struct {
	ID    string
	Score float64 // the higher the better; 0 where order is by time
}

// A FacetCount says how many matches have a value.
type FacetCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}
