package service

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// statusPartTimeout is the timeout of each part of a status.
const statusPartTimeout = 3 * time.Second

// Status is the state of the mesh and of this process.
type Status struct{ *core }

// Get returns the state of the mesh. A part that does not answer is listed in Problems, and the others are
// returned nevertheless.
func (s *Status) Get(ctx context.Context, _ wire.None) (wire.Status, error) {
	st := wire.Status{Version: s.Version}
	collect := func(what string, part func(ctx context.Context) error) {
		partCtx, cancel := context.WithTimeout(ctx, statusPartTimeout)
		defer cancel()
		if err := part(partCtx); err != nil {
			st.Problems = append(st.Problems, fmt.Sprintf("%s: %v", what, err))
		}
	}
	var counts storage.Counts
	collect("store", func(ctx context.Context) (err error) {
		counts, err = s.Store.CountFeeds(ctx, storage.FeedQuery{})
		return err
	})
	collect("index", func(ctx context.Context) (err error) { st.Indexed, err = s.Index.Count(ctx); return err })
	collect("queues", func(ctx context.Context) (err error) { st.Queues, err = s.Mesh.Depths(ctx); return err })
	collect("agents", func(ctx context.Context) (err error) { st.Agents, err = s.Mesh.Agents(ctx); return err })
	collect("leases", func(ctx context.Context) (err error) { st.Active, err = s.Mesh.Leases(ctx); return err })
	collect("schedule", func(ctx context.Context) (err error) {
		st.Feeds, err = feedCountsFrom(st.Active, func() (*stateSnapshot, error) { return s.states(ctx) })
		return err
	})
	st.Feeds.Stored, st.Items = counts.Feeds, counts.Items
	return st, ctx.Err()
}

// CountFeeds counts the feeds in the schedule by state. The caller adds the number of stored feeds.
func CountFeeds(ctx context.Context, m Mesh) (wire.FeedCounts, error) {
	leases, err := m.Leases(ctx)
	if err != nil {
		return wire.FeedCounts{}, err
	}
	return feedCountsFrom(leases, func() (*stateSnapshot, error) { return readStates(ctx, m, time.Time{}) })
}

// feedCountsFrom returns the counts that the active schedule publishes in its lease. Without them, as after a
// start or with an older schedule, it counts the state of each feed.
func feedCountsFrom(leases map[string]subjects.Lease, read func() (*stateSnapshot, error)) (wire.FeedCounts, error) {
	if published := leases[subjects.ScheduleLease].Feeds; published != nil {
		return feedCounts(*published), nil
	}
	all, err := read()
	if err != nil {
		return wire.FeedCounts{}, err
	}
	return feedCounts(all.counts), nil
}

// feedCounts converts the schedule's counts.
func feedCounts(c subjects.ScheduleCounts) wire.FeedCounts {
	return wire.FeedCounts{Polled: c.Polled, Failing: c.Failing, Gone: c.Gone, InFlight: c.InFlight}
}

// Readiness returns the health of each dependency of this process.
func (s *Status) Readiness(ctx context.Context) []wire.Check {
	return append([]wire.Check{}, s.Checks(ctx)...) // an empty list, not null
}
