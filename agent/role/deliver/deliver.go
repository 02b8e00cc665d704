// Package deliver is the role that sends the items of views to the receivers of subscriptions. Any number of processes claim
// subscriptions with something to send from the store, each for a short time, and send through the channels in the folders
// below. A member of a view is sent at least once, each retry with the same ID. Memory is bounded by the number of
// workers, each with a batch of items of one subscription.
package deliver

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nuid"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/metric"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/role/work"
	"feedmesh/agent/secret"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	pollInterval = time.Second      // of claims after changes of the store, without an event that views got items
	runTime      = 5 * time.Second  // after which a worker leaves a subscription, so that others get their turn
	sendTimeout  = 15 * time.Second // timeout of an attempt
	saveInterval = 5 * time.Second  // after which progress is stored
	claimTime    = 10 * time.Second // after which another process may claim what a process that died left
	claimRenewal = 3 * time.Second  // interval of the extension of claims

	// Receivers that fail have their own pool of workers, so that those which end in a timeout do not block the workers of others.
	maxHealthy = 256
	maxFailed  = 64
	claimBatch = 64 // size of a batch of subscriptions that are claimed
)

// Run sends until ctx ends. An attempt in progress is cancelled then, and retried by another worker.
func Run(ctx context.Context, env *work.Env) error {
	base := strings.TrimRight(string(env.Config.PublicURL), "/")
	channels, err := Channels(env.Config.Mail, base, env.Receivers, env.Mesh, env.Clock.Now)
	if err != nil {
		return err
	}
	d := &deliverer{
		store: env.Store, secrets: env.Secrets, clock: env.Clock, log: env.Log, out: env.Mesh, channels: channels, base: base, claimant: nuid.Next(),
		isPaced: env.Uptime == nil, awaitIntake: env.Mesh.AwaitIntake,
		views:    &viewCache{store: env.Store},
		feeds:    &feedCache{store: env.Store, states: env.Mesh.LoadStates},
		scoring:  make(chan struct{}, 1),
		attempts: metric.Counters(env.Metrics, "feedmesh_deliveries_total", "Attempts to send items of views to receivers.", "channel", "result"),
		lag:      metric.Seconds(env.Metrics, "feedmesh_delivery_lag_seconds", "Time from an item's entry in a view to its receipt, at the first attempt."),
	}
	healthy, failing := make(chan struct{}, 1), make(chan struct{}, 1)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return d.extendClaims(ctx) })
	group.Go(func() error { return d.removeExpired(ctx) })
	group.Go(func() error { return d.work(ctx, false, maxHealthy, healthy) })
	group.Go(func() error { return d.work(ctx, true, maxFailed, failing) })
	group.Go(func() error { d.listen(ctx, env, healthy, failing); return nil })
	return group.Wait()
}

// listen wakes the workers when views got items. Without the mesh they poll.
func (d *deliverer) listen(ctx context.Context, env *work.Env, wake ...chan struct{}) {
	wakeAll := func() {
		for _, one := range wake {
			notify(one)
		}
	}
	for {
		err := env.Mesh.SubscribeEvents(ctx, wakeAll, func(e subjects.Event) {
			if e.Kind == subjects.ViewsGrew {
				wakeAll()
			}
		})
		if ctx.Err() != nil {
			return
		}
		d.log.Warn("no events of views, subscriptions are polled", "err", err)
		work.Sleep(ctx, time.Minute)
	}
}

// notify sends to a channel with a buffer of one, unless it contains a notification already.
func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// A deliverer sends for the subscriptions that it claims.
type deliverer struct {
	store    storage.Store
	secrets  *secret.Keys
	clock    work.Clock
	log      *slog.Logger
	out      subjects.Publisher
	channels map[string]channel.Channel // by name
	base     string                     // public URL of the console, or empty
	isPaced  bool                       // clock does not run like the system clock, so a due time does not give the time to wait
	claimant string

	awaitIntake func(ctx context.Context) // waits while this agent is drained
	views       *viewCache
	feeds       *feedCache
	scoring     chan struct{} // locked by the worker that reads sentiments, which takes several MB
	running     atomic.Int64  // number of claimed subscriptions
	attempts    *prometheus.CounterVec
	lag         prometheus.Histogram
}

// extendClaims extends the claims of this process while it has some, until ctx ends.
func (d *deliverer) extendClaims(ctx context.Context) error {
	for work.Sleep(ctx, claimRenewal) {
		if d.running.Load() == 0 {
			continue
		}
		// Without an extension another process sends the same items with the same IDs.
		err := d.store.ExtendClaims(ctx, d.claimant, d.clock.Now().Add(claimTime))
		if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			d.log.Warn("extension of claims failed", "err", err)
		}
	}
	return nil
}

// removeExpired removes subscriptions that have ended, until ctx ends. Nothing is sent for them meanwhile.
func (d *deliverer) removeExpired(ctx context.Context) error {
	for work.Sleep(ctx, time.Minute) {
		err := storage.Subscriptions(d.store).RemoveExpired(ctx, d.clock.Now())
		if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			d.log.Warn("expired subscriptions not removed", "err", err)
		}
	}
	return nil
}

// work claims subscriptions and sends for at most limit of them at the same time, until ctx ends. wake has a buffer of one.
func (d *deliverer) work(ctx context.Context, failing bool, limit int, wake chan struct{}) error {
	var group errgroup.Group
	defer group.Wait()
	slots := make(chan struct{}, limit)
	for ctx.Err() == nil {
		d.awaitIntake(ctx)
		changed := d.store.Changed() // before the claim: a change meanwhile is the reason for the next one
		claimed, err := d.claim(ctx, failing, min(limit-len(slots), claimBatch))
		if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) { // reported elsewhere
			d.log.Warn("claim of subscriptions failed", "err", err)
		}
		for _, s := range claimed {
			slots <- struct{}{}
			d.running.Add(1)
			group.Go(func() error {
				d.run(ctx, s)
				d.running.Add(-1)
				<-slots
				notify(wake) // it may have more to send, or a worker is free again
				return nil
			})
		}
		if len(claimed) > 0 && len(slots) < limit {
			continue
		}
		rest := pollInterval
		if changed != nil && !d.isPaced {
			rest = d.untilDue(ctx, failing)
		}
		work.Rest(ctx, changed, pollInterval, rest, wake)
	}
	return nil
}

// untilDue returns the time until the next subscription is due, at most [work.MaxRest].
func (d *deliverer) untilDue(ctx context.Context, failing bool) time.Duration {
	now := d.clock.Now()
	next, err := d.store.NextDelivery(ctx, d.claimant, now, failing)
	switch {
	case err != nil:
		return pollInterval
	case next.IsZero():
		return work.MaxRest
	}
	return min(next.Sub(now), work.MaxRest)
}

func (d *deliverer) claim(ctx context.Context, failing bool, limit int) ([]storage.ClaimedSubscription, error) {
	if limit <= 0 {
		return nil, nil
	}
	now := d.clock.Now()
	return d.store.ClaimSubscriptions(ctx, storage.Claim{Claimant: d.claimant, Now: now, Until: now.Add(claimTime)}, failing, limit)
}
