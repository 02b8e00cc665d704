package service

import (
	"context"
	"errors"
	"sync"

	"feedmesh/agent/wire"
)

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
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(stream)
	})
	select {
	case s.opened <- struct{}{}:
	default: // already notified
	}
	return stream, nil
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream := range s.open {
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
