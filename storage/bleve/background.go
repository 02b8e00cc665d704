package bleve

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"feedmesh/storage"
)

// opened contains the open indexes by their scorch index. Scorch writes and merges in the background and
// reports events by callbacks that are registered globally by name.
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

// merged is called by scorch while Close may wait for scorch, so it must not wait for Close.
func (x *Index) merged() {
	if x.mu.TryRLock() {
		defer x.mu.RUnlock()
		_ = x.refresh() // the next search retries and reports the error
	}
}

// checkRunning returns an error if scorch panicked in the background. After that it no longer merges, or not even
// writes: a Put would block forever.
func (x *Index) checkRunning() error {
	if err := x.stopped.Load(); err != nil {
		return fmt.Errorf("%w: the search index at %s has stopped, restart the agent: %w", storage.ErrUnavailable, x.path, *err)
	}
	return nil
}
