// Package story groups items into events, and events into stories, online. An event is items about one
// happening; a story is events that belong together.
//
// [Clusters.Place] assigns each new item, [Clusters.Tick] merges, splits and expires stories, [Headline],
// [Summary] and [Rank] describe them. [Limits] bound memory. The package does not depend on queues, storage
// or the clock.
package story

import (
	"fmt"
	"hash/maphash"
	"strings"
	"time"
)

// An Item is the input of placement.
type Item struct {
	ID          string
	Title       string
	Text        string    // plain; may be empty
	Language    string    // ISO 639-1; may be empty
	Host        string    // of its publisher; may be empty
	Seen        time.Time // when it was published, or first seen if that is not known; may precede earlier items'
	DuplicateOf string    // ID of the original if this item is a duplicate; else empty

	Features *Features // precomputed terms; if nil they are extracted when needed
}

// A Placement is the event and story of an item.
type Placement struct {
	EventID string
	StoryID string
	Reason  Reason
}

// Limits bound memory.
type Limits struct {
	Events int           // events in the window, and 1 in 200 more between passes; of the oldest the smallest is evicted
	Items  int           // of events in the window
	Window time.Duration // time from an event's last item until it expires
	Reach  time.Duration // longest time between an item and the nearest one of an event that it joins, and of two events whose stories merge
}

// DefaultLimits returns bounds of some 150 MB.
func DefaultLimits() Limits {
	return Limits{Events: 50_000, Items: 1_000_000, Window: 72 * time.Hour, Reach: 72 * time.Hour}
}

// IDs contains functions that derive IDs. A nil function returns its argument.
type IDs struct {
	Event func(itemID string) string  // of an event, from its first item's
	Story func(eventID string) string // of a story, from its first event's
}

// Clusters are the events and stories of one language in the window. Equal sequences of calls give equal
// answers. They have a single owner: methods must not be called concurrently.
type Clusters struct {
	weights Weights
	limits  Limits
	ids     IDs

	index        index
	query        query
	events       []event // by slot
	free         []uint32
	arena        arena // arena of IDs, hosts of events, and events of stories
	groups       []*[groupBlock]group
	freeGroups   []uint32           // numbers of free groups
	byID         map[key]uint32     // slots by event ID
	items        map[key]member     // by item ID
	stories      map[key]uint32     // numbers of groups by story ID
	undo         map[uint32][]merge // by group, newest last
	storyVectors map[*group]packed  // cache of story vectors, during a pass
	oldest       uint32             // the event used longest ago; see event.next
	newest       uint32
	now          time.Time // latest time passed to a method
	evicted      int64     // newest item of the events evicted at a limit, in microseconds; 0: none

	changed   []uint32 // slots of events for the next pass
	placed    int      // items since the last pass
	passed    time.Time
	total     int    // items ever
	opened    uint32 // events ever
	passes    uint32
	restored  time.Time             // latest time of an item restored since the last pass
	overrides map[string][]Override // by the ID of either event
	changes   []Change              // for the next Tick
	observe   func(eventID, otherID string, e MergeEvidence)
}

// none is an invalid slot.
const none = ^uint32(0)

// An event is items about one happening. A free slot has no ID.
type event struct {
	id          ref
	story       uint32  // number of its group
	square      product // of its vector, when squared items had been placed
	squared     int
	newest      key // newest item; older items follow as a linked list
	items       uint32
	votes       uint32 // items that contribute to the vector: one per host
	texts       uint32 // votes with a text
	hosts       list   // hashes of hosts that voted, two numbers each
	first, last int64  // in microseconds
	changed     bool
	prev, next  uint32 // in the order of use
}

// A member is an item of an event.
type member struct {
	older key // previous item of the event
	slot  uint32
	voted bool // it contributes to the event's vector
}

// A group is a story.
type group struct {
	number  uint32
	id      ref
	events  list   // slots, in the order in which the events joined
	checked uint32 // last pass that checked the story
}

// A key is the hash of an ID. Two of a million IDs collide with odds of 1 in 10^7. The seed is random per
// process, so nobody outside can construct collisions.
type key uint64

var seed = maphash.MakeSeed()

func keyOf(id string) key { return key(maphash.String(seed, id)) }

// New returns Clusters without items. It panics if a limit is not positive.
func New(w Weights, l Limits, ids IDs) *Clusters {
	if l.Events < 1 || l.Items < 1 || l.Window <= 0 || l.Reach <= 0 {
		panic("story: New: limits must be positive")
	}
	if ids.Event == nil {
		ids.Event = func(id string) string { return id }
	}
	if ids.Story == nil {
		ids.Story = func(id string) string { return id }
	}
	return &Clusters{
		weights: w, limits: l, ids: ids, index: newIndex(&w), oldest: none, newest: none,
		byID: make(map[key]uint32), items: make(map[key]member), stories: make(map[key]uint32), undo: make(map[uint32][]merge),
		storyVectors: make(map[*group]packed), overrides: make(map[string][]Override),
	}
}

// A Reason explains why an item is in an event.
type Reason struct {
	By        string   // "first", "repeat", "near", "hand" or "before"
	Score     float64  // of "near": probability, from the threshold to 1
	Threshold float64  // that it passed
	Cosine    float64  // of all terms
	Shared    []string // heaviest shared words, at most 5
}

// String returns a sentence for people.
func (w Reason) String() string {
	switch w.By {
	case "first":
		return "first item of the event: no similar event was found"
	case "hand":
		return "set by a person"
	case "repeat":
		return "duplicate of another item of the event"
	case "near":
		return fmt.Sprintf("similar words (%.0f %%), among them %s (probability %.2f, threshold %.2f)",
			100*w.Cosine, strings.Join(w.Shared, ", "), w.Score, w.Threshold)
	}
	return "already in the event"
}

// A Change is a merge, split or expiry of a story.
type Change struct {
	Kind   ChangeKind
	Story  string   // ID of the story that changed
	Into   string   // ID of the story that now contains Events; empty if Kind is Expired
	Events []string // IDs of the events that moved
	Reason string
}

// An Override is a person's decision whether two events are one story. It is active until one of the events
// expires.
type Override struct {
	A        string `json:"a"` // ID of an event
	B        string `json:"b"` // ID of another event, later in the alphabet
	Together bool   `json:"together,omitempty"`
}

// groupBlock is the number of groups in one allocation. Pointers to groups stay valid while others are added.
const groupBlock = 1 << 8

// A ChangeKind names a kind of change.
type ChangeKind string

// Kinds of changes.
const (
	Merged  ChangeKind = "merged"  // the story is part of Into
	Split   ChangeKind = "split"   // Into left the story
	Expired ChangeKind = "expired" // all events of the story left the window
)
