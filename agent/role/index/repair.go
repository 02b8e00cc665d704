package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/metric"
	"feedmesh/agent/role/index/reconcile"
	"feedmesh/agent/role/work"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// checkEvery is the interval of comparisons by item counts only.
	checkEvery = 30 * time.Second

	// compareEvery is the interval of comparisons by content.
	compareEvery = time.Hour

	// indexDelay is the time that changed items may take to reach the index before they count as differences.
	indexDelay = 2 * time.Minute

	// firstCompare is the time of the first comparison after the start, when items lost in a crash can be
	// distinguished from items still in the queues.
	firstCompare = indexDelay + time.Minute

	// refillEvery is the timeout of a rebuild: an index that has not reached half of the stored items by then
	// counts as lost again. One that shrinks counts as lost at once.
	refillEvery = 5 * time.Minute

	// maxQueued is the queue length up to which more index tasks are published: enough to keep the index
	// busy, and few enough that new items don't wait long behind old ones.
	maxQueued = 200
)

// reconciler compares the index with the store and queues repairs, independent of the tasks that should have
// updated the index.
type reconciler struct {
	store storage.Store
	index storage.Index
	mesh  *mesh.Mesh
	clock work.Clock
	log   *slog.Logger
	found *prometheus.CounterVec // differences, by kind

	isAlone bool // index tasks pass in memory

	next      time.Time // time of the next comparison; zero at the start
	refilled  time.Time // time at which the index was last found lost
	reached   int64     // most items in the index since then: fewer now are another loss, not a rebuild in progress
	differed  bool      // whether the counts differed by more than what waits at the last check
	explained int64     // difference of the counts without anything to repair, for example rejected items
	failed    string    // reason of the last comparison if it ended with an error: the next check repeats it
}

func newReconciler(env *work.Env) *reconciler {
	return &reconciler{
		store: env.Store, index: env.Index, mesh: env.Mesh, isAlone: env.Mesh.IsAlone(), clock: env.Clock, log: env.Log,
		found: metric.Counters(env.Metrics, "feedmesh_reconciled_items_total", "Differences of the index from the store: missing, stale, or surplus items.", "difference"),
	}
}

// run checks the index at intervals until ctx ends.
func (r *reconciler) run(ctx context.Context) error {
	for {
		// Unavailable engines are reported elsewhere.
		if err := r.check(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			r.log.Warn("index comparison failed", "err", err)
		}
		if !work.Sleep(ctx, checkEvery) {
			return nil
		}
	}
}

// check compares the index with the store if a comparison is needed now. With a long queue it does nothing,
// because missing items can't be distinguished from queued ones.
func (r *reconciler) check(ctx context.Context) error {
	counts, err := r.store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return err
	}
	indexed, err := r.index.Count(ctx)
	if err != nil {
		return err
	}
	waiting, err := r.waiting(ctx)
	if err != nil {
		return err
	}
	now := r.clock.Now()
	reason := r.reason(now, counts.Items, indexed, waiting)
	if reason == "" || waiting > maxQueued {
		return nil
	}
	r.failed = reason
	found, err := r.compare(ctx, now, reason, minAge(reason, waiting))
	if err != nil {
		return err
	}
	r.failed = ""
	switch reason {
	case mostMissing:
		r.refilled, r.reached = r.clock.Now(), indexed
	case countsDiffer:
		if r.differed = false; found == 0 {
			r.explained = counts.Items - indexed
		}
	case periodic:
		r.next = now.Add(compareEvery)
	}
	return nil
}

// The reasons for a comparison.
const (
	mostMissing  = "most items are missing"
	atStart      = "the counts differ at the start, or tasks in memory may have been lost"
	countsDiffer = "the counts go on differing by more than what waits"
	periodic     = "it is time"
)

// reason returns the reason for a comparison now, or "".
func (r *reconciler) reason(now time.Time, stored, indexed int64, waiting uint64) string {
	start := r.next.IsZero()
	if start {
		r.next = now.Add(firstCompare)
	}
	before := r.differed
	difference := max(stored-indexed, indexed-stored)
	r.differed = difference > int64(waiting*reconcile.MaxIDs)
	r.reached = max(r.reached, indexed)
	switch {
	case 2*indexed < stored && r.differed && (indexed < r.reached || now.Sub(r.refilled) >= refillEvery):
		return mostMissing
	case start && (indexed != stored || r.isAlone):
		return atStart
	case r.failed != "":
		return r.failed
	case before && r.differed && stored-indexed != r.explained:
		return countsDiffer
	case !now.Before(r.next):
		return periodic
	}
	return ""
}

