package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// A SpamPage is a page of spam, last judged first.
type SpamPage struct {
	Items []SpamItem `json:"items"`
	Total int64      `json:"total" doc:"Number of spam items on all pages."`
	Next  string     `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// A SpamItem is an item that is spam, without its HTML.
type SpamItem struct {
	storage.Item
	FeedTitle string    `json:"feed_title"`
	Judged    time.Time `json:"judged" doc:"When it became spam."`
}

// SpamLists describes the rules of the spam filter in force.
type SpamLists struct {
	Version   int64     // 0: built-in
	Note      string    // note of the version; after training, its quality
	Changed   time.Time // zero for built-in
	Threshold float64   // spam score from which an item is spam, unless its feed sets its own
}

// A ListSpamRequest is a request for a page of spam.
type ListSpamRequest struct {
	Feed   string `query:"feed" maxLength:"64" doc:"ID of a feed; only its items."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum length of the page."`
	Cursor string `query:"cursor" maxLength:"128" doc:"The value of next of the previous page."`
}

// The operations on spam.
var (
	ListSpam = Operation[ListSpamRequest, SpamPage]{ID: "list-spam", Method: "GET", Path: "/api/spam", Tag: "spam", Scope: access.Read,
		Summary: "Items that are spam, each with its reasons", Errors: []int{400, 503}}
	ReportSpam = Operation[ByID, ItemView]{ID: "report-spam", Method: "POST", Path: "/api/items/{id}/spam", Tag: "spam", Scope: access.Write,
		Summary: "Report an item as spam", Description: "Rules do not change this, and training uses it.", Errors: []int{404, 503}}
	ReleaseSpam = Operation[ByID, ItemView]{ID: "release-spam", Method: "DELETE", Path: "/api/items/{id}/spam", Tag: "spam", Scope: access.Write,
		Summary: "Release an item from spam", Description: "Rules do not change this, and training uses it.", Errors: []int{404, 503}}
)
