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
	Relabel = "relabel" // labels what is stored anew, by a version of a rule set
	Undo    = "undo"    // gives what a relabel changed its labels back
	Train   = "train"   // learns the next version of a rule set from what is stored
)

// The states of a job.
const (
	Running   = "running" // or waiting to
	Done      = "done"
	Cancelled = "cancelled"
	Failed    = "failed"
	Undone    = "undone" // of a relabel: its undo is done
)

// MaxWaiting is how many jobs may be unfinished at once.
const MaxWaiting = 20

// What a job can be refused for.
var (
	ErrBusy     = errors.New("too many jobs wait already")
	ErrNoUndo   = errors.New("this job can't be undone")
	ErrFinished = errors.New("this job has ended")
)

// A brief is what a job is to do and how far it has come, as its Result keeps it.
type brief struct {
	Set     string          `json:"set,omitempty"`     // rule set, of a relabel
	Version int64           `json:"version,omitempty"` // of it; 0: the program's own
	Items   int             `json:"items,omitempty"`   // the most to look at, of a train
	Of      string          `json:"of,omitempty"`      // the job to undo
	Place   string          `json:"place,omitempty"`   // where a relabel has come to, see [place]
	Found   json.RawMessage `json:"found,omitempty"`   // what came of it
}

func briefOf(job storage.Job) (brief, error) {
	var b brief
	err := json.Unmarshal(job.Result, &b)
	if err != nil {
		err = fmt.Errorf("job %s is not one of ours: %w", job.ID, err)
	}
	return b, err
}

func (b brief) on(job storage.Job) storage.Job {
	result, err := json.Marshal(b)
	if err != nil {
		panic(err) // Found is JSON, and the rest can't fail
	}
	job.Result = result
	return job
}

// Found returns what came of a job, as JSON: the figures of what was
// learned; nil if there is nothing to tell.
func Found(job storage.Job) json.RawMessage {
	b, err := briefOf(job)
	if err != nil {
		return nil
	}
	return b.Found
}

// BeginRelabel has what is stored labelled anew by a version of a rule set. While
// a job for that waits or runs, it begins no other and returns that one. It
// returns [ErrBusy] if [MaxWaiting] jobs wait.
func BeginRelabel(ctx context.Context, jobs storage.Jobs, set string, version int64, now time.Time) (storage.Job, error) {
	job := storage.Job{Kind: Relabel, Note: fmt.Sprintf("rules %s, version %d", set, version), Started: now}
	return begin(ctx, jobs, job, brief{Set: set, Version: version})
}

// BeginTrain has the next version of a rule set learned from what persons said
// and from at most so many of the newest items. Its errors are those of
// [BeginRelabel].
func BeginTrain(ctx context.Context, jobs storage.Jobs, set string, items int, now time.Time) (storage.Job, error) {
	job := storage.Job{Kind: Train, Note: fmt.Sprintf("rules %s, from %d items", set, items), Started: now}
	return begin(ctx, jobs, job, brief{Set: set, Items: items})
}

// BeginUndo has what a relabel changed given its labels back. The job must have
// ended, and no relabel that began after it may stand: what both changed would
// get labels from before both. Then it returns [ErrNoUndo]. Undoing again is
// harmless.
func BeginUndo(ctx context.Context, jobs storage.Jobs, id string, now time.Time) (storage.Job, error) {
	of, err := jobs.Job(ctx, id)
	switch {
	case err != nil:
		return of, fmt.Errorf("job %s: %w", id, err)
	case of.Kind != Relabel:
		return of, fmt.Errorf("job %s is a %s: %w", id, of.Kind, ErrNoUndo)
	case of.Finished.IsZero():
		return of, fmt.Errorf("job %s still runs, cancel it first: %w", id, ErrNoUndo)
	}
	all, err := jobs.ListJobs(ctx, storage.MaxJobs)
	if err != nil {
		return of, err
	}
	for _, later := range all {
		if later.Kind == Relabel && later.ID != id && later.Started.After(of.Started) && later.State != Undone && (later.Changed > 0 || later.Finished.IsZero()) {
			return of, fmt.Errorf("job %s (%s) came after job %s, undo it first: %w", later.ID, later.Note, id, ErrNoUndo)
		}
	}
	job := storage.Job{Kind: Undo, Note: "undo " + id + ": " + of.Note, Started: now, Total: of.Changed}
	return begin(ctx, jobs, job, brief{Of: id})
}

// begin stores a job for a [Runner] to find, unless one waits that does the same.
func begin(ctx context.Context, jobs storage.Jobs, job storage.Job, b brief) (storage.Job, error) {
	all, err := jobs.ListJobs(ctx, storage.MaxJobs)
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
	return job, jobs.PutJob(ctx, job)
}

// CancelJob has a job end within a second; what it did by then stays. It returns
// [ErrFinished] if it has ended by itself.
func CancelJob(ctx context.Context, jobs storage.Jobs, id string) (storage.Job, error) {
	job, err := jobs.Job(ctx, id)
	switch {
	case err != nil:
		return job, fmt.Errorf("job %s: %w", id, err)
	case job.State == Cancelled || job.Cancel && job.Finished.IsZero():
		return job, nil
	case !job.Finished.IsZero():
		return job, fmt.Errorf("job %s is %s: %w", id, job.State, ErrFinished)
	}
	if err := jobs.CancelJob(ctx, id); err != nil {
		return job, fmt.Errorf("job %s: %w", id, err)
	}
	job.Cancel = true
	return job, nil
}
