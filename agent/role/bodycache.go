package role

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxCacheBytes = 16 << 20         // total size, at most
	cacheMaxAge   = 10 * time.Second // entries expire after this time, and at most twice that
	entryOverhead = 512              // bytes of an entry besides its body
)

// sharedBodies is the cache between crawl and parse of this process.
var sharedBodies bodyCache

// bodyCache passes decompressed bodies from crawl to parse within a process. It is bounded by size and age;
// on a miss, for example if another agent parses, parse decompresses the task's body. Entries are keyed by
// the body's hash, so a hit is always the right document. The nil cache is empty. Its methods may be called
// concurrently.
type bodyCache struct {
	readers atomic.Int32 // number of consumers

	mu      sync.Mutex
	entries map[string]cachedBody // by hash
	size    int                   // in bytes
	expired time.Time             // time of the last expiry run
}

// A cachedBody is a body with the time it was cached.
type cachedBody struct {
	body  *bytes.Buffer
	since time.Time
}

// addReader enables the cache until end is called.
func (s *bodyCache) addReader() (end func()) {
	s.readers.Add(1)
	return func() { s.readers.Add(-1) }
}

// buffer returns a buffer for a decompressed document, or nil if no reader is registered.
func (s *bodyCache) buffer() *bytes.Buffer {
	if s == nil || s.readers.Load() == 0 {
		return nil
	}
	body := bufferPool.Get().(*bytes.Buffer)
	body.Reset()
	return body
}

// put caches a body in a buffer returned by buffer; a nil or empty body is not cached. The cache owns the
// buffer afterwards.
func (s *bodyCache) put(hash string, body *bytes.Buffer) {
	if body == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.expire(now)
	size := body.Cap() + entryOverhead
	if _, is := s.entries[hash]; is || body.Len() == 0 || body.Cap() > maxPooledBuffer || s.size+size > maxCacheBytes {
		putBuffer(body)
		return
	}
	if s.entries == nil {
		s.entries = map[string]cachedBody{}
	}
	s.entries[hash] = cachedBody{body, now}
	s.size += size
}

// take removes and returns the body with a hash, or nil. The caller owns the buffer afterwards.
func (s *bodyCache) take(hash string) *bytes.Buffer {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, is := s.entries[hash]
	if is {
		s.remove(hash, one)
	}
	return one.body
}

// expire removes entries older than cacheMaxAge.
func (s *bodyCache) expire(now time.Time) {
	if now.Sub(s.expired) < cacheMaxAge {
		return
	}
	s.expired = now
	for hash, one := range s.entries {
		if now.Sub(one.since) >= cacheMaxAge {
			s.remove(hash, one)
		}
	}
}

func (s *bodyCache) remove(hash string, one cachedBody) {
	delete(s.entries, hash)
	s.size -= one.body.Cap() + entryOverhead
}
