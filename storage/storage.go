// Package storage has the nouns of feedmesh (feeds, items) and the two
// interfaces through which everything else keeps and finds them: [Store], which
// is the truth, and [Index], which can be rebuilt from it at any time. Each
// engine is one folder below; all of them pass the contracts in storagetest.
package storage

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrNotFound says that nothing has the ID asked for.
var ErrNotFound = errors.New("not found")

// ErrFenced says that a writer holds a fence older than the newest one given
// out under its name: another has taken its place, and its write was refused.
var ErrFenced = errors.New("fenced off by a newer writer")

// ErrConflict says that what was to be replaced is not what the writer knew:
// somebody else was faster, and nothing was written.
var ErrConflict = errors.New("changed by somebody else in the meantime")

// ErrUnavailable says that an engine can't do anything now, whatever it is asked:
// it is away, starting, or out of disk. The same call may succeed later.
var ErrUnavailable = errors.New("unavailable")

// A Store remembers feeds and items. Its methods may be called concurrently, and
// return an error that is ctx's if ctx ends. Times are UTC and kept to the
// microsecond. Texts are UTF-8; U+0000 in them may be lost. A limit of 0 or less
// gives nothing.
type Store interface {
	Feeds
	Items
	Fences
	Proxies
	Tokens
	FeedFinder
	Imports
	RuleSets
	Spam
	Relabels
	Corrections
	Jobs
	Stories
	Activities
	Marks
	SavedSearches

	// ID names the store: it was drawn when the store was made, and all who
	// share the store are told the same.
	ID(ctx context.Context) (string, error)

	// Ping returns nil if the store can be read now.
	Ping(ctx context.Context) error

	io.Closer
}

// Feeds is the part of a [Store] that remembers feeds.
type Feeds interface {
	// Feed returns the feed with the given ID, or [ErrNotFound].
	Feed(ctx context.Context, id string) (Feed, error)

	// ListFeeds returns at most limit feeds whose URL comes after the given
	// one, ordered by URL (bytewise). The empty string comes before all.
	ListFeeds(ctx context.Context, after string, limit int) ([]Feed, error)

	// AddFeeds adds the feeds whose IDs are unknown, all in one transaction,
	// and returns their IDs in the order given, each once. A feed that is
	// known already, even under another URL since it moved, stays as it is.
	AddFeeds(ctx context.Context, feeds ...Feed) (added []string, err error)

	// SetFeed replaces what a person decides of a feed, and returns it as it is
	// now. It returns [ErrNotFound] if there is no such feed.
	SetFeed(ctx context.Context, id string, settings Settings) (Feed, error)

	// MoveFeed has a feed's items belong to the feed at another URL, which must
	// be canonical, in one transaction, and forgets the feed. The other becomes
	// what [MergeFeeds] says, and is made if it is not there. Where it has an
	// item of the same key, the moved one is dropped: those that repeated it
	// repeat the kept one, which then is the first of its kind. The kept one also
	// takes over a person's [Correction] of the dropped one, unless it has its
	// own. All others get the ID they have there, and so does what persons and
	// jobs said of them.
	//
	// From then on the old URL, and all that stood for it, stand for the new
	// one, until that feed is removed. Where url itself stands for a third feed,
	// the items go there; where it stands for the feed that moves, it no longer
	// does. A move to its own URL does nothing.
	//
	// It returns the IDs of all items this concerns, each once: old and new
	// ones, and those of items that repeated one of them. It returns
	// [ErrNotFound] if there is no such feed.
	MoveFeed(ctx context.Context, id, url string) (concerned []string, err error)

	// ResolveFeed returns the ID that a feed's items are kept under now: id
	// itself unless it was moved. It returns [ErrNotFound] if there is neither.
	ResolveFeed(ctx context.Context, id string) (string, error)

	// RemoveFeed forgets a feed and its items, with all that persons and jobs said
	// of them, in one transaction, and returns
	// the IDs of all items this concerns, each once: those removed, and those
	// of other feeds that were duplicates of them and stand for themselves
	// from now on. What stood for the feed since it moved is forgotten too. It
	// returns [ErrNotFound] if there is no such feed.
	RemoveFeed(ctx context.Context, id string) (concerned []string, err error)

	// Counts returns how much there is.
	Counts(ctx context.Context) (Counts, error)
}

