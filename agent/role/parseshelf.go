package role

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"
)

const (
	shelfBytes = 16 << 20         // of documents on the shelf, at most
	shelfTime  = 10 * time.Second // for which one waits there, and up to twice that
	shelfEach  = 512              // bytes that one takes besides itself
)

// unpacked is where crawl puts documents that parse takes, where one process does both.
var unpacked shelf

// A shelf holds documents that were unpacked to see whether they are new, for who
// reads them a moment later and would unpack them again. What does not fit, or is
// not taken soon, is: it may be another agent that reads it. A document is known by
// its hash, so that whoever finds it finds the right one. The nil shelf holds
// nothing. Its methods may be called concurrently.
type shelf struct {
	readers atomic.Int32 // who take from it

	mu    sync.Mutex
	held  map[string]shelved // by hash
	size  int                // of them, in bytes
	swept time.Time          // when those were last taken down that nobody took
}

// A shelved is a document, and since when it is there.
type shelved struct {
	body  *bytes.Buffer
	since time.Time
}

// read has documents put on the shelf until the function that it returns is called.
func (s *shelf) read() (end func()) {
	s.readers.Add(1)
	return func() { s.readers.Add(-1) }
}

// blank returns what a document may be unpacked to, nil if nobody would take it.
func (s *shelf) blank() *bytes.Buffer {
	if s == nil || s.readers.Load() == 0 {
		return nil
	}
	body := bodies.Get().(*bytes.Buffer)
	body.Reset()
	return body
}

// put puts a document on the shelf that blank was for; it is nil or empty if there
// is none. It belongs to the shelf from then on.
func (s *shelf) put(hash string, body *bytes.Buffer) {
	if body == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.sweep(now)
	size := body.Cap() + shelfEach
	if _, is := s.held[hash]; is || body.Len() == 0 || body.Cap() > maxKept || s.size+size > shelfBytes {
		giveBack(body)
		return
	}
	if s.held == nil {
		s.held = map[string]shelved{}
	}
	s.held[hash] = shelved{body, now}
	s.size += size
}

// take takes the document with a hash from the shelf, nil if it is not there.
func (s *shelf) take(hash string) *bytes.Buffer {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, is := s.held[hash]
	if is {
		s.drop(hash, one)
	}
	return one.body
}

// sweep takes down what nobody took.
func (s *shelf) sweep(now time.Time) {
	if now.Sub(s.swept) < shelfTime {
		return
	}
	s.swept = now
	for hash, one := range s.held {
		if now.Sub(one.since) >= shelfTime {
			s.drop(hash, one)
		}
	}
}

func (s *shelf) drop(hash string, one shelved) {
	delete(s.held, hash)
	s.size -= one.body.Cap() + shelfEach
}
