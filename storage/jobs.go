package storage

import (
	"context"
	"fmt"
	"time"
)

// Limits of jobs.
const (
	MaxJobs      = 100      // jobs in a [Store]
	MaxJobResult = 64 << 10 // bytes
)

// A Job is a long-running operation over many stored items.
type Job struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"` // "relabel", "train", "undo"
	Note     string    `json:"note,omitempty"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // zero while it runs
	State    string    `json:"state"`             // "running", "done", "cancelled", "failed", "undone"
	Cancel   bool      `json:"cancel,omitempty"`  // a user requested cancellation

	Total   int `json:"total"` // items to process
	Done    int `json:"done"`  // items processed
	Changed int `json:"changed"`

	Err    string `json:"error,omitempty"`
	Result []byte `json:"-"` // JSON
}

var jobTable = tableOf(Table{Name: "jobs", Keys: 1, Order: "started DESC, id", Keep: MaxJobs, Owned: "kept_labels.job"}, func(j *Job) []Column {
	return []Column{
		{Name: "id", Field: &j.ID}, {Name: "kind", Field: &j.Kind}, {Name: "note", Field: &j.Note}, {Name: "started", Field: &j.Started},
		{Name: "finished", Field: &j.Finished, Nullable: true}, {Name: "state", Field: &j.State}, {Name: "cancel", Field: &j.Cancel},
		{Name: "total", Field: &j.Total}, {Name: "done", Field: &j.Done}, {Name: "changed", Field: &j.Changed},
		{Name: "err", Field: &j.Err}, {Name: "result", Field: &j.Result, Large: true},
	}
})

// Jobs returns the jobs over stored items of a [Store].
func Jobs(of Records) JobRecords { return JobRecords{of} }

// JobRecords are the jobs over stored items of a [Store].
type JobRecords struct{ records Records }

// Put stores the job, replacing a job with the same ID, and deletes all but the newest [MaxJobs] with their
// undo records ([Relabeling]). A stored Cancel is kept. It returns [ErrTooLarge] if Result exceeds
// [MaxJobResult] bytes.
func (j JobRecords) Put(ctx context.Context, job Job) error {
	if len(job.Result) > MaxJobResult {
		return fmt.Errorf("a result of %d bytes: %w: at most %d", len(job.Result), ErrTooLarge, MaxJobResult)
	}
	return changeRecord(ctx, j.records, jobTable, func(stored *Job) (*Job, error) {
		put := job
		put.Cancel = put.Cancel || stored != nil && stored.Cancel
		return &put, nil
	}, job.ID)
}

// Cancel sets only a job's Cancel, which stops the worker that runs it. It returns [ErrNotFound] if the job
// does not exist.
func (j JobRecords) Cancel(ctx context.Context, id string) error {
	return changeRecord(ctx, j.records, jobTable, func(stored *Job) (*Job, error) {
		if stored == nil {
			return nil, ErrNotFound
		}
		stored.Cancel = true
		return stored, nil
	}, id)
}

// Read returns the job with the given ID, or [ErrNotFound].
func (j JobRecords) Read(ctx context.Context, id string) (Job, error) {
	return readRecord[Job](ctx, j.records, jobTable, id)
}

// List returns at most limit jobs without their Results, newest Started first, then by ID.
func (j JobRecords) List(ctx context.Context, limit int) ([]Job, error) {
	return listRecords[Job](ctx, j.records, jobTable, limit)
}
