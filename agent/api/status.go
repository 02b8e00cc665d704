package api

import (
	"context"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/mesh"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Status is the state of the mesh.
type Status struct {
	Version  string                    `json:"version"`
	Problems []string                  `json:"problems,omitempty" doc:"Parts that did not answer, and why; their values are zero or missing."`
	Feeds    FeedCounts                `json:"feeds"`
	Items    int64                     `json:"items" doc:"Items in the store."`
	Indexed  int64                     `json:"indexed" doc:"Items that can be found."`
	Queues   []mesh.Depth              `json:"queues" doc:"Queue depths in the order of processing; the quarantine last."`
	Agents   []subjects.Agent          `json:"agents"`
	Active   map[string]subjects.Lease `json:"active" doc:"Leases of the active single actors, by name."`
}

// FeedCounts are the numbers of feeds by state.
type FeedCounts struct {
	Stored   int64 `json:"known" doc:"Feeds in the store."`
	Polled   int64 `json:"polled" doc:"Those whose first poll has ended."`
	Failing  int64 `json:"failing" doc:"Those whose last poll failed."`
	Gone     int64 `json:"gone" doc:"Feeds not polled any more, since their hosts answered that they are gone."`
	InFlight int64 `json:"out" doc:"Those being polled now."`
}

// A Check is the health of one dependency of a process.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty" doc:"The problem, and advice."`
}

func (s *Server) meshRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/status", "get-status", "State of the mesh", 503),
		func(ctx context.Context, _ *struct{}) (*body[Status], error) {
			status, err := s.Status(ctx)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Status]{Body: status}, nil
		})
}

// statusPartTimeout is the timeout of each part of a status.
const statusPartTimeout = 3 * time.Second

// Status returns the state of the mesh. A part that does not answer is listed in Problems, and the others are
// returned nevertheless.
func (s *Server) Status(ctx context.Context) (Status, error) {
	st := Status{Version: s.Version}
	collect := func(what string, part func(ctx context.Context) error) {
		partCtx, cancel := context.WithTimeout(ctx, statusPartTimeout)
		defer cancel()
		if err := part(partCtx); err != nil {
			st.Problems = append(st.Problems, fmt.Sprintf("%s: %v", what, err))
		}
	}
	var counts storage.Counts
	collect("store", func(ctx context.Context) (err error) { counts, err = s.Store.Counts(ctx); return err })
	collect("index", func(ctx context.Context) (err error) { st.Indexed, err = s.Index.Count(ctx); return err })
	collect("queues", func(ctx context.Context) (err error) { st.Queues, err = s.Mesh.Depths(ctx); return err })
	collect("agents", func(ctx context.Context) (err error) { st.Agents, err = s.Mesh.Agents(ctx); return err })
	collect("leases", func(ctx context.Context) (err error) { st.Active, err = s.Mesh.Leases(ctx); return err })
	collect("schedule", func(ctx context.Context) (err error) {
		st.Feeds, err = feedCountsFrom(st.Active, func() (*stateSnapshot, error) { return s.feedStates.get(ctx, s.Mesh, s.Now()) })
		return err
	})
	st.Feeds.Stored, st.Items = counts.Feeds, counts.Items
	return st, ctx.Err()
}

// CountFeeds counts the feeds in the schedule by state. The caller adds the number of stored feeds.
func CountFeeds(ctx context.Context, m Mesh) (FeedCounts, error) {
	leases, err := m.Leases(ctx)
	if err != nil {
		return FeedCounts{}, err
	}
	return feedCountsFrom(leases, func() (*stateSnapshot, error) { return readStates(ctx, m, time.Time{}) })
}

// feedCountsFrom returns the counts that the active schedule publishes in its lease. Without them, as after a
// start or with an older schedule, it counts the state of each feed.
func feedCountsFrom(leases map[string]subjects.Lease, read func() (*stateSnapshot, error)) (FeedCounts, error) {
	if published := leases[subjects.ScheduleLease].Feeds; published != nil {
		return feedCounts(*published), nil
	}
	all, err := read()
	if err != nil {
		return FeedCounts{}, err
	}
	return feedCounts(all.counts), nil
}

// feedCounts converts the schedule's counts.
func feedCounts(c subjects.ScheduleCounts) FeedCounts {
	return FeedCounts{Polled: c.Polled, Failing: c.Failing, Gone: c.Gone, InFlight: c.InFlight}
}
