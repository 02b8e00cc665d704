package bleve

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// opened contains the open indexes by their scorch index. Scorch writes and merges in the background and
// reports events by callbacks that are registered globally by name.
var opened sync.Map

const backgroundName = "feedmesh"

func init() {
	scorch.RegistryEventCallbacks[backgroundName] = func(e scorch.Event) bool {
		switch e.Kind {
		case scorch.EventKindPreMergeCheck, scorch.EventKindPersisterProgress, scorch.EventKindPurgerCheck:
			// Of the calling goroutine: scorch recovers panics, and a fault would end the process.
			debug.SetPanicOnFault(true)
			if x, ok := opened.Load(e.Scorch); ok && x.(*Index).buffer != nil {
				switch e.Kind {
				case scorch.EventKindPersisterProgress:
					x.(*Index).buffer.pause(x.(*Index).ending)
				case scorch.EventKindPurgerCheck:
					x.(*Index).buffer.cleans()
				}
			}
		case scorch.EventKindMergeTaskIntroduction:
			if x, ok := opened.Load(e.Scorch); ok {
				x.(*Index).merged()
			}
		}
		return true
	}
	scorch.RegistryAsyncErrorCallbacks[backgroundName] = func(err error, path string) {
		forOpened(path, func(x *Index) {
			if errors.Is(err, scorch.ErrAsyncPanic) {
				x.stopped.Load().stop(err)
			}
			x.suspect(err)
			if errors.Is(err, scorch.ErrPersist) && x.buffer != nil {
				x.buffer.failed(err, x.ending)
			}
		})
	}
}

// forOpened calls f with the open index whose scorch files are in the folder at path.
func forOpened(path string, f func(x *Index)) {
	opened.Range(func(_, one any) bool {
		if x, ok := one.(*Index); ok && filepath.Join(x.path, "store") == path {
			f(x)
		}
		return true
	})
}

// background is the state of scorch's background work.
type background struct {
	once sync.Once
	err  error         // why it stopped; set before done is closed
	done chan struct{} // closed when it stopped
}

func newBackground() *background { return &background{done: make(chan struct{})} }

// stop records that scorch's background work stopped. After that it no longer merges, or not even writes.
func (b *background) stop(err error) {
	b.once.Do(func() {
		b.err = err
		close(b.done)
	})
}

const (
	// A segment is rewritten when one in reclaimShare of its documents is deleted, and at least reclaimLeast.
	reclaimShare = 4
	reclaimLeast = 1000

	// maxReclaimPause bounds the pause after a rewrite, which is as long as the rewrite.
	maxReclaimPause = time.Minute
)

// A reclaimer rewrites segments of an index with many deleted documents, the smallest first. Scorch drops deleted
// documents only when it merges a segment with others: the largest segments, to which the oldest items belong, would
// keep theirs for ever. Only one segment is written at a time, and the disk must have room for it.
type reclaimer struct {
	deleted chan struct{} // documents were deleted
}

func newReclaimer() reclaimer { return reclaimer{make(chan struct{}, 1)} }

// request states that documents were deleted.
func (r reclaimer) request() {
	select {
	case r.deleted <- struct{}{}:
	default: // it is awaited already
	}
}

// run rewrites segments of the index after requests, until Close.
func (r reclaimer) run(x *Index) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.tasks.Go(func() {
		<-x.ending
		cancel()
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.deleted:
		}
		for last := uint64(0); ; {
			engine, live, id := segmentToReclaim(ctx, x)
			if engine == nil || id == last { // it was not rewritten, as on a full disk: retry after the next deletion
				break
			}
			last = id
			began := time.Now()
			if err := engine.ForceMerge(ctx, rewriteUpTo(live)); err != nil {
				x.log.Warn("index segment not rewritten", "err", err)
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(min(time.Since(began), maxReclaimPause)):
			}
		}
	}
}

// segmentToReclaim returns the smallest segment to rewrite: its number of live documents and its ID; without one, the
// engine is nil.
func segmentToReclaim(ctx context.Context, x *Index) (engine *scorch.Scorch, live int64, id uint64) {
	err := x.read(ctx, func(now bleveindex.IndexReader) error {
		snapshot, err := snapshotOf(now)
		if err != nil {
			return err
		}
		for _, s := range snapshot.Segments() {
			deleted := s.FullSize() - s.LiveSize()
			if deleted >= reclaimLeast && deleted*reclaimShare >= s.FullSize() && (engine == nil || s.LiveSize() < live) {
				engine, _ = x.scorch.(*scorch.Scorch)
				live, id = s.LiveSize(), s.Id()
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, 0 // closed or damaged
	}
	return engine, live, id
}

// rewriteUpTo returns the options of a merge that rewrites each segment with deleted documents by itself, if its
// live documents are at most that number.
func rewriteUpTo(live int64) *mergeplan.MergePlanOptions {
	o := mergeplan.DefaultMergePlanOptions
	o.MaxSegmentSize, o.SegmentsPerMergeTask = 2*live+2, 1 // the planner takes segments of less than half of the maximum
	o.CalcBudget = func(int64, int64, *mergeplan.MergePlanOptions) int { return 0 }
	return &o
}
