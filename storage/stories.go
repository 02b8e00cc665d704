package storage

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Stories is the part of a [Store] that groups items into events and stories. The fields of the items
// ([Item.EventID], [Item.StoryID]) are the truth. A [Story] is a summary that can be rebuilt from its items
// at any time.
type Stories interface {
	// Rearrange moves events and items in one transaction, and returns the IDs of the items whose [Placement]
	// changed, in order of ID. Only their Changed advances. Missing events and items are ignored. It returns
	// [ErrFenced] under an outdated fence; then nothing is changed.
	Rearrange(ctx context.Context, r Rearrangement) (changed []string, err error)

	// ReadStories returns, by story ID, the newest items of each story, at most limit, with totals over all of
	// its items. Items are ordered by FirstSeen, newest first, then by ID, without HTML. Stories without
	// items are left out.
	ReadStories(ctx context.Context, limit int, ids ...string) (map[string]StoryItems, error)

	// Duplicates returns at most limit duplicates of the item, ordered by FirstSeen, oldest first, then by
	// ID, without HTML.
	Duplicates(ctx context.Context, itemID string, limit int) ([]Item, error)

	// AddClicks adds n clicks of readers to the item, at least 1. It does not advance Changed, because an
	// [Index] does not contain clicks. It returns [ErrNotFound] if the item does not exist.
	AddClicks(ctx context.Context, itemID string, n int) error

	// DirtyStories returns at most limit records of stories that must be summarized again, oldest first.
	// Every change to a story that has or had several items adds at least one record in the same transaction:
	// an item was added, removed or moved, got another ID, another original, or other words, labels or
	// clicks. Stories of a single item add none. A record stays until it is passed to [Stories.PutStories].
	// Its number is never reused.
	DirtyStories(ctx context.Context, limit int) ([]DirtyStory, error)

	// PutStories stores the batch of stories, replacing stories with the same IDs, deletes the stories with
	// IDs in gone, and deletes the dirty records with the given numbers, all in one transaction. It returns
	// [ErrFenced] under an outdated fence; then nothing is changed. The zero Fence is not checked.
	PutStories(ctx context.Context, fence Fence, dirty []DirtyStory, stories []Story, gone []string) error

	// StoriesByID returns the stored summaries of the given stories, by ID. Stories without a summary are
	// left out.
	StoriesByID(ctx context.Context, ids ...string) (map[string]Story, error)

	// ListStories returns a page of the stories that match the query, and the cursor of the next page, empty
	// after the last. It returns [ErrBadCursor] for the cursor of a list in another order, see
	// [StoryQuery.Position].
	ListStories(ctx context.Context, query StoryQuery) (page []Story, next string, err error)

	// Sightings returns at most limit sightings of items first seen at or after from and before until,
	// ordered by FirstSeen, then ID. after is the last sighting of the previous page, or the zero Sighting.
	// Spam is excluded.
	Sightings(ctx context.Context, from, until time.Time, after Sighting, limit int) ([]Sighting, error)

	// RecentEvents returns the IDs of at most limit events of a partition with items first seen and published
	// at or after since, ordered by the item first seen last, newest first, then by ID.
	RecentEvents(ctx context.Context, partition string, since time.Time, limit int) ([]string, error)

	// FeedCoverage counts, by feed ID, the items first seen at or after since, and the subset that belongs to
	// summarized stories with at least the given number of sources. Feeds without such items are left out.
	FeedCoverage(ctx context.Context, since time.Time, sources int) (map[string]FeedCoverage, error)
}

// A Rearrangement moves events and items to other events and stories.
type Rearrangement struct {
	Fence Fence // the zero Fence is not checked

	// Events move to other stories with all their items. For the next thirty days the move also applies to
	// new items of the event that reach [Items.PutItems], whatever story they state. The last move of an
	// event wins.
	Events []EventMove

	// Items get exactly these placements, after Events is applied. The last placement of an item wins.
	Items []Placement

	// Joins are stories that became part of another one, in order. Who follows or mutes the story follows or mutes the
	// other one, unless its client has a record of that too.
	Joins []StoryJoin

	Name string // name of a note stored in the same transaction, see [Notes]; empty: none
	Note []byte
}

// A StoryJoin is a story that became part of another one.
type StoryJoin struct {
	StoryID, Into string
}

// An EventMove assigns an event to a story.
type EventMove struct {
	EventID, StoryID string
}

// A DirtyStory records that a story must be summarized again.
type DirtyStory struct {
	StoryID string
	Number  int64 // identifies the record
}

// A Story is the summary of at least two items that belong together.
type Story struct {
	ID         string    `json:"id"`
	Partition  string    `json:"lane"`     // language, or "other"
	Headline   string    `json:"headline"` // ID of the item that represents the story
	Title      string    `json:"title"`    // of the headline item
	Summary    []Line    `json:"summary,omitempty"`
	Items      int       `json:"items"`
	Events     int       `json:"events"`
	Sources    int       `json:"sources"` // number of distinct publishers
	FirstSeen  time.Time `json:"first_seen"`
	LastSeen   time.Time `json:"last_seen"`
	Categories []string  `json:"categories,omitempty"` // shared by its items, best first
	Topics     []string  `json:"topics,omitempty"`
	HotScore   float64   `json:"heat"` // how often and how recently publishers reported it
	Clicks     int       `json:"clicks"`
	Burst      bool      `json:"burst,omitempty"` // items arrive more often than before
	Rank       float64   `json:"rank"`            // highest first
	Summarized time.Time `json:"told"`            // time of this summary
}

