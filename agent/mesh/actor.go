package mesh

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"feedmesh/subjects"
)

// An Actor does one kind of task. Receive's error says what becomes of it:
//
//	nil               done: acknowledged
//	[Drop](err)       can never succeed: terminated
//	[Later](d, err)   not yet: redelivered after d
//	an Away error     see [Options]: kept in hand and tried again until it succeeds
//	any other error   failed: redelivered after a back-off
//
// Every delivery counts against the queue's tries. Receive may meet one task
// twice, even in two processes at once, so doing it again must be harmless.
// ctx ends with the task's lease, not with the process: work in hand finishes.
type Actor[T subjects.Task] interface {
	Receive(ctx context.Context, task T) error
}

// A BatchActor does many tasks of one kind at once, because one transaction or
// one index batch is cheaper than many. If a batch fails, its tasks are given
// to it again one by one, so that a bad one does not take others with it.
type BatchActor[T subjects.Task] interface {
	ReceiveAll(ctx context.Context, tasks []T) error
}

// ActorFunc makes an [Actor] of a function.
type ActorFunc[T subjects.Task] func(ctx context.Context, task T) error

// Receive calls f.
func (f ActorFunc[T]) Receive(ctx context.Context, task T) error { return f(ctx, task) }

// one makes a [BatchActor] of an [Actor], for batches of one.
type one[T subjects.Task] struct{ actor Actor[T] }

func (o one[T]) ReceiveAll(ctx context.Context, tasks []T) error {
	for _, task := range tasks {
		if err := o.actor.Receive(ctx, task); err != nil {
			return err
		}
	}
	return nil
}

// Drop marks err as final: the task can never succeed, and nothing is lost
// with it.
func Drop(err error) error { return &dropped{err} }

// Later marks err as passing: the task is to be tried again after d.
func Later(d time.Duration, err error) error { return &postponed{d, err} }

type dropped struct{ error }

func (e *dropped) Unwrap() error { return e.error }

type postponed struct {
	delay time.Duration
	error
}

func (e *postponed) Unwrap() error { return e.error }

// verdict names how an attempt ended, for logs and metrics.
func verdict(err error) string {
	var d *dropped
	var p *postponed
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

// receive calls the actor and turns a panic into an error: input must never
// panic our code, but if it does, it costs this task and not the process.
func receive[T subjects.Task](ctx context.Context, actor BatchActor[T], tasks []T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return actor.ReceiveAll(ctx, tasks)
}
