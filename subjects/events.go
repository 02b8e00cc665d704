package subjects

import (
	"encoding/json"
	"strings"
	"time"
)

// EventStream is the name of the stream of events for subscribers: user programs, consoles and outputs.
// Nothing in the mesh depends on it.
const EventStream = "events"

const eventPrefix = "events."

// The kinds of events.
const (
	ItemNotify = "item.notify" // a rule's "notify"
	StoryNew   = "story.new"   // a second publisher reported a story
	StoryGrew  = "story.grew"  // another publisher reported a story
	BurstStart = "burst.start" // items of a story, category or topic arrive above their usual rate

	ViewItem        = "view.item."       // and a name: an item that a subscription sends to it
	ViewsGrew       = "views.grew"       // new items entered views
	SubscriptionOff = "subscription.off" // a receiver failed for days, or wants no more

	MarksChanged = "marks.changed" // a client marked items as read, unread or starred
)

// Event is a notification to subscribers.
type Event struct {
	Kind   string    `json:"kind"` // for example "item.notify"; its subject is "events." and the kind
	At     time.Time `json:"at"`
	Text   string    `json:"text,omitempty"` // description
	ItemID string    `json:"item_id,omitempty"`
	FeedID string    `json:"feed_id,omitempty"`
	Title  string    `json:"title,omitempty"` // of the item
	URL    string    `json:"url,omitempty"`   // of the item

	StoryID string `json:"story_id,omitempty"`
	Sources int    `json:"sources,omitempty"` // number of publishers of the story
	Burst   string `json:"burst,omitempty"`   // object of the burst: "story", "category" or "topic"
	Name    string `json:"name,omitempty"`    // of the category or topic

	Marks *ChangedMarks `json:"marks,omitempty"` // nil but for marks.changed
}

// ChangedMarks are new marks of items. Only windows and programs of the client get them.
type ChangedMarks struct {
	Client  string   `json:"client"`
	Items   []string `json:"items,omitempty"` // IDs; empty: many items, by a time
	Read    *bool    `json:"read,omitempty"`  // nil: unchanged
	Starred *bool    `json:"starred,omitempty"`
}

// Message encodes the event. Its ID deduplicates equal events of one item or story within two minutes. Changes of
// marks are all different: a mark may be set, cleared and set again.
func (e Event) Message() Message {
	data, err := json.Marshal(e)
	if err != nil {
		panic(err) // texts and a time
	}
	id := e.Kind + "/" + e.StoryID + "/" + e.ItemID + "/" + e.Text
	if e.Marks != nil {
		id = e.Kind + "/" + e.Marks.Client + "/" + e.At.Format(time.RFC3339Nano)
	}
	return Message{Subject: eventPrefix + e.Kind, ID: id, Data: data}
}

// neverBundled reports whether messages of a subject are never bundled. A task of pages takes minutes, and a
// bundle would assign several to one worker; subscribers of events do not decode bundles.
func neverBundled(subject string) bool {
	return subject == PageQueue.Name || strings.HasPrefix(subject, eventPrefix)
}
