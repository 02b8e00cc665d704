package mesh

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"feedmesh/subjects"
)

// Actor handles tasks of one kind. The error of Receive determines how the task is settled:
//
//	nil                    done: acknowledged
//	[Discard](err)         can never succeed: terminated
//	[RetryAfter](d, err)   not yet possible: redelivered after d
//	an unavailable error   see [Options]: kept and retried until it succeeds
//	any other error        failed: redelivered after a back-off
//
// Every delivery counts towards the queue's MaxDeliver. Receive may get the same task twice, even in two
// processes concurrently, so it must be idempotent. ctx ends with the queue's Timeout, not with the process:
// work in progress finishes.
type Actor[T subjects.Task] interface {
	Receive(ctx context.Context, task T) error
}

// BatchActor handles tasks in batches, for work such as transactions where a batch is cheaper than single
// tasks. If a batch fails, it is retried in halves, so that a bad task does not fail the others.
type BatchActor[T subjects.Task] interface {
	ReceiveAll(ctx context.Context, tasks []T) error
}

// A Paced actor limits the rate of its batches. It needs a single worker.
type Paced interface {
	// Next returns the earliest start of the next batch. It is called after each.
	Next() time.Time
}

// ActorFunc adapts a function to [Actor].
type ActorFunc[T subjects.Task] func(ctx context.Context, task T) error

// Receive calls f.
func (f ActorFunc[T]) Receive(ctx context.Context, task T) error { return f(ctx, task) }

// singleActor adapts an [Actor] to [BatchActor], for batches of one task.
type singleActor[T subjects.Task] struct{ actor Actor[T] }

func (o singleActor[T]) ReceiveAll(ctx context.Context, tasks []T) error {
	for _, task := range tasks {
		if err := o.actor.Receive(ctx, task); err != nil {
			return err
		}
	}
	return nil
}

// Discard marks err as final: the task can never succeed, and it contains nothing worth a quarantine.
func Discard(err error) error { return &discardError{err} }

// RetryAfter marks err as temporary: the task is redelivered after d.
func RetryAfter(d time.Duration, err error) error { return &retryError{d, err} }

type discardError struct{ error }

func (e *discardError) Unwrap() error { return e.error }

type retryError struct {
	delay time.Duration
	error
}

func (e *retryError) Unwrap() error { return e.error }

// verdict returns the result of an attempt for logs and metrics.
func verdict(err error) string {
	var d *discardError
	var p *retryError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &d):
		return "dropped"
	case errors.As(err, &p):
		return "later"
	}
	return "failed"
}

// callActor calls the actor and converts a panic to an error, so that a panic fails the task and not the
// process.
func callActor[T subjects.Task](ctx context.Context, actor BatchActor[T], tasks []T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return actor.ReceiveAll(ctx, tasks)
}
