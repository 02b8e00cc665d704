package bleve

import (
	"maps"
	"slices"
	"sync"

	"feedmesh/storage"
)

// maxCached bounds the cached searches: about 10 KB each.
const maxCached = 512

// resultCache caches results until the index changes: many clients repeat the same searches.
type resultCache struct {
	mu    sync.Mutex
	batch string // name of the last batch that was committed; see commit
	found map[cacheKey]storage.Results
}

// A cacheKey is the cache key: everything that results depend on.
type cacheKey struct {
	key      string // see [storage.Query.Key]
	cursor   string
	now      int64
	storyDoc uint64 // see storyBoosts.version
	limit    int
	facets   bool
}

func cacheKeyOf(q storage.Query, now int64, storyDoc uint64) cacheKey {
	return cacheKey{q.Key(), q.Cursor, now, storyDoc, q.PageSize(), q.Facets}
}

// of returns the cached results for a question, if they belong to the batch.
func (a *resultCache) of(batch string, key cacheKey) (storage.Results, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batch != batch {
		return storage.Results{}, false
	}
	results, ok := a.found[key]
	return cloned(results), ok
}

// add caches results that were found in the state of batch.
func (a *resultCache) add(batch string, key cacheKey, results storage.Results) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batch != batch || a.found == nil || len(a.found) == maxCached {
		a.batch, a.found = batch, make(map[cacheKey]storage.Results)
	}
	a.found[key] = cloned(results)
}

// cloned returns a deep copy, so that callers may modify results.
func cloned(results storage.Results) storage.Results {
	results.Hits = slices.Clone(results.Hits)
	results.Facets = maps.Clone(results.Facets)
	for name, counts := range results.Facets {
		results.Facets[name] = slices.Clone(counts)
	}
	return results
}
