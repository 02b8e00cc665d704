package wire

import (
	"encoding/json"
	"time"
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
