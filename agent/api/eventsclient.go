package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// maxEvent is how long one event may be, in bytes.
const maxEvent = 4 << 20

// Events calls each with what happens, until ctx ends, which is its error then. A
// stream that ends sooner is an error too: who wants to go on opens it anew.
func (c *Client) Events(ctx context.Context, each func(Told)) error {
	resp, err := c.send(ctx, "GET", "/api/events", nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp)
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
			told, err := toldOf(name, value)
			if err != nil {
				return c.stranger(resp)
			}
			each(told)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the stream of events of %s ended: it may have been too slow, or the node is ending", c.base)
}

// toldOf reads an event. What has another name is of a newer node, and tells nothing.
func toldOf(name, data string) (told Told, err error) {
	switch name {
	case "state":
		err = json.Unmarshal([]byte(data), &told.State)
	case "happened":
		err = json.Unmarshal([]byte(data), &told.Happening)
	}
	return told, err
}
