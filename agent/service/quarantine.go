package service

import (
	"context"

	"feedmesh/agent/wire"
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
	if len(tasks) > in.Limit {
		tasks = tasks[:in.Limit]
		page.Next = tasks[len(tasks)-1].Seq
	}
	page.Tasks = append([]subjects.Quarantined{}, tasks...) // an empty list, not null
	for i, task := range page.Tasks {
		page.Tasks[i].Message = withoutSecrets(task.Message)
	}
	return page, nil
}

// Read returns a quarantined task, with secrets redacted.
func (q *Quarantine) Read(ctx context.Context, in wire.BySeq) (subjects.Quarantined, error) {
	task, err := q.Mesh.QuarantinedTask(ctx, in.Seq)
	task.Message = withoutSecrets(task.Message)
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
