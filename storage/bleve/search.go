package bleve

import (
	"context"
	"fmt"
	"time"

	"feedmesh/storage"
)

// Search implements [storage.Index]. How fresh an item is counts by the minute.
func (x *Index) Search(ctx context.Context, q storage.Query) (results storage.Results, err error) {
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
	err = x.view(ctx, func(now *ready) error {
		results, err = x.answer(ctx, now, q, page)
		return err
	})
	if err != nil {
		return storage.Results{}, fmt.Errorf("search: %w", err)
	}
	return results, nil
}

// answer returns what was found before, as long as nothing changed, or searches.
func (x *Index) answer(ctx context.Context, now *ready, q storage.Query, page cursor) (storage.Results, error) {
	batch, err := now.snapshot.GetInternal(batchKey)
	if err != nil {
		return storage.Results{}, err
	}
	asked := questionOf(q, page.Now, x.told.version())
	if results, ok := x.answers.of(string(batch), asked); ok {
		return results, nil
	}
	results, err := x.search(ctx, now, q, page)
	if err == nil {
		x.answers.add(string(batch), asked, results)
	}
	return results, err
}

// search returns a page; page has the end of the one before, if there is one, and
// what holds for all pages.
func (x *Index) search(ctx context.Context, now *ready, q storage.Query, page cursor) (storage.Results, error) {
	segs, err := x.segmentsOf(now)
	if err != nil {
		return storage.Results{}, err
	}
	plan, err := x.newPlan(segs, q, page.Forgiven, page.Weights)
	if err != nil {
		return storage.Results{}, err
	}
	all, err := plan.find(ctx, segs)
	if err != nil {
		return storage.Results{}, err
	}
	if all.total > 0 || q.Cursor != "" {
		return plan.results(x, all, page), nil
	}
	if plan, err = x.newPlan(segs, q, true, nil); err != nil {
		return storage.Results{}, err
	}
	if all, err = plan.find(ctx, segs); err != nil {
		return storage.Results{}, err
	}
	page.Forgiven = all.total > 0
	return plan.results(x, all, page), nil
}
