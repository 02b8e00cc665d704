package bleve

import (
	"context"
	"fmt"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// Search implements [storage.Index]. Freshness is computed by the minute.
func (x *Index) Search(ctx context.Context, q storage.Query) (results storage.Results, err error) {
	if q.Semantic > 0 && q.Scored() {
		return storage.Results{}, storage.ErrNoEmbedder
	}
	page, err := parseCursor(q)
	if err != nil {
		return storage.Results{}, err
	}
	if q.Cursor == "" && !q.Now.IsZero() {
		page.Now = q.Now.Truncate(time.Minute).UnixMicro()
	}
	q.Now = time.Time{}
	if page.Now != 0 {
		q.Now = time.UnixMicro(page.Now)
	}
	err = x.view(ctx, func(now *searchState) error {
		results, err = x.searchCached(ctx, now, q, page)
		return err
	})
	if err != nil {
		return storage.Results{}, fmt.Errorf("search: %w", err)
	}
	return results, nil
}

// searchCached returns cached results if the index is unchanged, or searches.
func (x *Index) searchCached(ctx context.Context, now *searchState, q storage.Query, page cursor) (storage.Results, error) {
	batch, err := now.snapshot.GetInternal(batchKey)
	if err != nil {
		return storage.Results{}, err
	}
	if query.HasItemSet(q.Where) { // the key lacks its items
		return x.search(ctx, now, q, page)
	}
	key := cacheKeyOf(q, page.Now, x.boosts.version())
	if results, ok := x.cache.of(string(batch), key); ok {
		return results, nil
	}
	results, err := x.search(ctx, now, q, page)
	if err == nil {
		x.cache.add(string(batch), key, results)
	}
	return results, err
}

// search returns a page. page contains the end of the previous page, if any, and the values that all pages
// share. If nothing matches, a retry allows misspelled words.
func (x *Index) search(ctx context.Context, now *searchState, q storage.Query, page cursor) (storage.Results, error) {
	segs, err := now.segments(&x.boosts)
	if err != nil {
		return storage.Results{}, err
	}
	topics := x.columns.valuesOf("topic")
	plan, err := newPlan(ctx, segs, topics, q, page.Fuzzy, page.Weights)
	if err != nil {
		return storage.Results{}, err
	}
	all, err := plan.find(ctx, segs)
	if err != nil {
		return storage.Results{}, err
	}
	if all.total > 0 || q.Cursor != "" {
		return plan.results(ctx, x.columns, all, page)
	}
	if plan, err = newPlan(ctx, segs, topics, q, true, nil); err != nil {
		return storage.Results{}, err
	}
	if all, err = plan.find(ctx, segs); err != nil {
		return storage.Results{}, err
	}
	page.Fuzzy = all.total > 0
	return plan.results(ctx, x.columns, all, page)
}

// Similar implements [storage.Index].
func (x *Index) Similar(ctx context.Context, item storage.IndexItem, limit int) (hits []storage.Hit, err error) {
	if limit = min(limit, storage.MaxLimit); limit <= 0 {
		return nil, ctx.Err()
	}
	err = x.view(ctx, func(now *searchState) error {
		segs, err := now.segments(&x.boosts)
		if err != nil {
			return err
		}
		hits, err = similarIn(ctx, segs, item, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find items similar to %s: %w", item.ID, err)
	}
	return hits, nil
}

// Suggest implements [storage.Index].
func (x *Index) Suggest(ctx context.Context, prefix string, limit int) (words []storage.FacetCount, err error) {
	err = x.view(ctx, func(now *searchState) error {
		segs, err := now.segments(&x.boosts)
		if err == nil {
			words, err = suggestIn(ctx, segs, prefix, limit)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("suggest words: %w", err)
	}
	return words, nil
}
