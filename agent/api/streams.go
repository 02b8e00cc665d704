package api

import (
	"context"
	"errors"
	"sync"
)

// Bounds of streams.
const (
	maxStreams       = 256 // in a process
	maxClientStreams = 8   // of one client
	streamRoom       = 16  // what one may lag behind
)

// ErrManyStreams says that there are as many streams as there may be.
var ErrManyStreams = errors.New("too many streams are open, close one of them")

// streams are who listens to what happens. What is told goes to all at once: one
// that does not keep up ends, and nobody waits for it.
type streams struct {
	mu     sync.Mutex
	open   map[chan Told]string // the client, by stream
	wanted chan struct{}        // the first stream was opened, or one that wants to be told at once
	ended  bool                 // there will be no more
}

func newStreams() *streams {
	return &streams{open: map[chan Told]string{}, wanted: make(chan struct{}, 1)}
}

// add opens a stream for a client until ctx ends. It is closed then, when it lags
// behind, and when the process ends.
func (s *streams) add(ctx context.Context, client string) (<-chan Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	its := 0
	for _, other := range s.open {
		if other == client {
			its++
		}
	}
	if s.ended || len(s.open) >= maxStreams || its >= maxClientStreams {
		return nil, ErrManyStreams
	}
	stream := make(chan Told, streamRoom)
	s.open[stream] = client
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(stream)
	})
	select {
	case s.wanted <- struct{}{}:
	default: // whoever tells knows already
	}
	return stream, nil
}

// drop closes a stream, once. The caller holds the lock.
func (s *streams) drop(stream chan Told) {
	if _, is := s.open[stream]; is {
		delete(s.open, stream)
		close(stream)
	}
}

// send tells all.
func (s *streams) send(told Told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream := range s.open {
		select {
		case stream <- told:
		default:
			s.drop(stream)
		}
	}
}

// count returns how many streams there are.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// end closes all streams, for good.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for stream := range s.open {
		s.drop(stream)
	}
}
