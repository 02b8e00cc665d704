package access

import (
	"context"
	"sync"
	"time"
)

// Ages of the caches of the store's records. A record that was removed elsewhere is accepted for at most maxStale.
const (
	refreshAfter = 5 * time.Second  // age at which records are read from the store again
	minReload    = time.Second      // minimum interval of reads
	maxStale     = 10 * time.Second // age at which a cache accepts no record any more
)

const (
	storeTimeout = 3 * time.Second // timeout of one read of the store
	usedInterval = time.Minute     // interval of updates of the last use
)

// A recordCache caches all records of a small table by a key.
type recordCache[T any] struct {
	list func(context.Context) ([]T, error)
	key  func(T) string

	mu      sync.Mutex // locked during a reload, so that concurrent requests share it
	records map[string]T
	read    time.Time // last successful read
	queried time.Time
	err     error // of the last read
}

// find returns the cached record with the key, after a reload of a cache that is too old, and whether there is one. use may
// change it in the cache; nil: nothing does. The error reports that the store can't be read.
func (c *recordCache[T]) find(ctx context.Context, key string, use func(*T)) (record T, is bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	record, is = c.records[key]
	if age := time.Since(c.queried); age > refreshAfter || (!is || c.err != nil) && age > minReload {
		c.reload(ctx)
		record, is = c.records[key]
	}
	switch {
	case time.Since(c.read) > maxStale:
		return record, false, c.err
	case is && use != nil:
		use(&record)
		c.records[key] = record
	}
	return record, is, nil
}

// search returns the first cached record that matches, and whether there is one. Records are at most of the given age if
// the store can be read; else they are those of the last read. The error reports that there was none.
func (c *recordCache[T]) search(ctx context.Context, age time.Duration, matches func(T) bool) (record T, is bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.queried) > age {
		c.reload(ctx)
	}
	if c.read.IsZero() {
		return record, false, c.err
	}
	for _, record := range c.records {
		if matches(record) {
			return record, true, nil
		}
	}
	return record, false, nil
}

// reload fills the cache from the store, with a timeout. It ignores the caller's cancellation, since other requests wait
// for the same read.
func (c *recordCache[T]) reload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	all, err := c.list(ctx)
	c.queried, c.err = time.Now(), err
	if err != nil {
		return
	}
	c.records, c.read = make(map[string]T, len(all)), c.queried
	for _, record := range all {
		c.records[c.key(record)] = record
	}
}

// invalidate makes the next use of the cache read the store.
func (c *recordCache[T]) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queried = time.Time{}
}
