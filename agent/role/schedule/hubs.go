package schedule

import (
	"context"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/role/work"
	"feedmesh/agent/websub"
)

const (
	// hubsEvery is the interval at which the hubs of feeds are compared with the subscriptions. Unchanged
	// feeds cost a lookup in memory.
	hubsEvery = 10 * time.Second
)

// hubOptions returns the options of the active schedule's subscriber.
func hubOptions(env *work.Env, partition, partitions int) websub.Options {
	return websub.Options{
		Partition: partition, Partitions: partitions,
		Subscriptions: env.Mesh.Subscriptions(), Poster: env.Post, Base: strings.TrimRight(string(env.Config.PublicURL), "/"),
		Now: env.Clock.Now, Metrics: websub.NewMetrics(env.Metrics), Log: env.Log,
	}
}

// hubs keeps the subscriptions of the schedule's feeds at their hubs.
type hubs struct {
	*scheduler
	options websub.Options // an empty Base disables hubs
}

// maintain keeps the subscriptions of feeds at their hubs until ctx ends, if hubs can reach this mesh. It
// never fails: feeds are also polled.
func (s *hubs) maintain(ctx context.Context) error {
	if s.options.Base == "" {
		return nil
	}
	var subscriber *websub.Subscriber
	var workers sync.WaitGroup
	defer workers.Wait()
	return work.RepeatEvery(ctx, hubsEvery, func(context.Context) error { // a long list of new subscriptions stops when ctx ends
		var err error
		first := subscriber == nil
		if first {
			subscriber, err = websub.Open(ctx, s.options)
		}
		if err == nil {
			err = s.sync(ctx, subscriber)
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

// sync aligns the subscriptions with the hubs that feeds name, and the plan with the
// subscriptions that hubs have confirmed.
func (s *hubs) sync(ctx context.Context, subscriber *websub.Subscriber) error {
	subscribed := subscriber.FeedIDs()
	until := make(map[string]time.Time, len(subscribed))
	for _, id := range subscribed {
		if sub, ok := subscriber.Subscription(id); ok {
			until[id] = sub.Until
		}
	}
	s.mu.Lock()
	s.plan.SetPushed(until)
	named := s.plan.Hubs(subscribed)
	s.mu.Unlock()
	for _, h := range named {
		if err := subscriber.SetHub(ctx, h.FeedID, h.URL, h.Topic); err != nil {
			return err
		}
	}
	return nil
}
