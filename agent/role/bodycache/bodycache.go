// Package bodycache passes decompressed documents from the role crawl to the role parse of one process, so that
// parse need not decompress the body of its task. A [Cache] is bounded by size and age.
package bodycache

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"feedmesh/agent/role/crawl/fetch"
)

const (
	maxBytes      = 16 << 20         // total size, at most
	maxAge        = 10 * time.Second // documents expire after this time, and at most twice that
	entryOverhead = 512              // bytes of an entry besides its document

	maxPooled = 2 * fetch.MaxBuffered // capacity of the largest buffer that is recycled or cached
)

// Cache caches documents by the hash of their bytes, so a hit is always the right document. On a miss, for
// example if another agent parses, parse decompresses the task's body. The zero Cache is empty; one per process
// is shared by its roles. Its methods may be called concurrently.
type Cache struct {
	readers atomic.Int32 // number of consumers
	pool    sync.Pool    // of *bytes.Buffer

	mu      sync.Mutex
	entries map[string]entry // by hash
	size    int              // in bytes
	expired time.Time        // time of the last expiry run
}

// An entry is a document with the time it was cached.
type entry struct {
	body  *bytes.Buffer
	since time.Time
}

// AddReader enables the cache until end is called.
func (c *Cache) AddReader() (end func()) {
	c.readers.Add(1)
	return func() { c.readers.Add(-1) }
}

// Buffer returns an empty buffer for a decompressed document. [Cache.Put] or [Cache.Recycle] takes it back.
func (c *Cache) Buffer() *bytes.Buffer {
	body, _ := c.pool.Get().(*bytes.Buffer)
	if body == nil {
		return new(bytes.Buffer)
	}
	body.Reset()
	return body
}

// Recycle takes back a buffer that is no longer in use.
func (c *Cache) Recycle(body *bytes.Buffer) {
	if body.Cap() <= maxPooled {
		c.pool.Put(body)
	}
}

// Reserve returns a buffer for [Cache.Put], or nil if nothing reads the cache.
func (c *Cache) Reserve() *bytes.Buffer {
	if c.readers.Load() == 0 {
		return nil
	}
	return c.Buffer()
}

// Put caches a document; a nil or empty one is not cached. The cache owns the buffer afterwards.
func (c *Cache) Put(hash string, body *bytes.Buffer) {
	if body == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.expire(now)
	size := body.Cap() + entryOverhead
	if _, is := c.entries[hash]; is || body.Len() == 0 || body.Cap() > maxPooled || c.size+size > maxBytes {
		c.Recycle(body)
		return
	}
	if c.entries == nil {
		c.entries = map[string]entry{}
	}
	c.entries[hash] = entry{body, now}
	c.size += size
}

// Take removes and returns the document with a hash, or nil. The caller owns the buffer afterwards.
func (c *Cache) Take(hash string) *bytes.Buffer {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, is := c.entries[hash]
	if is {
		c.remove(hash, e)
	}
	return e.body
}

// expire removes documents older than maxAge.
func (c *Cache) expire(now time.Time) {
	if now.Sub(c.expired) < maxAge {
		return
	}
	c.expired = now
	for hash, e := range c.entries {
		if now.Sub(e.since) >= maxAge {
			c.remove(hash, e)
		}
	}
}

func (c *Cache) remove(hash string, e entry) {
	delete(c.entries, hash)
	c.size -= e.body.Cap() + entryOverhead
}
