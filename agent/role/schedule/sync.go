package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/schedule/plan"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// clampDueTimes corrects due times that were written while a clock was wrong.
func (s *scheduler) clampDueTimes(ctx context.Context) error {
	s.mu.Lock()
	feeds := s.plan.Clamp(s.now())
	if len(feeds) > 0 {
		s.notice("the due times of %d feeds were written while a clock was wrong, and were corrected", len(feeds))
	}
	s.mu.Unlock()
	if len(feeds) == 0 {
		return nil
	}
	s.log.Warn("due times corrected, a clock was wrong when they were written", "feeds", len(feeds))
	return s.states.write(ctx, changes{states: statesOf(feeds)})
}

// reconcile aligns the plan with the store: it adds feeds without a state, or with the state of another address,
// and removes states without a feed. If the store went back to an older state, the feeds of which it lost items
// are fetched whole, and the feeds that it lost are stored again.
func (s *scheduler) reconcile(ctx context.Context) error {
	if err := s.loadProxies(ctx); err != nil {
		return err
	}
	stored := map[string]bool{}
	var unknown []string
	var behind []storage.FeedVersion
	err := s.forEachVersion(ctx, func(v storage.FeedVersion) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		stored[v.ID] = true
		switch {
		case s.plan.URL(v.ID) != v.URL:
			unknown = append(unknown, v.ID)
		case s.plan.Behind(v):
			behind = append(behind, v)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the feeds to schedule: %w", err)
	}
	missing, err := s.storedFeeds(ctx, unknown)
	if err != nil {
		return err
	}
	sealed, err := s.secrets.renew(ctx, missing)
	if err == nil && sealed > 0 {
		err = s.loadProxies(ctx)
	}
	if err != nil {
		return fmt.Errorf("seal passwords: %w", err)
	}
	c, err := s.syncFeeds(ctx, missing, behind, stored)
	if err != nil {
		return err
	}
	return s.states.write(ctx, c)
}

// syncFeeds adds the missing feeds to the plan, makes those due of which the store lost items, removes feeds that
// are not stored, and returns the changes to write.
func (s *scheduler) syncFeeds(ctx context.Context, missing []storage.Feed, behind []storage.FeedVersion, stored map[string]bool) (c changes, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, f := range missing {
		if s.plan.Has(f.ID) {
			s.log.Warn("the state of a feed has another address, it is reset", "feed_id", f.ID, "url", f.URL, "state_url", s.plan.URL(f.ID))
			s.plan.Remove(f.ID)
			c.removed = append(c.removed, f.ID)
		}
		if p := s.plan.Add(f, now); p != nil {
			c.states = append(c.states, &p.FeedState)
		}
	}
	behind, err = s.stillBehind(ctx, behind)
	if err != nil {
		return c, err
	}
	for _, f := range behind {
		c.states = append(c.states, &s.plan.FetchWhole(f, now).FeedState)
	}
	var lost []storage.Feed
	n := len(behind) + s.plan.TakeBehind()
	for _, id := range s.plan.Missing(stored) {
		switch _, err := s.store.Feed(ctx, id); { // the feed may be newer than the list
		case err == nil:
		case !errors.Is(err, storage.ErrNotFound):
			return c, err
		case n > 0:
			p := s.plan.FetchWhole(storage.FeedVersion{ID: id}, now)
			lost, c.states = append(lost, p.Stored()), append(c.states, &p.FeedState)
		default:
			s.plan.Remove(id)
			c.removed = append(c.removed, id)
		}
	}
	if n > 0 {
		s.log.Error("the store went back to an older state: what it lost is fetched again", "feeds_behind", n, "feeds_lost", len(lost))
		s.notice("the store went back to an older state: %d feeds are fetched whole, %d that it lost were stored again", n, len(lost))
		_, err = s.store.AddFeeds(ctx, lost...)
	}
	return c, err
}

// stillBehind reads feeds again that were behind, because their items may have been stored since the first read,
// and returns those that are. s.mu must be locked, so that the plan does not change.
func (s *scheduler) stillBehind(ctx context.Context, feeds []storage.FeedVersion) (behind []storage.FeedVersion, err error) {
	ids := make([]string, len(feeds))
	for i, v := range feeds {
		ids[i] = v.ID
	}
	stored, err := s.storedFeeds(ctx, ids)
	for _, f := range stored {
		if v := f.Version(); s.plan.Behind(v) {
			behind = append(behind, v)
		}
	}
	return behind, err
}

// storedFeeds returns feeds by their IDs, without those that are not stored.
func (s *scheduler) storedFeeds(ctx context.Context, ids []string) (feeds []storage.Feed, err error) {
	for chunk := range slices.Chunk(ids, storage.MaxFeedIDs) {
		some, err := s.store.FindFeeds(ctx, storage.FeedQuery{IDs: chunk, Limit: len(chunk)})
		if err != nil {
			return nil, fmt.Errorf("read the feeds to schedule: %w", err)
		}
		feeds = append(feeds, some...)
	}
	return feeds, nil
}

// checkStore reconciles the plan with the store if the store went back to an older state: it lost items of the feeds
// that it reported last, or an observation showed it.
func (s *scheduler) checkStore(ctx context.Context) error {
	s.mu.Lock()
	s.stored = slices.DeleteFunc(s.stored, func(id string) bool { return !s.plan.Has(id) }) // removed since
	ids, behind := slices.Clone(s.stored), s.plan.StoreBehind()
	s.mu.Unlock()
	if !behind && len(ids) > 0 && s.storeHasChanged() {
		feeds, err := s.storedFeeds(ctx, ids)
		if err != nil {
			s.checked = nil
			return nil // readiness reports it
		}
		s.mu.Lock()
		behind = len(feeds) < len(ids) || slices.ContainsFunc(feeds, func(f storage.Feed) bool { return s.plan.Behind(f.Version()) })
		s.mu.Unlock()
	}
	if !behind {
		return nil
	}
	return s.reconcile(ctx)
}

// storeHasChanged reports whether the store may have changed since the last call. A store that announces its changes is this process's
// own, and does not go back to an older state while it is open.
func (s *scheduler) storeHasChanged() bool {
	if s.checked != nil {
		select {
		case <-s.checked:
		default:
			return false
		}
	}
	s.checked = s.store.Changed()
	return true
}

// reload reloads a feed from the store or, with an empty ID, the proxies. s.mu must be locked.
func (s *scheduler) reload(ctx context.Context, id string, now time.Time) (*plan.Feed, error) {
	if id == "" {
		proxies, err := storage.Proxies(s.store).List(ctx)
		if err == nil {
			s.plan.SetProxies(proxies)
		}
		return nil, err
	}
	feed, err := s.store.Feed(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil // its removal is reported separately
	}
	if err != nil {
		return nil, err
	}
	return s.plan.UpdateSettings(feed, now), nil
}

func (s *scheduler) loadProxies(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.reload(ctx, "", s.now())
	return err
}

// recalibrate adapts the policy to all feeds.
func (s *scheduler) recalibrate(ctx context.Context) error {
	s.updateShare(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.Recalibrate(s.now())
	return nil
}

// recalibrateIfGrown adapts the policy while many feeds are polled for the first time.
func (s *scheduler) recalibrateIfGrown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plan.HasGrown() {
		s.plan.Recalibrate(s.now())
	}
	return nil
}

// recordPolls reports the polls made to the policy.
func (s *scheduler) recordPolls(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.RecordPolls(s.now())
	return nil
}

// saveHistory writes changes of hosts and proxies, and the polls of feeds, batched at an interval. A loss in
// a crash is acceptable: the next polls produce similar data.
func (s *scheduler) saveHistory(ctx context.Context) error { return s.save(ctx, false) }

// saveAllHistory also writes the results of the last requests of all hosts, which is a write for each.
func (s *scheduler) saveAllHistory(ctx context.Context) error { return s.save(ctx, true) }

func (s *scheduler) save(ctx context.Context, all bool) error {
	s.mu.Lock()
	seen, hosts := s.plan.TakeHistory(all)
	proxies := s.plan.TakeProxies()
	s.mu.Unlock()
	if s.partition != 0 { // which probes the proxies
		proxies = nil
	}
	polls := make([]mesh.FeedPoll, len(seen))
	for i, p := range seen {
		polls[i] = mesh.FeedPoll(p)
	}
	if err := errors.Join(s.mesh.PutHosts(ctx, s.partitions, hosts), s.mesh.PutPolls(ctx, polls), s.mesh.PutProxies(ctx, proxies)); err != nil {
		s.log.Warn("history write failed", "err", err)
	}
	return nil
}

// move changes the addresses of feeds that have moved permanently or that a user moves. Items move along; documents of the old
// address in the pipeline are dropped, and the next poll of the new one fetches them again.
func (s *scheduler) move(ctx context.Context) error {
	s.mu.Lock()
	moves := s.plan.TakeMoves()
	s.mu.Unlock()
	for _, m := range moves {
		err := s.moveFeed(ctx, m)
		if err == nil || errors.Is(err, storage.ErrNotFound) { // moved or removed meanwhile
			continue
		}
		s.log.Warn("feed move failed, it will be retried", "feed_id", m.FeedID, "url", m.URL, "err", err)
		s.mu.Lock()
		s.plan.RequestMove(m)
		s.mu.Unlock()
	}
	return nil
}

func (s *scheduler) moveFeed(ctx context.Context, m plan.Move) error {
	concerned, err := s.store.MoveFeed(ctx, m.FeedID, m.URL)
	if err != nil {
		return err
	}
	id := storage.FeedID(m.URL)
	if err := subjects.PublishChanged(ctx, s.mesh, "moved "+m.FeedID, concerned, true); err != nil {
		return err
	}
	feed, err := s.store.Feed(ctx, id)
	if err != nil {
		return err
	}
	if _, err := s.secrets.renewFeed(ctx, s.secrets.keys.Renew(), &feed); err != nil {
		return err
	}
	s.log.Info("feed moved", "feed_id", m.FeedID, "url", m.URL)
	owned := s.owns(feed.URL)
	if !owned {
		if err := s.addElsewhere(ctx, id, feed.URL); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.plan.Remove(m.FeedID)
	c := changes{removed: []string{m.FeedID}}
	if owned {
		if f := s.plan.Add(feed, s.now()); f != nil {
			c.states = append(c.states, &f.FeedState)
		}
	}
	s.mu.Unlock()
	return s.states.write(ctx, c)
}

// recall makes feeds in flight due again if their documents must have been lost, without waiting for
// InFlightTimeout: if a pipeline queue is newer than their dispatch, because it was lost and recreated, or if
// they are in flight much longer than the current processing time.
func (s *scheduler) recall(ctx context.Context) error {
	return s.recallWith(ctx, 0)
}

// recallWith is recall with depths of the queues that are at most so old.
func (s *scheduler) recallWith(ctx context.Context, age time.Duration) error {
	now, err := s.mesh.RecentDepths(ctx, age)
	if err != nil {
		return fmt.Errorf("%w: %w", errQueuesUnreadable, err)
	}
	born, waits := pipelineAge(now)
	return s.states.write(ctx, changes{states: statesOf(s.lost(born, waits))})
}

// lost makes lost feeds due and returns them.
func (s *scheduler) lost(born time.Time, waits time.Duration) (feeds []*plan.Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, wall := s.now(), s.wall.Now()
	if born.After(s.queuesCreated) {
		s.queuesCreated = born
		feeds = s.plan.Recall(now, func(f *plan.Feed) bool { return f.Written.Before(born) })
	}
	// A decaying maximum: tasks that waited long may be followed by those that wait now.
	s.waits = max(waits, s.waits-measureEvery/2)
	grace := min(minGrace+2*s.waits, subjects.InFlightTimeout)
	feeds = append(feeds, s.plan.Recall(now, func(f *plan.Feed) bool { return wall.Sub(f.Dispatched) > grace })...)
	if len(feeds) > 0 {
		s.log.Warn("documents lost, feeds due again", "feeds", len(feeds))
	}
	return feeds
}

// recallIfReadable is recall without an error if the queues can't be read, which dispatch logs.
func (s *scheduler) recallIfReadable(ctx context.Context) error {
	if err := s.recallWith(ctx, mesh.DepthAge); !errors.Is(err, errQueuesUnreadable) {
		return err
	}
	return nil
}

// minGrace is the minimum time in flight before a feed counts as lost; [subjects.InFlightTimeout] is the
// maximum, after which its task may be queued again.
const minGrace = 45 * time.Second

// pipelineAge returns the creation time of the newest pipeline queue, and the sum of the ages of all queues'
// oldest tasks. A document in the pipeline always has a task in one of these queues.
func pipelineAge(depths []subjects.Depth) (born time.Time, waits time.Duration) {
	for _, d := range depths {
		if d.Queue == subjects.IndexQueue.Name || d.Queue == subjects.QuarantineStream {
			continue
		}
		if d.Created.After(born) {
			born = d.Created
		}
		waits += time.Duration(d.Oldest * float64(time.Second))
	}
	return born, waits
}

// errQueuesUnreadable reports that the queues can't be read at present.
var errQueuesUnreadable = errors.New("queues unreadable")
