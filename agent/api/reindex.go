package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/subjects"
)

// A Reindex is a rebuild of the index from the store, which goes on while both
// are in use.
type Reindex struct {
	State   string    `json:"state" enum:"none,running,done,failed"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Total   int64     `json:"total" doc:"Items in the store when it began."`
	Queued  int64     `json:"queued" doc:"Items queued to be indexed so far."`
	Waiting uint64    `json:"waiting" doc:"Tasks of the index queue still to be done, its daily ones included."`
	Error   string    `json:"error,omitempty"`
}

// reindexing is the rebuild that this process has under way, or had last.
type reindexing struct {
	mu      sync.Mutex
	job     Reindex
	stop    func() // ends it early; nil if there was none
	running sync.WaitGroup
}

func (s *Server) reindexRoutes(api huma.API) {
	begin := op("POST", "/api/reindex", "begin-reindex", "Rebuild the index from the store, while serving", 503)
	begin.DefaultStatus = http.StatusAccepted
	huma.Register(api, begin, func(ctx context.Context, _ *struct{}) (*body[Reindex], error) {
		if err := s.beginReindex(ctx); err != nil {
			return nil, s.problem(err)
		}
		return s.reindexState(ctx)
	})
	huma.Register(api, op("GET", "/api/reindex", "get-reindex", "How the rebuild is getting on", 503),
		func(ctx context.Context, _ *struct{}) (*body[Reindex], error) { return s.reindexState(ctx) })
}

// beginReindex starts a rebuild unless one is under way. What it queues
// survives this process; what it had not queued by then must be begun again.
func (s *Server) beginReindex(ctx context.Context) error {
	counts, err := s.Store.Counts(ctx)
	if err != nil {
		return err
	}
	s.reindex.mu.Lock()
	defer s.reindex.mu.Unlock()
	if s.reindex.job.State == "running" {
		return nil
	}
	s.reindex.job = Reindex{State: "running", Started: s.Now(), Total: counts.Items}
	started := s.reindex.job.Started
	ctx, s.reindex.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.reindex.running.Go(func() { s.runReindex(ctx, started) })
	return nil
}

// Close ends what the server does by itself: a rebuild that is under way, whose
// rest must be begun again.
func (s *Server) Close() {
	s.reindex.mu.Lock()
	stop := s.reindex.stop
	s.reindex.mu.Unlock()
	if stop != nil {
		stop()
	}
	s.reindex.running.Wait()
}

func (s *Server) runReindex(ctx context.Context, started time.Time) {
	why := fmt.Sprintf("reindex %d", started.UnixMicro())
	queued := func(n int) {
		s.reindex.mu.Lock()
		defer s.reindex.mu.Unlock()
		s.reindex.job.Queued += int64(n)
	}
	err := Requeue(ctx, s.Mesh, why, s.Store.ItemIDs, queued)
	if err == nil {
		// What only the index has left: the task removes it there.
		err = Requeue(ctx, s.Mesh, why+" leftovers", s.Index.IDs, nil)
	}
	s.reindex.mu.Lock()
	defer s.reindex.mu.Unlock()
	s.reindex.job.State, s.reindex.job.Ended = "done", s.Now()
	if err != nil {
		s.Log.Error("reindex failed", "err", err)
		s.reindex.job.State, s.reindex.job.Error = "failed", err.Error()
	}
}

// Requeue queues all items of a walk, as [storage.Items] and [storage.Index]
// offer them, to be indexed as they are in the store. why must be another each
// time. queued, which may be nil, is told how many were queued just now.
func Requeue(ctx context.Context, out subjects.Publisher, why string, walk func(ctx context.Context, after string, limit int) ([]string, error), queued func(int)) error {
	for after := ""; ; {
		ids, err := walk(ctx, after, 500)
		if err != nil {
			return fmt.Errorf("read the IDs of what to index: %w", err)
		}
		if len(ids) == 0 {
			return nil
		}
		if err := subjects.Publish(ctx, out, subjects.Indexes, subjects.Index{Why: why, IDs: ids}); err != nil {
			return err
		}
		after = ids[len(ids)-1]
		if queued != nil {
			queued(len(ids))
		}
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
		if d.Queue == subjects.Indexes.Name {
			out.Body.Waiting = d.Tasks
		}
	}
	return out, nil
}