// minAge returns the age from which a changed item counts as a difference: before, it may be in a queue. A
// lost index has lost the newest items too, and at the start an empty queue means that no item is in
// progress.
func minAge(reason string, waiting uint64) time.Duration {
	switch {
	case reason == periodic, reason != mostMissing && waiting > 0:
		return indexDelay
	case reason == countsDiffer:
		return checkEvery
	}
	return 0
}

// compare queues differing items, newest days first, and returns their number. It ignores changes younger
// than age.
func (r *reconciler) compare(ctx context.Context, now time.Time, reason string, age time.Duration) (int, error) {
	days, err := reconcile.Begin(ctx, r.store, r.index, now)
	if err != nil {
		return 0, err
	}
	if !r.isAlone || reason != atStart {
		days = suspects(days, now)
	}
	rejected := sync.OnceValues(func() (map[string]bool, error) { return r.rejectedTasks(ctx) })
	found := map[reconcile.State]int{}
	include := func(item reconcile.Item) (bool, error) {
		if item.State == reconcile.Same || now.Sub(item.Changed).Abs() < age {
			return false, nil
		}
		waits, err := rejected()
		if err != nil || waits[rejectedTask(item.ID).ID()] {
			return false, err
		}
		found[item.State]++
		r.found.WithLabelValues(string(item.State)).Inc()
		return true, nil
	}
	logStart := sync.OnceFunc(func() {
		if reason == mostMissing {
			r.log.Info("index lost, rebuild started")
		}
	})
	err = reconcile.Queue(ctx, r.store, r.index, days, fmt.Sprintf("reconciled %d", now.UnixMicro()), include,
		func(ctx context.Context, task subjects.Index) error {
			logStart()
			return r.publish(ctx, task)
		})
	if len(found) > 0 {
		r.log.Info("index differences found, repair queued", "missing", found[reconcile.Missing],
			"stale", found[reconcile.Stale], "surplus", found[reconcile.Surplus])
	}
	return found[reconcile.Missing] + found[reconcile.Stale] + found[reconcile.Surplus], err
}

// suspects returns the days to compare: those with different counts, the last two, and 1/24 of the others
// each hour, so that all are compared within a day.
func suspects(days []reconcile.Day, now time.Time) []reconcile.Day {
	yesterday := storage.Day(now).Add(-24 * time.Hour)
	return slices.DeleteFunc(slices.Clone(days), func(d reconcile.Day) bool {
		number := d.Start.Unix() / (24 * 60 * 60)
		return d.Stored == d.Indexed && d.Start.Before(yesterday) && number%24 != int64(now.UTC().Hour())
	})
}

// rejectedTasks returns the IDs of quarantined tasks, including items that the index rejects. They need
// manual action: a retry each hour would quarantine them again.
func (r *reconciler) rejectedTasks(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	for after := uint64(0); ; {
		page, err := r.mesh.Quarantined(ctx, after, 100)
		if err != nil || len(page) == 0 {
			return ids, err
		}
		for _, q := range page {
			id, _, _ := strings.Cut(q.Task, ".") // replayed tasks have a numeric suffix
			ids[id] = true
			after = q.Seq
		}
	}
}

// publish queues a task when the queue is short enough.
func (r *reconciler) publish(ctx context.Context, task subjects.Index) error {
	for {
		waiting, err := r.waiting(ctx)
		if err != nil {
			return err
		}
		if waiting <= maxQueued {
			return subjects.Publish(ctx, r.mesh, subjects.IndexQueue, task)
		}
		if !work.Sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// waiting returns the number of tasks in the index queue.
func (r *reconciler) waiting(ctx context.Context) (uint64, error) {
	depths, err := r.mesh.Depths(ctx)
	if err != nil {
		return 0, err
	}
	for _, d := range depths {
		if d.Queue == subjects.IndexQueue.Name {
			return d.Tasks, nil
		}
	}
	return 0, nil
}

const rejectedReason = "refused"

// rejectedTask returns the task that retries a rejected item.
func rejectedTask(id string) subjects.Index {
	return subjects.Index{Reason: rejectedReason, IDs: []string{id}}
}
