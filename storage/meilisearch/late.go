package meilisearch

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"feedmesh/storage"
)

var (
	_ storage.EmbeddingIndex = (*Late)(nil)
	_ storage.DividedIndex   = (*Late)(nil)
)

// A Late is the index of a server that could not be reached yet. Until [Late.Open] succeeds, all calls return an error
// that is [storage.ErrUnavailable], like those of an [Index] whose server is away.
type Late struct {
	options Options
	index   atomic.Pointer[Index]
	err     atomic.Pointer[error] // of the last attempt to open it
}

// NewLate returns the index of a server, after [Open] returned err.
func NewLate(options Options, err error) *Late {
	l := &Late{options: options}
	l.err.Store(&err)
	return l
}

// Open opens the index at an interval until that succeeds, or ctx ends. It returns any error but
// [storage.ErrUnavailable].
func (l *Late) Open(ctx context.Context, interval time.Duration) error {
	for {
		index, err := Open(ctx, l.options)
		switch {
		case err == nil:
			l.index.Store(index)
			return nil
		case ctx.Err() != nil:
			return nil
		case !errors.Is(err, storage.ErrUnavailable):
			return err
		}
		l.err.Store(&err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// opened returns the index, or the error of the last attempt to open it.
func (l *Late) opened() (*Index, error) {
	if index := l.index.Load(); index != nil {
		return index, nil
	}
	return nil, *l.err.Load()
}

// Put implements [storage.Index].
func (l *Late) Put(ctx context.Context, items ...storage.IndexItem) error {
	index, err := l.opened()
	if err != nil {
		return err
	}
	return index.Put(ctx, items...)
}

// Delete implements [storage.Index].
func (l *Late) Delete(ctx context.Context, ids ...string) error {
	index, err := l.opened()
	if err != nil {
		return err
	}
	return index.Delete(ctx, ids...)
}

// Divide implements [storage.DividedIndex].
func (l *Late) Divide(ctx context.Context, stored map[time.Time]int64, now time.Time) error {
	index, err := l.opened()
	if err != nil {
		return err
	}
	return index.Divide(ctx, stored, now)
}

// Search implements [storage.Index].
func (l *Late) Search(ctx context.Context, query storage.Query) (storage.Results, error) {
	index, err := l.opened()
	if err != nil {
		return storage.Results{}, err
	}
	return index.Search(ctx, query)
}

// HasEmbedder implements [storage.EmbeddingIndex].
func (l *Late) HasEmbedder(ctx context.Context) bool {
	index, err := l.opened()
	return err == nil && index.HasEmbedder(ctx)
}

// Similar implements [storage.Index].
func (l *Late) Similar(ctx context.Context, item storage.IndexItem, limit int) ([]storage.Hit, error) {
	index, err := l.opened()
	if err != nil {
		return nil, err
	}
	return index.Similar(ctx, item, limit)
}

// Suggest implements [storage.Index].
func (l *Late) Suggest(ctx context.Context, prefix string, limit int) ([]storage.FacetCount, error) {
	index, err := l.opened()
	if err != nil {
		return nil, err
	}
	return index.Suggest(ctx, prefix, limit)
}

// Days implements [storage.StampReader].
func (l *Late) Days(ctx context.Context) (map[time.Time]int64, error) {
	index, err := l.opened()
	if err != nil {
		return nil, err
	}
	return index.Days(ctx)
}

// Stamps implements [storage.StampReader].
func (l *Late) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	index, err := l.opened()
	if err != nil {
		return nil, err
	}
	return index.Stamps(ctx, day, after, limit)
}

// StoriesApart implements [storage.Index].
func (*Late) StoriesApart() bool { return (*writer)(nil).StoriesApart() }

// Batches implements [storage.Index].
func (*Late) Batches() (size, concurrent int) { return (*writer)(nil).Batches() }

// Count implements [storage.Index].
func (l *Late) Count(ctx context.Context) (int64, error) {
	index, err := l.opened()
	if err != nil {
		return 0, err
	}
	return index.Count(ctx)
}

// Close implements [storage.Index]. The caller has stopped Open.
func (l *Late) Close() error {
	if index := l.index.Load(); index != nil {
		return index.Close()
	}
	return nil
}
