package rest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// A listener reads a stream of events.
type listener struct {
	lines *bufio.Scanner
	end   func()
}

// listen opens a stream of events and reads their names and data. Run must publish to it.
func (w *testbed) listen(t *testing.T) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", w.URL+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip") // as browsers do: events are not compressed
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %v, want a stream of events", resp.StatusCode, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &listener{lines, cancel}
}

// next returns the next event of a name.
func (l *listener) next(t *testing.T, name string, to any) {
	t.Helper()
	for l.lines.Scan() {
		if l.lines.Text() != "event: "+name {
			continue
		}
		l.lines.Scan()
		if err := json.Unmarshal([]byte(strings.TrimPrefix(l.lines.Text(), "data: ")), to); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("the stream ended before %s: %v", name, l.lines.Err())
}

// runStreams publishes events to streams until stop is called.
func (w *testbed) runStreams(t *testing.T) (stop func()) {
	t.Helper()
	w.Mesh.Events = make(chan subjects.Event, 10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.server.Events.Run(ctx) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run failed: %v", err)
		}
		done <- nil
	}
	t.Cleanup(stop)
	return stop
}

func TestEvents_StatusAndEvents(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	stop := w.runStreams(t)
	first := w.listen(t)
	var state wire.Status
	first.next(t, "state", &state)
	if state.Items != 2 || len(state.Queues) != 2 {
		t.Errorf("got %+v, want the status", state)
	}
	w.Mesh.Events <- subjects.Event{Kind: subjects.StoryGrew, At: now, Text: "three publishers", Title: "A <kernel>", StoryID: "s1"}
	var got wire.MeshEvent
	first.next(t, "happened", &got)
	if want := (wire.MeshEvent{Kind: "story.grew", At: now, Text: "three publishers: A <kernel>", StoryID: "s1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	second := w.listen(t)
	second.next(t, "subscribed", &struct{}{}) // immediately
	second.next(t, "state", &state)           // without a change
	stop()
	for first.lines.Scan() { // ends
	}
	if err := first.lines.Err(); err != nil {
		t.Errorf("the stream ended with %v, want a clean end when the process ends", err)
	}
	if a := w.request(t, "GET", "/api/events", ""); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("got %d of a process that ends, want 429", a.StatusCode)
	}
}

// TestStreams_SlowClientsDoNotBlock opens many streams and reads none of them.
func TestStreams_SlowClientsDoNotBlock(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.runStreams(t)
	refused := 0
	for range 300 {
		conn, err := net.Dial("tcp", w.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "429") {
			refused++
		}
	}
	if refused != 300-service.MaxClientStreams || w.server.Events.Open() != service.MaxClientStreams {
		t.Errorf("%d of 300 were rejected and %d are open, want all but %d rejected", refused, w.server.Events.Open(), service.MaxClientStreams)
	}
}
