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

	"feedmesh/agent/fetch"
	"feedmesh/agent/websub"
	"feedmesh/subjects"
)

const (
	// hubsEvery is how often what feeds say of hubs is compared with what is
	// subscribed. All that did not change costs a look into memory.
	hubsEvery = 10 * time.Second

	// pushWait is how long a push may wait for room on the queue before its hub
	// is asked to come again.
	pushWait = 10 * time.Second
)

// hubOptions returns what the active schedule asks hubs with.
func hubOptions(env *Env) websub.Options {
	return websub.Options{
		Subscriptions: env.Mesh.Subscriptions(), Poster: env.Post, Base: strings.TrimRight(string(env.Config.WebSubURL), "/"),
		Now: env.Clock.Now, Metrics: env.Metrics.hubs, Log: env.Log,
	}
}

// askHubs keeps the subscriptions of feeds at their hubs until ctx ends, if hubs
// can reach us. It never fails: feeds are polled without.
func (s *scheduler) askHubs(ctx context.Context) error {
	if s.hubs.Base == "" {
		return nil
	}
	var subscriber *websub.Subscriber
	var asking sync.WaitGroup
	defer asking.Wait()
	return every(ctx, hubsEvery, func(context.Context) error { // of many new subscriptions we stop in between
		var err error
		first := subscriber == nil
		if first {
			subscriber, err = websub.Open(ctx, s.hubs)
		}
		if err == nil {
			err = s.wantPushes(ctx, subscriber)
			if first {
				asking.Go(func() { subscriber.Run(ctx) })
			}
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("subscriptions at hubs are not up to date; tried again soon", "err", err)
		}
		return nil
	})
}

// wantPushes makes subscriptions agree with what feeds say, and the plan with
// what hubs have agreed to.
func (s *scheduler) wantPushes(ctx context.Context, subscriber *websub.Subscriber) error {
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
		if err := subscriber.Want(ctx, h.FeedID, h.URL, h.Topic); err != nil {
			return err
		}
	}
	return nil
}

// withHubs serves what hubs call beside the rest, which wants a token that they
// do not have; only the rest if hubs are not to call.
func withHubs(env *Env, rest http.Handler) http.Handler {
	if env.Config.WebSubURL == "" {
		return rest
	}
	mux := http.NewServeMux()
	mux.Handle("/", rest)
	mux.Handle(websub.Path, websub.NewHandler(websub.HandlerOptions{
		Subscriptions: env.Mesh.Subscriptions(), Deliver: (&pushes{out: env.Mesh, state: env.Mesh.State, clock: env.Clock, log: env.Log}).deliver,
		Now: env.Clock.Now, Metrics: env.Metrics.hubs, Log: env.Log,
	}))
	return mux
}

// pushes hand on what hubs push.
type pushes struct {
	out   subjects.Publisher
	state func(ctx context.Context, feedID string) (*subjects.State, error)
	clock Clock
	log   *slog.Logger
}

// deliver hands a pushed document to parse, as crawl does with one it fetched.
func (p *pushes) deliver(ctx context.Context, d websub.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, pushWait)
	defer cancel()
	body, hash := fetch.Pack(d.Body)
	receipt := subjects.PushReceipt(d.FeedID, hash, int64(len(d.Body)), p.clock.Now())
	state, err := p.state(ctx, d.FeedID)
	if err != nil {
		return fmt.Errorf("hand on a push: %w", err)
	}
	receipt.FullText = state != nil && state.FullText
	err = subjects.Publish(ctx, p.out, subjects.Parses, subjects.Parse{
		Receipt: receipt, URL: d.Topic, ContentType: d.ContentType, Body: body,
	})
	if errors.Is(err, subjects.ErrTooLarge) { // it would be so again
		p.log.Warn("a push is too large for the mesh: the next poll brings what is new", "feed_id", d.FeedID, "bytes", len(d.Body))
		return nil
	}
	if err != nil {
		return fmt.Errorf("hand on a push: %w", err)
	}
	return nil
}
