// Package storage defines the records of feedmesh (feeds, items, stories) and the two interfaces that store
// and find them. [Store] is the source of truth. [Index] is a search index that can be rebuilt from the Store
// at any time. Each engine has a subfolder, and every engine passes the contracts in storagetest.
package storage

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrNotFound reports that no record has the given ID.
var ErrNotFound = errors.New("not found")

// ErrFenced reports that a write was rejected because its fence is older than the newest fence of the same
// name: a newer writer has taken over.
var ErrFenced = errors.New("fence is outdated: a newer writer has taken over")

// ErrConflict reports that the record changed since the caller read it. Nothing was written. Read it again
// before a retry.
var ErrConflict = errors.New("changed by another writer in the meantime")

// ErrUnavailable reports that an engine currently fails every call: it is unreachable, starting, or out of
// disk space. A retry may succeed.
var ErrUnavailable = errors.New("unavailable")

// A Store stores feeds, items and everything derived from them. Its methods may be called concurrently, and
// return ctx's error if ctx ends. Times are UTC with microsecond precision. Texts are UTF-8; U+0000 in them
// may be lost. A limit of 0 or less returns nothing.
type Store interface {
	Feeds
	Items
	Fences
	Records
	Spam
	Relabeling
	Corrections
	Stories
	Activities
	Marks

	// ID returns the store's random identifier. It was chosen when the store was created, and is the same for
	// all processes that share the store.
	ID(ctx context.Context) (string, error)

	io.Closer
}

// Feeds is the part of a [Store] that stores feeds.
type Feeds interface {
	// Feed returns the feed with the given ID, or [ErrNotFound].
	Feed(ctx context.Context, id string) (Feed, error)

	// FindFeeds returns at most q.Limit matching feeds after q.After, in the order of q.Sort.
	FindFeeds(ctx context.Context, q FeedQuery) ([]Feed, error)

	// CountFeeds returns the number of matching feeds and of their items, regardless of q.After and q.Limit.
	CountFeeds(ctx context.Context, q FeedQuery) (Counts, error)

	// FeedTags returns at most limit tags with their number of feeds, most used first, then by name
	// (bytewise).
	FeedTags(ctx context.Context, limit int) ([]TagCount, error)

	// AddFeeds adds the feeds whose IDs are not stored yet, as one batch in one transaction, and returns
	// their IDs in the given order, each once. A stored feed stays unchanged, even if it has moved to another
	// URL.
	AddFeeds(ctx context.Context, feeds ...Feed) (added []string, err error)

	// SetFeed replaces the user's settings of a feed, and returns the updated feed. It returns [ErrNotFound]
	// if the feed does not exist.
	SetFeed(ctx context.Context, id string, settings Settings) (Feed, error)

	// MoveFeed moves all items of a feed to the feed at another URL and deletes the old feed, in one
	// transaction. The URL must be canonical. The target is merged as [MergeFeeds] defines, and created if it
	// does not exist. If the target has an item of the same key, the moved item is deleted: its duplicates
	// become duplicates of the kept item, which becomes their original. The kept item also inherits a user's
	// [Correction] of the deleted item, unless it has its own. All other items get their ID in the target
	// feed. Corrections, marks and job records follow them.
	//
	// From then on the old URL, and every URL that redirected to it, redirects to the new URL until that feed
	// is removed. If url itself redirects to a third feed, the items move there. If it redirects to the feed
	// that moves, that redirect is removed. A move to the feed's own URL does nothing.
	//
	// It returns the IDs of all affected items, each once: old and new IDs, and the duplicates of those
	// items. It returns [ErrNotFound] if the feed does not exist.
	MoveFeed(ctx context.Context, id, url string) (affected []string, err error)

	// ResolveFeed returns the ID under which a feed's items are stored now: id itself unless the feed was
	// moved. It returns [ErrNotFound] if neither exists.
	ResolveFeed(ctx context.Context, id string) (string, error)

	// RemoveFeed deletes a feed and its items, with their corrections, marks and job records, in one
	// transaction. It returns the IDs of all affected items, each once: the removed items, and items of other
	// feeds that were their duplicates and become originals. Redirects to the feed are deleted too. It
	// returns [ErrNotFound] if the feed does not exist.
	RemoveFeed(ctx context.Context, id string) (affected []string, err error)
}

