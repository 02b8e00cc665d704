package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/storage"
)

// The kinds of jobs.
const (
	Relabel = "relabel" // labels stored items again by a version of a rule set
	Undo    = "undo"    // restores the labels that a relabel changed
	Train   = "train"   // trains the next version of a rule set on stored items
)

// The states of a job.
const (
	Running   = "running" // or waiting
	Done      = "done"
	Cancelled = "cancelled"
	Failed    = "failed"
	Undone    = "undone" // of a relabel: its undo is done
)

// MaxWaiting is the maximum number of unfinished jobs.
const MaxWaiting = 20

// Reasons to reject a job.
var (
	ErrBusy     = errors.New("too many jobs wait already")
	ErrNoUndo   = errors.New("this job can't be undone")
	ErrFinished = errors.New("this job has ended")
)

// A jobSpec is the task and the progress of a job, stored in its Result.
type jobSpec struct {
	Set     string          `json:"set,omitempty"`     // rule set, of a relabel
	Version int64           `json:"version,omitempty"` // of it; 0: the program's own
	Before  *int64          `json:"before,omitempty"`  // of a relabel: the version that it replaces; nil: all items are relabelled
	Items   int             `json:"items,omitempty"`   // maximum items of a training
	Of      string          `json:"of,omitempty"`      // the job to undo
	Place   string          `json:"place,omitempty"`   // progress of a relabel, see [place]
	Found   json.RawMessage `json:"found,omitempty"`   // result
}

func specOf(job storage.Job) (jobSpec, error) {
	var b jobSpec
	err := json.Unmarshal(job.Result, &b)
	if err != nil {
		err = fmt.Errorf("job %s is not one of ours: %w", job.ID, err)
	}
	return b, err
}

func (b jobSpec) on(job storage.Job) storage.Job {
	result, err := json.Marshal(b)
	if err != nil {
		panic(err) // Found is JSON, and the rest can't fail
	}
	job.Result = result
	return job
}

// Found returns the result of a job as JSON, such as the figures of a training; nil without a result.
func Found(job storage.Job) json.RawMessage {
	b, err := specOf(job)
	if err != nil {
		return nil
	}
	return b.Found
}

// StartRelabel starts a job that labels stored items again by a version of a rule set, or returns the
// unfinished job that does so. It relabels the items that the version decides differently from the version before:
// those that [Backtest] reports; all items if before is nil. It returns [ErrBusy] if [MaxWaiting] jobs wait.
func StartRelabel(ctx context.Context, jobs storage.Records, set string, version int64, before *int64, now time.Time) (storage.Job, error) {
	job := storage.Job{Kind: Relabel, Note: fmt.Sprintf("rules %s, version %d", set, version), Started: now}
	if before == nil && version != 0 {
		job.Note += ", all items"
	}
	return start(ctx, jobs, job, jobSpec{Set: set, Version: version, Before: before})
}

// StartTrain starts a job that trains the next version of a rule set on corrections and on at most the given
// number of newest items. Its errors are those of [StartRelabel].
func StartTrain(ctx context.Context, jobs storage.Records, set string, items int, now time.Time) (storage.Job, error) {
	job := storage.Job{Kind: Train, Note: fmt.Sprintf("rules %s, from %d items", set, items), Started: now}
	return start(ctx, jobs, job, jobSpec{Set: set, Items: items})
}

// StartUndo starts a job that restores the labels that a relabel changed. It returns [ErrNoUndo] if the job
// has not ended, or if a later relabel is not undone: items that both changed would get labels from before
// both. The call is idempotent.
func StartUndo(ctx context.Context, jobs storage.Records, id string, now time.Time) (storage.Job, error) {
	of, err := storage.Jobs(jobs).Read(ctx, id)
	switch {
	case err != nil:
		return of, fmt.Errorf("job %s: %w", id, err)
	case of.Kind != Relabel:
		return of, fmt.Errorf("job %s is a %s: %w", id, of.Kind, ErrNoUndo)
	case of.Finished.IsZero():
		return of, fmt.Errorf("job %s still runs, cancel it first: %w", id, ErrNoUndo)
	}
	all, err := storage.Jobs(jobs).List(ctx, storage.MaxJobs)
	if err != nil {
		return of, err
	}
	for _, later := range all {
		if later.Kind == Relabel && later.ID != id && later.Started.After(of.Started) && later.State != Undone && (later.Changed > 0 || later.Finished.IsZero()) {
			return of, fmt.Errorf("job %s (%s) came after job %s, undo it first: %w", later.ID, later.Note, id, ErrNoUndo)
		}
	}
	job := storage.Job{Kind: Undo, Note: "undo " + id + ": " + of.Note, Started: now, Total: of.Changed}
	return start(ctx, jobs, job, jobSpec{Of: id})
}

// start stores a job for a [Runner], unless an equal job waits.
func start(ctx context.Context, jobs storage.Records, job storage.Job, b jobSpec) (storage.Job, error) {
	all, err := storage.Jobs(jobs).List(ctx, storage.MaxJobs)
	if err != nil {
		return job, err
	}
	waiting := 0
	for _, other := range all {
		if !other.Finished.IsZero() {
			continue
		}
		if waiting++; other.Kind == job.Kind && other.Note == job.Note && !other.Cancel {
			return other, nil
		}
	}
	if waiting >= MaxWaiting {
		return job, fmt.Errorf("%d: %w", waiting, ErrBusy)
	}
	job.ID, job.State = nuid.Next(), Running
	job = b.on(job)
	return job, storage.Jobs(jobs).Put(ctx, job)
}

// CancelJob cancels a job within a second; its finished work stays. It returns [ErrFinished] if the job has
// ended.
func CancelJob(ctx context.Context, jobs storage.Records, id string) (storage.Job, error) {
	job, err := storage.Jobs(jobs).Read(ctx, id)
	switch {
	case err != nil:
		return job, fmt.Errorf("job %s: %w", id, err)
	case job.State == Cancelled || job.Cancel && job.Finished.IsZero():
		return job, nil
	case !job.Finished.IsZero():
		return job, fmt.Errorf("job %s is %s: %w", id, job.State, ErrFinished)
	}
	if err := storage.Jobs(jobs).Cancel(ctx, id); err != nil {
		return job, fmt.Errorf("job %s: %w", id, err)
	}
	job.Cancel = true
	return job, nil
}
