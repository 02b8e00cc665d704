package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/agent/service/reading"
	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// Search answers requests to find items by their content.
type Search struct {
	*core
	lists      *reading.Lists // marks of clients
	storeSlots chan struct{}  // semaphore of concurrent searches in the store
}

// Find returns a page of matching items. The index finds them and the store returns them, so items removed
// since are skipped. If the index does not answer in time, the store searches its newest items. The error may
// be a query syntax error.
func (s *Search) Find(ctx context.Context, q wire.Search) (wire.SearchResults, error) {
	c, err := readCursor(q.Cursor, s.Now())
	if err != nil {
		return wire.SearchResults{}, fmt.Errorf("search: %w", err)
	}
	parsed, err := indexQuery(q, c)
	if err != nil {
		return wire.SearchResults{}, err
	}
	if parsed.Where, err = s.resolved(ctx, parsed.Where); err != nil {
		return wire.SearchResults{}, fmt.Errorf("search: %w", err)
	}
	page := &searchedPage{Search: s, percent: s.uniqueness(q), titles: s.titles(ctx)}
	found, results, err := page.read(ctx, parsed, c)
	if err != nil {
		return wire.SearchResults{}, fmt.Errorf("search: %w", err)
	}
	titles := page.titles
	if index, is := s.Index.(storage.EmbeddingIndex); is && found.By == "" {
		found.Semantic = index.HasEmbedder(ctx)
	}
	if q.Digest {
		found.Digest = digest(found.Items, page.plain, parsed.Where)
	}
	if results.Facets != nil {
		found.Facets = map[string][]wire.Facet{}
		for name, counts := range results.Facets {
			found.Facets[name] = facets(name, counts, titles)
		}
	}
	return found, nil
}

// Suggest returns words of titles that begin with a prefix.
func (s *Search) Suggest(ctx context.Context, in wire.SuggestRequest) (wire.Suggestions, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	words, err := s.Index.Suggest(indexCtx, in.Prefix, in.Limit)
	if err != nil {
		return wire.Suggestions{}, fmt.Errorf("suggest words for %q: %w", in.Prefix, asUnavailable(ctx, err))
	}
	return wire.Suggestions{Words: append([]storage.FacetCount{}, words...)}, nil
}

// indexQuery converts the search to a query of the index.
func indexQuery(q wire.Search, c cursor) (storage.Query, error) {
	parse := query.Parse
	if q.Typing {
		parse = query.ParsePartial
	}
	typed, err := parse(q.Query, c.at)
	var syntaxErr *query.SyntaxError
	if errors.As(err, &syntaxErr) {
		return storage.Query{}, fmt.Errorf("the query can't be understood at character %d: %w", utf8.RuneCountInString(q.Query[:syntaxErr.Offset])+1, err)
	}
	var where query.And
	for _, is := range []query.FieldEquals{ // in a fixed order, since cursors contain a hash of the query
		{Field: query.Feed, Value: q.Feed}, {Field: query.Category, Value: q.Category}, {Field: query.Topic, Value: q.Topic},
		{Field: query.Flag, Value: q.Flag}, {Field: query.Language, Value: q.Language},
	} {
		if is.Value != "" {
			where = append(where, is)
		}
	}
	if !q.After.IsZero() || !q.Before.IsZero() {
		where = append(where, query.TimeRange{From: q.After, Until: q.Before})
	}
	return storage.Query{
		Where: query.All(typed, where...), Spam: q.Spam, Duplicates: q.Duplicates, Muted: q.Muted, OnePerStory: q.Once,
		Newest: q.Sort == "newest", Now: c.at, Limit: q.Limit, Cursor: c.engine, Facets: q.Facets, Semantic: q.Semantic,
	}, nil
}

