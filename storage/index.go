package storage

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"feedmesh/classify/query"
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
	// word of five letters or more, two in one of nine or more; never in phrases,
	// in prefixes, or in words with digits. Results then are Forgiven.
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

// Indexed is an item together with what an [Index] reads but no one stores with it.
type Indexed struct {
	Item
	Text    string // the plain text of its HTML
	Sources int    // publishers that tell its story, see [Story]; 0: nobody else does
}

// Prominence returns how much an item stands out, from 0 to 15, whatever is looked
// for: 4 if nobody else tells of it and no rule gave it a score. Each time twice
// as many publishers tell its story it is one more, up to 8 more; rules make it up
// to 3 more, or 4 less.
func (i Indexed) Prominence() int {
	told := min(max(bits.Len(uint(max(i.Sources, 0)))-1, 0), 8)
	return 4 + told + ruled(i.Score)
}

// ruled returns what a rule score is for [Indexed.Prominence], by its order of
// magnitude: -4 to 3.
func ruled(score float64) int {
	steps := 0
	for _, least := range []float64{1, 5, 20, 80} {
		if math.Abs(score) >= least {
			steps++
		}
	}
	if score < 0 {
		return -steps
	}
	return min(steps, 3)
}

// Document returns what [query.Matches] reads of the item.
func (i Indexed) Document() *query.Document {
	flags := slices.Clone(i.Flags)
	if i.Spam {
		flags = append(flags, FlagSpam)
	}
	if i.DuplicateOf != "" {
		flags = append(flags, FlagDuplicate)
	}
	return &query.Document{
		Title: i.Title, Author: i.Author, Text: i.Text, Tags: i.Tags, URL: i.URL,
		Feed: i.FeedID, Language: i.Language, Story: i.StoryID, Categories: i.Categories, Topics: i.Topics,
		Flags: flags, Published: i.Published,
	}
}

// What [query.Flag] may ask for besides the flags of an [Item].
const (
	FlagSpam      = "spam"
	FlagDuplicate = "duplicate"
)

// A Query says which items to find.
type Query struct {
	Where query.Node // nil: all

	// What is found only if it is asked for, here or by [query.Flag] in Where, but
	// not below a [query.Not]; see [Query.Finds].
	Spam       bool // spam only; otherwise none of it
	Duplicates bool // duplicates too; otherwise the first of their kind only
	Muted      bool // those flagged [Muted] too

	Once   bool      // of the items of one story only that which comes first
	Newest bool      // newest first; otherwise best first, if Where asks for words
	Now    time.Time // by which the score counts how fresh an item is; zero: it does not
	Limit  int       // items a page; at most [MaxLimit]
	Cursor string    // Next of the page before
	Facets bool      // count what there is by each of [FacetNames]
}

// Finds reports whether items with the flag, [FlagSpam], [FlagDuplicate] or
// [Muted], are among those to find. Where Spam is set, there are no others.
func (q Query) Finds(flag string) bool {
	asked := map[string]bool{FlagSpam: q.Spam, FlagDuplicate: q.Duplicates, Muted: q.Muted}
	return asked[flag] || query.Asks(q.Where, query.Flag, flag)
}

// Admits reports whether the query finds items such as the document, whatever
// Where says: spam, duplicates and muted ones only where they are asked for.
func (q Query) Admits(d *query.Document) bool {
	for _, flag := range []string{FlagSpam, FlagDuplicate, Muted} {
		if slices.Contains(d.Flags, flag) && !q.Finds(flag) {
			return false
		}
	}
	return !q.Spam || slices.Contains(d.Flags, FlagSpam)
}

// Scored reports whether the order is by score.
func (q Query) Scored() bool { return !q.Newest && len(query.Texts(q.Where)) > 0 }

// Boost returns by what the score of an item's words is multiplied: 1 to 1.6. What
// is new has more, half as much a week later, and what stands out; see
// [Indexed.Prominence]. Where Now is zero, freshness does not count.
func (q Query) Boost(published time.Time, prominence int) float64 {
	const most, halved = 0.3, 7 * 24 * time.Hour
	boost := 1 + most*float64(prominence)/15
	if q.Now.IsZero() {
		return boost
	}
	age := max(q.Now.Sub(published), 0)
	return boost + most/(1+age.Hours()/halved.Hours())
}

// Key is equal for two queries if they find the same items in the same order,
// whatever the page: an engine's cursors carry it, to be told from others.
func (q Query) Key() string {
	where := ""
	if q.Where != nil {
		where = q.Where.String()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %t %t %t %t %t", where, q.Spam, q.Duplicates, q.Muted, q.Once, q.Newest))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

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
	Total int64  // how many items match, over all pages; where each story comes Once, it may be how many stories
	Next  string // Cursor of the next page; empty if this is the last

	// Facets counts the matches by each of [FacetNames]: at most [MaxFacet]
	// values each, most frequent first, then by value; of days the latest
	// [MaxDays], latest first. Nil unless asked for. Items count, not stories,
	// whether or not the query wants each story Once.
	Facets map[string][]FacetCount

	Forgiven bool // no item has all the words; these have words that are nearly those
}

// MaxDays is the largest number of days that the facet "day" lists.
const MaxDays = 31

// FacetNames are the facets that an [Index] counts. The values of "sentiment"
// are those of [SentimentOf]; those of "day" are the days, in UTC, on which items
// were published, as 2026-03-01; all others are of the item's field.
var FacetNames = []string{"category", "topic", "feed", "language", "day", "sentiment"}

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
