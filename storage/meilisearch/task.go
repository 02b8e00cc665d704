package meilisearch

import (
	"context"
	"fmt"
	"strings"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// run gives the server a task, once it has begun all that it was given before,
// and waits until the task has succeeded. If it failed for what is in it, the
// error is a [*refusal].
func (x *Index) run(ctx context.Context, give func() (*upstream.TaskInfo, error)) error {
	err := poll(ctx, func() (done bool, err error) {
		n, err := x.queued(ctx)
		return n == 0, err
	})
	if err != nil {
		return err
	}
	info, err := give()
	if err != nil {
		return err
	}
	return x.wait(ctx, info)
}

// queued returns how many tasks of the index wait at the server, whoever gave
// them.
func (x *Index) queued(ctx context.Context) (int64, error) {
	tasks, err := x.server.GetTasksWithContext(ctx, &upstream.TasksQuery{
		IndexUIDS: []string{x.name}, Statuses: []upstream.TaskStatus{upstream.TaskStatusEnqueued}, Limit: 1,
	})
	if err != nil {
		return 0, err
	}
	return tasks.Total, nil
}

// wait waits until the task has succeeded.
func (x *Index) wait(ctx context.Context, info *upstream.TaskInfo) error {
	return poll(ctx, func() (done bool, err error) {
		task, err := x.server.GetTaskWithContext(ctx, info.TaskUID)
		if err != nil {
			return false, err
		}
		switch task.Status {
		case upstream.TaskStatusSucceeded:
			return true, nil
		case upstream.TaskStatusFailed:
			return false, taskFailed(task)
		case upstream.TaskStatusCanceled:
			return false, fmt.Errorf("%w: someone canceled Meilisearch's task %d", storage.ErrUnavailable, info.TaskUID)
		}
		return false, nil
	})
}

// taskFailed returns why a task failed. What the server calls internal is taken
// for the doing of a document too: were it tried again and again, nothing behind
// it would ever be indexed. A full disk is no document's doing.
func taskFailed(task *upstream.Task) error {
	err := &refusal{task.Error.Code, task.Error.Message}
	switch task.Error.Type {
	case "invalid_request":
		return err
	case "internal":
		if !strings.Contains(strings.ToLower(err.message), "no space left") {
			return err
		}
	}
	return fmt.Errorf("%w: Meilisearch's task %d failed: %v", storage.ErrUnavailable, task.UID, err)
}

// poll calls f until it is done or fails, at first every few milliseconds, in
// the end every half second.
func poll(ctx context.Context, f func() (done bool, err error)) error {
	for pause := 5 * time.Millisecond; ; pause = min(pause*3/2, time.Second/2) {
		done, err := f()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
