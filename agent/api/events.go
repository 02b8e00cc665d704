package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"feedmesh/agent/access"
)

// Told is what a stream tells: one of the two.
type Told struct {
	State     *Status    // how the mesh is now
	Happening *Happening // what happened
}

// A Happening is something that happened in the mesh.
type Happening struct {
	Kind    string    `json:"kind" doc:"agent.joined, agent.left, feeds.failing, or what a rule or the stories tell: item.notify, story.new, story.grew, burst.start."`
	At      time.Time `json:"at"`
	Text    string    `json:"text" doc:"In words."`
	ItemID  string    `json:"item_id,omitempty"`
	StoryID string    `json:"story_id,omitempty"`
}

// The times of a stream.
const (
	heartbeat   = 15 * time.Second // how often it says something, so that both sides know the other is there
	streamLimit = 10 * time.Second // what a client may take to read
	streamAgain = 3 * time.Second  // after which a browser comes back
)

// eventSchema describes the stream for those who read OpenAPI. It is made anew for
// each: huma adds what may go wrong to it.
func eventSchema() map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: "Server-sent events: \"state\" with what GET /api/status answers, at once and each time it changes, at most every two seconds; \"happened\" with what happened: kind, at, text, and the item_id or story_id it is of. Lines that begin with a colon are heartbeats.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

func (s *Server) eventRoutes(api huma.API) {
	watch := op("GET", "/api/events", "watch-events", "What happens, as it happens", 429)
	watch.Description = "A stream without an end. One that does not keep up is ended: open it anew. There are at most 256, of one client at most 8."
	watch.Responses = eventSchema()
	huma.Register(api, watch, func(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			s.SendEvents(w, r, func(told Told) (string, any) {
				if told.State != nil {
					return "state", told.State
				}
				return "happened", told.Happening
			})
		}}, nil
	})
}

// Watch opens a stream for a client until ctx ends. It is closed then, or sooner if
// its reader does not keep up. It returns [ErrManyStreams] if there is no room.
func (s *Server) Watch(ctx context.Context, client string) (<-chan Told, error) {
	return s.streams.add(ctx, client)
}

// SendEvents answers with what is told, as server-sent events: each is named and
// made by as, and is not sent if that returns nil.
func (s *Server) SendEvents(w http.ResponseWriter, r *http.Request, as func(Told) (name string, data any)) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // closes the stream
	told, err := s.Watch(ctx, access.From(ctx).Key(access.Address(r)))
	if err != nil {
		tooMany(err.Error(), time.Minute).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	send := func(text string) error {
		// What can't be given a deadline ends with its request, as in tests.
		if err := out.SetWriteDeadline(time.Now().Add(streamLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return out.Flush()
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for text := fmt.Sprintf("retry: %d\n\n", streamAgain.Milliseconds()); ; {
		if send(text) != nil {
			return // whoever asked has gone, or does not read
		}
		select {
		case t, open := <-told:
			if !open {
				return
			}
			text = eventText(as(t))
		case <-beat.C:
			text = ": still here\n\n"
		}
	}
}

// eventText returns an event as it is sent. JSON has no line breaks.
func eventText(name string, data any) string {
	text, err := json.Marshal(data)
	if data == nil || err != nil {
		return ""
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", name, text)
}
