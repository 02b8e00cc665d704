// Package bleve implements [storage.Index] in a folder, with Bleve and its scorch engine.
//
// [Open] returns an [Index]. It stores only IDs and the order of words as codes; everything else is in the
// store, from which a lost or broken index can be rebuilt. Searches run on scorch's segments directly; at
// most 2 * GOMAXPROCS run at a time.
package bleve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

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
	scorch bleveindex.Index // the index inside bleve
	path   string
	lock   *flock.Flock

	columns  *columnCache
	boosts   storyBoosts
	recent   *fingerprintCache
	buffer   *buffer // nil: batches are on disk when Put and Delete return
	cache    resultCache
	searches chan struct{}              // semaphore of running searches
	tasks    sync.WaitGroup             // background work that Open began
	stopped  atomic.Pointer[background] // state of scorch's background work

	log       *slog.Logger
	damage    atomic.Pointer[error] // damage found; the index is about to be replaced
	suspected chan error            // why the files may be damaged
	reclaim   reclaimer
	replaced  time.Time     // last time without damage, see examine
	ending    chan struct{} // closed by Close
	end       func()        // closes ending

	refreshing sync.Mutex // lock held while the next state is read
	stateMu    sync.Mutex
	state      *searchState // state that searches use; nil if it must be read first

	mu     sync.RWMutex // lock held by direct readers of scorch
	closed bool
}

const (
	// writtenBatch is the number of items in a batch that writes and syncs files of its own, which are merged later.
	writtenBatch = 2000

	// bufferedBatch is the number of items in a batch that remains in memory at first. A batch of 2,000 takes 45 MB while a
	// segment is made of it, and up to a quarter more CPU time of all roles.
	bufferedBatch = 300
)

// Batches implements [storage.Index].
func (x *Index) Batches() (size, concurrent int) {
	if x.buffer == nil {
		return writtenBatch, 1
	}
	return bufferedBatch, 1
}

// Put implements [storage.Index]. Unchanged items are not written again.
func (x *Index) Put(ctx context.Context, items ...storage.IndexItem) error {
	docs, fingerprints := make([]*document.Document, len(items)), make(map[uint64]uint64, len(items))
	for i := range items {
		docs[i] = documentOf(&items[i])
		fingerprints[x.recent.hash(items[i].ID)] = x.recent.fingerprint(docs[i])
	}
	has, err := x.has(ctx, items)
	if err != nil {
		return fmt.Errorf("look for %d items in the index: %w", len(items), err)
	}
	call, steps := x.recent.begin(fingerprints, has), x.boosts.changes(items)
	err = x.put(ctx, docs, fingerprints, steps)
	x.recent.end(call, fingerprints, err == nil)
	if err != nil {
		return fmt.Errorf("index %d items: %w", len(items), err)
	}
	x.boosts.set(steps)
	x.warm()
	return nil
}

// put commits the documents that have a fingerprint in prints, and the steps of stories, in one batch.
func (x *Index) put(ctx context.Context, docs []*document.Document, fingerprints map[uint64]uint64, steps map[string]uint8) error {
	batch := x.newBatch()
	for _, doc := range docs {
		if _, changed := fingerprints[x.recent.hash(doc.ID())]; !changed {
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

func (x *Index) newBatch() *upstream.Batch {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bleve.NewBatch()
}

// has returns, by hash of the ID, the items that are unchanged in the index although the fingerprint cache
// does not contain them: it compares their stamps.
func (x *Index) has(ctx context.Context, items []storage.IndexItem) (has map[uint64]bool, err error) {
	stamps := map[uint64][]byte{}
	for i := range items {
		if it := &items[i].Item; !it.Changed.IsZero() && !x.recent.contains(x.recent.hash(it.ID)) {
			stamps[x.recent.hash(it.ID)] = []byte(stampOf(it))
		}
	}
	if len(stamps) == 0 {
		return nil, nil
	}
	err = x.read(ctx, func(now bleveindex.IndexReader) error {
		has, err = containedStamps(ctx, now, stamps)
		return err
	})
	return has, err
}

// Delete implements [storage.Index].
func (x *Index) Delete(ctx context.Context, ids ...string) error {
	batch := x.newBatch()
	for _, id := range ids {
		batch.Delete(id)
	}
	fingerprints := x.recent.deletions(ids)
	call := x.recent.begin(fingerprints, nil)
	err := x.commit(ctx, batch)
	x.recent.end(call, fingerprints, err == nil)
	if err != nil {
		return fmt.Errorf("delete %d items from the index: %w", len(ids), err)
	}
	x.reclaim.request()
	x.warm()
	return nil
}

// commit returns when the batch is on disk: scorch syncs its files before Batch returns. With a buffer it returns when the
// batch can be searched, and few are not on disk. Each batch has a unique name, by which Open detects a lost batch.
func (x *Index) commit(ctx context.Context, batch *upstream.Batch) error {
	if err := errors.Join(ctx.Err(), x.checkRunning()); err != nil {
		return err
	}
	if batch.Size() == 0 {
		return nil
	}
	if x.buffer != nil {
		return x.commitBuffered(batch)
	}
	batch.SetInternal(batchKey, []byte(rand.Text()))
	err := x.runBatch(batch)
	if err != nil && x.checkRunning() == nil {
		err = errors.Join(err, x.reopen())
	}
	// Scorch returns the text of the system's error and not the error itself (bleve v2.6.1).
	if err != nil && strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		return fmt.Errorf("%w: the disk is full: %w", storage.ErrUnavailable, err)
	}
	return err
}

func (x *Index) commitBuffered(batch *upstream.Batch) error {
	if err := x.buffer.check(); err != nil {
		return err
	}
	x.buffer.awaitQuiet()
	batch.SetInternal(batchKey, []byte(rand.Text()))
	done := x.buffer.add(batch.Size())
	batch.SetPersistedCallback(done)
	if err := x.runBatch(batch); err != nil {
		done(err)
		return err
	}
	return x.buffer.wait(maxBuffered, x.stopped.Load().done)
}

// runBatch writes the batch. It does not wait for scorch if that panicked.
func (x *Index) runBatch(batch *upstream.Batch) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return x.closedError()
	}
	index, stopped, done := x.bleve, x.stopped.Load(), make(chan error, 1)
	go func() { done <- x.guard(func() error { return index.Batch(batch) }) }()
	select {
	case err := <-done:
		return err
	case <-stopped.done:
		return x.checkRunning()
	}
}

