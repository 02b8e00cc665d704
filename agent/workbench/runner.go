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

// A Runner runs the jobs of a store. Only one may run in a mesh.
type Runner struct {
	Store Store
	Out   subjects.Publisher
	Now   func() time.Time

	// Decider returns the decider of a version of a rule set, with all else as in force here. It returns
	// [ErrPermanent] if the version does not exist or is invalid.
	Decider func(ctx context.Context, set string, version int64) (Decider, error)

	// InForce returns the decider in force in this process.
	InForce func() Decider

	// Learn trains the next version of a rule set on examples, puts it in force, and returns its figures as
	// JSON. Nil: training jobs fail.
	Learn func(ctx context.Context, set string, examples Examples) (found []byte, err error)
}

// ErrPermanent reports that a retry of a job would fail too.
var ErrPermanent = errors.New("this can't be done")

// errCancelled ends a cancelled job.
var errCancelled = errors.New("cancelled")

const (
	jobBatch       = 500                    // items of a batch
	cancelInterval = 300 * time.Millisecond // interval of the check for cancellation
	finishTimeout  = 30 * time.Second       // timeout of writes after cancellation
)

// Run runs all waiting jobs, oldest first. A job resumes where the runner before stopped; batches are
// idempotent. A job with a temporary error stays for the next run and does not delay the others.
func (r *Runner) Run(ctx context.Context) error {
	jobs, err := storage.Jobs(r.Store).List(ctx, storage.MaxJobs)
	if err != nil {
		return fmt.Errorf("list the jobs: %w", err)
	}
	var errs []error
	for i := len(jobs) - 1; i >= 0 && ctx.Err() == nil; i-- {
		if !jobs[i].Finished.IsZero() {
			continue
		}
		if err := r.runJob(ctx, jobs[i].ID); err != nil {
			errs = append(errs, fmt.Errorf("job %s: %w", jobs[i].ID, err))
		}
	}
	return errors.Join(errs...)
}

// runJob runs the rest of a job and stores its final state, unless it must be retried or the runner stops.
func (r *Runner) runJob(ctx context.Context, id string) error {
	job, err := storage.Jobs(r.Store).Read(ctx, id)
	if err != nil || !job.Finished.IsZero() {
		return err
	}
	if job.Cancel {
		return r.finish(ctx, job, Cancelled, nil)
	}
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error { return r.watch(within, id) })
	group.Go(func() error {
		b, err := specOf(job)
		if err == nil {
			err = r.do(within, &job, b)
		} else {
			err = errors.Join(ErrPermanent, err)
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
	case errors.Is(err, ErrPermanent):
		return r.finish(ctx, job, Failed, err)
	default:
		return err
	}
}

// errFinished stops watch when the job is done.
var errFinished = errors.New("finished")

// do runs a job of any kind.
func (r *Runner) do(ctx context.Context, job *storage.Job, b jobSpec) error {
	switch job.Kind {
	case Relabel:
		return r.relabel(ctx, job, b)
	case Undo:
		return r.undo(ctx, job, b)
	case Train:
		return r.train(ctx, job, b)
	}
	return fmt.Errorf("unsupported job kind %q: %w", job.Kind, ErrPermanent)
}

// watch returns errCancelled when the job is cancelled. Until then it finishes waiting jobs that are cancelled.
func (r *Runner) watch(ctx context.Context, id string) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(cancelInterval):
		}
		jobs, err := storage.Jobs(r.Store).List(ctx, storage.MaxJobs)
		if err != nil {
			continue // retried; the job itself reports errors of the store
		}
		for _, job := range jobs {
			switch {
			case !job.Cancel || !job.Finished.IsZero():
			case job.ID == id:
				return errCancelled
			default:
				if waiting, err := storage.Jobs(r.Store).Read(ctx, job.ID); err == nil {
					r.finish(ctx, waiting, Cancelled, nil) // on an error the job is cancelled when it starts
				}
			}
		}
	}
}

// finish stores the final state of a job, even if ctx is cancelled, since the work is done.
func (r *Runner) finish(ctx context.Context, job storage.Job, state string, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	job.State, job.Finished, job.Err = state, r.Now(), ""
	if why != nil {
		job.Err = why.Error()
	}
	return storage.Jobs(r.Store).Put(ctx, job)
}

// step runs do without cancellation but with finishTimeout, so that a change, its index task and the job's
// progress are stored together. It does nothing if ctx is already cancelled.
func step(ctx context.Context, do func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return do(ctx)
}
