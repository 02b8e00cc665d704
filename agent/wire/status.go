package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/subjects"
)

// A Status is the state of the mesh.
type Status struct {
	Version  string                    `json:"version"`
	Problems []string                  `json:"problems,omitempty" doc:"Parts that did not answer, and why; their values are zero or missing."`
	Stalled  []string                  `json:"stalled,omitempty" doc:"Work that stands still, since when, and what to do."`
	Limited  []string                  `json:"limited,omitempty" doc:"Work that is done with less than was set, and why."`
	Notices  []subjects.Notice         `json:"notices,omitempty" doc:"Faults of the last hour that were corrected, newest first."`
	Feeds    FeedCounts                `json:"feeds"`
	Items    int64                     `json:"items" doc:"Items in the store."`
	Purged   int64                     `json:"purged,omitempty" doc:"Items purged since their feeds were added, because they exceeded what is kept."`
	Indexed  int64                     `json:"indexed" doc:"Items that can be found."`
	Queues   []subjects.Depth          `json:"queues" doc:"Queue depths in the order of processing; the quarantine last."`
	Agents   []subjects.Agent          `json:"agents"`
	Active   map[string]subjects.Lease `json:"active" doc:"Leases of the active single actors, by name."`
	Cordons  []subjects.Cordon         `json:"cordons,omitempty" doc:"Agents that get no leases, or no tasks either, by name."`
	Backup   *BackupState              `json:"backup,omitempty" doc:"Scheduled backups, if this agent is set to make them, and the last on request, if this agent made one since its start."`
}

// A BackupState is the state of backups.
type BackupState struct {
	To      string    `json:"to" doc:"Folder or bucket of scheduled backups; empty: none are scheduled."`
	Every   string    `json:"every" doc:"Interval, such as 24h0m0s."`
	Last    time.Time `json:"last,omitzero" doc:"Time of the newest backup there."`
	Size    int64     `json:"size,omitempty" doc:"Its size in bytes."`
	Problem string    `json:"problem,omitempty" doc:"Why backups fail or are missing, and what to do."`

	Requested     time.Time `json:"requested,omitzero" doc:"Time of the last backup on request by this agent since its start."`
	RequestedSize int64     `json:"requested_size,omitempty" doc:"Its size in bytes."`
}

// FeedCounts are the numbers of feeds by state.
type FeedCounts struct {
	Stored   int64 `json:"known" doc:"Feeds in the store."`
	Polled   int64 `json:"polled" doc:"Those whose first poll has ended."`
	Failing  int64 `json:"failing" doc:"Those whose last poll failed."`
	Gone     int64 `json:"gone" doc:"Feeds not polled any more, since their hosts answered that they are gone."`
	InFlight int64 `json:"out" doc:"Those being polled now."`
}

// A Check is the health of one dependency of a process.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty" doc:"The problem, and advice."`

	Warning bool `json:"warning,omitempty" doc:"The process is ready nevertheless."`
}

// GetStatus returns the state of the mesh.
var GetStatus = Operation[None, Status]{ID: "get-status", Method: "GET", Path: "/api/status", Tag: "mesh", Scope: access.Read,
	Summary: "State of the mesh", Errors: []int{503}}
