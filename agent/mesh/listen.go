package mesh

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"feedmesh/subjects"
)

// unheard is how many events may wait for who listens.
const unheard = 256

// Listen calls each with what happens in the mesh, until ctx ends or the
// connection is closed. What happens while the connection is away is not heard, nor
// what comes faster than each returns; what is told twice may be heard twice.
func (m *Mesh) Listen(ctx context.Context, each func(subjects.Event)) error {
	heard := make(chan *nats.Msg, unheard) // the client drops what finds it full
	sub, err := m.conn.ChanSubscribe(subjects.EventStream+".>", heard)
	if err != nil {
		return fmt.Errorf("listen to what happens: %w", err)
	}
	defer sub.Unsubscribe()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case msg, open := <-heard:
			if !open {
				return fmt.Errorf("listen to what happens: %w", nats.ErrConnectionClosed)
			}
			var e subjects.Event
			if err := json.Unmarshal(msg.Data, &e); err != nil {
				m.log.Warn("what happened can't be read", "subject", msg.Subject, "err", err)
				continue
			}
			each(e)
		}
	}
}
