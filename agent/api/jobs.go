package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// A Job is work over what is stored. It is done by one process of the mesh at a
// time, and goes on where it was if that ends.
type Job struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind" enum:"relabel,undo,train"`
	Note     string          `json:"note" doc:"What it does, in words."`
	State    string          `json:"state" enum:"running,done,cancelled,failed,undone" doc:"Running, or waiting to; undone is a relabel that an undo took back."`
	Cancel   bool            `json:"cancel,omitempty" doc:"Whether a person wanted it to end."`
	Started  time.Time       `json:"started"`
	Finished time.Time       `json:"finished,omitzero"`
	Total    int             `json:"total" doc:"Items to look at, as far as that is known."`
	Done     int             `json:"done" doc:"Of these, how many so far."`
	Changed  int             `json:"changed" doc:"Of these, how many have other labels now."`
	Error    string          `json:"error,omitempty" doc:"Why it failed."`
	Found    json.RawMessage `json:"found,omitempty" doc:"What came of a training: its figures."`
}

// Jobs are the last hundred jobs, newest first.
type Jobs struct {
	Jobs []Job `json:"jobs" doc:"Without what they found."`
}

func jobOf(j storage.Job) Job {
	return Job{
		ID: j.ID, Kind: j.Kind, Note: j.Note, State: j.State, Cancel: j.Cancel, Started: j.Started, Finished: j.Finished,
		Total: j.Total, Done: j.Done, Changed: j.Changed, Error: j.Err, Found: workbench.Found(j),
	}
}

func (s *Server) jobRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/jobs", "list-jobs", "The last hundred jobs, newest first", 503), s.listJobs)
	huma.Register(api, op("GET", "/api/jobs/{id}", "get-job", "How a job is getting on, or what came of it", 404, 503), s.getJob)
	cancel := op("POST", "/api/jobs/{id}/cancel", "cancel-job", "Have a job end within a second; what it did by then stays", 404, 409, 503)
	cancel.DefaultStatus = http.StatusAccepted
	huma.Register(api, cancel, func(ctx context.Context, in *byID) (*body[Job], error) {
		return s.beginJob(workbench.CancelJob(ctx, s.Store, in.ID))
	})
	undo := op("POST", "/api/jobs/{id}/undo", "undo-job", "Give items the labels back that a relabel changed", 404, 409, 429, 503)
	undo.DefaultStatus = http.StatusAccepted
	undo.Description = "Answers with the job that does so. Items that people corrected since stay as they are. Undoing again is harmless. What later relabels changed must be undone first."
	huma.Register(api, undo, func(ctx context.Context, in *byID) (*body[Job], error) {
		return s.beginJob(workbench.BeginUndo(ctx, s.Store, in.ID, s.Now()))
	})
}

// beginJob answers with a job that was begun, and wakes whoever does it, should
// that be this process.
func (s *Server) beginJob(job storage.Job, err error) (*body[Job], error) {
	if err != nil {
		return nil, s.problem(err)
	}
	select {
	case s.jobs <- struct{}{}:
	default: // it was woken already
	}
	return &body[Job]{Body: jobOf(job)}, nil
}

func (s *Server) listJobs(ctx context.Context, _ *struct{}) (*body[Jobs], error) {
	stored, err := s.Store.ListJobs(ctx, storage.MaxJobs)
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[Jobs]{Body: Jobs{Jobs: make([]Job, len(stored))}}
	for i, j := range stored {
		out.Body.Jobs[i] = jobOf(j)
	}
	return out, nil
}

func (s *Server) getJob(ctx context.Context, in *byID) (*body[Job], error) {
	job, err := s.Store.Job(ctx, in.ID)
	if err != nil {
		return nil, s.problem(fmt.Errorf("job %s: %w", in.ID, err))
	}
	return &body[Job]{Body: jobOf(job)}, nil
}

// jobLease is what an agent holds that does jobs.
const jobLease = "jobs"

// jobPause is how soon a job is begun that another agent was given.
const jobPause = 2 * time.Second

// RunJobs does the jobs that wait, one after the other, while this agent is the
// one in the mesh that does, until ctx ends. A job goes on where the agent before
// left it.
func (s *Server) RunJobs(ctx context.Context) error {
	runner := &workbench.Runner{
		Store: s.Store, Out: s.Mesh, Now: s.Now, Decider: s.deciderOf, InForce: s.Decider, Learn: s.learn,
	}
	return s.Mesh.Single(ctx, jobLease, func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := runner.Run(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("a job can't go on now; trying again", "err", err)
			}
			select {
			case <-ctx.Done():
			case <-s.jobs:
			case <-time.After(jobPause):
			}
		}
		return nil
	})
}

// deciderOf returns what decides by a version of a set; 0 is the program's own,
// as jobs have it.
func (s *Server) deciderOf(ctx context.Context, name string, version int64) (workbench.Decider, error) {
	book, err := s.deciding(name)
	if err != nil {
		return nil, errors.Join(workbench.ErrHopeless, err)
	}
	text := book.Standard
	if version > 0 {
		set, err := s.versionText(ctx, book, version)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, errors.Join(workbench.ErrHopeless, err)
		}
		if err != nil {
			return nil, err
		}
		text = set.Text
	}
	by, _, err := book.Decider(text)
	if err != nil {
		return nil, errors.Join(workbench.ErrHopeless, err)
	}
	return by, nil
}

// learn puts what a set learns from examples as its next version.
func (s *Server) learn(ctx context.Context, name string, examples workbench.Examples) ([]byte, error) {
	book, err := s.rulebook(name)
	if err != nil || book.Learn == nil {
		return nil, fmt.Errorf("rules %s can't be learned here: %w", name, workbench.ErrHopeless)
	}
	newest, err := s.versionText(ctx, book, 0)
	if err != nil {
		return nil, err
	}
	var away error // what kept examples from being read, which may be better next time
	text, note, figures, err := book.Learn(ctx, newest.Text, func(yield func(workbench.Example, error) bool) {
		for e, err := range examples {
			if away = errors.Join(away, err); !yield(e, err) {
				return
			}
		}
	})
	switch {
	case err != nil && (away != nil || ctx.Err() != nil):
		return nil, err
	case err != nil:
		return nil, errors.Join(workbench.ErrHopeless, err)
	}
	if err := book.Check(text); err != nil {
		return nil, fmt.Errorf("what was learned is wrong: %w: %w", workbench.ErrHopeless, err)
	}
	_, err = s.putVersion(ctx, book, storage.RuleSet{Version: newest.Version, Text: text, Note: note})
	return figures, err
}
