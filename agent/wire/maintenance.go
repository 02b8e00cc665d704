package wire

import (
	"io"
	"time"

	"feedmesh/agent/access"
)

// A Reindex is a repair of the index: it compares the index with the store and indexes items that differ, or
// all items, while both are in use.
type Reindex struct {
	State    string    `json:"state" enum:"none,running,done,failed"`
	All      bool      `json:"all" doc:"Whether all items are indexed anew, and not only those that differ."`
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	Total    int64     `json:"total" doc:"Items in the store when it began."`
	Compared int64     `json:"compared" doc:"Items compared so far, those that only the index has included."`
	Missing  int64     `json:"missing" doc:"Of these, how many only the store had."`
	Stale    int64     `json:"stale" doc:"How many the index had in another form than the store."`
	Surplus  int64     `json:"surplus" doc:"How many only the index had."`
	Queued   int64     `json:"queued" doc:"Items queued to be indexed so far."`
	Waiting  uint64    `json:"waiting" doc:"Tasks of the index queue still to be done, its daily ones included."`
	Error    string    `json:"error,omitempty"`
}

// A ReindexRequest starts a repair of the index.
type ReindexRequest struct {
	All bool `query:"all" doc:"Index all items anew, and not only those that differ."`
}

// The operations on the index.
var (
	BeginReindex = Operation[ReindexRequest, Reindex]{ID: "begin-reindex", Method: "POST", Path: "/api/reindex", Tag: "index", Scope: access.Admin,
		Summary: "Compare the index with the store and repair it, while serving", Errors: []int{503}, Status: 202}
	GetReindex = Operation[None, Reindex]{ID: "get-reindex", Method: "GET", Path: "/api/reindex", Tag: "index", Scope: access.Read,
		Summary: "Progress of the repair of the index", Errors: []int{503}}
)

// A Download is an answer that is a file, sent while it is read.
type Download struct {
	Name string // under which the client stores it
	Type string // media type
	Size int64  // bytes
	Body io.ReadCloser
}

// MakeBackup makes a backup of store and schedule.
var MakeBackup = Operation[None, Download]{ID: "make-backup", Method: "POST", Path: "/api/backup", Tag: "mesh", Scope: access.Admin,
	Summary: "Make a backup of store and schedule, while serving", Type: "application/vnd.sqlite3",
	Description: "The answer begins when the backup is complete and verified. It is a SQLite file with all feeds, items, rules, tokens, marks and the state of the schedule, which agent restore restores."}
