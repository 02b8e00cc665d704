package bleve

import (
	"context"
	"errors"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// A searchState is a state of the index with all columns loaded: those of a million items take two seconds.
// Searches use the last such state, so that none waits for the columns of a newly merged segment.
type searchState struct {
	snapshot *scorch.IndexSnapshot
	parts    []statePart // by segment
}

// A statePart is the data of a segment that all searches share.
type statePart struct {
	columns *columns
	live    *roaring.Bitmap // see segment
	whole   bool
}

// segments returns the segments for one search, the newest first.
func (now *searchState) segments(boosts *storyBoosts) ([]*segment, error) {
	parts := now.snapshot.Segments()
	var all []*segment
	for i := len(parts) - 1; i >= 0; i-- {
		s := newSegment(parts[i])
		s.columns, s.live, s.whole = now.parts[i].columns, now.parts[i].live, now.parts[i].whole
		var err error
		if s.prominence, err = boosts.prominenceOf(s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// warm makes previous puts visible to new searches. If it fails, the next search retries and reports the
// error.
func (x *Index) warm() {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if !x.closed {
		_ = x.refresh()
	}
}

// merged is called by scorch while Close may wait for scorch, so it must not wait for Close.
func (x *Index) merged() {
	if x.mu.TryRLock() {
		defer x.mu.RUnlock()
		_ = x.refresh() // the next search retries and reports the error
	}
}

// refresh loads the current state. Its caller holds the lock mu.
func (x *Index) refresh() error { return x.guard(x.load) }

func (x *Index) load() error {
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	now, err := x.scorch.Reader()
	if err != nil {
		return errors.Join(err, x.swap(nil))
	}
	var next *searchState
	defer func() {
		if next == nil { // even if reading the files panics
			now.Close()
			x.swap(nil)
		}
	}()
	if next, err = x.stateFor(now); err != nil {
		return err
	}
	err = x.swap(next)
	x.columns.keep(next.snapshot.Segments())
	return err
}

// stateFor loads the columns of a state.
func (x *Index) stateFor(now bleveindex.IndexReader) (*searchState, error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	next := &searchState{snapshot: snapshot}
	for _, one := range snapshot.Segments() {
		columns, err := x.columns.of(one)
		if err != nil {
			return nil, err
		}
		storyDoc, err := newSegment(one).having(fieldKind, kindStory)
		if err != nil {
			return nil, err
		}
		deleted, live := one.Deleted(), one.DocNumbersLive()
		live.AndNot(storyDoc)
		next.parts = append(next.parts, statePart{
			columns: columns, live: live,
			whole: deleted == nil || deleted.AndCardinality(storyDoc) == deleted.GetCardinality(),
		})
	}
	return next, nil
}

// swap replaces the state for searches; next may be nil.
func (x *Index) swap(next *searchState) error {
	x.stateMu.Lock()
	last := x.state
	x.state = next
	x.stateMu.Unlock()
	if last == nil {
		return nil
	}
	return last.snapshot.Close()
}

// current returns the state to search, which its caller closes; nil if none is loaded.
func (x *Index) current() *searchState {
	x.stateMu.Lock()
	defer x.stateMu.Unlock()
	if x.state != nil {
		x.state.snapshot.AddRef()
	}
	return x.state
}

// view calls f with the current state. A semaphore bounds concurrent calls, since each may take some bytes
// per document.
func (x *Index) view(ctx context.Context, f func(now *searchState) error) error {
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
		return x.closedError()
	}
	now := x.current()
	for now == nil {
		if err := x.refresh(); err != nil {
			return err
		}
		now = x.current()
	}
	defer now.snapshot.Close()
	return x.guard(func() error { return f(now) })
}
