package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"feedmesh/agent/wire"
)

// maxEvent is the maximum length of one event, in bytes.
const maxEvent = 4 << 20

// Events calls each with every event until ctx ends, and then returns ctx's error. A stream that ends earlier
// is an error too; the caller reconnects.
func (c *Client) Events(ctx context.Context, each func(wire.StreamEvent)) error {
	resp, err := c.send(ctx, wire.WatchEvents.Method, wire.WatchEvents.Path, nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.decodeProblem(resp)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEvent)
	name := ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "data":
			event, err := decodeEvent(name, value)
			if err != nil {
				return c.errNotFeedmesh(resp)
			}
			each(event)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the event stream of %s was closed: this client read too slowly, or the node is stopping", c.base)
}

// decodeEvent decodes an event. An event of another name comes from a newer node and is empty.
func decodeEvent(name, data string) (event wire.StreamEvent, err error) {
	switch name {
	case "state":
		err = json.Unmarshal([]byte(data), &event.Status)
	case "happened":
		err = json.Unmarshal([]byte(data), &event.Event)
	}
	return event, err
}