// Items is the part of a [Store] that remembers items.
type Items interface {
	// Known returns, for those of the given keys that the feed has items for,
	// the Hash of that item: map[key]hash.
	Known(ctx context.Context, feedID string, keys []string) (map[string]string, error)

	// PutItems stores the items of one document and the feed's statistics in
	// one transaction. An item whose Hash the store has already changes
	// nothing; one with another Hash replaces the stored one as its next
	// Revision, which keeps FirstSeen, Published and Assumed too where the new
	// date is only assumed, its [Placement], and its [Labels] where a person
	// corrected them: the store alone says what is Corrected. Where a new item's
	// event was moved ([Rearrangement]), the item belongs to the story that this
	// says. A key listed twice is put twice, one
	// after the other, and reported once. IDs must be [ItemID]'s. It returns
	// [ErrNotFound] for a feed that is not there, or was moved, and [ErrFenced] for a batch
	// under an outdated fence; then nothing is stored.
	PutItems(ctx context.Context, batch Batch) (Stored, error)

	// Item returns the item with the given ID, or [ErrNotFound].
	Item(ctx context.Context, id string) (Item, error)

	// Items returns the items with the given IDs, in that order. Those that
	// are not there are left out.
	Items(ctx context.Context, ids ...string) ([]Item, error)

	// ItemsSince returns at most limit items that were clustered under lane
	// and first seen at or after since, ordered by FirstSeen, then ID. after
	// is the last item of the page before, or the zero Item.
	ItemsSince(ctx context.Context, lane string, since time.Time, after Item, limit int) ([]Item, error)

	Stamped
}

// Stamped is what a [Store] and an [Index] both tell of their items, so that
// the two can be compared. A day is that of FirstSeen, in UTC: it never changes,
// so that an item is always found under the same one.
type Stamped interface {
	// Days returns how many items there are of each day that has any, by the
	// day's first moment.
	Days(ctx context.Context) (map[time.Time]int64, error)

	// Stamps returns at most limit stamps of a day's items, those whose IDs
	// come after the given one, in ascending order of ID.
	Stamps(ctx context.Context, day time.Time, after string, limit int) ([]Stamp, error)
}

// A Stamp says in which form an item is there.
type Stamp struct {
	ID      string
	Changed time.Time // see [Item]
}

// Day returns the first moment of the day t lies in, in UTC.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Fences is the part of a [Store] that tells writers of one name apart.
type Fences interface {
	// NextFence returns a fence under the given name that is newer than all
	// before it. From then on the older ones are refused with [ErrFenced].
	NextFence(ctx context.Context, name string) (Fence, error)
}

// A Feed is a document on the web that lists items.
type Feed struct {
	ID       string    `json:"id"` // [FeedID] of URL
	URL      string    `json:"url"`
	Title    string    `json:"title,omitempty"`
	Site     string    `json:"site,omitempty"`      // the web page it belongs to
	Language string    `json:"language,omitempty"`  // as it declares, ISO 639-1
	Tags     []string  `json:"tags,omitempty"`      // folders of the list it came from
	Pinned   bool      `json:"pinned,omitempty"`    // a person wants it read as often as possible
	FullText bool      `json:"full_text,omitempty"` // a person wants its items with the text of the pages they link to
	Request  *Request  `json:"request,omitempty"`   // how it wants to be asked; nil: as all others
	Added    time.Time `json:"added"`

	SpamThreshold float64 `json:"spam_threshold,omitempty"` // from which SpamScore on a person wants its items to be spam; 0: as the deployment does

	// What follows is kept by PutItems; AddFeeds ignores it.

	Items    int64     `json:"items"`              // how many it has in the store
	LastItem time.Time `json:"last_item,omitzero"` // newest Published among them; zero if none
	Rate     float64   `json:"rate"`               // items a day by its last document's dates; 0 if unknown

	Categories map[string]float64 `json:"categories,omitempty"` // what its last items were about, see [CountCategories]
}

