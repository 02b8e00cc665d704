package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/websub"
	"feedmesh/subjects"
)

const (
	// hubsEvery is the interval at which the hubs of feeds are compared with the subscriptions. Unchanged
	// feeds cost a lookup in memory.
	hubsEvery = 10 * time.Second

	// pushWait is the timeout of a push for capacity on the queue; after it the hub must retry.
	pushWait = 10 * time.Second
)

// hubOptions returns the options of the active schedule's subscriber.
func hubOptions(env *Env) websub.Options {
	return websub.Options{
		Subscriptions: env.Mesh.Subscriptions(), Poster: env.Post, Base: strings.TrimRight(string(env.Config.WebSubURL), "/"),
		Now: env.Clock.Now, Metrics: env.Metrics.hubs, Log: env.Log,
	}
}

// maintainHubs keeps the subscriptions of feeds at their hubs until ctx ends, if hubs can reach this mesh. It
// never fails: feeds are also polled.
func (s *scheduler) maintainHubs(ctx context.Context) error {
	if s.hubs.Base == "" {
		return nil
	}
	var subscriber *websub.Subscriber
	var workers sync.WaitGroup
	defer workers.Wait()
	return repeatEvery(ctx, hubsEvery, func(context.Context) error { // a long list of new subscriptions stops when ctx ends
		var err error
		first := subscriber == nil
		if first {
			subscriber, err = websub.Open(ctx, s.hubs)
		}
		if err == nil {
			err = s.syncSubscriptions(ctx, subscriber)
			if first {
				workers.Go(func() { subscriber.Run(ctx) })
			}
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("hub subscriptions not updated, retry pending", "err", err)
		}
		return nil
	})
}

// syncSubscriptions aligns the subscriptions with the hubs that feeds name, and the plan with the
// subscriptions that hubs have confirmed.
func (s *scheduler) syncSubscriptions(ctx context.Context, subscriber *websub.Subscriber) error {
	subscribed := subscriber.FeedIDs()
	until := make(map[string]time.Time, len(subscribed))
	for _, id := range subscribed {
		if sub, ok := subscriber.Subscription(id); ok {
			until[id] = sub.Until
		}
	}
	s.mu.Lock()
	s.plan.SetPushed(until)
	hubs := s.plan.Hubs(subscribed)
	s.mu.Unlock()
	for _, h := range hubs {
		if err := subscriber.SetHub(ctx, h.FeedID, h.URL, h.Topic); err != nil {
			return err
		}
	}
	return nil
}

// withHubs adds the callback route of hubs, which needs no token, if hubs are enabled.
func withHubs(env *Env, next http.Handler) http.Handler {
	if env.Config.WebSubURL == "" {
		return next
	}
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.Handle(websub.Path, websub.NewHandler(websub.HandlerOptions{
		Subscriptions: env.Mesh.Subscriptions(), Deliver: (&pushes{out: env.Mesh, state: env.Mesh.State, clock: env.Clock, log: env.Log}).deliver,
		Now: env.Clock.Now, Metrics: env.Metrics.hubs, Log: env.Log,
	}))
	return mux
}

// pushes passes pushed documents on.
type pushes struct {
	out   subjects.Publisher
	state func(ctx context.Context, feedID string) (*subjects.State, error)
	clock Clock
	log   *slog.Logger
}

// deliver publishes a pushed document to parse, as crawl does with a fetched one.
func (p *pushes) deliver(ctx context.Context, d websub.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, pushWait)
	defer cancel()
	body, hash := fetch.Compress(d.Body)
	receipt := subjects.PushReceipt(d.FeedID, hash, int64(len(d.Body)), p.clock.Now())
	state, err := p.state(ctx, d.FeedID)
	if err != nil {
		return fmt.Errorf("publish a push: %w", err)
	}
	receipt.FullText = state != nil && state.FullText
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