// Items is the part of a [Store] that stores items.
type Items interface {
	// ItemHashes returns map[key]hash of the feed's stored items with the given keys.
	ItemHashes(ctx context.Context, feedID string, keys []string) (map[string]string, error)

	// PutItems stores the items of one document and the feed's statistics as a batch in one transaction. An
	// item with an unchanged Hash changes nothing. An item with another Hash replaces the stored item as its
	// next Revision. The new revision keeps FirstSeen, its [Placement], Published and Assumed if the new date
	// is only assumed, and its [Labels] if a user corrected them. The store alone sets Corrected. If the
	// event of a new item was moved by a [Rearrangement], the item joins the story of that move. A key listed
	// twice is stored twice in order, and reported once. IDs must come from [ItemID].
	//
	// It returns [ErrNotFound] if the feed does not exist or was moved, and [ErrFenced] for a batch under an
	// outdated fence; then nothing is stored.
	PutItems(ctx context.Context, batch Batch) (Stored, error)

	// Items returns the items with the given IDs, in that order. Missing items are left out.
	Items(ctx context.Context, ids ...string) ([]Item, error)

	// ListItems returns at most limit items that match the query, ordered by FirstSeen, then ID. after is the
	// last item of the previous page, or the zero Item.
	ListItems(ctx context.Context, query ItemQuery, after Item, limit int) ([]Item, error)

	StampReader
}

// StampReader lists the versions of stored items. [Store] and [Index] both implement it, so that their
// contents can be compared. Items are grouped by the UTC day of FirstSeen, which never changes.
type StampReader interface {
	// Days returns the number of items of each day with items. The key is the start of the day.
	Days(ctx context.Context) (map[time.Time]int64, error)

	// Stamps returns at most limit stamps of a day's items with IDs after the given ID, in ascending order of
	// ID.
	Stamps(ctx context.Context, day time.Time, after string, limit int) ([]Stamp, error)
}

// A Stamp identifies one version of an item.
type Stamp struct {
	ID      string
	Changed time.Time // see [Item]
}

// Day returns the start of the UTC day of t.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Fences is the part of a [Store] that rejects writes of replaced writers.
type Fences interface {
	// NextFence returns a fence newer than all earlier fences of the given name. From then on, writes under
	// those return [ErrFenced].
	NextFence(ctx context.Context, name string) (Fence, error)
}

// A Feed is a web document that lists items.
type Feed struct {
	ID       string    `json:"id"` // [FeedID] of URL
	URL      string    `json:"url"`
	Title    string    `json:"title,omitempty"`
	Site     string    `json:"site,omitempty"`      // the website of the feed
	Language string    `json:"language,omitempty"`  // declared by the feed, ISO 639-1
	Tags     []string  `json:"tags,omitempty"`      // set by users; folders of an imported list
	Pinned   bool      `json:"pinned,omitempty"`    // always poll as often as possible
	FullText bool      `json:"full_text,omitempty"` // fetch the linked pages for the full text of items
	Request  *Request  `json:"request,omitempty"`   // options for fetching; nil: defaults
	Added    time.Time `json:"added"`

	SpamThreshold float64 `json:"spam_threshold,omitempty"` // SpamScore from which items are spam; 0: the deployment's default

	// PutItems maintains the following fields; AddFeeds ignores them.

	Items    int64     `json:"items"`              // number of stored items
	LastItem time.Time `json:"last_item,omitzero"` // newest Published of its items; zero without items
	Rate     float64   `json:"rate"`               // items a day by the dates of the last document; 0 if unknown

	Categories map[string]float64 `json:"categories,omitempty"` // categories of its latest items, see [CountCategories]
}

