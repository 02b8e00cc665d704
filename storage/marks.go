package storage

import (
	"context"
	"encoding/binary"
	"slices"
	"time"
)

// Marks is the part of a [Store] that stores the marks of readers: read and starred. Marks of different
// clients are independent. An item is read if the client marked it read, or if the client marked everything
// up to its FirstSeen read and has not marked it unread since. Marks and annotations move and are deleted with their items.
//
// Listed items are those shown to readers: no spam, no duplicates, no [FlagMuted].
type Marks interface {
	// Mark sets marks of the existing items in a batch. Missing items are ignored.
	Mark(ctx context.Context, client string, m MarkChange, itemIDs ...string) error

	// MarkAllRead marks all items of a stream first seen at or before until as read, including those marked
	// unread.
	MarkAllRead(ctx context.Context, client string, stream Stream, until time.Time) error

	// ListMarked returns at most limit items that match the query, ordered by FirstSeen, or Time if the query
	// states ByTime, then ID, both descending unless the query states Oldest. after is the last item of the
	// previous page, or the zero MarkedItem.
	ListMarked(ctx context.Context, client string, query MarkQuery, after MarkedItem, limit int) ([]MarkedItem, error)

	// MarksOf returns the marks of the existing items, listed or not, in the given order.
	MarksOf(ctx context.Context, client string, itemIDs ...string) ([]MarkedItem, error)

	// CountUnread counts, by feed ID, the listed items first seen at or after since that the client has not
	// read. Feeds without unread items are left out.
	CountUnread(ctx context.Context, client string, since time.Time) (map[string]UnreadCount, error)

	// CountUnreadOfViews counts, by view, the present members of these views among the listed items first seen at or after since that the
	// client has not read: among the limit newest, and as many that the client marked unread. Views without such members are left out.
	CountUnreadOfViews(ctx context.Context, client string, since time.Time, views []MemberQuery, limit int) (map[int64]int64, error)

	// NumberedItems returns the IDs of existing items with these numbers ([ItemNumber]), in the given order.
	// Items with equal numbers are ordered by ID.
	NumberedItems(ctx context.Context, numbers ...int64) ([]string, error)

	// DeleteMarks deletes all marks and annotations of the client, its [Follows] and its [Visits].
	DeleteMarks(ctx context.Context, client string) error
}

// A MarkChange sets or clears marks; nil leaves a mark unchanged.
type MarkChange struct{ Read, Starred *bool }

// A Stream selects the items of one feed, of all feeds with a tag, or, if both are empty, all items.
type Stream struct{ FeedID, Tag string }

// A MarkQuery selects listed items of a stream. A query for starred items, a label, or all items of a view also returns those that are not
// listed.
type MarkQuery struct {
	Stream
	View          int64     // Number of a [View]: only its present members; 0: no filter
	Since         time.Time // of View: published at or after
	Read, Starred *bool     // filter by mark; nil: no filter
	Label         string    // of the client's [Annotation]; empty: no filter
	From, Until   time.Time // first seen at or after From and before Until; zero: no bound
	ByTime        bool      // ordered by Time instead of FirstSeen
	Oldest        bool      // oldest first
}

// A MarkedItem identifies an item and contains its marks of one client.
type MarkedItem struct {
	ItemID, FeedID string
	FirstSeen      time.Time
	Time           time.Time // [Item.Time]; zero in lists by FirstSeen
	Read, Starred  bool
}

// An UnreadCount contains the number of unread items of a feed.
type UnreadCount struct {
	Count  int64
	Newest time.Time // FirstSeen of the newest unread item
}

// MaxFollows is the maximum number of things that a client follows or mutes.
const MaxFollows = 1000

// The kinds of what a client follows or mutes, and their values.
const (
	FollowStory     = "story"     // ID
	FollowPublisher = "publisher" // host of items, without "www."
	FollowFeed      = "feed"      // ID
	FollowCategory  = "category"  // name
	FollowTopic     = "topic"     // name
	FollowWord      = "word"      // a word or a phrase
)

