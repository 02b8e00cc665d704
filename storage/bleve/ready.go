package bleve

import (
	"context"
	"errors"

	"github.com/RoaringBitmap/roaring/v2"
	upstream "github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// A ready is a state of the index all of whose columns are read: those of a million
// items take two seconds. Searches see the last such state, so that none of them
// waits while the columns of a segment are read that others were merged to.
type ready struct {
	snapshot *scorch.IndexSnapshot
	parts    []readyPart // by segment
}

// A readyPart is what searches need of a segment, made once for all of them.
type readyPart struct {
	columns *columns
	live    *roaring.Bitmap // see segment
	whole   bool
}

// warm has searches that begin from now on see what was put until now. If it fails,
// the next search tries again, and says so.
func (x *Index) warm() {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if !x.closed {
		_ = x.refresh()
	}
}

// refresh makes the index as it is now ready. Its caller holds mu.
func (x *Index) refresh() error {
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	now, err := x.scorch.Reader()
	if err != nil {
		return errors.Join(err, x.swap(nil))
	}
	next, err := x.readyFor(now)
	if err != nil {
		return errors.Join(err, now.Close(), x.swap(nil))
	}
	err = x.swap(next)
	x.columns.keep(next.snapshot.Segments())
	return err
}

// readyFor reads the columns of a state.
func (x *Index) readyFor(now bleveindex.IndexReader) (*ready, error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	next := &ready{snapshot: snapshot}
	for _, one := range snapshot.Segments() {
		columns, err := x.columns.of(one)
		if err != nil {
			return nil, err
		}
		told, err := newSegment(one).having(fieldKind, kindTold)
		if err != nil {
			return nil, err
		}
		deleted, live := one.Deleted(), one.DocNumbersLive()
		live.AndNot(told)
		next.parts = append(next.parts, readyPart{
			columns: columns, live: live,
			whole: deleted == nil || deleted.AndCardinality(told) == deleted.GetCardinality(),
		})
	}
	return next, nil
}

// swap has searches see another state, or none.
func (x *Index) swap(next *ready) error {
	x.readyMu.Lock()
	last := x.ready
	x.ready = next
	x.readyMu.Unlock()
	if last == nil {
		return nil
	}
	return last.snapshot.Close()
}

// current returns the state to search, which its caller closes; nil if none is ready.
func (x *Index) current() *ready {
	x.readyMu.Lock()
	defer x.readyMu.Unlock()
	if x.ready != nil {
		x.ready.snapshot.AddRef()
	}
	return x.ready
}

// view calls f with the index as it is now. There are never more than a few such
// calls at once, since each may take some bytes for each document.
func (x *Index) view(ctx context.Context, f func(now *ready) error) error {
	select {
	case x.searches <- struct{}{}:
		defer func() { <-x.searches }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return upstream.ErrorIndexClosed
	}
	now := x.current()
	for now == nil {
		if err := x.refresh(); err != nil {
			return err
		}
		now = x.current()
	}
	return errors.Join(f(now), now.snapshot.Close())
}
