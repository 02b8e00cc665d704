package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedmesh/classify/view"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// maxFilled is the number of items of the past that a new view is filled in with: the newest.
	maxFilled = 10_000

	// The index is not searched before it has what was stored that long ago; newer items are read from the store.
	maxIndexDelay = 5 * time.Minute
	recentItems   = 10 * time.Minute

	fillRetry = 30 * time.Second // delay of the retry after an error
	fillPage  = 500              // size of a batch of members or of recent items
)

var errIndexBehind = errors.New("the search index is behind: a retry fills the views in when it has caught up")

// fillAll fills in the views that need it, in the order in which they read each other.
func (e *evaluator) fillAll(ctx context.Context) (err error) {
	for _, v := range e.views.views {
		if ctx.Err() != nil || !e.unfilled[v.stored.Number] {
			continue
		}
		if failed := e.fill(ctx, v); failed != nil {
			err = errors.Join(err, fmt.Errorf("fill in view %s: %w", v.Name, failed))
		}
	}
	return err
}

// fill evaluates the items of the past that a view may have, and its members of an earlier definition.
func (e *evaluator) fill(ctx context.Context, v definition) error {
	if err := e.checkIndex(ctx); err != nil {
		return err
	}
	began := time.Now()
	q, err := Query(ctx, e.store, v.View, e.views.byName, e.clock.Now())
	if err != nil {
		return err
	}
	found, err := e.search(ctx, q)
	if err != nil {
		return err
	}
	slices.Reverse(found) // the oldest first, as they would have entered
	for batch := range slices.Chunk(found, batchItems) {
		if err := e.evaluate(ctx, batch, true); err != nil {
			return err
		}
	}
	evaluate := func(ids []string) error { return e.evaluate(ctx, ids, true) }
	if err := e.evaluateRecent(ctx); err != nil {
		return err
	}
	reread := []definition{v}
	if v.Join != nil {
		reread = append(reread, e.views.views[e.views.names[v.Join.View]]) // records the stories of its members
	}
	for _, of := range reread {
		if err := e.membersOf(ctx, of, evaluate); err != nil {
			return err
		}
	}
	if err := e.setFilled(ctx, v.stored); err != nil {
		return err
	}
	delete(e.unfilled, v.stored.Number)
	e.log.Debug("view filled in", "view", v.Name, "items", len(found), "delay", time.Since(began).Round(time.Millisecond))
	return nil
}

// setFilled stores that a view is filled in, unless it is to be filled in again already.
func (e *evaluator) setFilled(ctx context.Context, v storage.View) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isStale {
		return nil
	}
	v.Filled = v.Changed
	return storage.Views(e.store).SetFilled(ctx, e.fence, v)
}

// checkIndex returns an error if the index lacks items that were stored longer than maxIndexDelay ago.
func (e *evaluator) checkIndex(ctx context.Context) error {
	depths, err := e.depths(ctx)
	if err != nil {
		return err
	}
	for _, d := range depths {
		if d.Queue == subjects.IndexQueue.Name && d.Oldest > maxIndexDelay.Seconds() {
			return errIndexBehind
		}
	}
	return nil
}

// refill makes the views that read one of the tags be filled in again.
func (e *evaluator) refill(ctx context.Context, tags []string) error {
	if len(tags) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range e.views.views {
		readsTag := func(s view.Source) bool { return s.Kind == view.Tag && slices.Contains(tags, s.Value) }
		if !slices.ContainsFunc(v.From, readsTag) {
			continue
		}
		v.stored.Filled = time.Time{}
		if err := storage.Views(e.store).SetFilled(ctx, e.fence, v.stored); err != nil {
			return fmt.Errorf("fill in view %s again: %w", v.Name, err)
		}
		e.isStale = true
	}
	return nil
}

// evaluateRecent evaluates the items stored within recentItems, which the index may lack.
func (e *evaluator) evaluateRecent(ctx context.Context) error {
	return e.evaluateSince(ctx, e.clock.Now().Add(-recentItems), true)
}

func (e *evaluator) hasViews() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.views.views) > 0
}

// search returns the IDs of the items that match, the newest first, at most maxFilled.
func (e *evaluator) search(ctx context.Context, q storage.Query) (ids []string, err error) {
	q.Newest, q.Limit = true, storage.MaxLimit
	for len(ids) < maxFilled {
		results, err := e.index.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, hit := range results.Hits {
			ids = append(ids, hit.ID)
		}
		if q.Cursor = results.Next; q.Cursor == "" {
			break
		}
	}
	return ids, nil
}

// membersOf calls each with batches of the present members of a view.
func (e *evaluator) membersOf(ctx context.Context, v definition, each func(ids []string) error) error {
	for after := (storage.Member{}); ; {
		page, err := e.store.ListMembers(ctx, storage.MemberQuery{View: v.stored.Number}, after, fillPage)
		if err != nil || len(page) == 0 {
			return err
		}
		ids := make([]string, len(page))
		for i, m := range page {
			ids[i] = m.ItemID
		}
		if err := each(ids); err != nil {
			return err
		}
		after = page[len(page)-1]
	}
}