// A Follow is something that a client follows or mutes.
type Follow struct {
	Client  string    `json:"-"`
	Kind    string    `json:"kind"`
	Value   string    `json:"value"`
	Mute    bool      `json:"mute"`
	Created time.Time `json:"created"`
}

var followTable = tableOf(Table{Name: "follows", Keys: 3, Order: "created, kind, value", Max: MaxFollows, Per: 1}, func(f *Follow) []Column {
	return []Column{
		{Name: "client", Field: &f.Client}, {Name: "kind", Field: &f.Kind}, {Name: "value", Field: &f.Value}, {Name: "mute", Field: &f.Mute},
		{Name: "created", Field: &f.Created},
	}
})

// Follows returns what the clients of a [Store] follow and mute.
func Follows(of Records) FollowRecords { return FollowRecords{of} }

// FollowRecords are what the clients of a [Store] follow and mute. [Marks.DeleteMarks] deletes those of a client.
type FollowRecords struct{ records Records }

// List returns all records of a client, ordered by Created, then kind and value.
func (f FollowRecords) List(ctx context.Context, client string) ([]Follow, error) {
	return listRecords[Follow](ctx, f.records, followTable, allRecords, client)
}

// Put stores a record and returns it. An earlier record of the same kind and value keeps its time. If [MaxFollows]
// others of the client are stored, it returns [ErrTooMany].
func (f FollowRecords) Put(ctx context.Context, follow Follow) (Follow, error) {
	err := changeRecord(ctx, f.records, followTable, func(stored *Follow) (*Follow, error) {
		if stored != nil {
			follow.Created = stored.Created
		}
		return &follow, nil
	}, follow.Client, follow.Kind, follow.Value)
	return follow, err
}

// Remove deletes a record, or returns [ErrNotFound].
func (f FollowRecords) Remove(ctx context.Context, client, kind, value string) error {
	return removeRecord[Follow](ctx, f.records, followTable, client, kind, value)
}

// MaxVisits is the number of clients whose visits are stored. Another replaces the one whose visit is the longest ago.
const MaxVisits = 2000

// A Visit states when a client read the front page.
type Visit struct {
	Client string
	Before time.Time // end of the visit before; zero: none
	Last   time.Time // last time in this visit, accurate to about a minute
}

var visitTable = tableOf(Table{Name: "visits", Keys: 1, Order: "latest DESC, client", Keep: MaxVisits}, func(v *Visit) []Column {
	return []Column{{Name: "client", Field: &v.Client}, {Name: "previous", Field: &v.Before, Nullable: true}, {Name: "latest", Field: &v.Last}}
})

// Visits returns the visits of the clients of a [Store].
func Visits(of Records) VisitRecords { return VisitRecords{of} }

// VisitRecords are the visits of the clients of a [Store]. [Marks.DeleteMarks] deletes those of a client.
type VisitRecords struct{ records Records }

// Read returns the visit of a client, or [ErrNotFound].
func (v VisitRecords) Read(ctx context.Context, client string) (Visit, error) {
	return readRecord[Visit](ctx, v.records, visitTable, client)
}

// Put stores the visit of a client, unless a later one is stored.
func (v VisitRecords) Put(ctx context.Context, visit Visit) error {
	return changeRecord(ctx, v.records, visitTable, func(stored *Visit) (*Visit, error) {
		if stored != nil && !visit.Last.After(stored.Last) {
			return stored, nil
		}
		return &visit, nil
	}, visit.Client)
}

// ItemNumber returns the numeric item ID that some client protocols need: from 0 to 2^63-1, the first bits of
// the hash in the ID, so that no mapping has to be stored. It returns 0 for a string that is no [ItemID].
// Among a million items, the odds of two equal numbers are 1 in 18 million.
func ItemNumber(id string) int64 {
	hash, err := lowerBase32.DecodeString(id)
	if err != nil || len(hash) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(hash) >> 1)
}

