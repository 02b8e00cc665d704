// Package members decides which items are members of which views. One process in the mesh evaluates every new or changed
// item once, against all views ([network.Network]), and stores its members in one transaction. Views that are new or were
// changed are filled in with the items that the index finds.
package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/metric"
	"feedmesh/agent/role/work"
	"feedmesh/classify/unique"
	"feedmesh/classify/view/network"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	reloadInterval = time.Second      // of looks at the note that views have changed, while the store changes
	forcedReload   = 10 * time.Minute // of the views themselves, should the note be missing
	sweepInterval  = time.Hour        // of the removal of members that left the windows of their views
	sampleSize     = 200              // recent items by which the network estimates how often conditions hold
)

// Run keeps the members of views equal to the store while this process is the active one, until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	return env.Mesh.Single(ctx, "views", func(ctx context.Context) error {
		e := newEvaluator(env)
		if err := e.takeOver(ctx); err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return mesh.ServeBatch(ctx, env.Mesh, subjects.ViewQueue, "", e, 1) })
		group.Go(func() error { return e.maintain(ctx) })
		return group.Wait()
	})
}

func newEvaluator(env *work.Env) *evaluator {
	return &evaluator{
		store: env.Store, index: env.Index, depths: env.Mesh.Depths, schema: env.Mesh.Schema, out: env.Mesh, clock: env.Clock, log: env.Log,
		entered: metric.Counter(env.Metrics, "feedmesh_view_members_total", "Items that entered a view, once for each view."),
		left:    metric.Gauges(env.Metrics, "feedmesh_views_left_out", "Views that are not evaluated because their definition is unreadable."),
		lag:     metric.Seconds(env.Metrics, "feedmesh_view_lag_seconds", "Time from an item's fetch to its views."),
	}
}

// An evaluator finds the views of items. A lock makes batches of tasks and batches of views that are filled in take turns.
type evaluator struct {
	store   storage.Store
	index   storage.Index
	depths  func(context.Context) ([]subjects.Depth, error)
	schema  func(context.Context) int // newest that all agents decode
	out     subjects.Publisher        // of events
	clock   work.Clock
	log     *slog.Logger
	entered prometheus.Counter
	lag     prometheus.Histogram
	left    *prometheus.GaugeVec
	fence   storage.Fence

	mu      sync.Mutex // locks the evaluation of a batch, and the fields below
	views   *compiled
	sample  []*network.Document    // of recent items, at most sampleSize, of some 20 KB each
	next    int                    // position in sample of the next item
	isStale bool                   // the stored views were changed since they were loaded
	uniques map[int64]*unique.List // cache of the texts of recent members, of views with Unique

	// Of maintain alone.
	unfilled  map[int64]bool // numbers of views to fill in
	note      string         // the note that was last read
	changed   time.Time      // when the views were last loaded
	swept     time.Time
	progress  string    // the note that was last stored
	healed    time.Time // when it was stored
	fillAfter time.Time // when filling is retried after an error; zero: now
}

// takeOver fences off the predecessor and loads the views.
func (e *evaluator) takeOver(ctx context.Context) (err error) {
	if e.fence, err = e.store.NextFence(ctx, "views"); err != nil {
		return fmt.Errorf("take over views: %w", err)
	}
	return e.reload(ctx)
}

// ReceiveAll evaluates the items of a batch of tasks. It is idempotent, so a retry is harmless.
func (e *evaluator) ReceiveAll(ctx context.Context, tasks []subjects.View) error {
	for _, past := range []bool{false, true} {
		var ids []string
		for _, t := range tasks {
			if t.Past == past {
				ids = append(ids, t.IDs...)
			}
		}
		if err := e.evaluate(ctx, ids, past); err != nil {
			return err
		}
	}
	var tags []string
	for _, t := range tasks {
		tags = append(tags, t.Tags...)
	}
	if err := e.refill(ctx, tags); err != nil {
		return err
	}
	now := e.clock.Now()
	for _, t := range tasks {
		if !t.Fetched.IsZero() {
			e.lag.Observe(now.Sub(t.Fetched).Seconds())
		}
	}
	return nil
}

// maintain reloads changed views, fills them in, and removes members that left, until ctx ends.
func (e *evaluator) maintain(ctx context.Context) error {
	return work.Poll(ctx, e.store, reloadInterval, nil, func(ctx context.Context) (more bool, _ error) {
		err := e.round(ctx)
		switch {
		case errors.Is(err, storage.ErrFenced):
			return false, err
		case err != nil && ctx.Err() == nil:
			e.log.Warn("view maintenance failed", "err", err)
			e.fillAfter = time.Now().Add(fillRetry)
		}
		return err != nil || len(e.unfilled) > 0 || e.mustReload(), nil
	})
}

func (e *evaluator) round(ctx context.Context) error {
	note, err := storage.Notes(e.store).Read(ctx, storage.ViewsChanged)
	if err != nil {
		return err
	}
	if e.mustReload() || string(note) != e.note || time.Since(e.changed) > forcedReload {
		if err := e.reload(ctx); err != nil {
			return err
		}
	}
	if time.Since(e.swept) > sweepInterval {
		if err := e.sweep(ctx); err != nil {
			return err
		}
		e.swept = time.Now()
	}
	if time.Now().Before(e.fillAfter) {
		return nil
	}
	if err := e.heal(ctx); err != nil {
		return err
	}
	return e.fillAll(ctx)
}

func (e *evaluator) mustReload() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.isStale
}

// reload loads and compiles the views, and clears the caches that depend on them.
func (e *evaluator) reload(ctx context.Context) error {
	// The note is read first: a change after it is noticed at the next look.
	note, err := storage.Notes(e.store).Read(ctx, storage.ViewsChanged)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	stored, err := storage.Views(e.store).List(ctx)
	if err != nil {
		return fmt.Errorf("load views: %w", err)
	}
	views, err := compile(stored, e.clock.Now(), e.sample)
	if err != nil {
		return err
	}
	for name, problem := range views.problems {
		e.log.Warn("view left out", "view", name, "err", problem)
	}
	e.views, e.isStale, e.note, e.changed = views, false, string(note), time.Now()
	e.left.WithLabelValues().Set(float64(len(views.problems)))
	e.unfilled = map[int64]bool{}
	for _, v := range views.views {
		if !v.stored.IsFilled() {
			e.unfilled[v.stored.Number] = true
		}
	}
	e.uniques = map[int64]*unique.List{}
	e.swept = time.Time{} // views may have been removed
	return nil
}

// sweep removes the members of removed views, and those that left the window of their view.
func (e *evaluator) sweep(ctx context.Context) error {
	numbers, err := e.store.ViewsWithMembers(ctx)
	if err != nil {
		return err
	}
	now := e.clock.Now()
	for _, number := range numbers {
		before := time.Time{}
		if v := e.views.byNumber(number); v != nil {
			if v.Window == 0 {
				continue
			}
			before = now.Add(-time.Duration(v.Window))
		} else if e.views.isLeftOut[number] {
			continue
		}
		for removed := sweepBatch; removed == sweepBatch; {
			if removed, err = e.store.RemoveMembers(ctx, e.fence, number, before, sweepBatch); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepBatch is the size of a batch of members that are deleted in one transaction.
const sweepBatch = 1000
