package storage

import (
	"context"
	"time"
)

// Items is the part of a [Store] that stores items.
type Items interface {
	// ItemHashes returns map[key]hash of the feed's stored items with the given keys. A key of a purged item has
	// the hash [PurgedHash]; the store notes from time to time that a document still lists it.
	ItemHashes(ctx context.Context, feedID string, keys []string) (map[string]string, error)

	// PutItems stores the items of one document and the feed's statistics as a batch in one transaction. An
	// item with an unchanged Hash changes nothing. An item with another Hash replaces the stored item as its
	// next Revision. The new revision keeps FirstSeen, its [Placement], Published and Assumed if the new date
	// is only assumed, and its [Labels] if a user corrected them. The store alone sets Corrected. If the
	// event of a new item was moved by a [Rearrangement], the item joins the story of that move. A key listed
	// twice is stored twice in order, and reported once. Items with the key of a purged item ([Retention]) are
	// ignored. IDs must come from [ItemID].
	//
	// It returns [ErrNotFound] if the feed does not exist or was moved, and [ErrFenced] for a batch under an
	// outdated fence; then nothing is stored.
	PutItems(ctx context.Context, batch Batch) (Stored, error)

	// SetText replaces the text of an item and returns the item. Its Hash and Revision are unchanged, so that the text
	// stays until the publisher changes the entry. It returns [ErrNotFound] if the item does not exist.
	SetText(ctx context.Context, itemID string, text ItemText) (Item, error)

	// Items returns the items with the given IDs, in that order. Missing items are left out.
	Items(ctx context.Context, ids ...string) ([]Item, error)

	// ListItems returns at most limit items that match the query, ordered by FirstSeen, then ID. after is the
	// last item of the previous page, or the zero Item.
	ListItems(ctx context.Context, query ItemQuery, after Item, limit int) ([]Item, error)

	// ItemStamps returns the stamps of the items with the given IDs, in any order. Missing items are left out.
	ItemStamps(ctx context.Context, ids ...string) ([]Stamp, error)

	StampReader
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
	Assumed    string      `json:"assumed,omitempty"`    // reason why Published is not the feed's date: "missing", "unreadable", "future"; see [Item.Time]
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

// Time returns the time of an item in stories: when it was published, or first seen if that was earlier. Published of an
// item without a usable date (Assumed) is FirstSeen; in the first document of its feed, where its age is unknown, it is a
// year earlier, or the oldest date of the document if that is earlier still, so that no list has it among the news.
func (i Item) Time() time.Time {
	if i.Published.IsZero() || i.Published.After(i.FirstSeen) {
		return i.FirstSeen
	}
	return i.Published
}

// IsBackdated reports whether Published of an item without a usable date is earlier than FirstSeen because its age is
// unknown; see [Item.Time].
func (i Item) IsBackdated() bool {
	return i.Assumed != "" && i.Published.Before(i.FirstSeen.AddDate(0, 0, -300))
}

// An Enclosure is a file attached to an item, such as a podcast's audio, or video or audio embedded in it.
type Enclosure struct {
	URL    string `json:"url"`              // absolute http(s)
	Type   string `json:"type,omitempty"`   // MIME type stated by the publisher, or only its part before the slash
	Length int64  `json:"length,omitempty"` // bytes, as stated by the publisher; 0 if missing
	Player string `json:"player,omitempty"` // website whose player shows it, as in "YouTube"; URL is a page, not a file
	Title  string `json:"title,omitempty"`  // plain text, of embedded video or audio
}

// An ItemText contains the fields of an item that are made from its text.
type ItemText struct {
	HTML       string // sanitized
	Images     []string
	Enclosures []Enclosure
	TextHash   string
}

// An ItemColumn is a column of the table of items.
type ItemColumn struct {
	Column
	Revised OnRevision
}

// OnRevision is the effect of a new revision of an item on a column of the stored item; see [Revise].
type OnRevision int

// Effects of a new revision.
const (
	Keeps          OnRevision = iota // the column keeps its value
	Replaces                         // the column is replaced
	ReplacesLabels                   // the column is replaced, unless a user corrected the labels
)

// ItemColumns returns the columns that [Items.PutItems] writes, in one place for all engines. The feed, and
// Changed, Corrected and Clicks, belong to the store.
func ItemColumns(i *Item) []ItemColumn {
	return []ItemColumn{
		{Column{Name: "id", Field: &i.ID}, Keeps},
		{Column{Name: "key", Field: &i.Key}, Keeps},
		{Column{Name: "hash", Field: &i.Hash}, Replaces},
		{Column{Name: "revision", Field: &i.Revision}, Replaces},
		{Column{Name: "url", Field: &i.URL}, Replaces},
		{Column{Name: "title", Field: &i.Title}, Replaces},
		{Column{Name: "html", Field: &i.HTML, Large: true}, Replaces},
		{Column{Name: "excerpt", Field: &i.Excerpt}, Replaces},
		{Column{Name: "author", Field: &i.Author}, Replaces},
		{Column{Name: "language", Field: &i.Language}, Replaces},
		{Column{Name: "images", Field: &i.Images}, Replaces},
		{Column{Name: "tags", Field: &i.Tags}, Replaces},
		{Column{Name: "comments", Field: &i.Comments}, Replaces},
		{Column{Name: "source", Field: &i.Source}, Replaces},
		{Column{Name: "enclosures", Field: &i.Enclosures}, Replaces},
		{Column{Name: "published", Field: &i.Published}, Replaces},
		{Column{Name: "assumed", Field: &i.Assumed}, Replaces},
		{Column{Name: "updated", Field: &i.Updated, Nullable: true}, Replaces},
		{Column{Name: "first_seen", Field: &i.FirstSeen}, Keeps},

		{Column{Name: "spam", Field: &i.Spam}, ReplacesLabels},
		{Column{Name: "spam_score", Field: &i.SpamScore}, ReplacesLabels},
		{Column{Name: "flags", Field: &i.Flags}, ReplacesLabels},
		{Column{Name: "categories", Field: &i.Categories}, ReplacesLabels},
		{Column{Name: "topics", Field: &i.Topics}, ReplacesLabels},
		{Column{Name: "why", Field: &i.Reasons}, ReplacesLabels},
		{Column{Name: "score", Field: &i.Score}, ReplacesLabels},
		{Column{Name: "sentiment", Field: &i.Sentiment}, ReplacesLabels},

		{Column{Name: "lane", Field: &i.Partition}, Keeps},
		{Column{Name: "text_hash", Field: &i.TextHash}, Replaces},
		{Column{Name: "event_id", Field: &i.EventID}, Keeps},
		{Column{Name: "story_id", Field: &i.StoryID}, Keeps},
		{Column{Name: "story_why", Field: &i.StoryReason}, Keeps},
		{Column{Name: "duplicate_of", Field: &i.DuplicateOf}, Keeps},
		{Column{Name: "duplicate_by", Field: &i.DuplicateBy}, Keeps},
		{Column{Name: "duplicate_score", Field: &i.DuplicateScore}, Keeps},
		{Column{Name: "duplicate_why", Field: &i.DuplicateReason}, Keeps},
	}
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
	Writes       int64 // of the feed, see [Feed]
}

// OrderByIDs returns the items with one of the IDs, in the order of the IDs, repeated as the IDs are.
func OrderByIDs(items []Item, ids []string) []Item {
	byID := make(map[string]Item, len(items))
	for _, item := range items {
		byID[item.ID] = item
	}
	var ordered []Item
	for _, id := range ids {
		if item, ok := byID[id]; ok {
			ordered = append(ordered, item)
		}
	}
	return ordered
}

// FirstItem returns the first of the items returned by a call, or [ErrNotFound] if it returned none.
func FirstItem(items []Item, err error) (Item, error) {
	switch {
	case err != nil:
		return Item{}, err
	case len(items) == 0:
		return Item{}, ErrNotFound
	}
	return items[0], nil
}

// Revise returns item as the next revision of old. It keeps the FirstSeen, placement, partition and clicks of
// old, and its Published and Assumed if the new date is only assumed. Of old, it reads only these fields and
// Revision. The store must preserve corrected labels itself.
func Revise(old, item Item) Item {
	item.Revision, item.FirstSeen = old.Revision+1, old.FirstSeen
	item = PlacementOf(old).ApplyTo(item)
	item.Partition, item.Clicks = old.Partition, old.Clicks
	if item.Assumed != "" {
		item.Published, item.Assumed = old.Published, old.Assumed
	}
	return item
}

// A Placement contains the fields of an item that assign it to an event, a story and an original.
type Placement struct {
	ItemID          string
	EventID         string
	StoryID         string
	StoryReason     string
	DuplicateOf     string
	DuplicateBy     string
	DuplicateScore  float64
	DuplicateReason string
}

// PlacementOf returns the item's placement.
func PlacementOf(i Item) Placement {
	return Placement{
		ItemID: i.ID, EventID: i.EventID, StoryID: i.StoryID, StoryReason: i.StoryReason, DuplicateOf: i.DuplicateOf,
		DuplicateBy: i.DuplicateBy, DuplicateScore: i.DuplicateScore, DuplicateReason: i.DuplicateReason,
	}
}

// ApplyTo returns the item with this placement. It ignores ItemID.
func (p Placement) ApplyTo(i Item) Item {
	i.EventID, i.StoryID, i.StoryReason = p.EventID, p.StoryID, p.StoryReason
	i.DuplicateOf, i.DuplicateBy = p.DuplicateOf, p.DuplicateBy
	i.DuplicateScore, i.DuplicateReason = p.DuplicateScore, p.DuplicateReason
	return i
}
