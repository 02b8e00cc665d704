package wire

import "feedmesh/subjects"

// A QuarantinePage is a page of quarantined tasks, oldest first.
type QuarantinePage struct {
	Tasks []subjects.Quarantined `json:"tasks"`
	Next  uint64                 `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}
