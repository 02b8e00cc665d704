package bleve

import (
	"maps"
	"slices"
	"sync"

	"feedmesh/storage"
)

// maxAnswers is how many searches are remembered: some 10 KB each.
const maxAnswers = 512

// Answers are what was found since the index last changed: many ask for the same,
// and some again and again.
type answers struct {
	mu    sync.Mutex
	batch string // the last that was put, or deleted; see commit
	found map[question]storage.Results
}

// A question is all of a query that its results depend on.
type question struct {
	key    string // see [storage.Query.Key]
	cursor string
	now    int64
	told   uint64 // see told.version
	limit  int
	facets bool
}

func questionOf(q storage.Query, now int64, told uint64) question {
	return question{q.Key(), q.Cursor, now, told, q.PageSize(), q.Facets}
}

// of returns what was found for the question since the batch.
func (a *answers) of(batch string, asked question) (storage.Results, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batch != batch {
		return storage.Results{}, false
	}
	results, ok := a.found[asked]
	return cloned(results), ok
}

// add remembers what was found when the batch was the last.
func (a *answers) add(batch string, asked question, results storage.Results) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batch != batch || a.found == nil || len(a.found) == maxAnswers {
		a.batch, a.found = batch, make(map[question]storage.Results)
	}
	a.found[asked] = cloned(results)
}

// cloned returns results that share nothing with those given, so that callers may
// change them.
func cloned(results storage.Results) storage.Results {
	results.Hits = slices.Clone(results.Hits)
	results.Facets = maps.Clone(results.Facets)
	for name, counts := range results.Facets {
		results.Facets[name] = slices.Clone(counts)
	}
	return results
}
