package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/web/sse"
	"feedmesh/agent/wire"
)

// streamRoute returns the route of a stream of server-sent events.
func streamRoute[In any](o wire.Operation[In, wire.Document], description string, send func(*Server, In, http.ResponseWriter, *http.Request)) route {
	return route{o.ID, o.Scope, func(api huma.API, s *Server) {
		d := describe(o)
		d.Responses = map[string]*huma.Response{"200": {
			Description: description,
			Content:     map[string]*huma.MediaType{o.Type: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}
		huma.Register(api, d, func(_ context.Context, in *In) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				r, w := humago.Unwrap(ctx)
				send(s, *in, w, r)
			}}, nil
		})
	}}
}

// eventsRoute returns the route of the event stream.
func eventsRoute() route {
	return streamRoute(wire.WatchEvents, "Server-sent events: \"state\" with the body of GET /api/status, immediately and after each change, at most every two seconds; \"happened\" with an event: kind, at, text, and its item_id or story_id; \"marked\" with a change of the marks of this client: ids, read, starred; \"subscribed\" once \"happened\" and \"marked\" are sent, and again after a gap: what changed before it is to be requested. Lines that begin with a colon are heartbeats.", sendEvents)
}

// viewEventsRoute returns the route of the streams of views.
func viewEventsRoute() route {
	return streamRoute(wire.WatchView, "Server-sent events: \"item\" with an item as searches find it, and an ID, in order of entry. Lines that begin with a colon are heartbeats.", sendEntered)
}

// sendEvents streams events to a client.
func sendEvents(s *Server, _ wire.None, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // closes the stream
	events, err := s.Events.Watch(ctx, access.From(ctx).Key(access.Address(r)))
	if err != nil {
		tooManyRequests(err.Error(), time.Minute).ServeHTTP(w, r)
		return
	}
	sse.Send(w, r, events, func(e wire.StreamEvent) sse.Event {
		switch {
		case e.Status != nil:
			return sse.Event{Name: "state", Data: e.Status}
		case e.Marks != nil:
			return sse.Event{Name: "marked", Data: e.Marks}
		case e.Subscribed:
			return sse.Event{Name: "subscribed", Data: struct{}{}}
		case e.ViewsGrew:
			return sse.Event{}
		}
		return sse.Event{Name: "happened", Data: e.Event}
	})
}

// sendEntered streams the items that enter a view to a client.
func sendEntered(s *Server, in wire.WatchViewRequest, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // closes the stream
	entered, err := s.Views.Watch(ctx, in.Name, in.After, access.Address(r))
	if errors.Is(err, service.ErrTooManyStreams) {
		tooManyRequests(err.Error(), time.Minute).ServeHTTP(w, r)
		return
	} else if err != nil {
		problem.Write(w, problem.Of(err, s.Log)) // an error means that the client disconnected
		return
	}
	sse.Send(w, r, entered, func(e wire.ViewEvent) sse.Event {
		return sse.Event{ID: strconv.FormatInt(e.Serial, 10), Name: "item", Data: e.Item}
	})
}
