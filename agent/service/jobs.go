package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/role/work"
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

// Jobs answers requests about background work on stored items, and runs it.
type Jobs struct {
	*core
	ready chan struct{} // notifies Run of a new job
}

// List returns the last jobs, newest first.
func (j *Jobs) List(ctx context.Context, _ wire.None) (wire.Jobs, error) {
	stored, err := storage.Jobs(j.Store).List(ctx, storage.MaxJobs)
	if err != nil {
		return wire.Jobs{}, err
	}
	return wire.Jobs{Jobs: convert(stored, jobOf)}, nil
}

// Get returns the progress or result of a job.
func (j *Jobs) Get(ctx context.Context, in wire.ByID) (wire.Job, error) {
	job, err := storage.Jobs(j.Store).Read(ctx, in.ID)
	if err != nil {
		return wire.Job{}, fmt.Errorf("job %s: %w", in.ID, err)
	}
	return jobOf(job), nil
}

// Apply starts a job that labels the stored items again by a version of a set.
func (j *Jobs) Apply(ctx context.Context, in wire.ApplyRulesRequest) (wire.Job, error) {
	spec, err := j.decidingSet(in.Name)
	if err != nil {
		return wire.Job{}, err
	}
	set, err := j.versionText(ctx, spec, in.Version)
	if err != nil {
		return wire.Job{}, err
	}
	if _, _, err := spec.Decider(set.Text); err != nil {
		return wire.Job{}, invalidRules(spec, err)
	}
	var before *int64
	if !in.All {
		if before, err = j.replacedBy(ctx, set); err != nil {
			return wire.Job{}, err
		}
	}
	return j.started(workbench.StartRelabel(ctx, j.Store, spec.Name, set.Version, before, j.Now()))
}

// replacedBy returns the version that a version replaces when it is applied, with which a back-test compares it: the
// newest version replaces its predecessor, an older version replaces the newest. It is nil for the built-in text
// while there is no version.
func (j *Jobs) replacedBy(ctx context.Context, set storage.RuleSet) (*int64, error) {
	if set.Version == 0 {
		return nil, nil
	}
	versions, err := storage.RuleSets(j.Store).Versions(ctx, set.Name, 0, 2)
	if err != nil {
		return nil, err
	}
	var before int64 // the built-in text
	for _, v := range versions {
		if v.Version != set.Version {
			before = v.Version
			break
		}
	}
	return &before, nil
}

// Train starts a job that trains the next version of a set on stored items.
func (j *Jobs) Train(ctx context.Context, in wire.TrainRequest) (wire.Job, error) {
	spec, err := j.trainableSet(in.Name)
	if err != nil {
		return wire.Job{}, err
	}
	return j.started(workbench.StartTrain(ctx, j.Store, spec.Name, cmp.Or(in.Items, defaultTrainItems), j.Now()))
}

// Cancel cancels a job, within a second.
func (j *Jobs) Cancel(ctx context.Context, in wire.ByID) (wire.Job, error) {
	return j.started(workbench.CancelJob(ctx, j.Store, in.ID))
}

// Undo starts a job that restores the labels that a relabel changed.
func (j *Jobs) Undo(ctx context.Context, in wire.ByID) (wire.Job, error) {
	return j.started(workbench.StartUndo(ctx, j.Store, in.ID, j.Now()))
}

// started returns a started job and notifies this process's runner.
func (j *Jobs) started(job storage.Job, err error) (wire.Job, error) {
	if err != nil {
		return wire.Job{}, err
	}
	notify(j.ready)
	return jobOf(job), nil
}

// notify sends to a channel with a buffer of one, unless it contains a notification already.
func notify(ready chan<- struct{}) {
	select {
	case ready <- struct{}{}:
	default:
	}
}

// defaultTrainItems is the default number of newest items to train on.
const defaultTrainItems = 20_000

// jobLease is the lease of the agent that runs jobs.
const jobLease = "jobs"

// Run runs the waiting jobs, one after the other, while this agent holds the lease, until ctx ends. A job
// resumes where the agent before stopped.
func (j *Jobs) Run(ctx context.Context) error {
	runner := &workbench.Runner{
		Store: j.Store, Out: j.Mesh, Now: j.Now, Decider: j.deciderOf, InForce: j.Decider, Learn: j.learn,
	}
	return runWaiting(ctx, j.core, jobLease, j.ready, "job failed, will retry", runner.Run)
}

// waitingInterval is the least interval of the check for jobs and imports that another agent accepted.
const waitingInterval = 2 * time.Second

// runWaiting calls run when ready receives, after changes of the store, and at intervals, while this agent holds a lease, until ctx ends.
// It logs errors as the event failed.
func runWaiting(ctx context.Context, c *core, lease string, ready <-chan struct{}, failed string, run func(context.Context) error) error {
	return c.Mesh.Single(ctx, lease, func(ctx context.Context) error {
		return work.Poll(ctx, c.Store, waitingInterval, ready, func(ctx context.Context) (retry bool, _ error) {
			err := run(ctx)
			if err != nil && ctx.Err() == nil {
				c.Log.Error(failed, "err", err)
			}
			return err != nil, nil
		})
	})
}

// deciderOf returns the decider of a version of a set; 0 is the built-in version.
func (j *Jobs) deciderOf(ctx context.Context, name string, version int64) (workbench.Decider, error) {
	spec, err := j.decidingSet(name)
	if err != nil {
		return nil, errors.Join(workbench.ErrPermanent, err)
	}
	set, err := j.exactText(ctx, spec, version)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, errors.Join(workbench.ErrPermanent, err)
	case err != nil:
		return nil, err
	}
	by, _, err := spec.Decider(set.Text)
	if err != nil {
		return nil, errors.Join(workbench.ErrPermanent, err)
	}
	return by, nil
}

// learn trains a set on examples and saves the result as its next version.
func (j *Jobs) learn(ctx context.Context, name string, examples workbench.Examples) ([]byte, error) {
	spec, err := j.ruleSetSpec(name)
	if err != nil || spec.Learn == nil {
		return nil, fmt.Errorf("rules %s can't be learned here: %w", name, workbench.ErrPermanent)
	}
	newest, err := j.versionText(ctx, spec, 0)
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
	_, err = j.putVersion(ctx, spec, storage.RuleSet{Version: newest.Version, Text: text, Note: note})
	return figures, err
}
