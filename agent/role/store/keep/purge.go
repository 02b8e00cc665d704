package keep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/fault"
	"feedmesh/agent/metric"
	"feedmesh/agent/role/work"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	roundInterval = time.Hour   // of rounds
	retryDelay    = time.Minute // before a retry of a round that failed

	// A batch, which is a transaction, has as many items as take about stepTime, within these bounds: others wait for its lock.
	stepTime                 = 50 * time.Millisecond
	minBatch, maxBatch       = 10, 500
	firstBatch               = 100
	idleShare                = 4 // after each step, the purge pauses for so many times its duration
	maxPause                 = 2 * time.Second
	releaseBytes       int64 = 2 << 20     // free space released in one step
	maxIndexTasks            = 50          // queue length above which the purge waits for the index
	queueInterval            = time.Second // of looks at that queue
)

// Run purges items while this process is the active one in the mesh, until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	p := &purger{
		policy: PolicyOf(env.Config), store: env.Store, out: env.Mesh, depths: env.Mesh.Depths, clock: env.Clock, log: env.Log,
		purged: metric.Counter(env.Metrics, "feedmesh_items_purged_total", "Items deleted because they exceed what is kept."),
	}
	return env.Mesh.Single(ctx, "retention", p.run)
}

// A purger deletes expired items.
type purger struct {
	policy Policy
	store  storage.Store
	out    subjects.Publisher
	depths func(context.Context) ([]subjects.Depth, error)
	clock  work.Clock
	log    *slog.Logger
	purged prometheus.Counter

	fence storage.Fence
	batch int // items of the next transaction
}

func (p *purger) run(ctx context.Context) error {
	var err error
	if p.fence, err = p.store.NextFence(ctx, "retention"); err != nil {
		return fmt.Errorf("take over retention: %w", err)
	}
	for {
		next, err := p.round(ctx)
		switch {
		case errors.Is(err, storage.ErrFenced):
			return err
		case err != nil && ctx.Err() == nil:
			p.log.Warn("retention round failed", "err", err)
		}
		if !work.Sleep(ctx, next) {
			return nil
		}
	}
}

// round counts expired items, announces their purge, and purges them when it is time. It returns the time until the
// next round.
func (p *purger) round(ctx context.Context) (next time.Duration, err error) {
	now := p.clock.Now()
	all, settings, err := p.policy.expiries(ctx, p.store, now)
	if err != nil {
		return retryDelay, err
	}
	last, err := ReadState(ctx, p.store)
	if err != nil {
		return retryDelay, err
	}
	counts, err := p.store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return retryDelay, err
	}
	plan, err := count(ctx, p.store, all, counts.Items, func(took time.Duration) bool { return p.pause(ctx, took) })
	if err != nil {
		return retryDelay, err
	}
	state := announce(last, hashOf(settings), plan, counts.Items, now)
	state.Policy = p.policy
	if plan.Items > 0 || last.Plan.Items > 0 || state.Settings != last.Settings {
		if err := putState(ctx, p.store, p.fence, state); err != nil {
			return retryDelay, err
		}
	}
	if wait := state.Begins.Sub(now); plan.Items > 0 && wait > 0 {
		if !state.Begins.Equal(last.Begins) {
			p.log.Info("retention purge announced", "items", plan.Items, "bytes", plan.Bytes, "oldest", plan.Oldest, "begins", state.Begins, "reason", string(state.Reason))
		}
		return min(wait, roundInterval), nil
	}
	if plan.Items > 0 {
		if err := p.purgeAll(ctx, all, state); err != nil {
			return retryDelay, err
		}
	}
	return roundInterval, p.release(ctx)
}

// purgeAll purges the items of all queries, and stores the result.
func (p *purger) purgeAll(ctx context.Context, all []expiry, state State) error {
	began, total := time.Now(), int64(0)
	p.log.Log(ctx, levelOf(state), "retention purge started", "items", state.Plan.Items, "reason", string(state.Reason))
	for _, e := range all {
		n, err := p.purgeQuery(ctx, e)
		if total += n; err != nil {
			return err
		}
	}
	p.log.Log(ctx, levelOf(state), "retention purge ended", "items", total, "delay", time.Since(began).Round(time.Second))
	state.Plan, state.Begins, state.Reason, state.Ended, state.Purged = Plan{}, time.Time{}, "", p.clock.Now(), total
	return putState(ctx, p.store, p.fence, state)
}

// levelOf returns the level of log entries about a purge: the hourly one is of no interest.
func levelOf(s State) slog.Level {
	if s.Reason == Small {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// purgeQuery purges the items of one query, and returns their number.
func (p *purger) purgeQuery(ctx context.Context, e expiry) (total int64, err error) {
	for after := (storage.ExpiredItem{}); ; {
		page, err := p.store.ExpiredItems(ctx, e.ExpiredQuery, after, pageItems)
		if err != nil {
			return total, err
		}
		for rest := page; len(rest) > 0; {
			p.batch = min(max(p.batch, minBatch), maxBatch)
			n := min(p.batch, len(rest))
			purged, err := p.step(ctx, rest[:n])
			if total += int64(purged); err != nil {
				return total, err
			}
			rest = rest[n:]
		}
		if len(page) < pageItems {
			return total, nil
		}
		after = page[len(page)-1]
		if err := p.awaitIndex(ctx); err != nil {
			return total, err
		}
		if err := p.release(ctx); err != nil {
			return total, err
		}
	}
}

// step purges a batch of items in one transaction, publishes index tasks for them, and pauses. If the process ends
// between the two, the index is repaired by the comparison with the store.
func (p *purger) step(ctx context.Context, items []storage.ExpiredItem) (int, error) {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	began := time.Now()
	purged, err := p.store.PurgeItems(ctx, p.fence, ids...)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	fault.Point("purged items")
	p.purged.Add(float64(len(purged)))
	switch {
	case took > stepTime:
		p.batch = max(p.batch/2, minBatch)
	case took < stepTime/2 && len(items) == p.batch:
		p.batch = min(p.batch*2, maxBatch)
	}
	slices.Sort(purged)
	if err := subjects.PublishChanged(ctx, p.out, "purged", purged, true); err != nil {
		return len(purged), err
	}
	if !p.pause(ctx, took) {
		return len(purged), ctx.Err()
	}
	return len(purged), nil
}

// pause waits after a step, so that the purge works for one part in idleShare+1 of the time. It returns false if ctx
// has ended.
func (p *purger) pause(ctx context.Context, took time.Duration) bool {
	return work.Sleep(ctx, min(took*idleShare, maxPause))
}

// awaitIndex waits until the index has deleted most purged items.
func (p *purger) awaitIndex(ctx context.Context) error {
	for {
		depths, err := p.depths(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(depths, func(d subjects.Depth) bool { return d.Queue == subjects.IndexQueue.Name })
		if i < 0 || depths[i].Tasks <= maxIndexTasks {
			return nil
		}
		if !work.Sleep(ctx, queueInterval) {
			return ctx.Err()
		}
	}
}

// release returns the free space of the store to the file system, in batches of releaseBytes.
func (p *purger) release(ctx context.Context) error {
	for {
		began := time.Now()
		rest, err := p.store.ReleaseSpace(ctx, releaseBytes)
		if err != nil || rest < releaseBytes {
			return err
		}
		if !p.pause(ctx, time.Since(began)) {
			return ctx.Err()
		}
	}
}
