package wire

import (
	"time"

	"feedmesh/agent/access"
)

// StreamEvent is one event of a stream; exactly one field is set.
type StreamEvent struct {
	Status *Status // the current state of the mesh
	Event  *MeshEvent
	Marks  *MarksEvent // of the stream's own client

	// Subscribed is set once events of the mesh are sent, and again after a gap.
	Subscribed bool

	// ViewsGrew is set when items entered views, see [WatchView].
	ViewsGrew bool
}

// A MeshEvent is a change in the mesh, or a notification by a rule or a story.
type MeshEvent struct {
	Kind    string    `json:"kind" doc:"agent.joined, agent.left, feeds.failing, or from rules and stories: item.notify, story.new, story.grew, burst.start."`
	At      time.Time `json:"at"`
	Text    string    `json:"text" doc:"In words."`
	ItemID  string    `json:"item_id,omitempty"`
	StoryID string    `json:"story_id,omitempty"`
}

// WatchEvents streams events as server-sent events: "state" with a [Status], "happened" with a [MeshEvent],
// "marked" with a [MarksEvent], and "subscribed" with an empty object.
var WatchEvents = Operation[None, Document]{ID: "watch-events", Method: "GET", Path: "/api/events", Tag: "mesh", Scope: access.Read,
	Summary:     "Stream events of the mesh",
	Description: "An endless stream. A client that reads too slowly is disconnected and should reconnect. At most 256 streams are open, 8 of one client.",
	Errors:      []int{429}, Type: "text/event-stream"}
