package mesh

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"feedmesh/subjects"
)

const (
	eventBuffer      = 256 // buffered events of a subscriber
	subscribeTimeout = 10 * time.Second
)

// events are the events of the mesh.
type events struct{ *client }

// SubscribeEvents calls each for every event of the mesh, until ctx ends or the connection is closed. It
// misses events while the connection is down, and events that arrive faster than each returns once the buffer
// is full. An event may be delivered twice. subscribed is called first, once the server has the subscription,
// and again after each reconnect: what was published before it may have been missed.
func (s events) SubscribeEvents(ctx context.Context, subscribed func(), each func(subjects.Event)) error {
	reconnected := s.conn.StatusChanged(nats.CONNECTED)
	defer s.conn.RemoveStatusListener(reconnected)
	msgs := make(chan *nats.Msg, eventBuffer) // the client drops messages while it is full
	sub, err := s.conn.ChanSubscribe(subjects.EventStream+".>", msgs)
	if err != nil {
		return fmt.Errorf("subscribe to events: %w", err)
	}
	defer sub.Unsubscribe()
	if err := s.conn.FlushTimeout(subscribeTimeout); err != nil {
		return fmt.Errorf("subscribe to events: %w", err)
	}
	subscribed()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-reconnected:
			subscribed()
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
