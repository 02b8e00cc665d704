package service

import (
	"context"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver"
	"feedmesh/storage"
)

const (
	offAge     = 30 * time.Second // age at which the numbers of subscriptions that are off are read again
	offShare   = 50               // reading them takes at most this part of the time
	offTimeout = 2 * time.Second
)

// An offCache caches how many subscriptions of each client are off, so that pages can show it. All subscriptions and their states are read for it, at
// most [storage.MaxSubscriptions].
type offCache struct {
	mu      sync.Mutex
	read    time.Time
	keep    time.Duration
	byOwner map[string]int
}

// expire empties the cache, since a client changed a subscription.
func (c *offCache) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = time.Time{}
}

// CountOff returns how many subscriptions of the requesting client were turned off since their receivers failed or want no more, as of at most half a
// minute ago. Those that a client turned off, and WebSub subscribers, do not count. While the store can't be read, it is the last number.
func (s *Subscriptions) CountOff(ctx context.Context) int {
	c := &s.off
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := s.Now(); c.read.IsZero() || !fresh(c.read, c.keep, now) {
		began := time.Now()
		// The result is cached for other pages, so the request is not cancelled with this one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), offTimeout)
		defer cancel()
		if byOwner, err := s.countOff(ctx); err == nil { // pages show that the store fails
			c.byOwner = byOwner
		}
		c.read, c.keep = now, max(offAge, offShare*time.Since(began))
	}
	n := 0
	for owner, count := range c.byOwner {
		if access.IsSame(owner, access.From(ctx).ID) {
			n += count
		}
	}
	return n
}

// countOff reads the numbers by owner.
func (s *Subscriptions) countOff(ctx context.Context) (map[string]int, error) {
	all, err := storage.Subscriptions(s.Store).List(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	states, err := s.Store.DeliveryStates(ctx, convert(all, func(one storage.Subscription) string { return one.ID })...)
	if err != nil {
		return nil, err
	}
	byOwner := map[string]int{}
	for _, one := range all {
		if off := states[one.ID].Off; off != "" && off != turnedOff && one.Channel != deliver.WebSub {
			byOwner[one.Owner]++
		}
	}
	return byOwner, nil
}
