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

// ItemNotify is the kind of event that a rule's "notify" makes.
const ItemNotify = "item.notify"

// An Event is something that happened.
type Event struct {
	Kind   string    `json:"kind"` // as in "item.notify"; it travels on "events." and that
	At     time.Time `json:"at"`
	Text   string    `json:"text,omitempty"` // in words
	ItemID string    `json:"item_id,omitempty"`
	FeedID string    `json:"feed_id,omitempty"`
	Title  string    `json:"title,omitempty"` // of the item
	URL    string    `json:"url,omitempty"`   // likewise
}

// Message returns the event as it travels. What makes the same event of the same
// item again within two minutes is not heard twice.
func (e Event) Message() Message {
	data, err := json.Marshal(e)
	if err != nil {
		panic(err) // texts and a time
	}
	return Message{Subject: eventPrefix + e.Kind, ID: e.Kind + "/" + e.ItemID + "/" + e.Text, Data: data}
}

// travelsAlone reports whether messages of a subject are never bundled: pages, as
// each takes minutes, and one worker would have them all; and events, as whoever
// listens knows no bundles.
func travelsAlone(subject string) bool {
	return subject == Pages.Name || strings.HasPrefix(subject, eventPrefix)
}
