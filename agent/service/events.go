package service

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

const (
	// statusInterval is the interval of status checks for streams.
	statusInterval = 2 * time.Second

	// listenRetryDelay is the delay before a failed subscription to the mesh is retried.
	listenRetryDelay = 5 * time.Second
)

// Events sends events of the mesh to clients.
type Events struct {
	*core
	status  *Status
	streams *streams
}

// Watch opens a stream for a client. The stream is closed when ctx ends, or earlier if its reader is too
// slow. It returns [ErrTooManyStreams] if no stream is free.
func (e *Events) Watch(ctx context.Context, client string) (<-chan wire.StreamEvent, error) {
	return e.streams.add(ctx, client)
}

// Open returns the number of open streams.
func (e *Events) Open() int { return e.streams.count() }

// Run publishes events to streams until ctx ends, and then closes the streams. Without streams it
// makes no requests.
func (e *Events) Run(ctx context.Context) error {
	defer e.streams.end()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.streams.opened:
			e.publishToStreams(ctx)
		}
	}
}

// publishToStreams publishes events while streams are open.
func (e *Events) publishToStreams(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	listening.Go(func() { e.forwardEvents(ctx) })
	var previous *wire.Status
	for again := true; e.Open() > 0; {
		if status, err := e.status.Get(ctx, wire.None{}); err == nil {
			for _, h := range eventsBetween(previous, status, e.Now()) {
				e.streams.publish(wire.StreamEvent{Event: &h})
			}
			if again || previous == nil || !reflect.DeepEqual(*previous, status) {
				e.streams.publish(wire.StreamEvent{Status: &status})
			}
			previous = &status
		}
		again = false
		select {
		case <-ctx.Done():
			return
		case <-e.streams.opened: // a new stream needs the full state
			again = true
		case <-time.After(statusInterval):
		}
	}
}

// forwardEvents forwards events of the mesh to the streams.
func (e *Events) forwardEvents(ctx context.Context) {
	for {
		err := e.Mesh.SubscribeEvents(ctx, e.streams.subscribe, func(event subjects.Event) {
			if m := event.Marks; m != nil {
				e.streams.publishTo(m.Client, wire.StreamEvent{Marks: &wire.MarksEvent{IDs: m.Items, Read: m.Read, Starred: m.Starred}})
				return
			}
			switch {
			case event.Kind == subjects.ViewsGrew:
				e.streams.publish(wire.StreamEvent{ViewsGrew: true})
				return
			case strings.HasPrefix(event.Kind, subjects.ViewItem):
				return // a subscription's, to its receiver alone: a view may be private
			}
			e.streams.publish(wire.StreamEvent{Event: &wire.MeshEvent{Kind: event.Kind, At: event.At, Text: describeEvent(event), ItemID: event.ItemID, StoryID: event.StoryID}})
		})
		e.streams.unsubscribe()
		if ctx.Err() != nil {
			return
		}
		e.Log.Warn("event subscription failed, will retry", "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(listenRetryDelay):
		}
	}
}

// describeEvent returns the text of an event.
func describeEvent(e subjects.Event) string {
	switch {
	case e.Text != "" && e.Title != "":
		return e.Text + ": " + e.Title
	case e.Text != "":
		return e.Text
	}
	return e.Title
}

// eventsBetween returns the changes between two states of the mesh; none if a part did not answer.
func eventsBetween(previous *wire.Status, now wire.Status, at time.Time) []wire.MeshEvent {
	if previous == nil || len(previous.Problems) > 0 || len(now.Problems) > 0 {
		return nil
	}
	var list []wire.MeshEvent
	for _, a := range agentsWithout(now.Agents, previous.Agents) {
		list = append(list, wire.MeshEvent{Kind: "agent.joined", At: at, Text: fmt.Sprintf("agent %s on %s joined the mesh", a.ID, a.Host)})
	}
	for _, a := range agentsWithout(previous.Agents, now.Agents) {
		list = append(list, wire.MeshEvent{Kind: "agent.left", At: at, Text: fmt.Sprintf("agent %s on %s left the mesh", a.ID, a.Host)})
	}
	if more := now.Feeds.Failing - previous.Feeds.Failing; more > 0 {
		list = append(list, wire.MeshEvent{Kind: "feeds.failing", At: at, Text: fmt.Sprintf("%d more feeds fail, %d in all", more, now.Feeds.Failing)})
	}
	return list
}

// agentsWithout returns the agents that are not among the others.
func agentsWithout(agents, others []subjects.Agent) []subjects.Agent {
	return slices.DeleteFunc(slices.Clone(agents), func(a subjects.Agent) bool {
		return slices.ContainsFunc(others, func(other subjects.Agent) bool { return other.ID == a.ID })
	})
}

// Bounds of streams.
const (
	MaxStreams       = 256 // in a process
	MaxClientStreams = 8   // of one client
	streamBuffer     = 16  // buffered events of a stream
)

// ErrTooManyStreams reports that the maximum number of streams is open.
var ErrTooManyStreams = errors.New("too many streams are open, close one of them")

// streams is the set of open streams. Events are published to all without blocking: a stream with a full
// buffer is closed.
type streams struct {
	mu     sync.Mutex
	open   map[chan wire.StreamEvent]string // client by stream
	opened chan struct{}                    // notifies [Events.Run] of a new stream
	ended  bool                             // no new streams are accepted

	subscribed bool // events of the mesh are published to the streams
}

func newStreams() *streams {
	return &streams{open: map[chan wire.StreamEvent]string{}, opened: make(chan struct{}, 1)}
}

// add opens a stream for a client. It is closed when ctx ends, when its buffer is full, and when the process
// exits.
func (s *streams) add(ctx context.Context, client string) (<-chan wire.StreamEvent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	its := 0
	for _, other := range s.open {
		if other == client {
			its++
		}
	}
	if s.ended || len(s.open) >= MaxStreams || its >= MaxClientStreams {
		return nil, ErrTooManyStreams
	}
	stream := make(chan wire.StreamEvent, streamBuffer)
	s.open[stream] = client
	if s.subscribed {
		stream <- wire.StreamEvent{Subscribed: true} // the buffer is empty
	}
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(stream)
	})
	notify(s.opened)
	return stream, nil
}

// subscribe states that events of the mesh are received: all streams get [wire.StreamEvent.Subscribed], and each that is
// added later.
func (s *streams) subscribe() {
	s.mu.Lock()
	s.subscribed = true
	s.mu.Unlock()
	s.publish(wire.StreamEvent{Subscribed: true})
}

// unsubscribe states that events of the mesh are not received.
func (s *streams) unsubscribe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribed = false
}

// remove closes a stream, once. The caller holds the lock.
func (s *streams) remove(stream chan wire.StreamEvent) {
	if _, is := s.open[stream]; is {
		delete(s.open, stream)
		close(stream)
	}
}

// publish sends an event to all streams.
func (s *streams) publish(event wire.StreamEvent) {
	s.send(event, func(string) bool { return true })
}

// publishTo sends an event to the streams of a client.
func (s *streams) publishTo(client string, event wire.StreamEvent) {
	s.send(event, func(of string) bool { return of == client })
}

func (s *streams) send(event wire.StreamEvent, to func(client string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream, client := range s.open {
		if !to(client) {
			continue
		}
		select {
		case stream <- event:
		default:
			s.remove(stream)
		}
	}
}

// count returns the number of open streams.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// end closes all streams and rejects new ones.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for stream := range s.open {
		s.remove(stream)
	}
}
