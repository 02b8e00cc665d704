package console

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/api"
	"feedmesh/subjects"
)

// A standing is how the mesh was of late. Every page tells of it, and asking is
// dear, so it is asked at most once in a while, be the answer an error.
type standing struct {
	mu     sync.Mutex
	taken  time.Time
	status api.Status
	err    error
}

const (
	standingAge      = 2 * time.Second
	standingPatience = 2 * time.Second
)

func (s *standing) get(ctx context.Context, source Source, now time.Time) (api.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken.IsZero() || now.Sub(s.taken) >= standingAge {
		// The answer is for the next page too, so it must not end with this one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), standingPatience)
		defer cancel()
		s.status, s.err = source.Status(ctx)
		s.taken = now
	}
	return s.status, s.err
}

// A footer says in a line how the mesh is.
type footer struct {
	Feeds, Items, Indexed int64
	Waiting, Quarantined  int64
	Version               string
}

func foot(s api.Status) *footer {
	f := &footer{Feeds: s.Feeds.Known, Items: s.Items, Indexed: s.Indexed, Version: s.Version}
	for _, q := range s.Queues {
		if q.Queue == subjects.QuarantineStream {
			f.Quarantined += int64(q.Tasks)
		} else {
			f.Waiting += int64(q.Tasks)
		}
	}
	return f
}

// A statusPage says how the mesh is.
type statusPage struct {
	api.Status
	Queues []queueRow
	Agents []agentRow
	Active []activeRow
}

type queueRow struct {
	Name         string
	Tasks, Bytes int64
	Fill, Oldest float64
}

type agentRow struct {
	subjects.Agent
	Done          int64
	Started, Seen *stamp
}

type activeRow struct {
	Name string
	subjects.Lease
	Since *stamp
}

func (c *console) status(w http.ResponseWriter, r *http.Request) {
	now := c.now()
	status, err := c.standing.get(r.Context(), c.source, now)
	if err != nil {
		c.sorry(w, r, err, "The mesh", nil)
		return
	}
	main := statusPage{Status: status}
	for _, q := range status.Queues {
		main.Queues = append(main.Queues, queueRow{q.Queue, int64(q.Tasks), int64(q.Bytes), q.Fill, q.Oldest})
	}
	for _, a := range status.Agents {
		main.Agents = append(main.Agents, agentRow{a, int64(a.Done), stamped(a.Started, now), stamped(a.Seen, now)})
	}
	for _, name := range slices.Sorted(maps.Keys(status.Active)) {
		lease := status.Active[name]
		since, _ := time.Parse(time.RFC3339, lease.Since) // zero, which is left out, if it says none
		main.Active = append(main.Active, activeRow{name, lease, stamped(since, now)})
	}
	c.render(w, r, http.StatusOK, "status", page{Title: "Status", Here: "/status", Main: main})
}
