package mesh

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"feedmesh/subjects"
)

// eventBuffer is the number of events buffered for a subscriber.
const eventBuffer = 256

// events are the events of the mesh.
type events struct{ *client }

// SubscribeEvents calls each for every event of the mesh, until ctx ends or the connection is closed. It
// misses events while the connection is down, and events that arrive faster than each returns once the buffer
// is full. An event may be delivered twice.
func (s events) SubscribeEvents(ctx context.Context, each func(subjects.Event)) error {
	msgs := make(chan *nats.Msg, eventBuffer) // the client drops messages while it is full
	sub, err := s.conn.ChanSubscribe(subjects.EventStream+".>", msgs)
	if err != nil {
		return fmt.Errorf("subscribe to events: %w", err)
	}
	defer sub.Unsubscribe()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case msg, open := <-msgs:
			if !open {
				return fmt.Errorf("subscribe to events: %w", nats.ErrConnectionClosed)
			}
			var e subjects.Event
			if err := json.Unmarshal(msg.Data, &e); err != nil {
				s.log.Warn("event decode failed", "subject", msg.Subject, "err", err)
				continue
			}
			each(e)
		}
	}
}
