package access

import (
	"context"
	"errors"
	"sync"
	"time"

	"feedmesh/storage"
)

const maxCached = 1000 // records of a keyCache, some 500 bytes each

// A keyCache caches records by key as they are read from the store, for tables that are too large to be cached whole. It
// has at most maxCached records. The zero value is an empty cache.
type keyCache[T any] struct {
	mu      sync.Mutex
	records map[string]cachedRecord[T]
}

// A cachedRecord is a record as it was read from the store.
type cachedRecord[T any] struct {
	record T
	read   time.Time
}

// get returns a record from the cache or by read, which has a timeout. A cached record is at most refreshAfter old; at most
// maxStale while the store can't be read.
func (c *keyCache[T]) get(ctx context.Context, key string, read func(context.Context) (T, error)) (T, error) {
	c.mu.Lock()
	cached, is := c.records[key]
	c.mu.Unlock()
	now := time.Now()
	if is && now.Sub(cached.read) <= refreshAfter {
		return cached.record, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	record, err := read(ctx)
	switch {
	case err == nil:
		c.put(key, cachedRecord[T]{record, now})
	case errors.Is(err, storage.ErrNotFound):
		c.drop(key)
	case is && now.Sub(cached.read) <= maxStale:
		return cached.record, nil
	}
	return record, err
}

// put caches a record. A full cache drops those that are old, else any.
func (c *keyCache[T]) put(key string, record cachedRecord[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.records == nil {
		c.records = map[string]cachedRecord[T]{}
	}
	if _, is := c.records[key]; !is && len(c.records) >= maxCached {
		for key, other := range c.records {
			if record.read.Sub(other.read) > maxStale {
				delete(c.records, key)
			}
		}
		for key := range c.records {
			if len(c.records) < maxCached {
				break
			}
			delete(c.records, key)
		}
	}
	c.records[key] = record
}

// change replaces a cached record, which keeps its age.
func (c *keyCache[T]) change(key string, record T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cached, is := c.records[key]; is {
		c.records[key] = cachedRecord[T]{record, cached.read}
	}
}

// drop removes a record from the cache.
func (c *keyCache[T]) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.records, key)
}