// An Item is one entry of a feed, sanitized and with an ID.
type Item struct {
	ID         string      `json:"id"` // [ItemID] of FeedID and Key
	FeedID     string      `json:"feed_id"`
	Key        string      `json:"key"`               // identifies the entry within its feed
	Hash       string      `json:"hash"`              // of the entry as published; a new hash makes a new revision
	Revision   int         `json:"revision"`          // from 1, counted by the store
	URL        string      `json:"url,omitempty"`     // absolute http(s) or empty
	Title      string      `json:"title"`             // plain text
	HTML       string      `json:"html,omitempty"`    // sanitized: safe to display
	Excerpt    string      `json:"excerpt,omitempty"` // plain text, at most 300 characters
	Author     string      `json:"author,omitempty"`
	Language   string      `json:"language,omitempty"`   // ISO 639-1, empty if unknown
	Images     []string    `json:"images,omitempty"`     // absolute http(s), in order of appearance
	Tags       []string    `json:"tags,omitempty"`       // the publisher's categories
	Comments   string      `json:"comments,omitempty"`   // URL of the discussion: absolute http(s) or empty
	Source     string      `json:"source,omitempty"`     // title of the feed that this feed copied it from
	Enclosures []Enclosure `json:"enclosures,omitempty"` // attached files, in the publisher's order
	Published  time.Time   `json:"published"`            // at most one day after FirstSeen
	Assumed    string      `json:"assumed,omitempty"`    // reason why Published is FirstSeen: "missing", "unreadable", "future"
	Updated    time.Time   `json:"updated,omitzero"`
	FirstSeen  time.Time   `json:"first_seen"`       // time of the first fetch
	Changed    time.Time   `json:"changed,omitzero"` // set by the store; differs after every stored change

	Spam       bool     `json:"spam,omitempty"`
	SpamScore  float64  `json:"spam_score,omitempty"` // 0 to 1, by the classifier; corrections do not change it
	Flags      []string `json:"flags,omitempty"`      // sorted subset of "adult", "affiliate", "muted", "sponsored", "starred"
	Categories []string `json:"categories,omitempty"` // best first
	Topics     []string `json:"topics,omitempty"`
	Reasons    []string `json:"why,omitempty"`        // explanations of spam, flags, categories and topics
	Score      float64  `json:"rule_score,omitempty"` // sum of the scores of matching rules
	Sentiment  float64  `json:"sentiment,omitempty"`  // -1 to 1; 0 if none was found or it was not scored
	Corrected  bool     `json:"corrected,omitempty"`  // a user corrected the labels, so passes do not change them; set by the store

	Partition   string `json:"lane,omitempty"`         // cluster partition that placed it: its document's main language
	TextHash    string `json:"text_hash,omitempty"`    // hash of the words of title and text
	EventID     string `json:"event_id,omitempty"`     // the event that the item reports
	StoryID     string `json:"story_id,omitempty"`     // the story of that event
	StoryReason string `json:"story_why,omitempty"`    // explanation of why it belongs to the event
	DuplicateOf string `json:"duplicate_of,omitempty"` // item ID of the original; empty for originals
	DuplicateBy string `json:"duplicate_by,omitempty"` // "text", "url", "title", "body", or "hand" for a manual edit

	DuplicateScore  float64 `json:"duplicate_score,omitempty"` // similarity to the original, 0 to 1
	DuplicateReason string  `json:"duplicate_why,omitempty"`   // explanation of that score

	Clicks int `json:"clicks,omitempty"` // of readers; counted by the store
}

// An Enclosure is a file attached to an item, such as a podcast's audio.
type Enclosure struct {
	URL    string `json:"url"`              // absolute http(s)
	Type   string `json:"type,omitempty"`   // MIME type stated by the publisher
	Length int64  `json:"length,omitempty"` // bytes, as stated by the publisher; 0 if missing
}

// An ItemQuery selects the items of a cluster partition.
type ItemQuery struct {
	Partition   string
	Events      []string  // only of these events; nil: all; empty: none
	From, Until time.Time // first seen at or after From and before Until; zero: no bound
}

// ItemByID returns the item with the given ID, or [ErrNotFound].
func ItemByID(ctx context.Context, from Items, id string) (Item, error) {
	return FirstItem(from.Items(ctx, id))
}

// A Batch is the content of one parsed document, to be stored in one transaction.
type Batch struct {
	FeedID string
	Items  []Item
	Fence  Fence // the zero Fence is not checked

	Title, Site, Language string  // of the feed; empty keeps the stored value
	Rate                  float64 // items a day; 0 keeps the stored value
}

// Stored is the result of [Items.PutItems]: the IDs of new items, and of items with a new revision.
type Stored struct {
	New, Changed []string
}

// A Fence is the right to write under a name until a newer fence is issued.
type Fence struct {
	Name   string `json:"name,omitempty"`
	Number int64  `json:"number,omitempty"` // from 1
}

// Counts contains numbers of feeds and of their items.
type Counts struct {
	Feeds int64 `json:"feeds"`
	Items int64 `json:"items"`
}
