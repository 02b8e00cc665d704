package schedule

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/schedule/plan"
	"feedmesh/agent/secret"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A sealer keeps the passwords of feeds and proxies, and the receivers of subscriptions, sealed, in the store and in the plan.
type sealer struct {
	keys   *secret.Keys
	store  storage.Store
	lock   sync.Locker // of plan
	plan   *plan.Plan
	states *stateWriter
	all    bool // seal those of all partitions, of proxies and of subscriptions; only one partition does
	log    *slog.Logger
}

// renew seals the passwords of feeds, proxies and subscriptions that are stored in clear text, by an old key or for a former
// address, and aligns the requests of the plan and of the missing feeds with those of the store. It returns the number of
// feeds, proxies and subscriptions whose passwords it sealed.
func (s *sealer) renew(ctx context.Context, missing []storage.Feed) (sealed int, err error) {
	var feeds []storage.Feed
	err = storage.ForEachMatch(ctx, s.store, storage.FeedQuery{WithRequest: true}, func(f storage.Feed) error {
		feeds = append(feeds, f)
		return nil
	})
	if err != nil {
		return 0, err
	}
	renewal := s.keys.Renew()
	var c changes
	for _, f := range feeds {
		renewed := false
		if s.all {
			if renewed, err = s.renewFeed(ctx, renewal, &f); err != nil {
				return 0, err
			}
		}
		if renewed {
			sealed++
		}
		if i := slices.IndexFunc(missing, func(m storage.Feed) bool { return m.ID == f.ID }); renewed && i >= 0 {
			missing[i] = f
		}
		state, err := s.alignRequest(ctx, f, renewed)
		if err != nil {
			return 0, err
		}
		if state != nil {
			c.states = append(c.states, state)
		}
	}
	if s.all {
		others, err := s.renewOthers(ctx, renewal)
		if err != nil {
			return 0, err
		}
		if sealed += others; sealed > 0 {
			s.log.Info("passwords sealed", "feeds_proxies_and_subscriptions", sealed)
		}
	}
	return sealed, s.states.write(ctx, c)
}

// renewOthers seals the passwords of proxies and the receivers of subscriptions, ends the renewal, and returns how many it sealed.
func (s *sealer) renewOthers(ctx context.Context, renewal *secret.Renewal) (sealed int, err error) {
	proxies, err := storage.Proxies(s.store).List(ctx)
	if err != nil {
		return 0, err
	}
	for _, p := range proxies {
		url := renewal.Proxy(ctx, p)
		if url == p.URL {
			continue
		}
		sealed++
		p.URL = url
		if err := storage.Proxies(s.store).Put(ctx, p); err != nil {
			return 0, err
		}
	}
	subscriptions, err := storage.Subscriptions(s.store).List(ctx)
	if err != nil {
		return 0, err
	}
	for _, subscription := range subscriptions {
		receiver, key := renewal.Receiver(ctx, subscription)
		if receiver == subscription.Receiver && key == subscription.Secret {
			continue
		}
		sealed++
		err := storage.Subscriptions(s.store).Change(ctx, subscription.ID, func(stored *storage.Subscription) (*storage.Subscription, error) {
			if stored == nil { // removed since
				return nil, nil
			}
			next := *stored
			next.Receiver, next.Secret = receiver, key
			return &next, nil
		})
		if err != nil {
			return 0, err
		}
	}
	return sealed, renewal.Done(ctx)
}

// renewFeed seals the request of a stored feed if needed, and reports whether it changed it in the store.
func (s *sealer) renewFeed(ctx context.Context, renewal *secret.Renewal, f *storage.Feed) (bool, error) {
	id := f.ID
	isFormer := func(former string) bool {
		current, err := s.store.ResolveFeed(ctx, former)
		return err == nil && current == id
	}
	if reflect.DeepEqual(renewal.Request(ctx, f.ID, f.Request, isFormer), f.Request) {
		return false, nil
	}
	current, err := s.store.Feed(ctx, id) // users may have changed it since
	if err == nil {
		settings := current.Settings()
		settings.Request = renewal.Request(ctx, id, current.Request, isFormer)
		current, err = s.store.SetFeed(ctx, id, settings)
	}
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		*f = current
	}
	return err == nil, err
}

// alignRequest updates the request of a feed in the plan if it is another in the store, and returns the state to write;
// nil if there is none.
func (s *sealer) alignRequest(ctx context.Context, f storage.Feed, renewed bool) (*subjects.FeedState, error) {
	s.lock.Lock() // changes of users are applied under the lock too
	defer s.lock.Unlock()
	if !s.plan.Has(f.ID) || !renewed && s.plan.HasRequest(f) {
		return nil, nil
	}
	f, err := s.store.Feed(ctx, f.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.plan.SetRequest(f), nil
}

// observe records whether the agent that fetched a feed could open its password. A removed feed has none.
func (s *sealer) observe(o subjects.Observation) {
	switch {
	case o.Class == string(fetch.ClassSecret):
		s.keys.Observe(o.FeedID, errors.New(o.Error))
	case o.Outcome == subjects.Unchanged || o.Outcome == subjects.Stored || o.Outcome == subjects.Removed:
		s.keys.Observe(o.FeedID, nil)
	}
}
