package storage

import (
	"context"
	"encoding/binary"
	"time"
)

// Marks is the part of a [Store] that remembers what a client has read and starred:
// each for itself, whatever others did. An item is read if the client marked it so,
// or marked all read up to when it was first seen and did not mark it unread since.
// Marks move and go with their items.
//
// Listed are the items that readers are shown: no spam, no duplicates, nothing
// [Muted].
type Marks interface {
	// Mark marks those of the items that are there.
	Mark(ctx context.Context, client string, m Marking, itemIDs ...string) error

	// MarkAllRead marks all items of a stream read that were first seen at or
	// before until, those marked unread among them.
	MarkAllRead(ctx context.Context, client string, stream Stream, until time.Time) error

	// ListMarked returns at most limit items that match the query, ordered by
	// FirstSeen, then ID, both descending unless the query says otherwise. after is
	// the last item of the page before, or the zero Marked.
	ListMarked(ctx context.Context, client string, query MarkQuery, after Marked, limit int) ([]Marked, error)

	// MarksOf returns the marks of those of the items that are there, listed or
	// not, in that order.
	MarksOf(ctx context.Context, client string, itemIDs ...string) ([]Marked, error)

	// CountUnread returns, by feed ID, how many listed items first seen at or after
	// since the client has not read. Feeds without any are left out.
	CountUnread(ctx context.Context, client string, since time.Time) (map[string]Unread, error)

	// NumberedItems returns the IDs of the items that are there with these numbers
	// ([ItemNumber]), in that order; where several items have one number, all of
	// them, by ID.
	NumberedItems(ctx context.Context, numbers ...int64) ([]string, error)

	// ForgetMarks forgets all that the client marked.
	ForgetMarks(ctx context.Context, client string) error
}

// A Marking is what a client says of items; nil leaves it as it is.
type Marking struct{ Read, Starred *bool }

// A Stream is some of the items: those of one feed, or of all feeds with a tag, or,
// if both are empty, all.
type Stream struct{ FeedID, Tag string }

// A MarkQuery says which items of a stream to list: the listed ones. Who asks for
// the starred ones gets those, too, that are not listed any more.
type MarkQuery struct {
	Stream
	Read, Starred *bool     // only those that are, or are not; nil: both
	From, Until   time.Time // first seen at or after From and before Until; zero: no bound
	Oldest        bool      // oldest first
}

// A Marked is an item with the marks of one client.
type Marked struct {
	ItemID, FeedID string
	FirstSeen      time.Time
	Read, Starred  bool
}

// An Unread says how many items of a feed are unread.
type Unread struct {
	Count  int64
	Newest time.Time // FirstSeen of the newest of them
}

// ItemNumber returns the number by which clients call an item that want one: from 0
// to 2^63-1, the first bits of the hash that is its ID, so that nobody has to
// remember it. It is 0 for what is no [ItemID]. Of a million items, two have the
// same one in one case of 18 million.
func ItemNumber(id string) int64 {
	hash, err := lowerBase32.DecodeString(id)
	if err != nil || len(hash) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(hash) >> 1)
}

// NumberPrefix returns what the IDs of all items with a number begin with: 12
// characters. IDs of a few other items may begin so, too.
func NumberPrefix(number int64) string {
	var hash [8]byte
	binary.BigEndian.PutUint64(hash[:], uint64(number)<<1)
	return lowerBase32.EncodeToString(hash[:])[:12]
}

// InNumberOrder returns those of the IDs whose [ItemNumber] is one of the numbers,
// in the order of these, then by ID. ids are ordered, each there once.
func InNumberOrder(ids []string, numbers []int64) []string {
	byNumber := map[int64][]string{}
	for _, id := range ids {
		n := ItemNumber(id)
		byNumber[n] = append(byNumber[n], id)
	}
	var found []string
	for _, n := range numbers {
		found = append(found, byNumber[n]...)
		delete(byNumber, n)
	}
	return found
}