// NumberPrefix returns the first 12 characters of the IDs of all items with a number. Other items may share
// the prefix.
func NumberPrefix(number int64) string {
	var hash [8]byte
	binary.BigEndian.PutUint64(hash[:], uint64(number)<<1)
	return lowerBase32.EncodeToString(hash[:])[:12]
}

// OrderByNumbers returns the IDs whose [ItemNumber] is one of the numbers, in the order of the numbers, then
// by ID. ids must be sorted and unique.
func OrderByNumbers(ids []string, numbers []int64) []string {
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

// Serials is the part of a [Store] that numbers items, feeds and tags for client protocols whose IDs are small integers,
// those of items in order of arrival. A number is greater than all numbers given before, and is never given again. Numbers of
// items move and are deleted with them; those of feeds too. Only what such a client has requested is numbered.
type Serials interface {
	// NumberItems gives numbers to the listed items first seen at or after since that have none, in order of FirstSeen,
	// then ID.
	NumberItems(ctx context.Context, since time.Time) error

	// SerialsOf returns the numbers of names, which are IDs of items, or names of [FeedSerial] or [TagSerial]. It gives
	// numbers to those that have none, in the given order.
	SerialsOf(ctx context.Context, names ...string) (map[string]int64, error)

	// NamesOf returns the names with these numbers, without those that no name has.
	NamesOf(ctx context.Context, numbers ...int64) (map[int64]string, error)

	// ListSerials returns at most limit numbers of listed items, ascending from the first after a number; with before, which
	// must be positive, descending from the last before that.
	ListSerials(ctx context.Context, after, before int64, limit int) ([]Serial, error)

	// CountSerials returns the number of items that have numbers.
	CountSerials(ctx context.Context) (int64, error)
}

// A Serial is a number and its name.
type Serial struct {
	Number int64 // from 1
	Name   string
}

// FeedSerial returns the name of a feed in [Serials].
func FeedSerial(feedID string) string { return "feed/" + feedID }

// TagSerial returns the name of a tag in [Serials].
func TagSerial(tag string) string { return "tag/" + tag }

// An Annotation is what a client adds to an item. An item with an annotation is never purged.
type Annotation struct {
	Client, ItemID string
	Labels         []string // sorted, each once
	Note           string   // not in lists
	Changed        time.Time
}

var annotationTable = tableOf(Table{Name: "annotations", Keys: 2, Order: "client, item_id"}, func(a *Annotation) []Column {
	return []Column{
		{Name: "client", Field: &a.Client}, {Name: "item_id", Field: &a.ItemID}, {Name: "labels", Field: &a.Labels},
		{Name: "note", Field: &a.Note, Large: true}, {Name: "changed", Field: &a.Changed},
	}
})

// Annotations returns the annotations of a [Store].
func Annotations(of Records) AnnotationRecords { return AnnotationRecords{of} }

// AnnotationRecords are the annotations of a [Store].
type AnnotationRecords struct{ records Records }

// List returns all annotations of a client without their notes, ordered by item.
func (a AnnotationRecords) List(ctx context.Context, client string) ([]Annotation, error) {
	return listRecords[Annotation](ctx, a.records, annotationTable, allRecords, client)
}

// Read returns the annotation of an item, or [ErrNotFound].
func (a AnnotationRecords) Read(ctx context.Context, client, itemID string) (Annotation, error) {
	return readRecord[Annotation](ctx, a.records, annotationTable, client, itemID)
}

// Change stores what apply makes of the annotation of an item, which is empty if there is none. An annotation without labels
// and note is deleted. It returns the error of apply. apply may run again.
func (a AnnotationRecords) Change(ctx context.Context, client, itemID string, apply func(*Annotation) error) error {
	return changeRecord(ctx, a.records, annotationTable, func(stored *Annotation) (*Annotation, error) {
		changed := Annotation{Client: client, ItemID: itemID}
		if stored != nil {
			changed = *stored
			changed.Labels = slices.Clone(stored.Labels)
		}
		if err := apply(&changed); err != nil || len(changed.Labels) == 0 && changed.Note == "" {
			return nil, err
		}
		return &changed, nil
	}, client, itemID)
}
