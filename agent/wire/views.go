package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/classify/view"
)

// A ViewState is a view with its state.
type ViewState struct {
	view.View
	Definition string    `json:"definition" doc:"The view as text."`
	Mine       bool      `json:"mine,omitempty" doc:"The requesting client made it."`
	Changed    time.Time `json:"changed"`
	Members    int64     `json:"members" doc:"Number of items, without the bound limit."`
	Filled     bool      `json:"filled" doc:"Older items are in it too. Otherwise the view is being filled in."`
	Problem    string    `json:"problem,omitempty" doc:"Why it gets no items, such as a definition of a newer version."`
}

// Views are the views that the client may read, ordered by name.
type Views struct {
	Views []ViewState `json:"views"`
}

// A ViewName is a request that names a view.
type ViewName struct {
	Name string `path:"name" maxLength:"64" doc:"Name of a view."`
}

// A ViewSetting is a view in one of two forms.
type ViewSetting struct {
	Definition string     `json:"definition,omitempty" maxLength:"131072" doc:"As text, such as: view go = from tag:news where go -rust once story window 24h"`
	View       *view.View `json:"view,omitempty" doc:"As JSON, in place of definition."`
}

// A SaveViewRequest adds or changes a view.
type SaveViewRequest struct {
	Name string `path:"name" maxLength:"64" pattern:"^[a-z0-9][a-z0-9-]*$" patternDescription:"lower-case letters, digits and hyphens" doc:"Lower-case letters, digits and hyphens."`
	Body ViewSetting
}

// A PreviewViewRequest tries a view without storing it.
type PreviewViewRequest struct{ Body ViewSetting }

// A ViewPreview is what a view would have.
type ViewPreview struct {
	Definition string      `json:"definition" doc:"The view as text."`
	Items      []FoundItem `json:"items" doc:"The items that it would have of the newest that its conditions select."`
	Searched   int         `json:"searched" doc:"Number of the newest items that its conditions select, at most 100: joins, once per duplicate and uniqueness select some of these."`
	Filling    bool        `json:"filling,omitempty" doc:"A view that it reads is being filled in: items may be missing."`
	Days       []Facet     `json:"days" doc:"Number of items that its conditions select on each of the last days, latest first: without joins, once and uniqueness."`
}

// A ListViewItemsRequest requests the items of a view.
type ListViewItemsRequest struct {
	Name   string `path:"name" maxLength:"64" doc:"Name of a view."`
	Limit  int    `query:"limit" default:"20" minimum:"1" maximum:"100" doc:"Items a page."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"Next of the previous page."`
}

// ViewItems is a page of the items of a view.
type ViewItems struct {
	Items []FoundItem `json:"items"`
	Next  string      `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// A ViewSeriesRequest requests the series of a view.
type ViewSeriesRequest struct {
	ViewName
	Days int `query:"days" default:"30" minimum:"1" maximum:"90" doc:"Number of days, the current one included."`
}

// A ViewSeries is what a view had on each day.
type ViewSeries struct {
	Days      []ViewDay `json:"days" doc:"By the day of UTC on which items were published, the last day first."`
	Truncated bool      `json:"truncated,omitempty" doc:"The view has more than 20,000 items in this time: the first days lack some."`
}

// A ViewDay is what a view had on one day.
type ViewDay struct {
	Day        string `json:"day" doc:"Such as 2026-11-27."`
	Items      int    `json:"items"`
	Stories    int    `json:"stories" doc:"Different stories of the items; an item without others counts as one."`
	Publishers int    `json:"publishers" doc:"Different publishers of the items."`
}

// A WatchViewRequest opens a stream of the items that enter a view.
type WatchViewRequest struct {
	ViewName
	After int64 `header:"Last-Event-ID" minimum:"0" doc:"ID of the last event that was received: the stream continues after it. By default it begins now."`
}

// A ViewEvent is the entry of an item in a view.
type ViewEvent struct {
	Serial int64 // in order of entry
	Item   FoundItem
}

// WatchView streams the items that enter a view as server-sent events of the name "item", whose ID is the serial of the entry.
var WatchView = Operation[WatchViewRequest, Document]{ID: "watch-view", Method: "GET", Path: "/api/views/{name}/events", Tag: "views", Scope: access.Search,
	Summary:     "Stream the items that enter a view",
	Description: "An endless stream. A client that reads too slowly is disconnected; with the header Last-Event-ID, which browsers send, it misses nothing. At most 256 streams are open, 8 of one client.",
	Errors:      []int{404, 422, 429, 503}, Type: "text/event-stream"}

// The operations on views.
var (
	ListViews = Operation[None, Views]{ID: "list-views", Method: "GET", Path: "/api/views", Tag: "views", Scope: access.Search,
		Summary: "All views that you may read, ordered by name", Errors: []int{503}}
	GetView = Operation[ViewName, ViewState]{ID: "get-view", Method: "GET", Path: "/api/views/{name}", Tag: "views", Scope: access.Search,
		Summary: "One view", Errors: []int{404, 503}}
	ListViewItems = Operation[ListViewItemsRequest, ViewItems]{ID: "list-view-items", Method: "GET", Path: "/api/views/{name}/items", Tag: "views", Scope: access.Search,
		Summary: "The items of a view, in its order", Errors: []int{400, 404, 422, 503}}
	SaveView = Operation[SaveViewRequest, ViewState]{ID: "save-view", Method: "PUT", Path: "/api/views/{name}", Tag: "views", Scope: access.Write,
		Summary: "Add a view, or change it", Errors: []int{400, 409, 422, 503}}
	RemoveView = Operation[ViewName, None]{ID: "remove-view", Method: "DELETE", Path: "/api/views/{name}", Tag: "views", Scope: access.Write,
		Summary: "Remove a view that no other view reads", Errors: []int{404, 409, 503}}
	GetViewSeries = Operation[ViewSeriesRequest, ViewSeries]{ID: "get-view-series", Method: "GET", Path: "/api/views/{name}/series", Tag: "views", Scope: access.Search,
		Summary: "Items, stories and publishers of a view by day", Errors: []int{404, 422, 503}}
	ReportViewSeries = Operation[ViewSeriesRequest, Document]{ID: "report-view-series", Method: "GET", Path: "/api/views/{name}/series.csv", Tag: "views", Scope: access.Search,
		Summary: "Items, stories and publishers of a view by day, as CSV", Errors: []int{404, 422, 503}, Type: "text/csv"}
	PreviewView = Operation[PreviewViewRequest, ViewPreview]{ID: "preview-view", Method: "POST", Path: "/api/view-preview", Tag: "views", Scope: access.Write,
		Summary: "What a view would have, without storing it", Errors: []int{400, 409, 422, 503}}
)
