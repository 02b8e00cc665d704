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

// A Status is how the mesh is.
type Status struct {
	Version  string                    `json:"version"`
	Problems []string                  `json:"problems,omitempty" doc:"Parts that did not answer, and why; what they would tell is zero or missing here."`
	Feeds    FeedCounts                `json:"feeds"`
	Items    int64                     `json:"items" doc:"Items in the store."`
	Indexed  int64                     `json:"indexed" doc:"Items that can be found."`
	Queues   []mesh.Depth              `json:"queues" doc:"What waits, in the order of an item's way; last, what is in quarantine."`
	Agents   []subjects.Agent          `json:"agents"`
	Active   map[string]subjects.Lease `json:"active" doc:"Who is the one active actor, by what it does."`
}

// FeedCounts says how feeds are doing.
type FeedCounts struct {
	Known   int64 `json:"known" doc:"Feeds in the store."`
	Polled  int64 `json:"polled" doc:"Those whose first poll has ended."`
	Failing int64 `json:"failing" doc:"Those whose last poll failed."`
	Gone    int64 `json:"gone" doc:"Those that are polled no more, at their hosts' wish."`
	Out     int64 `json:"out" doc:"Those being polled now."`
}

// A Check is how one of the things is that this process stands on.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty" doc:"What is wrong, and what to do."`
}

func (s *Server) meshRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/status", "get-status", "How the mesh is", 503),
		func(ctx context.Context, _ *struct{}) (*body[Status], error) {
			status, err := s.Status(ctx)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Status]{Body: status}, nil
		})
}

// partTime is how long one part of a status may take.
const partTime = 3 * time.Second

// Status returns how the mesh is. When a part of it does not answer, the others
// are told all the same: that is when a person looks.
func (s *Server) Status(ctx context.Context) (Status, error) {
	st := Status{Version: s.Version}
	ask := func(what string, part func(ctx context.Context) error) {
		asked, cancel := context.WithTimeout(ctx, partTime)
		defer cancel()
		if err := part(asked); err != nil {
			st.Problems = append(st.Problems, fmt.Sprintf("%s: %v", what, err))
		}
	}
	var counts storage.Counts
	ask("store", func(ctx context.Context) (err error) { counts, err = s.Store.Counts(ctx); return err })
	ask("index", func(ctx context.Context) (err error) { st.Indexed, err = s.Index.Count(ctx); return err })
	ask("queues", func(ctx context.Context) (err error) { st.Queues, err = s.Mesh.Depths(ctx); return err })
	ask("agents", func(ctx context.Context) (err error) { st.Agents, err = s.Mesh.Agents(ctx); return err })
	ask("leases", func(ctx context.Context) (err error) { st.Active, err = s.Mesh.Leases(ctx); return err })
	ask("schedule", func(ctx context.Context) (err error) {
		st.Feeds, err = countsTold(st.Active, func() (*standings, error) { return s.states.get(ctx, s.Mesh, s.Now()) })
		return err
	})
	st.Feeds.Known, st.Items = counts.Feeds, counts.Items
	return st, ctx.Err()
}

// CountFeeds counts the feeds that the schedule knows by how they are doing; how
// many the store knows is for the caller to add.
func CountFeeds(ctx context.Context, m Mesh) (FeedCounts, error) {
	leases, err := m.Leases(ctx)
	if err != nil {
		return FeedCounts{}, err
	}
	return countsTold(leases, func() (*standings, error) { return readStandings(ctx, m, time.Time{}) })
}

// countsTold returns what the active schedule tells. If it tells nothing, as it has
// just begun, is of an older version, or there is none, the state of each feed is
// read.
func countsTold(leases map[string]subjects.Lease, read func() (*standings, error)) (FeedCounts, error) {
	if told := leases[subjects.ScheduleLease].Feeds; told != nil {
		return feedCounts(*told), nil
	}
	all, err := read()
	if err != nil {
		return FeedCounts{}, err
	}
	return feedCounts(all.counts), nil
}

// feedCounts returns the schedule's counts as people see them.
func feedCounts(c subjects.Counts) FeedCounts {
	return FeedCounts{Polled: c.Polled, Failing: c.Failing, Gone: c.Gone, Out: c.Out}
}
