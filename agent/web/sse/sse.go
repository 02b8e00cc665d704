// Package sse writes server-sent events.
package sse

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Timing of a stream.
const (
	heartbeatInterval = 15 * time.Second // interval of comments by which both sides detect a broken connection
	WriteTimeout      = 10 * time.Second // timeout of one write
	retry             = 3 * time.Second  // delay before a browser reconnects
)

// An Event is an event of a stream.
type Event struct {
	ID   string // by which a stream is continued; or empty
	Name string
	Data any // sent as JSON; nil: the event is skipped
}

// Send answers a request with events until the channel is closed or the client disconnects.
func Send[E any](w http.ResponseWriter, r *http.Request, events <-chan E, as func(E) Event) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	send := func(text string) error {
		// Test writers support no deadline; their streams end with the request.
		if err := out.SetWriteDeadline(time.Now().Add(WriteTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return out.Flush()
	}
	heartbeat := time.NewTicker(heartbeatInterval)
	defer heartbeat.Stop()
	for text := fmt.Sprintf("retry: %d\n\n", retry.Milliseconds()); ; {
		if send(text) != nil {
			return // the client disconnected or does not read
		}
		select {
		case e, open := <-events:
			if !open {
				return
			}
			text = format(as(e))
		case <-heartbeat.C:
			text = ": heartbeat\n\n"
		case <-r.Context().Done():
			return
		}
	}
}

// format returns an event in the server-sent format. JSON contains no line breaks.
func format(e Event) string {
	text, err := json.Marshal(e.Data)
	if e.Data == nil || err != nil {
		return ""
	}
	id := ""
	if e.ID != "" {
		id = "id: " + e.ID + "\n"
	}
	return fmt.Sprintf("%sevent: %s\ndata: %s\n\n", id, e.Name, text)
}
