package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/classify/text"
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

// A highlighter finds the words of a text that match a query.
type highlighter struct {
	stems    map[string]bool
	prefixes []string     // of prefix terms
	fuzzy    []query.Word // matched with typing errors
}

// newHighlighter returns a highlighter for a query; nearly allows typing errors.
func newHighlighter(where query.Node, nearly bool) *highlighter {
	m := &highlighter{stems: map[string]bool{}}
	for _, t := range query.Texts(where) {
		words := t.QueryWords()
		for i, w := range words {
			m.stems[w.Stem] = true
			goesOn := t.Form == query.Prefix && i == len(words)-1
			if nearly && t.Form != query.Phrase && !goesOn && query.MaxEdits(w.Text) > 0 {
				m.fuzzy = append(m.fuzzy, w)
			}
		}
		if t.Form == query.Prefix {
			begin, ends := query.PrefixStems(t.Words)
			m.prefixes = append(m.prefixes, begin)
			for _, stem := range ends {
				m.stems[stem] = true
			}
		}
	}
	return m
}

// matcher returns a function that reports whether a word of the text s matches.
func (m *highlighter) matcher(s string) func(text.Word) bool {
	if len(m.stems) == 0 {
		return func(text.Word) bool { return false }
	}
	var hits []query.Word
	matched := map[string]bool{}
	for _, w := range query.Words(s) {
		is, seen := matched[w.Stem]
		if !seen {
			is = m.matches(w.Stem)
			matched[w.Stem] = is
		}
		if is {
			hits = append(hits, w)
		}
	}
	// In languages indexed by pairs of characters, a character matches with every pair that contains it.
	return func(w text.Word) bool {
		i, _ := slices.BinarySearchFunc(hits, w.Start, func(hit query.Word, start int) int { return cmp.Compare(hit.End, start+1) })
		return i < len(hits) && hits[i].Start < w.End
	}
}

func (m *highlighter) matches(stem string) bool {
	return m.stems[stem] ||
		slices.ContainsFunc(m.prefixes, func(begin string) bool { return strings.HasPrefix(stem, begin) }) ||
		slices.ContainsFunc(m.fuzzy, func(w query.Word) bool { return query.WithinEdits(w.Stem, stem, query.MaxEdits(w.Text)) })
}

// A cursor is a position in search results. All pages are evaluated at the time of the first: "age:<2d" and
// freshness count from it.
type cursor struct {
	at      time.Time // whole minutes
	engine  string    // cursor of the index or the store; empty: the first page
	byStore bool
}

// maxSkew is the tolerated clock difference of nodes that serve pages of one search.
const maxSkew = time.Hour

func (c cursor) String() string {
	if c.engine == "" {
		return ""
	}
	kind := ""
	if c.byStore {
		kind = wire.ByStore
	}
	return strconv.FormatInt(c.at.Unix()/60, 36) + "." + kind + "." + c.engine
}

// readCursor parses a cursor; an empty cursor starts a search now. It returns [storage.ErrBadCursor] if it is
// invalid.
func readCursor(s string, now time.Time) (cursor, error) {
	if s == "" {
		return cursor{at: now.UTC().Truncate(time.Minute)}, nil
	}
	at, rest, _ := strings.Cut(s, ".")
	kind, engine, _ := strings.Cut(rest, ".")
	minutes, err := strconv.ParseInt(at, 36, 32)
	c := cursor{at: time.Unix(minutes*60, 0).UTC(), engine: engine, byStore: kind == wire.ByStore}
	if err != nil || minutes < 0 || c.at.After(now.Add(maxSkew)) || engine == "" || kind != "" && kind != wire.ByStore {
		return cursor{}, storage.ErrBadCursor
	}
	return c, nil
}

// similarItems is the number of hits requested, enough to keep one of each story.
const similarItems = 60

// Similar returns items with content similar to that of the given item.
func (s *Search) Similar(ctx context.Context, in wire.ListSimilarRequest) (wire.Similar, error) {
	item, err := storage.ItemByID(ctx, s.Store, in.ID)
	if err != nil {
		return wire.Similar{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	hits, err := s.similarHits(ctx, storage.IndexItem{Item: item, Text: text.PlainText(item.HTML)})
	if err != nil {
		return wire.Similar{}, fmt.Errorf("find items similar to %s: %w", in.ID, err)
	}
	items, err := s.foundItems(ctx, hits, s.titles(ctx), newHighlighter(nil, false))
	if err != nil {
		return wire.Similar{}, err
	}
	similar := wire.Similar{Items: []wire.FoundItem{}}
	seen := map[string]bool{}
	for _, other := range items {
		// The index may be behind the store.
		sameStory := other.StoryID != "" && (other.StoryID == item.StoryID || seen[other.StoryID])
		if sameStory || other.Spam || other.DuplicateOf != "" || item.DuplicateOf == other.ID || len(similar.Items) == in.Limit {
			continue
		}
		seen[other.StoryID] = true
		similar.Items = append(similar.Items, other)
	}
	return similar, nil
}

func (s *Search) similarHits(ctx context.Context, item storage.IndexItem) ([]storage.Hit, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	hits, err := s.Index.Similar(indexCtx, item, similarItems)
	return hits, asUnavailable(ctx, err)
}
