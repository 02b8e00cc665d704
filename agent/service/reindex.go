package service

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/role/index/reconcile"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// reindexing is the running or last repair of this process.
type reindexing struct {
	mu      sync.Mutex
	job     wire.Reindex
	stop    func() // cancels the repair; nil if none was started
	running sync.WaitGroup
}

func (s *Server) reindexRoutes(api huma.API) {
	begin := op("POST", "/api/reindex", "begin-reindex", "Compare the index with the store and repair it, while serving", 503)
	begin.DefaultStatus = http.StatusAccepted
	huma.Register(api, begin, func(ctx context.Context, in *struct {
		All bool `query:"all" doc:"Index all items anew, and not only those that differ."`
	}) (*body[wire.Reindex], error) {
		if err := s.beginReindex(ctx, in.All); err != nil {
			return nil, s.problem(err)
		}
		return s.reindexState(ctx)
	})
	huma.Register(api, op("GET", "/api/reindex", "get-reindex", "Progress of the repair of the index", 503),
		func(ctx context.Context, _ *struct{}) (*body[wire.Reindex], error) { return s.reindexState(ctx) })
}

// beginReindex starts a repair unless one runs. Queued tasks survive this process; the rest must be started
// again.
func (s *Server) beginReindex(ctx context.Context, all bool) error {
	counts, err := s.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return err
	}
	s.reindex.mu.Lock()
	defer s.reindex.mu.Unlock()
	if s.reindex.job.State == "running" {
		return nil
	}
	s.reindex.job = wire.Reindex{State: "running", All: all, Started: s.Now(), Total: counts.Items}
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
	s.Trials.backtests.end()
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
		countState(&s.reindex.job, item.State)
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

// countState adds a compared item.
func countState(r *wire.Reindex, state reconcile.State) {
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

func (s *Server) reindexState(ctx context.Context) (*body[wire.Reindex], error) {
	depths, err := s.Mesh.Depths(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	s.reindex.mu.Lock()
	defer s.reindex.mu.Unlock()
	out := &body[wire.Reindex]{Body: s.reindex.job}
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
