package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/index/reconcile"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Quarantine answers requests about tasks that failed all deliveries. For a missing task its methods return
// [mesh.ErrNoTask].
type Quarantine struct{ *core }

// List returns a page of quarantined tasks, with secrets redacted.
func (q *Quarantine) List(ctx context.Context, in wire.QuarantineSearch) (wire.QuarantinePage, error) {
	tasks, err := q.Mesh.Quarantined(ctx, in.After, in.Limit+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.QuarantinePage{}, err
	}
	var page wire.QuarantinePage
	tasks, more := firstPage(tasks, in.Limit)
	if more {
		page.Next = tasks[in.Limit-1].Seq
	}
	page.Tasks = convert(tasks, func(task subjects.Quarantined) subjects.Quarantined {
		task.Message = withoutSecrets(task.Message)
		return task
	})
	return page, nil
}

// Get returns a quarantined task, with secrets redacted.
func (q *Quarantine) Get(ctx context.Context, in wire.BySeq) (subjects.Quarantined, error) {
	task, err := q.Mesh.QuarantinedTask(ctx, in.Seq)
	task.Message = withoutSecrets(task.Message)
	if !access.From(ctx).May(access.Admin) {
		task.Bytes = nil // secrets can't be redacted in what is not JSON
	}
	return task, err
}

// Replay moves a task back to its queue.
func (q *Quarantine) Replay(ctx context.Context, in wire.BySeq) (wire.None, error) {
	return wire.None{}, q.Mesh.Replay(ctx, in.Seq)
}

// Drop deletes a task.
func (q *Quarantine) Drop(ctx context.Context, in wire.BySeq) (wire.None, error) {
	return wire.None{}, q.Mesh.DeleteQuarantined(ctx, in.Seq)
}

// Reindexing repairs the index and reports the running or last repair of this process.
type Reindexing struct {
	*core
	mu      sync.Mutex
	job     wire.Reindex
	stop    func() // cancels the repair; nil if none was started
	running sync.WaitGroup
}

// Begin starts a repair unless one runs. Queued tasks survive this process; the rest must be started again.
func (r *Reindexing) Begin(ctx context.Context, in wire.ReindexRequest) (wire.Reindex, error) {
	if err := r.begin(ctx, in.All); err != nil {
		return wire.Reindex{}, err
	}
	return r.State(ctx, wire.None{})
}

func (r *Reindexing) begin(ctx context.Context, all bool) error {
	counts, err := r.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.job.State == "running" {
		return nil
	}
	r.job = wire.Reindex{State: "running", All: all, Started: r.Now(), Total: counts.Items}
	started := r.job.Started
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.running.Go(func() { r.run(ctx, all, started) })
	return nil
}

// end cancels the repair and waits for it.
func (r *Reindexing) end() {
	r.mu.Lock()
	stop := r.stop
	r.mu.Unlock()
	if stop != nil {
		stop()
	}
	r.running.Wait()
}

func (r *Reindexing) run(ctx context.Context, all bool, started time.Time) {
	err := r.queue(ctx, all, fmt.Sprintf("reindex %d", started.UnixMicro()))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.job.State, r.job.Ended = "done", r.Now()
	if err != nil {
		r.Log.Error("reindex failed", "err", err)
		r.job.State, r.job.Error = "failed", err.Error()
	}
}

// queue compares all days and queues the items that differ, or all items.
func (r *Reindexing) queue(ctx context.Context, all bool, why string) error {
	days, err := reconcile.Begin(ctx, r.Store, r.Index, r.Now())
	if err != nil {
		return err
	}
	wanted := func(item reconcile.Item) (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		countState(&r.job, item.State)
		return all || item.State != reconcile.Same, nil
	}
	return reconcile.Queue(ctx, r.Store, r.Index, days, why, wanted, func(ctx context.Context, task subjects.Index) error {
		err := subjects.Publish(ctx, r.Mesh, subjects.IndexQueue, task)
		if err == nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.job.Queued += int64(len(task.IDs))
		}
		return err
	})
}

// countState adds a compared item.
func countState(r *wire.Reindex, state reconcile.State) {
	r.Compared++
	switch state {
	case reconcile.Missing:
		r.Missing++
	case reconcile.Stale:
		r.Stale++
	case reconcile.Surplus:
		r.Surplus++
	}
}

// State returns the progress of the running or last repair.
func (r *Reindexing) State(ctx context.Context, _ wire.None) (wire.Reindex, error) {
	depths, err := r.Mesh.Depths(ctx)
	if err != nil {
		return wire.Reindex{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	job := r.job
	if job.State == "" {
		job.State = "none"
	}
	for _, d := range depths {
		if d.Queue == subjects.IndexQueue.Name {
			job.Waiting = d.Tasks
		}
	}
	return job, nil
}
