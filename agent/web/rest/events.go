package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/sse"
	"feedmesh/agent/wire"
)

// eventsRoute returns the route of the event stream.
func eventsRoute() route {
	o := wire.WatchEvents
	return route{o.ID, o.Scope, func(api huma.API, s *Server) {
		d := describe(o)
		d.Responses = map[string]*huma.Response{"200": {
			Description: "Server-sent events: \"state\" with the body of GET /api/status, immediately and after each change, at most every two seconds; \"happened\" with an event: kind, at, text, and its item_id or story_id; \"marked\" with a change of the marks of this client: ids, read, starred; \"subscribed\" once \"happened\" and \"marked\" are sent, and again after a gap: what changed before it is to be requested. Lines that begin with a colon are heartbeats.",
			Content:     map[string]*huma.MediaType{o.Type: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}
		huma.Register(api, d, func(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				r, w := humago.Unwrap(ctx)
				sendEvents(s.Events, w, r)
			}}, nil
		})
	}}
}

// sendEvents streams events to a client.
func sendEvents(from *service.Events, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // closes the stream
	events, err := from.Watch(ctx, access.From(ctx).Key(access.Address(r)))
	if err != nil {
		tooManyRequests(err.Error(), time.Minute).ServeHTTP(w, r)
		return
	}
	sse.Send(w, r, events, func(e wire.StreamEvent) (string, any) {
		switch {
		case e.Status != nil:
			return "state", e.Status
		case e.Marks != nil:
			return "marked", e.Marks
		case e.Subscribed:
			return "subscribed", struct{}{}
		}
		return "happened", e.Event
	})
}
