package storage

import (
	"context"
	"fmt"
	"time"
)

// Bounds of jobs.
const (
	MaxJobs      = 100      // a [Store] remembers
	MaxJobResult = 64 << 10 // bytes
)

// Jobs is the part of a [Store] that remembers jobs over what is stored.
type Jobs interface {
	// PutJob stores the job in place of any with its ID, and forgets all but the
	// newest [MaxJobs], with what is kept under them ([Relabels]). A Cancel that
	// the store has stays. A Result of more than [MaxJobResult] bytes is refused
	// with [ErrTooLarge].
	PutJob(ctx context.Context, job Job) error

	// CancelJob sets a job's Cancel, for whoever runs it to see, and nothing
	// else. It returns [ErrNotFound] if there is no such job.
	CancelJob(ctx context.Context, id string) error

	// Job returns the job with the given ID, or [ErrNotFound].
	Job(ctx context.Context, id string) (Job, error)

	// ListJobs returns at most limit jobs without their Results, newest Started
	// first, then by ID.
	ListJobs(ctx context.Context, limit int) ([]Job, error)
}

// A Job is work over much that is stored, with a beginning and an end.
type Job struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"` // "relabel", "train", "undo"
	Note     string    `json:"note,omitempty"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // zero until it is
	State    string    `json:"state"`             // "running", "done", "cancelled", "failed", "undone"
	Cancel   bool      `json:"cancel,omitempty"`  // a person wants it to end

	Total   int `json:"total"` // items to look at
	Done    int `json:"done"`  // of Total, so far
	Changed int `json:"changed"`

	Err    string `json:"error,omitempty"`
	Result []byte `json:"-"` // what it found out: JSON
}

// CheckJob returns why a [Store] does not take a job, or nil.
func CheckJob(job Job) error {
	if len(job.Result) > MaxJobResult {
		return fmt.Errorf("a result of %d bytes: %w: at most %d", len(job.Result), ErrTooLarge, MaxJobResult)
	}
	return nil
}
