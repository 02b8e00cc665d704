package role

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/plan"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// reconcile makes the plan agree with the store, which is the truth: feeds
// without a state get one, states without a feed go.
func (s *scheduler) reconcile(ctx context.Context) error {
	if err := s.loadProxies(ctx); err != nil {
		return err
	}
	stored := map[string]bool{}
	var missing []storage.Feed
	known := func(id string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.plan.Has(id)
	}
	err := storage.EachFeed(ctx, s.store, func(f storage.Feed) error {
		stored[f.ID] = true
		if !known(f.ID) {
			missing = append(missing, f)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the feeds to schedule: %w", err)
	}
	return s.states.write(ctx, s.agree(ctx, missing, stored))
}

// agree adds the missing feeds to the plan and removes those that are not stored,
// and returns what that changes.
func (s *scheduler) agree(ctx context.Context, missing []storage.Feed, stored map[string]bool) (c changes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range missing {
		if p := s.plan.Add(f, s.clock.Now()); p != nil {
			c.states = append(c.states, &p.FeedState)
		}
	}
	for _, id := range s.plan.Missing(stored) {
		// It may be newer than the list we read.
		if _, err := s.store.Feed(ctx, id); errors.Is(err, storage.ErrNotFound) {
			s.plan.Remove(id)
			c.gone = append(c.gone, id)
		}
	}
	return c
}

// reread takes over what the store has of a feed by now, or, without an ID, of
// the proxies; s.mu must be held.
func (s *scheduler) reread(ctx context.Context, id string, now time.Time) (*plan.Feed, error) {
	if id == "" {
		proxies, err := s.store.Proxies(ctx)
		if err == nil {
			s.plan.SetProxies(proxies)
		}
		return nil, err
	}
	feed, err := s.store.Feed(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil // its removal is told as well
	}
	if err != nil {
		return nil, err
	}
	return s.plan.Set(feed, now), nil
}

func (s *scheduler) loadProxies(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.reread(ctx, "", s.clock.Now())
	return err
}

// fit brings the policy in line with all feeds.
func (s *scheduler) fit(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.Fit(s.clock.Now())
	return nil
}

// fitIfOutgrown brings the policy in line while feeds become known.
func (s *scheduler) fitIfOutgrown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plan.Outgrown() {
		s.plan.Fit(s.clock.Now())
	}
	return nil
}

// spend tells the policy what was spent.
func (s *scheduler) spend(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.Spend(s.clock.Now())
	return nil
}

// keepLearned writes what was learned of hosts and proxies, and the histories of
// feeds. They go together once in a while, and what a crash takes of them is no
// loss: the next polls bring the like.
func (s *scheduler) keepLearned(ctx context.Context) error { return s.keep(ctx, false) }

// keepAllLearned is keepLearned with how the last requests of all hosts went, which
// is a write for each of them.
func (s *scheduler) keepAllLearned(ctx context.Context) error { return s.keep(ctx, true) }

func (s *scheduler) keep(ctx context.Context, all bool) error {
	s.mu.Lock()
	seen, hosts := s.plan.Learned(all)
	proxies := s.plan.LearnedOfProxies()
	s.mu.Unlock()
	polls := make([]mesh.FeedPoll, len(seen))
	for i, p := range seen {
		polls[i] = mesh.FeedPoll(p)
	}
	if err := errors.Join(s.mesh.PutHosts(ctx, hosts), s.mesh.PutPolls(ctx, polls), s.mesh.PutProxies(ctx, proxies)); err != nil {
		s.log.Warn("what was learned of hosts, polls and proxies is not kept", "err", err)
	}
	return nil
}

// move has feeds live where they were seen to have moved to for good. Their
// items go with them; what is under way of the old ones is dropped, and the next
// poll of the new one brings it.
func (s *scheduler) move(ctx context.Context) error {
	s.mu.Lock()
	moves := s.plan.Moves()
	s.mu.Unlock()
	for _, m := range moves {
		if err := s.moveFeed(ctx, m); err != nil {
			// It is seen to have moved at its next poll as well.
			s.log.Warn("a feed has moved, and can't be moved yet", "feed_id", m.FeedID, "url", m.URL, "err", err)
		}
	}
	return nil
}

func (s *scheduler) moveFeed(ctx context.Context, m plan.Move) error {
	concerned, err := s.store.MoveFeed(ctx, m.FeedID, m.URL)
	if err != nil {
		return err
	}
	id := storage.FeedID(m.URL)
	if err := subjects.PublishIndex(ctx, s.mesh, "moved "+m.FeedID, concerned); err != nil {
		return err
	}
	feed, err := s.store.Feed(ctx, id)
	if err != nil {
		return err
	}
	s.log.Info("a feed has moved for good: it is read there from now on", "feed_id", m.FeedID, "url", m.URL)
	s.mu.Lock()
	s.plan.Remove(m.FeedID)
	c := changes{gone: []string{m.FeedID}}
	if f := s.plan.Add(feed, s.clock.Now()); f != nil {
		c.states = append(c.states, &f.FeedState)
	}
	s.mu.Unlock()
	return s.states.write(ctx, c)
}
