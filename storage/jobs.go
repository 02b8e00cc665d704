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

// Jobs is the part of a [Store] that stores jobs over stored items.
type Jobs interface {
	// PutJob stores the job, replacing a job with the same ID, and deletes all but the newest [MaxJobs] with
	// their undo records ([Relabeling]). A stored Cancel is kept. It returns [ErrTooLarge] if Result exceeds
	// [MaxJobResult] bytes.
	PutJob(ctx context.Context, job Job) error

	// CancelJob sets only a job's Cancel, which stops the worker that runs it. It returns [ErrNotFound] if
	// the job does not exist.
	CancelJob(ctx context.Context, id string) error

	// Job returns the job with the given ID, or [ErrNotFound].
	Job(ctx context.Context, id string) (Job, error)

	// ListJobs returns at most limit jobs without their Results, newest Started first, then by ID.
	ListJobs(ctx context.Context, limit int) ([]Job, error)
}

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

// CheckJob returns an error if a [Store] must reject the job.
func CheckJob(job Job) error {
	if len(job.Result) > MaxJobResult {
		return fmt.Errorf("a result of %d bytes: %w: at most %d", len(job.Result), ErrTooLarge, MaxJobResult)
	}
	return nil
}
