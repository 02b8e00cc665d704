package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/subjects"
)

// A QuarantinePage is a page of quarantined tasks, oldest first.
type QuarantinePage struct {
	Tasks []subjects.Quarantined `json:"tasks"`
	Next  uint64                 `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

type bySeq struct {
	Seq uint64 `path:"seq" minimum:"1"`
}

func (s *Server) quarantineRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/quarantine", "list-quarantine", "Tasks that failed all their tries, oldest first", 503),
		func(ctx context.Context, in *struct {
			After uint64 `query:"after" doc:"Next of the page before."`
			Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
		}) (*body[QuarantinePage], error) {
			tasks, err := s.Mesh.Quarantined(ctx, in.After, in.Limit+1) // one more tells whether there are more
			if err != nil {
				return nil, s.problem(err)
			}
			out := &body[QuarantinePage]{}
			if len(tasks) > in.Limit {
				tasks = tasks[:in.Limit]
				out.Body.Next = tasks[len(tasks)-1].Seq
			}
			out.Body.Tasks = append([]subjects.Quarantined{}, tasks...) // none is an empty list
			for i, task := range out.Body.Tasks {
				out.Body.Tasks[i].Message = withoutSecrets(task.Message)
			}
			return out, nil
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
		if err := s.Mesh.Replay(ctx, in.Seq); err != nil {
			return nil, s.problem(err)
		}
		return nil, nil
	})
	drop := op("DELETE", "/api/quarantine/{seq}", "drop-quarantined", "Forget a task", 404, 503)
	drop.DefaultStatus = http.StatusNoContent
	huma.Register(api, drop, func(ctx context.Context, in *bySeq) (*struct{}, error) {
		if err := s.Mesh.DropQuarantined(ctx, in.Seq); err != nil {
			return nil, s.problem(err)
		}
		return nil, nil
	})
}
