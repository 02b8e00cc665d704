// Package bleve keeps a [storage.Index] in a folder, by means of Bleve and its
// scorch engine. Nothing of an item is stored but its ID and the order of its
// words, in codes: the rest is in the store, from which a lost or broken index can
// be rebuilt.
package bleve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"

	upstream "github.com/blevesearch/bleve/v2"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/gofrs/flock"

	"feedmesh/storage"
)

var _ storage.Index = (*Index)(nil)

// An Index is a [storage.Index] in a folder of its own.
type Index struct {
	bleve  upstream.Index
	scorch bleveindex.Index // what bleve wraps
	lock   *flock.Flock

	columns  *columnCache
	answers  answers
	searches chan struct{}  // has one for each in hand
	warming  sync.WaitGroup // see warm

	mu     sync.RWMutex // held by those who read from scorch directly
	closed bool
}

// Put implements [storage.Index]. A few hundred items at a time are cheapest:
// every call writes and syncs files of its own, which are merged later.
func (x *Index) Put(ctx context.Context, items ...storage.Indexed) error {
	batch := x.bleve.NewBatch()
	for i := range items {
		if err := batch.IndexAdvanced(x.document(&items[i])); err != nil {
			return fmt.Errorf("index item %q: %w", items[i].ID, err)
		}
	}
	if err := x.commit(ctx, batch); err != nil {
		return fmt.Errorf("index %d items: %w", len(items), err)
	}
	x.warm()
	return nil
}

// warm reads the columns that the next search would have to read first: those of
// a million items take two seconds. It fails where that search will, which says so.
func (x *Index) warm() {
	_ = x.read(context.Background(), func(now bleveindex.IndexReader) error {
		_, err := x.segmentsOf(now)
		return err
	})
}

// Delete implements [storage.Index].
func (x *Index) Delete(ctx context.Context, ids ...string) error {
	batch := x.bleve.NewBatch()
	for _, id := range ids {
		batch.Delete(id)
	}
	if err := x.commit(ctx, batch); err != nil {
		return fmt.Errorf("delete %d items from the index: %w", len(ids), err)
	}
	return nil
}

// commit returns when the batch is on disk: scorch syncs its files before
// Batch returns, unless told otherwise by unsafe_batch. Each batch has a name
// of its own, by which Open tells whether the newest is still there.
func (x *Index) commit(ctx context.Context, batch *upstream.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if batch.Size() == 0 {
		return nil
	}
	batch.SetInternal(batchKey, []byte(rand.Text()))
	err := x.bleve.Batch(batch)
	// Scorch passes on the words of the system's error and not the error itself
	// (bleve v2.6.1).
	if err != nil && strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		return fmt.Errorf("%w: the disk is full: %w", storage.ErrUnavailable, err)
	}
	return err
}

// Count implements [storage.Index].
func (x *Index) Count(ctx context.Context) (n int64, err error) {
	err = x.read(ctx, func(now bleveindex.IndexReader) error {
		docs, err := now.DocCount()
		n = int64(docs)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count indexed items: %w", err)
	}
	return n, nil
}

// read calls f with the index as it is now.
func (x *Index) read(ctx context.Context, f func(now bleveindex.IndexReader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return upstream.ErrorIndexClosed
	}
	now, err := x.scorch.Reader()
	if err != nil {
		return err
	}
	return errors.Join(f(now), now.Close())
}

// Close implements [io.Closer]. It waits for calls in hand.
func (x *Index) Close() error {
	x.warming.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	return closeBoth(x.bleve, x.lock)
}
