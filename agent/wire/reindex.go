package wire

import "time"

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