// An Item is one entry of a feed, cleaned and given an ID.
type Item struct {
	ID         string      `json:"id"` // [ItemID] of FeedID and Key
	FeedID     string      `json:"feed_id"`
	Key        string      `json:"key"`               // what tells it from the feed's other entries
	Hash       string      `json:"hash"`              // of the entry as published; another hash is another revision
	Revision   int         `json:"revision"`          // from 1, counted by the store
	URL        string      `json:"url,omitempty"`     // absolute http(s) or empty
	Title      string      `json:"title"`             // plain text
	HTML       string      `json:"html,omitempty"`    // cleaned: safe to show as it is
	Excerpt    string      `json:"excerpt,omitempty"` // plain text, at most 300 characters
	Author     string      `json:"author,omitempty"`
	Language   string      `json:"language,omitempty"`   // ISO 639-1, empty if unknown
	Images     []string    `json:"images,omitempty"`     // absolute http(s), in order of appearance
	Tags       []string    `json:"tags,omitempty"`       // the publisher's categories
	Comments   string      `json:"comments,omitempty"`   // where it is discussed: absolute http(s) or empty
	Source     string      `json:"source,omitempty"`     // title of the feed that its feed took it from
	Enclosures []Enclosure `json:"enclosures,omitempty"` // files that go with it, in the publisher's order
	Published  time.Time   `json:"published"`            // never after FirstSeen by more than a day
	Assumed    string      `json:"assumed,omitempty"`    // why Published is only FirstSeen: "missing", "unreadable", "future"
	Updated    time.Time   `json:"updated,omitzero"`
	FirstSeen  time.Time   `json:"first_seen"`       // when it was first fetched
	Changed    time.Time   `json:"changed,omitzero"` // another one each time the store changes anything of it; kept by the store

	Spam       bool     `json:"spam,omitempty"`
	SpamScore  float64  `json:"spam_score,omitempty"` // 0 to 1, as it was judged, whatever a person says
	Flags      []string `json:"flags,omitempty"`      // of "adult", "affiliate", "muted", "sponsored", "starred", by name
	Categories []string `json:"categories,omitempty"` // best first
	Topics     []string `json:"topics,omitempty"`
	Why        []string `json:"why,omitempty"`        // what decided spam, flags, categories and topics, in words
	Score      float64  `json:"rule_score,omitempty"` // what rules added
	Sentiment  float64  `json:"sentiment,omitempty"`  // -1 to 1; 0 if there is none or nobody looked
	Corrected  bool     `json:"corrected,omitempty"`  // a person's word on its labels holds against later passes; kept by the store

	Lane        string `json:"lane,omitempty"`         // the cluster lane that placed it: its document's main language
	TextHash    string `json:"text_hash,omitempty"`    // of its title's and text's words
	EventID     string `json:"event_id,omitempty"`     // what happened
	StoryID     string `json:"story_id,omitempty"`     // what that belongs to
	StoryWhy    string `json:"story_why,omitempty"`    // why it belongs to that event, in words
	DuplicateOf string `json:"duplicate_of,omitempty"` // item ID of the first of its kind; empty for that one
	DuplicateBy string `json:"duplicate_by,omitempty"` // "text", "url", "title", "body", or "hand": a person said so

	DuplicateScore float64 `json:"duplicate_score,omitempty"` // how much they share, 0 to 1
	DuplicateWhy   string  `json:"duplicate_why,omitempty"`   // that in words

	Clicks int `json:"clicks,omitempty"` // of readers; kept by the store
}

// An Enclosure is a file that goes with an item, such as a podcast's sound.
type Enclosure struct {
	URL    string `json:"url"`              // absolute http(s)
	Type   string `json:"type,omitempty"`   // MIME type, as the publisher says
	Length int64  `json:"length,omitempty"` // bytes, as the publisher says; 0 if it does not
}

// A Batch is what one document brought to the store.
type Batch struct {
	FeedID string
	Items  []Item
	Fence  Fence // the zero Fence is not checked

	Title, Site, Language string  // the feed's own; empty leaves what is stored
	Rate                  float64 // items a day; 0 leaves what is stored
}

// Stored says what [Items.PutItems] did: the IDs of items it had not had, and
// of those it has a new revision of.
type Stored struct {
	New, Changed []string
}

// A Fence is the right to write under a name until a newer one is given out.
type Fence struct {
	Name   string `json:"name,omitempty"`
	Number int64  `json:"number,omitempty"` // from 1
}

// Counts says how much a store has.
type Counts struct {
	Feeds int64 `json:"feeds"`
	Items int64 `json:"items"`
}
