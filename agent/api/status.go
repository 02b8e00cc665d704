package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// A Status is how the mesh is.
type Status struct {
	Version string                    `json:"version"`
	Feeds   FeedCounts                `json:"feeds"`
	Items   int64                     `json:"items" doc:"Items in the store."`
	Indexed int64                     `json:"indexed" doc:"Items that can be found."`
	Queues  []mesh.Depth              `json:"queues" doc:"What waits, in the order of an item's way; last, what is in quarantine."`
	Agents  []subjects.Agent          `json:"agents"`
	Active  map[string]subjects.Lease `json:"active" doc:"Who is the one active actor, by what it does."`
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

// Status returns how the mesh is.
func (s *Server) Status(ctx context.Context) (Status, error) {
	st := Status{Version: s.Version}
	counts, err := s.Store.Counts(ctx)
	if err != nil {
		return st, err
	}
	if st.Indexed, err = s.Index.Count(ctx); err != nil {
		return st, err
	}
	if st.Queues, err = s.Mesh.Depths(ctx); err != nil {
		return st, err
	}
	if st.Agents, err = s.Mesh.Agents(ctx); err != nil {
		return st, err
	}
	if st.Active, err = s.Mesh.Leases(ctx); err != nil {
		return st, err
	}
	if st.Feeds, err = s.states.count(ctx, s.Mesh, s.Now()); err != nil {
		return st, err
	}
	st.Feeds.Known, st.Items = counts.Feeds, counts.Items
	return st, nil
}

// A summary counts feeds by state. It reads all of them, so it does so at most
// once in a while.
type summary struct {
	mu     sync.Mutex
	taken  time.Time
	counts FeedCounts
}

const summaryAge = 2 * time.Second

func (c *summary) count(ctx context.Context, m Mesh, now time.Time) (FeedCounts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.taken) < summaryAge {
		return c.counts, nil
	}
	counts, err := CountFeeds(ctx, m)
	if err == nil {
		c.counts, c.taken = counts, now
	}
	return counts, err
}

// CountFeeds counts the feeds that the schedule knows by how they are doing; how
// many the store knows is for the caller to add. It reads the state of each.
func CountFeeds(ctx context.Context, m Mesh) (FeedCounts, error) {
	var counts FeedCounts
	err := m.LoadStates(ctx, func(f mesh.FeedState) {
		if !f.State.Polled.IsZero() {
			counts.Polled++
		}
		switch {
		case f.State.Outcome == subjects.Gone:
			counts.Gone++
		case f.State.Failures > 0:
			counts.Failing++
		}
		if f.State.Crawl != "" {
			counts.Out++
		}
	})
	return counts, err
}

// readyz answers 200 if all checks are well, else 503, with each of them.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	checks, status := append([]Check{}, s.Checks(ctx)...), http.StatusOK // none is an empty list
	for _, c := range checks {
		if !c.OK {
			status = http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"ready": status == http.StatusOK, "checks": checks})
}
