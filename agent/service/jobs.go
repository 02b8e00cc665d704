package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

func jobOf(j storage.Job) wire.Job {
	return wire.Job{
		ID: j.ID, Kind: j.Kind, Note: j.Note, State: j.State, Cancel: j.Cancel, Started: j.Started, Finished: j.Finished,
		Total: j.Total, Done: j.Done, Changed: j.Changed, Error: j.Err, Found: workbench.Found(j),
	}
}

func (s *Server) jobRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/jobs", "list-jobs", "The last hundred jobs, newest first", 503), s.listJobs)
	huma.Register(api, op("GET", "/api/jobs/{id}", "get-job", "Progress or result of a job", 404, 503), s.getJob)
	cancel := op("POST", "/api/jobs/{id}/cancel", "cancel-job", "Cancel a job within a second; finished work stays", 404, 409, 503)
	cancel.DefaultStatus = http.StatusAccepted
	huma.Register(api, cancel, func(ctx context.Context, in *byID) (*body[wire.Job], error) {
		return s.beginJob(workbench.CancelJob(ctx, s.Store, in.ID))
	})
	undo := op("POST", "/api/jobs/{id}/undo", "undo-job", "Restore the labels that a relabel changed", 404, 409, 429, 503)
	undo.DefaultStatus = http.StatusAccepted
	undo.Description = "Returns the job. Items corrected manually since then stay unchanged. The operation is idempotent. Later relabels of the same items must be undone first."
	huma.Register(api, undo, func(ctx context.Context, in *byID) (*body[wire.Job], error) {
		return s.beginJob(workbench.StartUndo(ctx, s.Store, in.ID, s.Now()))
	})
}

// beginJob responds with a started job and notifies this process's runner.
func (s *Server) beginJob(job storage.Job, err error) (*body[wire.Job], error) {
	if err != nil {
		return nil, s.problem(err)
	}
	select {
	case s.jobReady <- struct{}{}:
	default: // already notified
	}
	return &body[wire.Job]{Body: jobOf(job)}, nil
}

func (s *Server) listJobs(ctx context.Context, _ *struct{}) (*body[wire.Jobs], error) {
	stored, err := storage.Jobs(s.Store).List(ctx, storage.MaxJobs)
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[wire.Jobs]{Body: wire.Jobs{Jobs: make([]wire.Job, len(stored))}}
	for i, j := range stored {
		out.Body.Jobs[i] = jobOf(j)
	}
	return out, nil
}

func (s *Server) getJob(ctx context.Context, in *byID) (*body[wire.Job], error) {
	job, err := storage.Jobs(s.Store).Read(ctx, in.ID)
	if err != nil {
		return nil, s.problem(fmt.Errorf("job %s: %w", in.ID, err))
	}
	return &body[wire.Job]{Body: jobOf(job)}, nil
}

// jobLease is the lease of the agent that runs jobs.
const jobLease = "jobs"

// jobInterval is the interval of the check for jobs that another agent accepted.
const jobInterval = 2 * time.Second

// RunJobs runs the waiting jobs, one after the other, while this agent holds the lease, until ctx ends. A job
// resumes where the agent before stopped.
func (s *Server) RunJobs(ctx context.Context) error {
	runner := &workbench.Runner{
		Store: s.Store, Out: s.Mesh, Now: s.Now, Decider: s.deciderOf, InForce: s.Decider, Learn: s.learn,
	}
	return s.Mesh.Single(ctx, jobLease, func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := runner.Run(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("job failed, will retry", "err", err)
			}
			select {
			case <-ctx.Done():
			case <-s.jobReady:
			case <-time.After(jobInterval):
			}
		}
		return nil
	})
}

// deciderOf returns the decider of a version of a set; 0 is the built-in version.
func (s *Server) deciderOf(ctx context.Context, name string, version int64) (workbench.Decider, error) {
	spec, err := s.decidingSet(name)
	if err != nil {
		return nil, errors.Join(workbench.ErrPermanent, err)
	}
	text := spec.Default
	if version > 0 {
		set, err := s.versionText(ctx, spec, version)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, errors.Join(workbench.ErrPermanent, err)
		}
		if err != nil {
			return nil, err
		}
		text = set.Text
	}
	by, _, err := spec.Decider(text)
	if err != nil {
		return nil, errors.Join(workbench.ErrPermanent, err)
	}
	return by, nil
}

// learn trains a set on examples and saves the result as its next version.
func (s *Server) learn(ctx context.Context, name string, examples workbench.Examples) ([]byte, error) {
	spec, err := s.ruleSetSpec(name)
	if err != nil || spec.Learn == nil {
		return nil, fmt.Errorf("rules %s can't be learned here: %w", name, workbench.ErrPermanent)
	}
	newest, err := s.versionText(ctx, spec, 0)
	if err != nil {
		return nil, err
	}
	var readErr error // read errors of examples; these are worth a retry
	text, note, figures, err := spec.Learn(ctx, newest.Text, func(yield func(workbench.Example, error) bool) {
		for e, err := range examples {
			if readErr = errors.Join(readErr, err); !yield(e, err) {
				return
			}
		}
	})
	switch {
	case err != nil && (readErr != nil || ctx.Err() != nil):
		return nil, err
	case err != nil:
		return nil, errors.Join(workbench.ErrPermanent, err)
	}
	if err := spec.Check(text); err != nil {
		return nil, fmt.Errorf("trained rules are invalid: %w: %w", workbench.ErrPermanent, err)
	}
	_, err = s.putVersion(ctx, spec, storage.RuleSet{Version: newest.Version, Text: text, Note: note})
	return figures, err
}
