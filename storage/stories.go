package storage

import (
	"context"
	"time"
)

// Stories is the part of a [Store] that remembers what belongs together. What an
// item says of that ([Item.EventID], [Item.StoryID]) is the truth; a [Story] is
// what is told of it, and can be made again at any time from the items.
type Stories interface {
	// Rearrange moves events and items, in one transaction, and returns the IDs of
	// the items whose [Placement] is another now, in order of ID: they alone have
	// Changed. What is not there is left out. It returns [ErrFenced] under an
	// outdated fence; then nothing is changed.
	Rearrange(ctx context.Context, r Rearrangement) (changed []string, err error)

	// ReadStory returns the story's items and how much there is of it: at most
	// limit items, the newest FirstSeen, then by ID, without their HTML.
	// It returns [ErrNotFound] if no item belongs to the story.
	ReadStory(ctx context.Context, id string, limit int) (Told, error)

	// ReadStories returns what [Stories.ReadStory] does of each of the stories, by ID,
	// without those that have no items. It is quicker for several, all of which it
	// holds at once. Their items need have no more than what is told of them: ID,
	// FeedID, EventID, StoryID, Lane, URL, Title, Excerpt, Language, FirstSeen, Spam,
	// Flags, Categories, Topics, DuplicateOf and Clicks.
	ReadStories(ctx context.Context, limit int, ids ...string) (map[string]Told, error)

	// Repeats returns at most limit items that repeat the item with this ID, oldest
	// FirstSeen first, then by ID, without their HTML.
	Repeats(ctx context.Context, itemID string, limit int) ([]Item, error)

	// Click counts n more clicks of readers on the item, at least 1. Its Changed
	// stays: an [Index] knows nothing of clicks. It returns [ErrNotFound] if there
	// is no such item.
	Click(ctx context.Context, itemID string, n int) error

	// UntoldStories returns at most limit marks of stories, oldest first. At least
	// one is made by each call that changes something of a story that has or had
	// several items: an item came, went, moved, has another ID, repeats something
	// else, or has other words, labels or clicks. An item that is and was alone in
	// its story makes none. A mark is made with the change, in one transaction, and
	// stays until it is given to [Stories.TellStories]; its number is never given
	// to another one.
	UntoldStories(ctx context.Context, limit int) ([]Untold, error)

	// TellStories stores the stories, in place of any with their IDs, forgets those
	// whose IDs are in gone, and forgets the marks with these numbers, all in one
	// transaction. It returns [ErrFenced] under an outdated fence; then nothing is
	// changed. The zero Fence is not checked.
	TellStories(ctx context.Context, fence Fence, marks []Untold, told []Story, gone []string) error

	// Story returns what is told of the story, or [ErrNotFound].
	Story(ctx context.Context, id string) (Story, error)

	// ToldStories returns what is told of those of the stories of which anything
	// is, by ID.
	ToldStories(ctx context.Context, ids ...string) (map[string]Story, error)

	// ListStories returns a page of the stories that match the query, and the cursor
	// of the next one, empty if this is the last. It returns [ErrBadCursor] for
	// the cursor of a list in another order, see [StoryQuery.Place].
	ListStories(ctx context.Context, query StoryQuery) (page []Story, next string, err error)

	// Sightings returns at most limit sightings of items first seen at or after from
	// and before until, ordered by FirstSeen, then ID. after is the last of the
	// page before, or the zero Sighting. Spam is none of them.
	Sightings(ctx context.Context, from, until time.Time, after Sighting, limit int) ([]Sighting, error)

	// LiveEvents returns the IDs of at most limit events of a lane that had items
	// first seen at or after since: those whose last item is newest, then by ID.
	LiveEvents(ctx context.Context, lane string, since time.Time, limit int) ([]string, error)

	// EventItems returns at most limit items of a lane that belong to one of the
	// events, first seen at or after from and before until, ordered by FirstSeen,
	// then ID. after is the last item of the page before, or the zero Item.
	EventItems(ctx context.Context, lane string, events []string, from, until time.Time, after Item, limit int) ([]Item, error)

	// Reach returns, by feed ID, how many items first seen since then a feed has,
	// and how many of those belong to told stories of at least sources sources.
	// Feeds without such items are left out.
	Reach(ctx context.Context, since time.Time, sources int) (map[string]Reach, error)

	Notes
}

// Notes is the part of a [Store] where one who is alone in what he does keeps what
// his successor has to know.
type Notes interface {
	// Note returns what was last noted under the name, nil if nothing was.
	Note(ctx context.Context, name string) ([]byte, error)

	// PutNote notes it in place of what was noted under the name. It returns
	// [ErrFenced] under an outdated fence; then nothing is changed.
	PutNote(ctx context.Context, fence Fence, name string, note []byte) error
}

// A Rearrangement says what belongs elsewhere from now on.
type Rearrangement struct {
	Fence Fence // the zero Fence is not checked

	// Events belong to other stories, with all items they have, and those that are
	// new to [Items.PutItems] in the next thirty days, whatever these say. Of moves
	// of one event the last counts.
	Events []EventMove

	// Items are placed anew, after Events, exactly as these say. Of placements of
	// one item the last counts.
	Items []Placement

	Name string // of a note that is put with it, see [Notes]; empty: none
	Note []byte
}

