package subjects

import (
	"encoding/json"
	"strings"
	"time"
)

// EventStream is the name of the stream of what happened, for those who listen:
// people's own programs, consoles, outputs. Nothing in the mesh depends on it.
const EventStream = "events"

const eventPrefix = "events."

// The kinds of events.
const (
	ItemNotify = "item.notify" // a rule's "notify"
	StoryNew   = "story.new"   // two items belong together, and nobody had told so
	StoryGrew  = "story.grew"  // another publisher tells of a story
	BurstStart = "burst.start" // items of a story, category or topic come more often than they used to
)

// An Event is something that happened.
type Event struct {
	Kind   string    `json:"kind"` // as in "item.notify"; it travels on "events." and that
	At     time.Time `json:"at"`
	Text   string    `json:"text,omitempty"` // in words
	ItemID string    `json:"item_id,omitempty"`
	FeedID string    `json:"feed_id,omitempty"`
	Title  string    `json:"title,omitempty"` // of the item
	URL    string    `json:"url,omitempty"`   // likewise

	StoryID string `json:"story_id,omitempty"`
	Sources int    `json:"sources,omitempty"` // publishers that tell of the story
	Burst   string `json:"burst,omitempty"`   // what bursts: "story", "category" or "topic"
	Name    string `json:"name,omitempty"`    // of the category or topic
}

// Message returns the event as it travels. What makes the same event of the same
// item or story again within two minutes is not heard twice.
func (e Event) Message() Message {
	data, err := json.Marshal(e)
	if err != nil {
		panic(err) // texts and a time
	}
	return Message{Subject: eventPrefix + e.Kind, ID: e.Kind + "/" + e.StoryID + "/" + e.ItemID + "/" + e.Text, Data: data}
}

// travelsAlone reports whether messages of a subject are never bundled: pages, as
// each takes minutes, and one worker would have them all; and events, as whoever
// listens knows no bundles.
func travelsAlone(subject string) bool {
	return subject == Pages.Name || strings.HasPrefix(subject, eventPrefix)
}
