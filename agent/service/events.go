package service

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
	"feedmesh/agent/wire"
)

// Timing of a stream.
const (
	heartbeatInterval  = 15 * time.Second // interval of comments by which both sides detect a broken connection
	streamWriteTimeout = 10 * time.Second // timeout of one write
	streamRetry        = 3 * time.Second  // delay before a browser reconnects
)

// eventSchema describes the stream in the OpenAPI description. It returns a new value each time, since huma
// adds the error responses to it.
func eventSchema() map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: "Server-sent events: \"state\" with the body of GET /api/status, immediately and after each change, at most every two seconds; \"happened\" with an event: kind, at, text, and its item_id or story_id. Lines that begin with a colon are heartbeats.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

func (s *Server) eventRoutes(api huma.API) {
	watch := op("GET", "/api/events", "watch-events", "Stream events of the mesh", 429)
	watch.Description = "An endless stream. A client that reads too slowly is disconnected and should reconnect. At most 256 streams are open, 8 of one client."
	watch.Responses = eventSchema()
	huma.Register(api, watch, func(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			s.SendEvents(w, r, func(events wire.StreamEvent) (string, any) {
				if events.Status != nil {
					return "state", events.Status
				}
				return "happened", events.Event
			})
		}}, nil
	})
}

// Watch opens a stream for a client. The stream is closed when ctx ends, or earlier if its reader is too
// slow. It returns [ErrTooManyStreams] if no stream is free.
func (s *Server) Watch(ctx context.Context, client string) (<-chan wire.StreamEvent, error) {
	return s.streams.add(ctx, client)
}

// SendEvents answers with server-sent events. as returns the name and the JSON data of an event; nil data
// skips it.
func (s *Server) SendEvents(w http.ResponseWriter, r *http.Request, as func(wire.StreamEvent) (name string, data any)) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // closes the stream
	events, err := s.Watch(ctx, access.From(ctx).Key(access.Address(r)))
	if err != nil {
		tooManyRequests(err.Error(), time.Minute).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	send := func(text string) error {
		// Test writers support no deadline; their streams end with the request.
		if err := out.SetWriteDeadline(time.Now().Add(streamWriteTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return out.Flush()
	}
	heartbeat := time.NewTicker(heartbeatInterval)
	defer heartbeat.Stop()
	for text := fmt.Sprintf("retry: %d\n\n", streamRetry.Milliseconds()); ; {
		if send(text) != nil {
			return // the client disconnected or does not read
		}
		select {
		case t, open := <-events:
			if !open {
				return
			}
			text = formatSSE(as(t))
		case <-heartbeat.C:
			text = ": heartbeat\n\n"
		}
	}
}

// formatSSE returns an event in the server-sent format. JSON contains no line breaks.
func formatSSE(name string, data any) string {
	text, err := json.Marshal(data)
	if data == nil || err != nil {
		return ""
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", name, text)
}
