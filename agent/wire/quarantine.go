package wire

import (
	"feedmesh/agent/access"
	"feedmesh/subjects"
)

// A QuarantinePage is a page of quarantined tasks, oldest first.
type QuarantinePage struct {
	Tasks []subjects.Quarantined `json:"tasks"`
	Next  uint64                 `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// A QuarantineSearch is a request for a page of quarantined tasks.
type QuarantineSearch struct {
	After uint64 `query:"after" doc:"The value of next of the previous page."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum length of the page."`
}

// BySeq is a request that names one quarantined task.
type BySeq struct {
	Seq uint64 `path:"seq" minimum:"1" doc:"Number of the task in the quarantine."`
}

// The operations on the quarantine.
var (
	ListQuarantine = Operation[QuarantineSearch, QuarantinePage]{ID: "list-quarantine", Method: "GET", Path: "/api/quarantine", Tag: "mesh",
		Scope: access.Read, Summary: "List tasks that failed all deliveries, oldest first", Errors: []int{503}}
	GetQuarantined = Operation[BySeq, subjects.Quarantined]{ID: "get-quarantined", Method: "GET", Path: "/api/quarantine/{seq}", Tag: "mesh",
		Scope: access.Read, Summary: "One quarantined task, whole", Errors: []int{404, 503}}
	ReplayQuarantined = Operation[BySeq, None]{ID: "replay-quarantined", Method: "POST", Path: "/api/quarantine/{seq}/replay", Tag: "mesh",
		Scope: access.Admin, Summary: "Put a task back on its queue", Errors: []int{404, 409, 503}, Status: 202}
	DropQuarantined = Operation[BySeq, None]{ID: "drop-quarantined", Method: "DELETE", Path: "/api/quarantine/{seq}", Tag: "mesh",
		Scope: access.Admin, Summary: "Delete a quarantined task", Errors: []int{404, 503}}
)
