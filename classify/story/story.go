// Package story groups items into events, and events into stories, as they come.
// An event is items about one happening; a story is events that belong together.
// It knows nothing of queues, storage or the clock.
package story

import (
	"fmt"
	"hash/maphash"
	"strings"
	"time"
)

// An Item is what is known of an item before it is placed.
type Item struct {
	ID       string
	Title    string
	Text     string // plain; may be empty
	Language string // ISO 639-1; may be empty
	Host     string // of its publisher; empty if unknown
	Seen     time.Time
	Repeats  string // ID of the item that it says the same as; empty if it is new

	Read *Reading // of its words; nil if they are to be read when they are needed
}

// A Placement is where an item belongs.
type Placement struct {
	EventID string
	StoryID string
	Why     Why
}

// Limits bound what is remembered.
type Limits struct {
	Events int           // live ones, and one in 200 more between passes; of the oldest the smallest goes
	Items  int           // of live events
	Window time.Duration // how long an event lives after its last item
}

// DefaultLimits returns bounds for one language: some 300 MB of titles alone.
func DefaultLimits() Limits {
	return Limits{Events: 50_000, Items: 1_000_000, Window: 72 * time.Hour}
}

// IDs are how IDs are made. A nil function keeps the ID that it is given.
type IDs struct {
	Event func(itemID string) string  // of an event, from its first item's
	Story func(eventID string) string // of a story, from its first event's
}

// Clusters are the live events and stories of one language. Equal sequences of
// calls give equal answers. It has a single owner: its methods must not be called
// concurrently.
type Clusters struct {
	weights Weights
	limits  Limits
	ids     IDs

	index   index
	asked   query
	events  []event // by slot
	free    []uint32
	room    room // of IDs, of what events have of hosts, and stories of events
	groups  []*[groupBlock]group
	dead    []uint32           // numbers of groups that are no stories
	byID    map[key]uint32     // slots by event ID
	items   map[key]member     // by item ID
	stories map[key]uint32     // numbers of groups by story ID
	undo    map[uint32][]merge // by group, newest last
	wholes  map[*group]packed  // what stories are about, during a pass
	oldest  uint32             // the event touched longest ago; see event.next
	newest  uint32
	now     time.Time // the latest time we have heard of

	changed  []uint32 // slots of events that the next pass looks at
	placed   int      // items since the last pass
	passed   time.Time
	total    int    // items ever
	opened   uint32 // events ever
	passes   uint32
	recalled time.Time         // the latest time of an item that was taken back since the last pass
	hands    map[string][]Hand // by the ID of either event
	changes  []Change          // that the next Tick tells
}

// none is no slot.
const none = ^uint32(0)

// An event is items about one happening. A slot without an event has no ID.
type event struct {
	id          ref
	story       uint32  // number of its group
	square      product // of its vector with itself, when so many items had come
	squared     int
	newest      key // of its items; the others follow
	items       uint32
	votes       uint32 // items that count: one of a host
	texts       uint32 // votes that have a text
	hosts       list   // hashes of those that voted, two numbers each
	first, last int64  // in microseconds
	changed     bool
	prev, next  uint32 // in the order in which events were touched
}

// A member is an item of an event.
type member struct {
	older key // the item of the event that came to it before
	slot  uint32
	voted bool // the event is about what it says, too
}

// A group is a story.
type group struct {
	number  uint32
	id      ref
	events  list   // slots, in the order in which they came to it
	checked uint32 // the pass that looked whether it is one
}

// A key stands for an ID. Of a million IDs two have one key with odds of 1 in 10^7,
// and nobody outside can make such: the seed is another in each process.
type key uint64

var seed = maphash.MakeSeed()

func keyOf(id string) key { return key(maphash.String(seed, id)) }

// New returns Clusters without items. It panics if the limits leave no room for
// an item.
func New(w Weights, l Limits, ids IDs) *Clusters {
	if l.Events < 1 || l.Items < 1 || l.Window <= 0 {
		panic("story: New needs room for an item")
	}
	if ids.Event == nil {
		ids.Event = func(id string) string { return id }
	}
	if ids.Story == nil {
		ids.Story = func(id string) string { return id }
	}
	return &Clusters{
		weights: w, limits: l, ids: ids, index: newIndex(w.Prior), oldest: none, newest: none,
		byID: make(map[key]uint32), items: make(map[key]member), stories: make(map[key]uint32), undo: make(map[uint32][]merge),
		wholes: make(map[*group]packed), hands: make(map[string][]Hand),
	}
}

// Len returns how many items, events and stories live.
func (c *Clusters) Len() (items, events, stories int) {
	return len(c.items), len(c.byID), len(c.stories)
}

// Why says why an item is in an event.
type Why struct {
	By        string   // "first", "repeat", "near", "hand" or "before"
	Score     float64  // of "near": from the threshold to 1
	Threshold float64  // that it passed
	Cosine    float64  // of the words alone
	Shared    []string // words they share that say most, at most 5
}

// String returns a sentence for people.
func (w Why) String() string {
	switch w.By {
	case "first":
		return "it began the event: nothing like it was there"
	case "hand":
		return "a person said so"
	case "repeat":
		return "it says the same as another item of the event"
	case "near":
		return fmt.Sprintf("its words are alike by %.0f %%, among them %s (score %.2f of %.2f needed)",
			100*w.Cosine, strings.Join(w.Shared, ", "), w.Score, w.Threshold)
	}
	return "it was there before"
}
