package wire

import (
	"time"

	"feedmesh/agent/access"
)

// ImportResults are the results of adding several addresses.
type ImportResults struct {
	Added    int            `json:"added"`
	Existing int            `json:"known"`
	Invalid  int            `json:"invalid"`
	Results  []ImportResult `json:"feeds" doc:"One for each address, in order."`
}

// The outcomes of an address.
const (
	ImportAdded    = "added"
	ImportExisting = "known"   // stored before, or listed twice
	ImportInvalid  = "invalid" // see Reason
	ImportWaiting  = "waiting" // not processed yet
)

// An ImportResult is the outcome of one address.
type ImportResult struct {
	Line    int    `json:"line,omitempty" doc:"Line in the imported file."`
	URL     string `json:"url"`
	FeedID  string `json:"feed_id,omitempty"`
	Outcome string `json:"outcome" enum:"added,known,invalid,waiting"`
	Reason  string `json:"reason,omitempty" doc:"Reason, if invalid."`
}

// An ImportLine is the result of a feed of an import, and the feed's state since.
type ImportLine struct {
	ImportResult
	Verdict string `json:"verdict" enum:"waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid"`
	Detail  string `json:"detail,omitempty" doc:"The verdict's reason, in words."`
	Status  int    `json:"status,omitempty" doc:"HTTP status of its last poll."`
}

// The verdicts on a line, the most urgent first.
const (
	VerdictInvalid    = "invalid"    // not a valid address
	VerdictFailed     = "failed"     // stored, its last poll failed
	VerdictNoFeed     = "not a feed" // stored, its document is not a feed
	VerdictBlocked    = "blocked"    // its address is in a blocked network
	VerdictGone       = "gone"       // its host answered that it is gone
	VerdictRedirected = "redirected" // moved to another address since, or removed
	VerdictWaiting    = "waiting"    // not processed yet
	VerdictLeftOut    = "left out"   // the import was cancelled before it
	VerdictAdded      = "added"      // stored, not polled yet
	VerdictRead       = "read"       // stored, its last poll succeeded
	VerdictDuplicate  = "duplicate"  // stored before, or listed twice
)

// Verdicts lists the verdicts.
var Verdicts = []string{
	VerdictInvalid, VerdictFailed, VerdictNoFeed, VerdictBlocked, VerdictGone, VerdictRedirected,
	VerdictWaiting, VerdictLeftOut, VerdictAdded, VerdictRead, VerdictDuplicate,
}

// An ImportPage is a page of the results of an import.
type ImportPage struct {
	Lines []ImportLine `json:"lines" doc:"One for each feed, in the list's order."`
	Next  int          `json:"next,omitempty" doc:"Value of after for the next page; absent on the last."`
}

// An ImportSearch is a request for a page of an import's lines.
type ImportSearch struct {
	ID      string `path:"id" maxLength:"64" doc:"ID of an import."`
	After   int    `query:"after" minimum:"0" doc:"The value of next of the previous page."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum length of the page."`
	Outcome string `query:"outcome" enum:"added,known,invalid,waiting" doc:"Only feeds with it."`
	Verdict string `query:"verdict" enum:"waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid" doc:"Only feeds with it."`
}

// An Import is the import of a list of feeds. One process of the mesh runs it at a time; if that exits,
// another resumes it.
type Import struct {
	ID       string    `json:"id" doc:"Hash of the list: equal lists have equal IDs."`
	Name     string    `json:"name,omitempty" doc:"Name that the client gave the list."`
	State    string    `json:"state" enum:"running,done,cancelled"`
	Cancel   bool      `json:"cancel,omitempty" doc:"Whether it was cancelled."`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	Total    int       `json:"total" doc:"Feeds listed."`
	Done     int       `json:"done" doc:"Feeds processed so far."`
	Added    int       `json:"added"`
	Existing int       `json:"known" doc:"Feeds stored before, or listed twice."`
	Invalid  int       `json:"invalid" doc:"Entries without a valid address; see the lines."`
}

// Imports are the last hundred imports, newest first.
type Imports struct {
	Imports []Import `json:"imports"`
}

// An ImportFeedsRequest uploads a list of feeds.
type ImportFeedsRequest struct {
	Name    string `query:"name" maxLength:"255" doc:"Name of the list, such as its file name."`
	RawBody []byte `contentType:"application/xml"`
}

// The operations on imports.
var (
	ImportFeeds = Operation[ImportFeedsRequest, Import]{ID: "import-feeds", Method: "POST", Path: "/api/feeds/import", Tag: "imports", Scope: access.Write,
		Summary: "Import a list of feeds: OPML, or an address a line", Errors: []int{400, 413, 422, 429, 503}, Status: 202,
		Description: "Stores the list and returns its import immediately; poll the import until its state is done. Sending the same list again during the import starts nothing; later it starts a new import that adds the missing feeds."}
	ListImports = Operation[None, Imports]{ID: "list-imports", Method: "GET", Path: "/api/imports", Tag: "imports", Scope: access.Read,
		Summary: "The last hundred imports, newest first", Errors: []int{503}}
	GetImport = Operation[ByID, Import]{ID: "get-import", Method: "GET", Path: "/api/imports/{id}", Tag: "imports", Scope: access.Read,
		Summary: "Progress or result of an import", Errors: []int{404, 503}}
	CancelImport = Operation[ByID, Import]{ID: "cancel-import", Method: "POST", Path: "/api/imports/{id}/cancel", Tag: "imports", Scope: access.Write,
		Summary: "Cancel an import within seconds; feeds added before stay", Errors: []int{404, 503}, Status: 202}
	ListImportLines = Operation[ImportSearch, ImportPage]{ID: "list-import-lines", Method: "GET", Path: "/api/imports/{id}/lines", Tag: "imports", Scope: access.Read,
		Summary: "Result of each feed of an import", Errors: []int{404, 503}}
	ReportImport = Operation[ByID, Document]{ID: "report-import", Method: "GET", Path: "/api/imports/{id}/report", Tag: "imports", Scope: access.Read,
		Summary: "Result of each feed of an import, as CSV", Errors: []int{404, 503}, Type: "text/csv"}
)

// The states of an import.
const (
	ImportRunning = "running"
	ImportDone    = "done"
	ImportEnded   = "cancelled"
)