// resolved returns a condition with feeds by ID in place of feeds by name, and sets of items in place of marks.
func (s *Search) resolved(ctx context.Context, n query.Node) (query.Node, error) {
	all := func(nodes []query.Node) ([]query.Node, error) {
		resolved := make([]query.Node, len(nodes))
		for i, one := range nodes {
			var err error
			if resolved[i], err = s.resolved(ctx, one); err != nil {
				return nil, err
			}
		}
		return resolved, nil
	}
	switch n := n.(type) {
	case query.And:
		nodes, err := all(n)
		return query.And(nodes), err
	case query.Or:
		nodes, err := all(n)
		return query.Or(nodes), err
	case query.Not:
		node, err := s.resolved(ctx, n.Node)
		return query.Not{Node: node}, err
	case query.FieldEquals:
		switch {
		case n.Field == query.Feed:
			return s.named(ctx, n)
		case n.Field == query.Label, n.Field == query.Flag && n.Value == labelled:
			return s.labelled(ctx, n)
		case n.Field == query.Flag && slices.Contains(query.Marks, n.Value):
			return s.marked(ctx, n)
		}
	}
	return n, nil
}

// maxMarked is the number of items with a mark among which a search finds some: the latest.
const maxMarked = 5000

// marked returns the condition that items have a mark of the client, or a star of a rule.
func (s *Search) marked(ctx context.Context, mark query.FieldEquals) (query.Node, error) {
	ids, err := s.lists.Marked(ctx, mark.Value, maxMarked)
	if err != nil {
		return nil, err
	}
	set := query.ItemSet{Of: mark, IDs: ids}
	if mark.Value == wire.ShowStarred {
		return query.Or{mark, set}, nil
	}
	return set, nil
}

// labelled is the mark of items that have labels of the client.
const labelled = "labelled"

// labelled returns the condition that items have a label of the client, in any case of letters, or any label.
func (s *Search) labelled(ctx context.Context, is query.FieldEquals) (query.Node, error) {
	byItem, err := s.lists.LabelsByItem(ctx)
	if err != nil {
		return nil, err
	}
	set := query.ItemSet{Of: is}
	for _, id := range slices.Sorted(maps.Keys(byItem)) {
		if is.Field == query.Flag || slices.ContainsFunc(byItem[id], func(label string) bool { return strings.EqualFold(label, is.Value) }) {
			set.IDs = append(set.IDs, id)
		}
	}
	return set, nil
}

func facets(name string, counts []storage.FacetCount, titles func(string) string) []wire.Facet {
	return convert(counts, func(c storage.FacetCount) wire.Facet {
		f := wire.Facet{Value: c.Value, Label: c.Value, Count: c.Count}
		if name == "feed" {
			f.Label = titles(c.Value)
		}
		return f
	})
}

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
		if errors.Is(err, storage.ErrNoEmbedder) {
			return wire.SearchResults{}, storage.Results{}, errorf(KindInvalid, "%v", storage.ErrNoEmbedder)
		}
		// The store can't continue at a position of the index, and does not list spam.
		if errors.As(err, new(*query.SyntaxError)) || errors.Is(err, storage.ErrBadCursor) || ctx.Err() != nil || q.Cursor != "" || q.Spam {
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
		results.Next = storage.PackCursor(r.last)
	}
	return results
}

// readBatch matches the next batch of items until the page is full. more is false at the end of the store.
func (s *Search) readBatch(ctx context.Context, r *storeScan) (more bool, err error) {
	listed, err := s.Store.ListMarked(ctx, "", storage.MarkQuery{}, r.last, storeBatchSize)
	if err != nil {
		return false, err
	}
	items, err := s.Store.Items(ctx, convert(listed, func(m storage.MarkedItem) string { return m.ItemID })...)
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

func parseScanCursor(s string) (m storage.MarkedItem, err error) {
	if s == "" {
		return m, nil
	}
	if storage.UnpackCursor(s, &m) != nil || m.ItemID == "" {
		return m, storage.ErrBadCursor
	}
	return m, nil
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
	items, err := s.foundItems(ctx, hits, s.titles(ctx), newHighlighter(nil, false), nil)
	if err != nil {
		return wire.Similar{}, err
	}
	slices.SortStableFunc(items, func(a, b wire.FoundItem) int { // the same language first
		return cmp.Compare(languageDistance(a.Item, item), languageDistance(b.Item, item))
	})
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

// languageDistance returns 0 for items of one language or of an unknown one, otherwise 1.
func languageDistance(a, b storage.Item) int {
	if a.Language == b.Language || a.Language == "" || b.Language == "" {
		return 0
	}
	return 1
}

func (s *Search) similarHits(ctx context.Context, item storage.IndexItem) ([]storage.Hit, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	hits, err := s.Index.Similar(indexCtx, item, similarItems)
	return hits, asUnavailable(ctx, err)
}