// checkRunning returns an error if scorch panicked in the background.
func (x *Index) checkRunning() error {
	b := x.stopped.Load()
	select {
	case <-b.done:
		return fmt.Errorf("%w: the search index at %s has stopped, restart the agent: %w", storage.ErrUnavailable, x.path, b.err)
	default:
		return nil
	}
}

// removeOrphans removes the steps of stories without items. If a story gets an item meanwhile, its steps are
// stored again when it grows.
func (x *Index) removeOrphans(ctx context.Context, steps map[string]uint8) error {
	unclustered := make(map[string]uint8)
	err := x.view(ctx, func(now *searchState) error {
		segs, err := now.segments(&x.boosts)
		if err != nil {
			return err
		}
		for story := range steps {
			items, err := countIn(ctx, segs, fieldStory, story)
			if err != nil {
				return err
			}
			if items == 0 {
				unclustered[story] = 0
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := x.put(ctx, nil, nil, unclustered); err != nil {
		return err
	}
	x.boosts.set(unclustered)
	return nil
}

// Count implements [storage.Index].
func (x *Index) Count(ctx context.Context) (n int64, err error) {
	err = x.read(ctx, func(now bleveindex.IndexReader) error {
		docs, err := now.DocCount()
		if err != nil {
			return err
		}
		others, err := having(ctx, now, fieldKind, kindStory)
		n = int64(docs) - int64(others)
		return errors.Join(err, x.checkRunning())
	})
	if err != nil {
		return 0, fmt.Errorf("count indexed items: %w", err)
	}
	return n, nil
}

// Days implements [storage.StampReader].
func (x *Index) Days(ctx context.Context) (days map[time.Time]int64, err error) {
	err = x.read(ctx, func(now bleveindex.IndexReader) error {
		days, err = daysIn(ctx, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count indexed items by day: %w", err)
	}
	return days, nil
}

// Stamps implements [storage.StampReader].
func (x *Index) Stamps(ctx context.Context, day time.Time, after string, limit int) (stamps []storage.Stamp, err error) {
	err = x.read(ctx, func(now bleveindex.IndexReader) error {
		stamps, err = stampsIn(ctx, now, day, after, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list stamps of indexed items: %w", err)
	}
	return stamps, nil
}

// read calls f with the current state of the index.
func (x *Index) read(ctx context.Context, f func(now bleveindex.IndexReader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return x.closedError()
	}
	return x.guard(func() error {
		now, err := x.scorch.Reader()
		if err != nil {
			return err
		}
		defer now.Close()
		return f(now)
	})
}

// reopen replaces the open index by its state on disk. Scorch keeps the segment of a batch that it could not
// write in its state, and closes it: the next reader of that segment would panic (bleve v2.6.3).
func (x *Index) reopen() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	opened.Delete(x.scorch)
	x.columns = newColumnCache() // a lost segment's number is used again
	err := errors.Join(x.swap(nil), closeIndex(x.bleve))
	index, failed := openExisting(x.path, x.buffer != nil)
	if failed == nil {
		x.bleve = index
		x.scorch, failed = index.Advanced()
	}
	if failed != nil {
		x.closed = true
		failed = fmt.Errorf("open it again after a failed write: %w", failed)
		if errors.Is(failed, errDamaged) {
			x.fail(failed)
		} else {
			x.stopped.Load().stop(failed)
		}
		return errors.Join(err, failed)
	}
	opened.Store(x.scorch, x)
	return err
}

// closedError returns why the index is closed.
func (x *Index) closedError() error {
	if damage := x.damage.Load(); damage != nil {
		return damageError(*damage)
	}
	if err := x.checkRunning(); err != nil {
		return err
	}
	return upstream.ErrorIndexClosed
}

// flush waits until all batches are on disk. If the last write failed, it is repeated once: what prevented it, as a full
// disk, may have ended since.
func (x *Index) flush() error {
	x.buffer.retry()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := x.buffer.wait(0, ctx.Done())
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("close the index: the last batches are not written after %v", closeTimeout)
	}
	return err
}

// Close implements [storage.Index]. It waits for running calls.
func (x *Index) Close() error {
	x.end()
	x.tasks.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return x.lock.Close() // again without effect
	}
	x.closed = true
	var err error
	if x.buffer != nil {
		err = x.flush()
	}
	opened.Delete(x.scorch)
	err = errors.Join(err, x.swap(nil), closeIndex(x.bleve))
	if err == nil {
		err = writeRootSum(x.path)
	}
	return errors.Join(err, x.lock.Close())
}