// A Line is a sentence of a summary, with the item it is quoted from.
type Line struct {
	Text   string `json:"text"`
	ItemID string `json:"item_id"`
}

// A StoryQuery selects stories. All conditions must hold; a zero field is no condition.
type StoryQuery struct {
	Partition string
	Category  string
	Topic     string
	After     time.Time // LastSeen at or after
	Before    time.Time // FirstSeen before
	Sources   int       // at least

	Newest bool   // newest LastSeen first, otherwise highest Rank first; then by ID
	Limit  int    // stories a page, as for a [Query]
	Cursor string // returned with the previous page
}

// PageSize returns the number of stories per page: Limit within its bounds, or 20 without a limit.
func (q StoryQuery) PageSize() int { return Query{Limit: q.Limit}.PageSize() }

// A StoryPosition is the sort key of a story in a list, for keyset pagination.
type StoryPosition struct {
	Newest   bool      `json:"n,omitempty"` // the list's order
	Rank     float64   `json:"r"`
	LastSeen time.Time `json:"t"`
	ID       string    `json:"i"`
}

// PositionOf returns the story's position in the order of the query.
func (q StoryQuery) PositionOf(s Story) StoryPosition {
	return StoryPosition{Newest: q.Newest, Rank: s.Rank, LastSeen: s.LastSeen, ID: s.ID}
}

// Position decodes Cursor: it returns the position of the last story of the previous page, nil without a
// cursor. It returns [ErrBadCursor] for the cursor of a list in another order.
func (q StoryQuery) Position() (*StoryPosition, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	var p StoryPosition
	if UnpackCursor(q.Cursor, &p) != nil || p.Newest != q.Newest || p.ID == "" {
		return nil, ErrBadCursor
	}
	return &p, nil
}

// Cursor returns the cursor of the page after the position.
func (p StoryPosition) Cursor() string { return PackCursor(p) }

// SplitPage returns the page and the cursor of the next page. The caller reads one story more than a page
// holds, which shows that another page follows.
func (q StoryQuery) SplitPage(stories []Story) (page []Story, next string) {
	size := q.PageSize()
	if len(stories) <= size {
		return stories, ""
	}
	return stories[:size], q.PositionOf(stories[size-1]).Cursor()
}

// A Sighting records when an item of a story, category and topic was first seen.
type Sighting struct {
	ItemID     string
	Seen       time.Time // FirstSeen
	Archived   bool      // published before its feed was added, as most items of its first document
	StoryID    string
	Categories []string
	Topics     []string
}

// FeedCoverage counts a feed's items, and those that other publishers cover too.
type FeedCoverage struct {
	Items, Covered int
}

// StoryItems contains a story's newest items, with totals over all of its items.
type StoryItems struct {
	Items     []Item    // the newest
	Count     int       // number of all items
	Events    int       // number of distinct events
	FirstSeen time.Time // smallest [Item.Time]
	LastSeen  time.Time // largest [Item.Time]
	Clicks    int       // sum over all items
}

// NewStoryItems returns the totals of a story that consists of these items, at least one. It sorts items in
// place, newest first.
func NewStoryItems(items []Item) StoryItems {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(b.FirstSeen.Compare(a.FirstSeen), cmp.Compare(a.ID, b.ID))
	})
	story := StoryItems{Items: items, Count: len(items), FirstSeen: items[0].Time(), LastSeen: items[0].Time()}
	events := map[string]bool{}
	for _, item := range items {
		if at := item.Time(); at.Before(story.FirstSeen) {
			story.FirstSeen = at
		} else if at.After(story.LastSeen) {
			story.LastSeen = at
		}
		events[item.EventID] = true
		story.Clicks += item.Clicks
	}
	story.Events = len(events)
	return story
}

// ItemsOfStory returns the result of [Stories.ReadStories] for one story, or [ErrNotFound] if it has no items.
func ItemsOfStory(ctx context.Context, from Stories, id string, limit int) (StoryItems, error) {
	stories, err := from.ReadStories(ctx, limit, id)
	return oneOf(stories, id, err)
}

// StoryByID returns the stored summary of the story, or [ErrNotFound].
func StoryByID(ctx context.Context, from Stories, id string) (Story, error) {
	stories, err := from.StoriesByID(ctx, id)
	return oneOf(stories, id, err)
}

// oneOf returns the result with the ID, or [ErrNotFound].
func oneOf[T any](all map[string]T, id string, err error) (one T, _ error) {
	if err != nil {
		return one, err
	}
	one, ok := all[id]
	if !ok {
		err = ErrNotFound
	}
	return one, err
}
