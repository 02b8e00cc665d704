package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/role/index/reconcile"
	"feedmesh/subjects"
)

// A Reindex is a repair of the index: it compares the index with the store and indexes items that differ, or
// all items, while both are in use.
type Reindex struct {
	State    string    `json:"state" enum:"none,running,done,failed"`
	All      bool      `json:"all" doc:"Whether all items are indexed anew, and not only those that differ."`
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	Total    int64     `json:"total" doc:"Items in the store when it began."`
	Compared int64     `json:"compared" doc:"Items compared so far, those that only the index has included."`
	Missing  int64     `json:"missing" doc:"Of these, how many only the store had."`
	Stale    int64     `json:"stale" doc:"How many the index had in another form than the store."`
	Surplus  int64     `json:"surplus" doc:"How many only the index had."`
	Queued   int64     `json:"queued" doc:"Items queued to be indexed so far."`
	Waiting  uint64    `json:"waiting" doc:"Tasks of the index queue still to be done, its daily ones included."`
	Error    string    `json:"error,omitempty"`
}

// reindexing is the running or last repair of this process.
type reindexing struct {
	mu      sync.Mutex
	job     Reindex
	stop    func() // cancels the repair; nil if none was started
	running sync.WaitGroup
}

func (s *Server) reindexRoutes(api huma.API) {
	begin := op("POST", "/api/reindex", "begin-reindex", "Compare the index with the store and repair it, while serving", 503)
	begin.DefaultStatus = http.StatusAccepted
	huma.Register(api, begin, func(ctx context.Context, in *struct {
		All bool `query:"all" doc:"Index all items anew, and not only those that differ."`
	}) (*body[Reindex], error) {
		if err := s.beginReindex(ctx, in.All); err != nil {
			return nil, s.problem(err)
		}
		return s.reindexState(ctx)
	})
	huma.Register(api, op("GET", "/api/reindex", "get-reindex", "Progress of the repair of the index", 503),
		func(ctx context.Context, _ *struct{}) (*body[Reindex], error) { return s.reindexState(ctx) })
}

// beginReindex starts a repair unless one runs. Queued tasks survive this process; the rest must be started
// again.
func (s *Server) beginReindex(ctx context.Context, all bool) error {
	counts, err := s.Store.Counts(ctx)
	if err != nil {
		return err
	}
	s.reindex.mu.Lock()
	defer s.reindex.mu.Unlock()
	if s.reindex.job.State == "running" {
		return nil
	}
	s.reindex.job = Reindex{State: "running", All: all, Started: s.Now(), Total: counts.Items}
	started := s.reindex.job.Started
	ctx, s.reindex.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.reindex.running.Go(func() { s.runReindex(ctx, all, started) })
	return nil
}

// Close cancels the background work of the server, a repair and back-tests, and waits for it. The rest of a
// repair must be started again.
func (s *Server) Close() {
	s.reindex.mu.Lock()
	stop := s.reindex.stop
	s.reindex.mu.Unlock()
	if stop != nil {
		stop()
	}
	s.reindex.running.Wait()
	s.backtests.end()
}

func (s *Server) runReindex(ctx context.Context, all bool, started time.Time) {
	err := s.queueReindex(ctx, all, fmt.Sprintf("reindex %d", started.UnixMicro()))
	s.reindex.mu.Lock()
	defer s.reindex.mu.Unlock()
	s.reindex.job.State, s.reindex.job.Ended = "done", s.Now()
	if err != nil {
		s.Log.Error("reindex failed", "err", err)
		s.reindex.job.State, s.reindex.job.Error = "failed", err.Error()
	}
}

// queueReindex compares all days and queues the items that differ, or all items.
func (s *Server) queueReindex(ctx context.Context, all bool, why string) error {
	days, err := reconcile.Days(ctx, s.Store, s.Index)
	if err != nil {
		return err
	}
	wanted := func(item reconcile.Item) (bool, error) {
		s.reindex.mu.Lock()
		defer s.reindex.mu.Unlock()
		s.reindex.job.count(item.State)
		return all || item.State != reconcile.Same, nil
	}
	return reconcile.Queue(ctx, s.Store, s.Index, days, why, wanted, func(ctx context.Context, task subjects.Index) error {
		err := subjects.Publish(ctx, s.Mesh, subjects.IndexQueue, task)
		if err == nil {
			s.reindex.mu.Lock()
			defer s.reindex.mu.Unlock()
			s.reindex.job.Queued += int64(len(task.IDs))
		}
		return err
	})
}

// count adds a compared item.
func (r *Reindex) count(state reconcile.State) {
	r.Compared++
	switch state {
	case reconcile.Missing:
		r.Missing++
	case reconcile.Stale:
		r.Stale++
	case reconcile.Surplus:
		r.Surplus++
	}
}

func (s *Server) reindexState(ctx context.Context) (*body[Reindex], error) {
	depths, err := s.Mesh.Depths(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	s.reindex.mu.Lock()
	defer s.reindex.mu.Unlock()
	out := &body[Reindex]{Body: s.reindex.job}
	if out.Body.State == "" {
		out.Body.State = "none"
	}
	for _, d := range depths {
		if d.Queue == subjects.IndexQueue.Name {
			out.Body.Waiting = d.Tasks
		}
	}
	return out, nil
}
