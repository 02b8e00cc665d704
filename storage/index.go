package storage

import (
	"context"
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

// ErrBadCursor reports that a cursor does not belong to the query.
var ErrBadCursor = errors.New("cursor does not belong to this query")

// An Index is a full-text search index of items. Its methods may be called concurrently.
type Index interface {
	// Put adds the batch of items to the index, replacing items with the same IDs. When it returns nil, they
	// are on disk, and later searches find them. If the engine rejects items for their content, Put returns a
	// [*RejectedError] and indexes all others. Of calls for the same item, also by other processes, the one whose items
	// the engine accepted last is applied last; see [WithAccepted].
	Put(ctx context.Context, items ...IndexItem) error

	// Delete removes the items with these IDs from the index. A missing ID is no error.
	Delete(ctx context.Context, ids ...string) error

	// Search returns a page of the items that match the query. If no item contains all words and there is no
	// cursor, it searches again with typing errors allowed: one in words of at least five letters, two in
	// words of at least nine. Phrases, prefixes and words with digits must always match exactly.
	// Results.Fuzzy reports this second search.
	//
	// The score of a match grows with the rarity of the words, with the field that contains them (title,
	// tags, author, text), and a little with the item's freshness and the coverage of its story.
	Search(ctx context.Context, query Query) (Results, error)

	// Similar returns at most limit items about the same subject as the given item, best first. It excludes
	// the item itself, items of its story, spam, duplicates and muted items. The item need not be indexed. Equal
	// items yield equal lists.
	Similar(ctx context.Context, item IndexItem, limit int) ([]Hit, error)

	// Suggest returns at most limit title words with the prefix, in lower case, most frequent first, then by
	// word. Each has an approximate number of items, spam included. An empty prefix returns nothing.
	Suggest(ctx context.Context, prefix string, limit int) ([]FacetCount, error)

	StampReader

	// StoriesApart reports whether the index keeps the coverage of a story once: then it suffices to put one of the
	// items of a story whose coverage changed.
	StoriesApart() bool

	// Batches returns the maximum number of items for one call of Put, of which more take more memory, or cost more an item,
	// and the number of concurrent calls that keep the engine busy.
	Batches() (size, concurrent int)

	// Count returns the number of indexed items.
	Count(ctx context.Context) (int64, error)

	io.Closer
}

// An EmbeddingIndex is an [Index] that may have an embedder for semantic searches.
type EmbeddingIndex interface {
	Index

	// HasEmbedder reports whether semantic searches are possible. It takes no longer than a search.
	HasEmbedder(ctx context.Context) bool
}

// A DividedIndex is an [Index] that consists of parts by the days on which items were first seen, because its engine takes longer for
// an item the larger an index is.
type DividedIndex interface {
	Index

	// Divide adjusts the parts to the days of stored items, with their numbers, as of a time. Items that it moves to another part are
	// missing until they are put again. One process in the mesh calls it, before it compares the index with the store, and often
	// enough that the part for a day exists before that day.
	Divide(ctx context.Context, stored map[time.Time]int64, now time.Time) error
}

type acceptedKey struct{}

// WithAccepted returns a context for [Index.Put]. Where the engine has a queue, Put calls accepted whenever it has accepted some
// of the items, which may be long before it has applied them; the last time, after it has accepted all.
func WithAccepted(ctx context.Context, accepted func()) context.Context {
	return context.WithValue(ctx, acceptedKey{}, accepted)
}

// ReportAccepted calls the function of [WithAccepted], if any. Engines call it.
func ReportAccepted(ctx context.Context) {
	if accepted, is := ctx.Value(acceptedKey{}).(func()); is {
		accepted()
	}
}

// A RejectedError lists the items that an [Index] rejects permanently. A retry would fail again.
type RejectedError struct {
	IDs []string // at least one
	Err error    // the reason
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("index rejected items %s: %v", strings.Join(e.IDs, ", "), e.Err)
}

// Unwrap returns the engine's reason.
func (e *RejectedError) Unwrap() error { return e.Err }

// IndexItem is an item with the derived fields that an [Index] needs and a [Store] does not store.
type IndexItem struct {
	Item
	Text    string // the plain text of its HTML
	Sources int    // publishers of its story, see [Story]; 0: only its own
}

// Prominence returns the item's query-independent weight, from 0 to 15. It is 4 for an item without rule
// score whose story has one publisher. Each doubling of the publishers adds 1, up to 8. The rule score adds
// up to 3, or subtracts up to 4.
func (i IndexItem) Prominence() int {
	return 4 + Coverage(i.Sources) + ruleWeight(i.Score)
}

// Coverage returns how often the number of a story's publishers has doubled, from 0 for one to 8: what an [Index] needs of it.
func Coverage(sources int) int { return min(max(bits.Len(uint(max(sources, 0)))-1, 0), 8) }

// ruleWeight converts a rule score to its share of [IndexItem.Prominence], -4 to 3, by order of magnitude.
func ruleWeight(score float64) int {
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

// Document returns the item's fields as [query.Matches] needs them.
func (i IndexItem) Document() *query.Document {
	flags := slices.Clone(i.Flags)
	if i.Spam {
		flags = append(flags, FlagSpam)
	}
	if i.DuplicateOf != "" {
		flags = append(flags, FlagDuplicate)
	}
	return &query.Document{
		ID: i.ID, Title: i.Title, Author: i.Author, Text: i.Text, Tags: i.Tags, URL: i.URL,
		Feed: i.FeedID, Language: i.Language, Story: i.StoryID, Categories: i.Categories, Topics: i.Topics,
		Flags: flags, Published: i.Published,
	}
}
