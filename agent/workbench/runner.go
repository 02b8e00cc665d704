package workbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Runner works off the jobs of a store. One in a mesh may run at a time.
type Runner struct {
	Store Store
	Out   subjects.Publisher
	Now   func() time.Time

	// Decider returns what decides by a version of a rule set, all else as it is
	// in force here. It returns [ErrHopeless] if there is no such version, or it
	// can't be read.
	Decider func(ctx context.Context, set string, version int64) (Decider, error)

	// InForce returns what decides here now.
	InForce func() Decider

	// Learn learns the next version of a rule set from examples, puts it in
	// force, and returns what is to be told of it, as JSON. Nil: no job trains
	// here.
	Learn func(ctx context.Context, set string, examples Examples) (found []byte, err error)
}

// ErrHopeless says that a job will fail however often it is tried.
var ErrHopeless = errors.New("this can't be done")

// errCancelled says that a person wants a job to end.
var errCancelled = errors.New("cancelled")

const (
	jobBatch    = 500                    // items of a step
	watchEvery  = 300 * time.Millisecond // how often a Cancel is looked for
	finishWrite = 30 * time.Second       // for what was begun when the end came
)

// Run works off all jobs that wait, those that came first first. A job goes on
// where the runner before left it; what was done twice is done once. One that
// fails for now stays for the next time and does not keep the others waiting.
func (r *Runner) Run(ctx context.Context) error {
	jobs, err := r.Store.ListJobs(ctx, storage.MaxJobs)
	if err != nil {
		return fmt.Errorf("list the jobs: %w", err)
	}
	var faults []error
	for i := len(jobs) - 1; i >= 0 && ctx.Err() == nil; i-- {
		if !jobs[i].Finished.IsZero() {
			continue
		}
		if err := r.runJob(ctx, jobs[i].ID); err != nil {
			faults = append(faults, fmt.Errorf("job %s: %w", jobs[i].ID, err))
		}
	}
	return errors.Join(faults...)
}

// runJob does the rest of a job and notes how it ended, unless it is to be tried
// again or the runner ends.
func (r *Runner) runJob(ctx context.Context, id string) error {
	job, err := r.Store.Job(ctx, id)
	if err != nil || !job.Finished.IsZero() {
		return err
	}
	if job.Cancel {
		return r.finish(ctx, job, Cancelled, nil)
	}
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error { return r.watch(within, id) })
	group.Go(func() error {
		b, err := briefOf(job)
		if err == nil {
			err = r.do(within, &job, b)
		} else {
			err = errors.Join(ErrHopeless, err)
		}
		if err == nil {
			return errFinished
		}
		return err
	})
	switch err := group.Wait(); {
	case errors.Is(err, errFinished):
		return r.finish(ctx, job, Done, nil)
	case errors.Is(err, errCancelled):
		return r.finish(ctx, job, Cancelled, nil)
	case errors.Is(err, ErrHopeless):
		return r.finish(ctx, job, Failed, err)
	default:
		return err
	}
}

// errFinished ends the watching of a job that is done.
var errFinished = errors.New("finished")

// do does a job of any kind.
func (r *Runner) do(ctx context.Context, job *storage.Job, b brief) error {
	switch job.Kind {
	case Relabel:
		return r.relabel(ctx, job, b)
	case Undo:
		return r.undo(ctx, job, b)
	case Train:
		return r.train(ctx, job, b)
	}
	return fmt.Errorf("nobody knows jobs of kind %q here: %w", job.Kind, ErrHopeless)
}

// watch returns errCancelled when a person wants the job to end. Until then it
// ends those that wait and need not be begun.
func (r *Runner) watch(ctx context.Context, id string) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
		jobs, err := r.Store.ListJobs(ctx, storage.MaxJobs)
		if err != nil {
			continue // who does the job finds out, if it matters
		}
		for _, job := range jobs {
			switch {
			case !job.Cancel || !job.Finished.IsZero():
			case job.ID == id:
				return errCancelled
			default:
				if waiting, err := r.Store.Job(ctx, job.ID); err == nil {
					r.finish(ctx, waiting, Cancelled, nil) // or when its turn comes
				}
			}
		}
	}
}

// finish notes how a job ended. It does so even if the runner is to end: the work
// is done.
func (r *Runner) finish(ctx context.Context, job storage.Job, state string, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWrite)
	defer cancel()
	job.State, job.Finished, job.Err = state, r.Now(), ""
	if why != nil {
		job.Err = why.Error()
	}
	return r.Store.PutJob(ctx, job)
}

// step does what belongs together even if the runner is to end meanwhile: what
// was changed is queued to be indexed, and noted.
func step(ctx context.Context, do func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWrite)
	defer cancel()
	return do(ctx)
}
