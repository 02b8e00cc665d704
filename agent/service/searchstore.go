package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

const (
	// indexTimeout is the timeout of a search in the index, and of the following search in the store.
	indexTimeout = 2 * time.Second

	// maxStoreReads is the number of items the store may read for one page, storeBatchSize the items of a
	// batch, and maxStoreSearches the number of concurrent searches in the store.
	maxStoreReads    = 10_000
	storeBatchSize   = 500
	maxStoreSearches = 2
)

const storeReason = "The search index does not answer. These are the newest items that match by title and excerpt, as the store has them; older ones may be missing."

// find searches the index or, if that is unavailable, the store. It returns the results without items, and
// the hits.
func (s *Search) find(ctx context.Context, q storage.Query, c cursor) (wire.SearchResults, storage.Results, error) {
	if !c.byStore {
		results, err := s.searchIndex(ctx, q)
		if err == nil {
			next := cursor{at: c.at, engine: results.Next}
			return wire.SearchResults{Total: results.Total, Next: next.String(), Fuzzy: results.Fuzzy}, results, nil
		}
		// The store can't continue at a position of the index, and does not list spam.
		if errors.Is(err, storage.ErrBadCursor) || ctx.Err() != nil || q.Cursor != "" || q.Spam {
			return wire.SearchResults{}, storage.Results{}, err
		}
		s.Log.Warn("index unavailable, searching the store", "err", err)
	}
	results, err := s.searchStore(ctx, q)
	next := cursor{at: c.at, engine: results.Next, byStore: true}
	return wire.SearchResults{Total: results.Total, Next: next.String(), By: wire.ByStore, Why: storeReason}, results, err
}

// searchIndex searches the index, with a timeout.
func (s *Search) searchIndex(ctx context.Context, q storage.Query) (storage.Results, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	results, err := s.Index.Search(indexCtx, q)
	return results, asUnavailable(ctx, err)
}

// asUnavailable converts a timeout of the index to [storage.ErrUnavailable].
func asUnavailable(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("no answer in %v: %w", indexTimeout, storage.ErrUnavailable)
	}
	return err
}

// searchStore reads the newest items in batches and returns those that match, within indexTimeout and
// [maxStoreReads].
func (s *Search) searchStore(ctx context.Context, q storage.Query) (storage.Results, error) {
	after, err := parseScanCursor(q.Cursor)
	if err != nil {
		return storage.Results{}, err
	}
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	select {
	case s.storeSlots <- struct{}{}:
		defer func() { <-s.storeSlots }()
	case <-indexCtx.Done():
		return storage.Results{}, storage.ErrUnavailable
	}
	found := &storeScan{q: q, last: after, stories: map[string]bool{}}
	for read := 0; read < maxStoreReads && !found.full(); read += storeBatchSize {
		more, err := s.readBatch(indexCtx, found)
		if err != nil && indexCtx.Err() == nil || ctx.Err() != nil {
			return storage.Results{}, errors.Join(err, ctx.Err())
		}
		if err != nil || !more {
			found.ended = err == nil
			break
		}
	}
	return found.results(), nil
}

// A storeScan is the state of a search in the store.
type storeScan struct {
	q       storage.Query
	hits    []storage.Hit
	stories map[string]bool    // of the hits
	last    storage.MarkedItem // last item read
	ended   bool               // no items are left
}

func (r *storeScan) full() bool { return len(r.hits) == r.q.PageSize() }

func (r *storeScan) results() storage.Results {
	results := storage.Results{Hits: r.hits, Total: int64(len(r.hits))}
	if !r.ended && r.last.ItemID != "" {
		results.Next = scanCursor(r.last)
	}
	return results
}

// readBatch matches the next batch of items until the page is full. more is false at the end of the store.
func (s *Search) readBatch(ctx context.Context, r *storeScan) (more bool, err error) {
	listed, err := s.Store.ListMarked(ctx, "", storage.MarkQuery{}, r.last, storeBatchSize)
	if err != nil {
		return false, err
	}
	ids := make([]string, len(listed))
	for i, m := range listed {
		ids[i] = m.ItemID
	}
	items, err := s.Store.Items(ctx, ids...)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		if r.full() {
			return true, nil
		}
		r.last = storage.MarkedItem{ItemID: item.ID, FirstSeen: item.FirstSeen}
		again := r.q.OnePerStory && item.StoryID != "" && r.stories[item.StoryID]
		if !again && query.Matches(r.q.Where, storage.IndexItem{Item: item, Text: item.Excerpt}.Document()) {
			r.hits, r.stories[item.StoryID] = append(r.hits, storage.Hit{ID: item.ID}), true
		}
	}
	return len(listed) == storeBatchSize, nil
}

// scanCursor returns the cursor of the page that comes after the item.
func scanCursor(m storage.MarkedItem) string {
	return storage.PackCursor(storage.MarkedItem{ItemID: m.ItemID, FirstSeen: m.FirstSeen})
}

func parseScanCursor(s string) (m storage.MarkedItem, err error) {
	if s == "" {
		return m, nil
	}
	if storage.UnpackCursor(s, &m) != nil || m.ItemID == "" {
		return m, storage.ErrBadCursor
	}
	return m, nil
}
