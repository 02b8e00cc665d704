package api

import (
	"context"
	"errors"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

const (
	// indexPatience is how long an index may take to answer, and then the store.
	indexPatience = 2 * time.Second

	// storeReads is how many items the store may read for one page, storeAtOnce how
	// many at a time, and storeSearches how many such searches may be under way.
	storeReads    = 10_000
	storeAtOnce   = 500
	storeSearches = 2
)

const storeWhy = "The search index does not answer. These are the newest items that match by title and excerpt, as the store has them; older ones may be missing."

// find asks the index, and the store if that does not answer. It returns what was
// found, but for the items, and which those are.
func (s *Server) find(ctx context.Context, q storage.Query, c cursor) (Found, storage.Results, error) {
	if !c.byStore {
		results, err := s.ask(ctx, q)
		if err == nil {
			next := cursor{at: c.at, engine: results.Next}
			return Found{Total: results.Total, Next: next.String(), Forgiven: results.Forgiven}, results, nil
		}
		// The store knows neither where the index's pages end, nor what is listed nowhere.
		if errors.Is(err, storage.ErrBadCursor) || ctx.Err() != nil || q.Cursor != "" || q.Spam {
			return Found{}, storage.Results{}, err
		}
		s.Log.Warn("the index does not answer", "err", err)
	}
	results, err := s.findInStore(ctx, q)
	next := cursor{at: c.at, engine: results.Next, byStore: true}
	return Found{Total: results.Total, Next: next.String(), By: ByStore, Why: storeWhy}, results, err
}

// ask asks the index, with patience.
func (s *Server) ask(ctx context.Context, q storage.Query) (storage.Results, error) {
	patient, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	results, err := s.Index.Search(patient, q)
	return results, inTime(ctx, err)
}

// findInStore finds the newest items that are what the query asks for by reading
// them, as far as time and [storeReads] go.
func (s *Server) findInStore(ctx context.Context, q storage.Query) (storage.Results, error) {
	after, err := readMark(q.Cursor)
	if err != nil {
		return storage.Results{}, err
	}
	patient, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	select {
	case s.inStore <- struct{}{}:
		defer func() { <-s.inStore }()
	case <-patient.Done():
		return storage.Results{}, storage.ErrUnavailable
	}
	found := &reading{q: q, last: after, stories: map[string]bool{}}
	for read := 0; read < storeReads && !found.full(); read += storeAtOnce {
		more, err := s.readSome(patient, found)
		if err != nil && patient.Err() == nil || ctx.Err() != nil {
			return storage.Results{}, errors.Join(err, ctx.Err())
		}
		if err != nil || !more {
			found.ended = err == nil
			break
		}
	}
	return found.results(), nil
}

// A reading is a search by reading, as far as it went.
type reading struct {
	q       storage.Query
	hits    []storage.Hit
	stories map[string]bool // of the hits
	last    storage.Marked  // the item looked at last
	ended   bool            // there are no more
}

func (r *reading) full() bool { return len(r.hits) == r.q.PageSize() }

func (r *reading) results() storage.Results {
	results := storage.Results{Hits: r.hits, Total: int64(len(r.hits))}
	if !r.ended && r.last.ItemID != "" {
		results.Next = markCursor(r.last)
	}
	return results
}

// readSome looks at the next items, until the page is full. It returns false if
// there are no more.
func (s *Server) readSome(ctx context.Context, r *reading) (more bool, err error) {
	listed, err := s.Store.ListMarked(ctx, "", storage.MarkQuery{}, r.last, storeAtOnce)
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
		r.last = storage.Marked{ItemID: item.ID, FirstSeen: item.FirstSeen}
		again := r.q.Once && item.StoryID != "" && r.stories[item.StoryID]
		if !again && query.Matches(r.q.Where, storage.Indexed{Item: item, Text: item.Excerpt}.Document()) {
			r.hits, r.stories[item.StoryID] = append(r.hits, storage.Hit{ID: item.ID}), true
		}
	}
	return len(listed) == storeAtOnce, nil
}

// markCursor returns the cursor of the page that comes after the item.
func markCursor(m storage.Marked) string {
	return storage.PackCursor(storage.Marked{ItemID: m.ItemID, FirstSeen: m.FirstSeen})
}

func readMark(s string) (m storage.Marked, err error) {
	if s == "" {
		return m, nil
	}
	if storage.UnpackCursor(s, &m) != nil || m.ItemID == "" {
		return m, storage.ErrBadCursor
	}
	return m, nil
}
