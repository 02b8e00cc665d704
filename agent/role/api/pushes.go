package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work"
	"feedmesh/agent/websub"
	"feedmesh/subjects"
)

// pushWait is the timeout of a push for capacity on the queue; after it the hub must retry.
const pushWait = 10 * time.Second

// withHubs adds the callback route of hubs, which needs no token, if hubs are enabled.
func withHubs(env *work.Env, next http.Handler) http.Handler {
	if env.Config.PublicURL == "" {
		return next
	}
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.Handle(websub.Path, websub.NewHandler(websub.HandlerOptions{
		Subscriptions: env.Mesh.Subscriptions(), Deliver: (&pushes{out: env.Mesh, states: env.Mesh.StatesOf, clock: env.Clock, log: env.Log}).deliver,
		Now: env.Clock.Now, Metrics: websub.NewMetrics(env.Metrics), Log: env.Log,
	}))
	return mux
}

// pushes passes pushed documents on.
type pushes struct {
	out    subjects.Publisher
	states func(ctx context.Context, feedIDs ...string) (map[string]*subjects.State, error)
	clock  work.Clock
	log    *slog.Logger
}

// deliver publishes a pushed document to parse, as crawl does with a fetched one.
func (p *pushes) deliver(ctx context.Context, d websub.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, pushWait)
	defer cancel()
	body, hash := fetch.Compress(d.Body)
	receipt := subjects.PushReceipt(d.FeedID, d.Partition, hash, int64(len(d.Body)), p.clock.Now())
	states, err := p.states(ctx, d.FeedID)
	if err != nil {
		return fmt.Errorf("publish a push: %w", err)
	}
	if state := states[d.FeedID]; state != nil {
		receipt.FullText = state.FullText
	}
	err = subjects.Publish(ctx, p.out, subjects.ParseQueue, subjects.Parse{
		Receipt: receipt, URL: d.Topic, ContentType: d.ContentType, Body: body,
	})
	if errors.Is(err, subjects.ErrTooLarge) { // a retry would fail again
		p.log.Warn("push too large, left to the next poll", "feed_id", d.FeedID, "bytes", len(d.Body))
		return nil
	}
	if err != nil {
		return fmt.Errorf("publish a push: %w", err)
	}
	return nil
}