// An EventMove says which story an event belongs to.
type EventMove struct {
	EventID, StoryID string
}

// A Placement is what an item says of what it belongs to.
type Placement struct {
	ItemID         string
	EventID        string
	StoryID        string
	StoryWhy       string
	DuplicateOf    string
	DuplicateBy    string
	DuplicateScore float64
	DuplicateWhy   string
}

// PlacementOf returns what the item says.
func PlacementOf(i Item) Placement {
	return Placement{
		ItemID: i.ID, EventID: i.EventID, StoryID: i.StoryID, StoryWhy: i.StoryWhy, DuplicateOf: i.DuplicateOf,
		DuplicateBy: i.DuplicateBy, DuplicateScore: i.DuplicateScore, DuplicateWhy: i.DuplicateWhy,
	}
}

// On returns the item with this placement in place of its own, whatever ItemID is.
func (p Placement) On(i Item) Item {
	i.EventID, i.StoryID, i.StoryWhy = p.EventID, p.StoryID, p.StoryWhy
	i.DuplicateOf, i.DuplicateBy = p.DuplicateOf, p.DuplicateBy
	i.DuplicateScore, i.DuplicateWhy = p.DuplicateScore, p.DuplicateWhy
	return i
}

// An Untold is a mark that a story is to be told anew.
type Untold struct {
	StoryID string
	Mark    int64 // names it
}

// A Story is what is told of items that belong together. It has at least two.
type Story struct {
	ID         string    `json:"id"`
	Lane       string    `json:"lane"`     // language, or other
	Headline   string    `json:"headline"` // ID of the item that stands for it
	Title      string    `json:"title"`    // of that one
	Summary    []Line    `json:"summary,omitempty"`
	Items      int       `json:"items"`
	Events     int       `json:"events"`
	Sources    int       `json:"sources"` // different publishers
	FirstSeen  time.Time `json:"first_seen"`
	LastSeen   time.Time `json:"last_seen"`
	Categories []string  `json:"categories,omitempty"` // that its items agree on, best first
	Topics     []string  `json:"topics,omitempty"`
	Heat       float64   `json:"heat"` // how much it is told, and how lately
	Clicks     int       `json:"clicks"`
	Burst      bool      `json:"burst,omitempty"` // its items come more often than they used to
	Rank       float64   `json:"rank"`            // the greatest first
	Told       time.Time `json:"told"`            // when this was made
}

// A Line is a sentence of a summary, and the item it is taken from.
type Line struct {
	Text   string `json:"text"`
	ItemID string `json:"item_id"`
}

// A StoryQuery says which stories to list. All of its conditions must hold; a zero
// field is no condition.
type StoryQuery struct {
	Lane     string
	Category string
	Topic    string
	After    time.Time // LastSeen at or after
	Before   time.Time // FirstSeen before
	Sources  int       // at least

	Newest bool   // newest LastSeen first, otherwise highest Rank first; then by ID
	Limit  int    // stories a page, as for a [Query]
	Cursor string // of the page, as returned with the one before
}

// PageSize returns how many stories a page has: Limit within its bounds, or 20 if
// there is none.
func (q StoryQuery) PageSize() int { return Query{Limit: q.Limit}.PageSize() }

// A StoryPlace is where a story comes in a list.
type StoryPlace struct {
	Newest   bool      `json:"n,omitempty"` // the list's order
	Rank     float64   `json:"r"`
	LastSeen time.Time `json:"t"`
	ID       string    `json:"i"`
}

// PlaceOf returns where the story comes among those that the query lists.
func (q StoryQuery) PlaceOf(s Story) StoryPlace {
	return StoryPlace{Newest: q.Newest, Rank: s.Rank, LastSeen: s.LastSeen, ID: s.ID}
}

// Place returns the place of the last story of the page before the one that Cursor
// is of, nil if there was none. It returns [ErrBadCursor] for a Cursor of a list in
// another order.
func (q StoryQuery) Place() (*StoryPlace, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	var p StoryPlace
	if UnpackCursor(q.Cursor, &p) != nil || p.Newest != q.Newest || p.ID == "" {
		return nil, ErrBadCursor
	}
	return &p, nil
}

// Cursor returns the cursor of the page that comes after the place.
func (p StoryPlace) Cursor() string { return PackCursor(p) }

// Cut returns the first page of the stories, of which there is one more than the
// page has room for if it is not the last, and the cursor of the next one.
func (q StoryQuery) Cut(stories []Story) (page []Story, next string) {
	size := q.PageSize()
	if len(stories) <= size {
		return stories, ""
	}
	return stories[:size], q.PlaceOf(stories[size-1]).Cursor()
}

// A Sighting says what was seen when.
type Sighting struct {
	ItemID     string
	Seen       time.Time // FirstSeen
	StoryID    string
	Categories []string
	Topics     []string
}

// Reach says how many of a feed's items others tell of too.
type Reach struct {
	Items, Reached int
}
