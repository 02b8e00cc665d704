package rest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"feedmesh/agent/wire"
)

// watchEvents calls each with every event of a node until ctx ends, and then returns ctx's error. A stream that ends
// earlier is an error too.
func watchEvents(ctx context.Context, node string, each func(wire.StreamEvent)) error {
	r, err := http.NewRequestWithContext(ctx, wire.WatchEvents.Method, node+wire.WatchEvents.Path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("got status %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 4<<20)
	name := ""
	for lines.Scan() {
		var event wire.StreamEvent
		switch field, value, _ := strings.Cut(lines.Text(), ": "); {
		case field == "event":
			name = value
			continue
		case field != "data":
			continue
		case name == "state":
			err = json.Unmarshal([]byte(value), &event.Status)
		case name == "happened":
			err = json.Unmarshal([]byte(value), &event.Event)
		}
		if err != nil {
			return err
		}
		each(event)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return io.ErrUnexpectedEOF
}
