package wire

import "feedmesh/agent/access"

// The actions of bulk changes.
const (
	ActionPin     = "pin"
	ActionUnpin   = "unpin"
	ActionTag     = "tag"
	ActionUntag   = "untag"
	ActionRefresh = "refresh"
	ActionRemove  = "remove"
)

// A BulkChange is an action on many feeds.
type BulkChange struct {
	Action string      `json:"do" enum:"pin,unpin,tag,untag,refresh,remove"`
	Tags   []string    `json:"tags,omitempty" maxItems:"32" doc:"Tags to add or remove."`
	IDs    []string    `json:"ids,omitempty" maxItems:"1000" doc:"Of the feeds."`
	Filter *FeedFilter `json:"filter,omitempty" doc:"Select feeds by a filter instead of IDs. An empty filter requires all."`
	All    bool        `json:"all,omitempty" doc:"Confirms an empty filter, which selects all feeds."`
	After  string      `json:"after,omitempty" maxLength:"2048" doc:"The value of next of the previous step."`
	DryRun bool        `json:"dry_run,omitempty" doc:"Only count the selected feeds."`
}

// A BulkResult is the result of one step of a bulk change.
type BulkResult struct {
	Found   int64         `json:"found,omitempty" doc:"Feeds selected, in a dry run."`
	Done    int           `json:"done" doc:"Feeds of this step that have the requested state."`
	Failed  int           `json:"failed" doc:"Feeds of this step that could not be changed."`
	Reasons []FeedFailure `json:"reasons,omitempty" doc:"Reasons of the first failures."`
	Next    string        `json:"next,omitempty" doc:"Value of after for the next step; absent when all feeds are done."`
}

// A FeedFailure states why a feed was not changed.
type FeedFailure struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// A ChangeFeedsRequest changes many feeds.
type ChangeFeedsRequest struct{ Body BulkChange }

// ChangeFeeds applies one step of a change of many feeds.
var ChangeFeeds = Operation[ChangeFeedsRequest, BulkResult]{ID: "change-feeds", Method: "POST", Path: "/api/feeds/bulk", Tag: "feeds", Scope: access.Write,
	Summary: "Pin, tag, poll or remove many feeds", Errors: []int{400, 422, 429, 503},
	Description: "Works for some seconds and returns its progress: while next is set, repeat the request with it as after. Steps are idempotent."}
