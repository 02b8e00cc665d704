package service

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

type bySeq struct {
	Seq uint64 `path:"seq" minimum:"1"`
}

func (s *Server) quarantineRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/quarantine", "list-quarantine", "List tasks that failed all deliveries, oldest first", 503),
		func(ctx context.Context, in *struct {
			After uint64 `query:"after" doc:"The value of next of the previous page."`
			Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
		}) (*body[wire.QuarantinePage], error) {
			page, err := s.Quarantine(ctx, in.After, in.Limit)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.QuarantinePage]{Body: page}, nil
		})
	huma.Register(api, op("GET", "/api/quarantine/{seq}", "get-quarantined", "One quarantined task, whole", 404, 503),
		func(ctx context.Context, in *bySeq) (*body[subjects.Quarantined], error) {
			task, err := s.Mesh.QuarantinedTask(ctx, in.Seq)
			if err != nil {
				return nil, s.problem(err)
			}
			task.Message = withoutSecrets(task.Message)
			return &body[subjects.Quarantined]{Body: task}, nil
		})
	replay := op("POST", "/api/quarantine/{seq}/replay", "replay-quarantined", "Put a task back on its queue", 404, 503)
	replay.DefaultStatus = http.StatusAccepted
	huma.Register(api, replay, func(ctx context.Context, in *bySeq) (*struct{}, error) {
		if err := s.ReplayQuarantined(ctx, in.Seq); err != nil {
			return nil, s.problem(err)
		}
		return nil, nil
	})
	drop := op("DELETE", "/api/quarantine/{seq}", "drop-quarantined", "Delete a quarantined task", 404, 503)
	drop.DefaultStatus = http.StatusNoContent
	huma.Register(api, drop, func(ctx context.Context, in *bySeq) (*struct{}, error) {
		if err := s.DropQuarantined(ctx, in.Seq); err != nil {
			return nil, s.problem(err)
		}
		return nil, nil
	})
}

// Quarantine returns at most limit quarantined tasks after the given number, with secrets redacted.
func (s *Server) Quarantine(ctx context.Context, after uint64, limit int) (wire.QuarantinePage, error) {
	tasks, err := s.Mesh.Quarantined(ctx, after, limit+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.QuarantinePage{}, err
	}
	var page wire.QuarantinePage
	if len(tasks) > limit {
		tasks = tasks[:limit]
		page.Next = tasks[len(tasks)-1].Seq
	}
	page.Tasks = append([]subjects.Quarantined{}, tasks...) // an empty list, not null
	for i, task := range page.Tasks {
		page.Tasks[i].Message = withoutSecrets(task.Message)
	}
	return page, nil
}

// ReplayQuarantined moves a task back to its queue. It returns [mesh.ErrNoTask] if the task does not exist.
func (s *Server) ReplayQuarantined(ctx context.Context, seq uint64) error {
	return s.Mesh.Replay(ctx, seq)
}

// DropQuarantined deletes a task. It returns [mesh.ErrNoTask] if the task does not exist.
func (s *Server) DropQuarantined(ctx context.Context, seq uint64) error {
	return s.Mesh.DeleteQuarantined(ctx, seq)
}
