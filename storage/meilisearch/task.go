package meilisearch

import (
	"context"
	"fmt"
	"strings"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// maxWaiting bounds the tasks of all parts that wait in the server's queue, of all agents. When the server has finished a task,
// it processes all of an index that wait together, which costs less than one after the other.
const maxWaiting = 8

// run sends a task to the server when fewer than maxWaiting wait, and waits until the task has succeeded. If its content is the
// cause of a failure, the error is a [*rejection].
func (c *connection) run(ctx context.Context, enqueue func() (*upstream.TaskInfo, error)) error {
	all := c.lastParts() // the caller has read them
	err := poll(ctx, func() (done bool, err error) {
		n, err := c.queued(ctx, all)
		return n < maxWaiting, err
	})
	if err != nil {
		return err
	}
	info, err := enqueue()
	if err != nil {
		return err
	}
	return c.wait(ctx, info)
}

// queued returns the number of waiting tasks of parts, of all agents.
func (c *connection) queued(ctx context.Context, in parts) (int64, error) {
	tasks, err := c.server.GetTasksWithContext(ctx, &upstream.TasksQuery{
		IndexUIDS: in.names(), Statuses: []upstream.TaskStatus{upstream.TaskStatusEnqueued}, Limit: 1,
	})
	if err != nil {
		return 0, err
	}
	return tasks.Total, nil
}

// wait waits until the task has succeeded.
func (c *connection) wait(ctx context.Context, info *upstream.TaskInfo) error {
	return poll(ctx, func() (done bool, err error) {
		task, err := c.server.GetTaskWithContext(ctx, info.TaskUID)
		if err != nil {
			return false, err
		}
		switch task.Status {
		case upstream.TaskStatusSucceeded:
			return true, nil
		case upstream.TaskStatusFailed:
			return false, taskFailed(task)
		case upstream.TaskStatusCanceled:
			return false, fmt.Errorf("%w: Meilisearch task %d was canceled", storage.ErrUnavailable, info.TaskUID)
		}
		return false, nil
	})
}

// taskFailed returns the cause of a task's failure. Internal errors are attributed to a document too: retries
// forever would block all later documents. A full disk is not attributed to a document.
func taskFailed(task *upstream.Task) error {
	err := &rejection{task.Error.Code, task.Error.Message}
	if err.code == embeddingFailed {
		return fmt.Errorf("%w: the embedder of Meilisearch fails: %v", storage.ErrUnavailable, err)
	}
	switch task.Error.Type {
	case "invalid_request":
		return err
	case "internal":
		if !strings.Contains(strings.ToLower(err.message), "no space left") {
			return err
		}
	}
	return fmt.Errorf("%w: Meilisearch task %d failed: %v", storage.ErrUnavailable, task.UID, err)
}

// poll calls f until it is done or fails, with a backoff from a few milliseconds to half a second.
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
