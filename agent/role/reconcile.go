package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/reconcile"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// glanceEvery is how often the two are compared by their counts alone.
	glanceEvery = 30 * time.Second

	// compareEvery is how often they are compared by what they have.
	compareEvery = time.Hour

	// onTheirWay is how long items that changed may take to get to the index
	// before anything is made of it.
	onTheirWay = 2 * time.Minute

	// compareFirst is when to compare after the start: when what a crash may
	// have lost on its way can be told from what is on its way.
	compareFirst = onTheirWay + time.Minute

	// refillEvery is how long an index may take to get half of what is stored
	// before it is taken for lost once more.
	refillEvery = 5 * time.Minute

	// shortQueue is how many messages may wait for the index when more are queued:
	// so many that it never runs out of them, and new items don't wait long behind
	// old ones.
	shortQueue = 200
)

// reconciler compares the index with the store and has repaired what differs:
// whatever became of the tasks that should have told the index of it.
type reconciler struct {
	store   storage.Store
	index   storage.Index
	mesh    *mesh.Mesh
	clock   Clock
	log     *slog.Logger
	metrics *Metrics

	next      time.Time // when to compare; zero at the start
	refilled  time.Time // when the index was last found to be lost
	differed  bool      // whether the counts differed at the last glance, and nothing waited
	explained int64     // by how much they differ where there is nothing to repair: refused items, say
}

// run compares now and then until ctx ends.
func (r *reconciler) run(ctx context.Context) error {
	for {
		// What is away is told of by those who wait for it.
		if err := r.glance(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			r.log.Warn("can't compare the index with the store", "err", err)
		}
		if !pause(ctx, glanceEvery) {
			return nil
		}
	}
}

// pause waits for d and reports whether ctx still lives then.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// glance compares the index with the store if there is a reason to do so now.
// While much waits for the index, it can't tell what is missing from what is on
// its way.
func (r *reconciler) glance(ctx context.Context) error {
	counts, err := r.store.Counts(ctx)
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
	why := r.reason(now, counts.Items, indexed, waiting)
	if why == "" || waiting > shortQueue {
		return nil
	}
	found, err := r.compare(ctx, now, why, leastAge(why, waiting))
	if err != nil {
		return err
	}
	switch why {
	case lost:
		r.refilled = r.clock.Now()
	case differ:
		if r.differed = false; found == 0 {
			r.explained = counts.Items - indexed
		}
	case isTime:
		r.next = now.Add(compareEvery)
	}
	return nil
}

// The reasons to compare.
const (
	lost    = "most items are missing"
	atStart = "the counts differ at the start"
	differ  = "the counts go on differing though nothing waits"
	isTime  = "it is time"
)

// reason returns why to compare now, or nothing.
func (r *reconciler) reason(now time.Time, stored, indexed int64, waiting uint64) string {
	start := r.next.IsZero()
	if start {
		r.next = now.Add(compareFirst)
	}
	before := r.differed
	r.differed = stored != indexed && waiting == 0
	switch {
	case 2*indexed < stored && now.Sub(r.refilled) >= refillEvery:
		return lost
	case start && indexed != stored:
		return atStart
	case before && r.differed && stored-indexed != r.explained:
		return differ
	case !now.Before(r.next):
		return isTime
	}
	return ""
}

// leastAge returns how old a change must be before anything is made of it: until
// then the item may be on its way to the index. A lost index has lost the newest
// items too, and at the start nothing is on its way if nothing waits.
func leastAge(why string, waiting uint64) time.Duration {
	switch {
	case why == isTime, why == atStart && waiting > 0:
		return onTheirWay
	case why == differ:
		return glanceEvery
	}
	return 0
}

// compare queues what differs, the newest days first, and returns how many items
// those are. Changes younger than age it leaves for the next time.
func (r *reconciler) compare(ctx context.Context, now time.Time, why string, age time.Duration) (int, error) {
	days, err := reconcile.Days(ctx, r.store, r.index)
	if err != nil {
		return 0, err
	}
	refused := sync.OnceValues(func() (map[string]bool, error) { return r.refused(ctx) })
	found := map[reconcile.State]int{}
	wanted := func(item reconcile.Item) (bool, error) {
		if item.State == reconcile.Same || now.Sub(item.Changed).Abs() < age {
			return false, nil
		}
		waits, err := refused()
		if err != nil || waits[refusedTask(item.ID).ID()] {
			return false, err
		}
		found[item.State]++
		r.metrics.reconciled.WithLabelValues(string(item.State)).Inc()
		return true, nil
	}
	tell := sync.OnceFunc(func() {
		if why == lost {
			r.log.Info("the index lacks most items: it is made anew from the store")
		}
	})
	err = reconcile.Queue(ctx, r.store, r.index, suspects(days, now), fmt.Sprintf("reconciled %d", now.UnixMicro()), wanted,
		func(ctx context.Context, task subjects.Index) error {
			tell()
			return r.publish(ctx, task)
		})
	if len(found) > 0 {
		r.log.Info("the index did not agree with the store: it is being repaired", "missing", found[reconcile.Missing],
			"stale", found[reconcile.Stale], "surplus", found[reconcile.Surplus])
	}
	return found[reconcile.Missing] + found[reconcile.Stale] + found[reconcile.Surplus], err
}

// suspects returns the days to walk over: those whose counts differ, the last
// two, in which most happens, and of the others another share each hour, so that
// all are walked over within a day.
func suspects(days []reconcile.Day, now time.Time) []reconcile.Day {
	yesterday := storage.Day(now).Add(-24 * time.Hour)
	return slices.DeleteFunc(slices.Clone(days), func(d reconcile.Day) bool {
		number := d.Start.Unix() / (24 * 60 * 60)
		return d.Stored == d.Indexed && d.Start.Before(yesterday) && number%24 != int64(now.UTC().Hour())
	})
}

// refused returns the IDs of tasks in quarantine whose item the index refuses.
// They wait for a person: to try them again each hour would put them there again.
func (r *reconciler) refused(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	for after := uint64(0); ; {
		page, err := r.mesh.Quarantined(ctx, after, 100)
		if err != nil || len(page) == 0 {
			return ids, err
		}
		for _, q := range page {
			id, _, _ := strings.Cut(q.Task, ".") // a replayed one has a number after it
			ids[id] = true
			after = q.Seq
		}
	}
}

// publish queues a task when few wait.
func (r *reconciler) publish(ctx context.Context, task subjects.Index) error {
	for {
		waiting, err := r.waiting(ctx)
		if err != nil {
			return err
		}
		if waiting <= shortQueue {
			return subjects.Publish(ctx, r.mesh, subjects.Indexes, task)
		}
		if !pause(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// waiting returns how many tasks wait for the index.
func (r *reconciler) waiting(ctx context.Context) (uint64, error) {
	depths, err := r.mesh.Depths(ctx)
	if err != nil {
		return 0, err
	}
	for _, d := range depths {
		if d.Queue == subjects.Indexes.Name {
			return d.Tasks, nil
		}
	}
	return 0, nil
}
