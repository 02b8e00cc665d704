package wire

import (
	"encoding/json"
	"time"

	"feedmesh/agent/access"
)

// A Job is background work on stored items. One process of the mesh runs it at a time; if that exits, another
// resumes it.
type Job struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind" enum:"relabel,undo,train"`
	Note     string          `json:"note" doc:"Description."`
	State    string          `json:"state" enum:"running,done,cancelled,failed,undone" doc:"Running, or waiting to; undone is a relabel that an undo took back."`
	Cancel   bool            `json:"cancel,omitempty" doc:"Whether it was cancelled."`
	Started  time.Time       `json:"started"`
	Finished time.Time       `json:"finished,omitzero"`
	Total    int             `json:"total" doc:"Items to process; an estimate until the end."`
	Done     int             `json:"done" doc:"Items processed so far."`
	Changed  int             `json:"changed" doc:"Items whose labels changed."`
	Error    string          `json:"error,omitempty" doc:"Why it failed."`
	Found    json.RawMessage `json:"found,omitempty" doc:"Figures of a training."`
}

// Jobs are the last hundred jobs, newest first.
type Jobs struct {
	Jobs []Job `json:"jobs" doc:"Without the figures of trainings."`
}

// The operations on jobs.
var (
	ListJobs = Operation[None, Jobs]{ID: "list-jobs", Method: "GET", Path: "/api/jobs", Tag: "jobs", Scope: access.Read,
		Summary: "The last hundred jobs, newest first", Errors: []int{503}}
	GetJob = Operation[ByID, Job]{ID: "get-job", Method: "GET", Path: "/api/jobs/{id}", Tag: "jobs", Scope: access.Read,
		Summary: "Progress or result of a job", Errors: []int{404, 503}}
	CancelJob = Operation[ByID, Job]{ID: "cancel-job", Method: "POST", Path: "/api/jobs/{id}/cancel", Tag: "jobs", Scope: access.Rules,
		Summary: "Cancel a job within a second; finished work stays", Errors: []int{404, 409, 503}, Status: 202}
	UndoJob = Operation[ByID, Job]{ID: "undo-job", Method: "POST", Path: "/api/jobs/{id}/undo", Tag: "jobs", Scope: access.Rules,
		Summary: "Restore the labels that a relabel changed", Errors: []int{404, 409, 429, 503}, Status: 202,
		Description: "Returns the job. Items corrected manually since then stay unchanged. The operation is idempotent. Later relabels of the same items must be undone first."}
)
