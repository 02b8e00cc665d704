package bleve

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"feedmesh/storage"
)

// Scorch writes and merges in the background, and tells of it by functions that are
// named in its settings. Opened are the indexes that they are about, by what bleve
// wraps.
var opened sync.Map

const backgroundName = "feedmesh"

func init() {
	scorch.RegistryEventCallbacks[backgroundName] = func(e scorch.Event) bool {
		if x, ok := opened.Load(e.Scorch); ok && e.Kind == scorch.EventKindMergeTaskIntroduction {
			x.(*Index).merged()
		}
		return true
	}
	scorch.RegistryAsyncErrorCallbacks[backgroundName] = func(err error, path string) {
		opened.Range(func(_, one any) bool {
			x := one.(*Index)
			if filepath.Join(x.path, "store") == path && errors.Is(err, scorch.ErrAsyncPanic) {
				x.stopped.CompareAndSwap(nil, &err)
			}
			return true
		})
	}
}

// merged is called by scorch, which Close waits for: so it does not wait for Close.
func (x *Index) merged() {
	if x.mu.TryRLock() {
		defer x.mu.RUnlock()
		_ = x.refresh() // a search tries again, and says so
	}
}

// works returns an error if scorch panicked in the background. From then on it does
// not merge, or does not even write: whoever put something would wait for ever.
func (x *Index) works() error {
	if err := x.stopped.Load(); err != nil {
		return fmt.Errorf("%w: the search index at %s has stopped, start the agent again: %w", storage.ErrUnavailable, x.path, *err)
	}
	return nil
}
