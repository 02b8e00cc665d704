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
	"sync/atomic"
	"syscall"

	upstream "github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/gofrs/flock"

	"feedmesh/storage"
)

var _ storage.Index = (*Index)(nil)

// An Index is a [storage.Index] in a folder of its own.
type Index struct {
	bleve  upstream.Index
	scorch bleveindex.Index // what bleve wraps
	path   string
	lock   *flock.Flock

	columns  *columnCache
	told     told
	lately   *lately
	answers  answers
	searches chan struct{}         // has one for each in hand
	warming  sync.WaitGroup        // what Open began
	stopped  atomic.Pointer[error] // what made scorch stop

	refreshing sync.Mutex // held while the next state is read
	readyMu    sync.Mutex
	ready      *ready // what searches see; nil if it must be read first

	mu     sync.RWMutex // held by those who read from scorch directly
	closed bool
}

// Put implements [storage.Index]. The more items at a time, the cheaper each, up to
// a thousand or so: every call writes and syncs files of its own, which are merged
// later. What is as it was put before is not written again.
func (x *Index) Put(ctx context.Context, items ...storage.Indexed) error {
	docs, prints := make([]*document.Document, len(items)), make(map[uint64]uint64, len(items))
	for i := range items {
		docs[i] = x.document(&items[i])
		prints[x.lately.hash(items[i].ID)] = x.lately.printOf(docs[i])
	}
	has, err := x.has(ctx, items)
	if err != nil {
		return fmt.Errorf("look for %d items in the index: %w", len(items), err)
	}
	call, steps := x.lately.begin(prints, has), x.told.changes(items)
	err = x.put(ctx, docs, prints, steps)
	x.lately.end(call, prints, err == nil)
	if err != nil {
		return fmt.Errorf("index %d items: %w", len(items), err)
	}
	x.told.set(steps)
	x.warm()
	return nil
}

// put commits those of the documents that have a print, and the steps of stories.
func (x *Index) put(ctx context.Context, docs []*document.Document, prints map[uint64]uint64, steps map[string]uint8) error {
	batch := x.bleve.NewBatch()
	for _, doc := range docs {
		if _, changed := prints[x.lately.hash(doc.ID())]; !changed {
			continue
		}
		if err := batch.IndexAdvanced(doc); err != nil {
			return fmt.Errorf("item %q: %w", doc.ID(), err)
		}
	}
	if err := write(batch, steps); err != nil {
		return err
	}
	return x.commit(ctx, batch)
}

// Delete implements [storage.Index].
func (x *Index) Delete(ctx context.Context, ids ...string) error {
	batch := x.bleve.NewBatch()
	for _, id := range ids {
		batch.Delete(id)
	}
	prints := x.lately.gone(ids)
	call := x.lately.begin(prints, nil)
	err := x.commit(ctx, batch)
	x.lately.end(call, prints, err == nil)
	if err != nil {
		return fmt.Errorf("delete %d items from the index: %w", len(ids), err)
	}
	x.warm()
	return nil
}

// commit returns when the batch is on disk: scorch syncs its files before
// Batch returns, unless told otherwise by unsafe_batch. Each batch has a name
// of its own, by which Open tells whether the newest is still there.
func (x *Index) commit(ctx context.Context, batch *upstream.Batch) error {
	if err := errors.Join(ctx.Err(), x.works()); err != nil {
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
		if err != nil {
			return err
		}
		others, err := having(ctx, now, fieldKind, kindTold)
		n = int64(docs) - int64(others)
		return errors.Join(err, x.works())
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
	opened.Delete(x.scorch)
	return errors.Join(x.swap(nil), closeBoth(x.bleve, x.lock))
}
