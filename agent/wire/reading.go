package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// Which items of a reading list are shown.
const (
	ShowUnread  = "unread"
	ShowAll     = "all"
	ShowStarred = "starred"
)

// A ReadingQuery selects items of the feeds, with the marks of the requesting client.
type ReadingQuery struct {
	Feed   string `query:"feed" maxLength:"64" doc:"Only items of the feed with this ID."`
	Tag    string `query:"tag" maxLength:"200" doc:"Only items of feeds with this tag; tags are folders."`
	View   string `query:"view" maxLength:"64" doc:"Only items of the view of this name, in the order of their times."`
	Label  string `query:"label" maxLength:"64" doc:"Only items that this client gave the label."`
	Show   string `query:"show" enum:"unread,all,starred" default:"unread" doc:"Which items; those first seen 30 days ago or earlier count as read."`
	Oldest bool   `query:"oldest" doc:"In order of their times, oldest first; by default newest first."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Maximum length of the page."`
	Cursor string `query:"cursor" maxLength:"100" doc:"The value of next of the previous page."`
}

// A ReadingItem is an item of a reading list.
type ReadingItem struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	URL       string    `json:"url,omitempty"`
	FeedID    string    `json:"feed_id"`
	FeedTitle string    `json:"feed_title"`
	Excerpt   string    `json:"excerpt,omitempty"`
	Language  string    `json:"language,omitempty"`
	Picture   string    `json:"picture,omitempty" doc:"Path of its first picture on this server, made small."`
	Seen      time.Time `json:"first_seen"`
	Published time.Time `json:"published,omitzero" doc:"Absent if the feed states no usable date."`
	Time      time.Time `json:"time" doc:"When it was published, or first seen if that was earlier: its place in the list. A year before it was seen if its age is unknown."`
	Read      bool      `json:"read"`
	Starred   bool      `json:"starred"`
}

// A ReadingPage is a page of a reading list.
type ReadingPage struct {
	Items []ReadingItem `json:"items"`
	Next  string        `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// Folders are the numbers of unread items of a client.
type Folders struct {
	Unread  int64           `json:"unread" doc:"Of all feeds."`
	Folders []Folder        `json:"folders" doc:"Tags of feeds, by name; at most 1,000."`
	Feeds   []FeedInFolder  `json:"feeds" doc:"Feeds of the requested folder, or of all, first those with most unread items; at most 200."`
	Views   []ViewInFolders `json:"views" doc:"Views that you may read, by name; at most 100."`
}

// A ViewInFolders is a view with its number of unread items.
type ViewInFolders struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Unread int64  `json:"unread" doc:"Of the latest 5,000 unread items of all feeds."`
}

// A Folder is a tag of feeds.
type Folder struct {
	Name   string `json:"name"`
	Feeds  int64  `json:"feeds"`
	Unread int64  `json:"unread"`
}

// A FeedInFolder is a feed with its number of unread items.
type FeedInFolder struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Unread int64  `json:"unread"`
}

// A FolderQuery selects the feeds of [Folders].
type FolderQuery struct {
	Tag string `query:"tag" maxLength:"200" doc:"Only feeds with this tag."`
}

// Marks are a change of the marks of items; an absent mark stays unchanged.
type Marks struct {
	IDs     []string `json:"ids" minItems:"1" maxItems:"1000" doc:"IDs of items; those that do not exist are ignored."`
	Read    *bool    `json:"read,omitempty"`
	Starred *bool    `json:"starred,omitempty"`
}

// A MarkItemsRequest changes marks.
type MarkItemsRequest struct{ Body Marks }

// A ReadStream is what is marked as read together.
type ReadStream struct {
	Feed  string    `json:"feed,omitempty" maxLength:"64" doc:"ID of a feed."`
	Tag   string    `json:"tag,omitempty" maxLength:"200" doc:"A tag of feeds. Without feed and tag: all feeds."`
	View  string    `json:"view,omitempty" maxLength:"64" doc:"Name of a view."`
	Label string    `json:"label,omitempty" maxLength:"64" doc:"A label that this client gave to items."`
	Until time.Time `json:"until,omitzero" doc:"Only items first seen at or before this time; by default all."`
	Older time.Time `json:"older,omitzero" doc:"Only items whose place in a list, time, is at or before this one; by default all."`
}

// A MarkAllReadRequest marks many items as read.
type MarkAllReadRequest struct{ Body ReadStream }

// A MarkedRead is the result of a [MarkAllReadRequest].
type MarkedRead struct {
	IDs  []string `json:"ids" doc:"The items that were unread, last seen first; at most 1,000. To undo, mark them as unread."`
	More bool     `json:"more,omitempty" doc:"More items were unread than are listed."`
}

// A MarksEvent is a change of marks of one client, for its other windows and programs.
type MarksEvent struct {
	IDs     []string `json:"ids,omitempty" doc:"Absent if many items were marked as read together."`
	Read    *bool    `json:"read,omitempty"`
	Starred *bool    `json:"starred,omitempty"`
}

// Follows are what a client follows and mutes.
type Follows struct {
	Follows []storage.Follow `json:"follows" doc:"In order of time; at most 1,000."`
}

// A FollowName names something that a client follows or mutes.
type FollowName struct {
	Kind  string `path:"kind" enum:"story,publisher,feed,category,topic,word" doc:"What the value is."`
	Value string `path:"value" minLength:"1" maxLength:"200" doc:"ID of a story or feed, host of a publisher, name of a category or topic, or a word or phrase."`
}

// A FollowSetting states whether something is followed or muted.
type FollowSetting struct {
	Mute bool `json:"mute,omitempty" doc:"Leave it out of the front page and the console's list of stories; by default it is followed."`
}

// A PutFollowRequest follows or mutes something.
type PutFollowRequest struct {
	Kind  string `path:"kind" enum:"story,publisher,feed,category,topic,word" doc:"What the value is."`
	Value string `path:"value" minLength:"1" maxLength:"200" doc:"ID of a story or feed, host of a publisher, name of a category or topic, or a word or phrase."`
	Body  FollowSetting
}

// The operations on what a client follows and mutes. It belongs to the client, as marks do.
var (
	ListFollows = Operation[None, Follows]{ID: "list-follows", Method: "GET", Path: "/api/follows", Tag: "follows", Scope: access.Read,
		Summary: "What the client follows and mutes", Errors: []int{503}}
	PutFollow = Operation[PutFollowRequest, storage.Follow]{ID: "put-follow", Method: "PUT", Path: "/api/follows/{kind}/{value}", Tag: "follows", Scope: access.Read,
		Summary: "Follow or mute a story, publisher, feed, category, topic or word", Errors: []int{400, 409, 422, 503}}
	RemoveFollow = Operation[FollowName, None]{ID: "remove-follow", Method: "DELETE", Path: "/api/follows/{kind}/{value}", Tag: "follows", Scope: access.Read,
		Summary: "End following or muting something", Errors: []int{404, 422, 503}}
)

// An Annotation is what a client adds to an item.
type Annotation struct {
	Labels []string `json:"labels" doc:"In alphabetical order."`
	Note   string   `json:"note,omitempty"`
}

// An AnnotationChange replaces labels or the note; what is absent stays unchanged.
type AnnotationChange struct {
	Labels *[]string `json:"labels,omitempty" maxItems:"20" doc:"All labels of the item: each of up to 64 characters, without commas and line breaks. A client has up to 100 different ones."`
	Note   *string   `json:"note,omitempty" maxLength:"4096" doc:"Up to 4,096 bytes; empty: none."`
}

// An AnnotateItemRequest changes the annotation of an item.
type AnnotateItemRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of the item."`
	Body AnnotationChange
}

// An ItemLabel is a label of a client with its number of items.
type ItemLabel struct {
	Name  string `json:"name"`
	Items int64  `json:"items"`
}

// ItemLabels are the labels of a client, by name.
type ItemLabels struct {
	Labels []ItemLabel `json:"labels"`
}

// A SuggestionQuery selects suggested items.
type SuggestionQuery struct {
	Limit int `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Maximum length of the list."`
}

// SuggestedItems are unread items that the client may want to read.
type SuggestedItems struct {
	On    bool         `json:"on" doc:"The client switched suggestions on; if not, the list is empty and nothing is recorded."`
	Items []Suggestion `json:"items" doc:"Best first; one of each story, and a limited number of each feed."`
}

// A Suggestion is a suggested item.
type Suggestion struct {
	ReadingItem
	Because []string `json:"because,omitempty" doc:"Words, topics, categories and feeds that contributed most to its place, best first."`
	New     bool     `json:"new,omitempty" doc:"Listed for its age only, as each fifth item is."`
}

// An InterestSignal is what a client did with an item.
type InterestSignal struct {
	ID     string `json:"id" minLength:"1" maxLength:"64" doc:"ID of the item; one that does not exist is ignored."`
	Signal string `json:"signal" enum:"opened,starred,more,skipped,hidden,read,left" doc:"read and left: an opened item was visible for as long as reading a part of it takes, or closed at once; skipped: listed above an opened item, and not opened; more and hidden: the client asks for more or less like it. A hidden item is marked as read."`
}

// An InterestSignalRequest reports a signal.
type InterestSignalRequest struct{ Body InterestSignal }

// An InterestSwitch starts or stops learning.
type InterestSwitch struct {
	On bool `json:"on"`
}

// A SwitchInterestsRequest starts or stops learning.
type SwitchInterestsRequest struct{ Body InterestSwitch }

// Interests are all that was learned of a client.
type Interests struct {
	On       bool               `json:"on"`
	Features []InterestFeature  `json:"features" doc:"At most 1,000, those liked most first."`
	Days     []InterestDay      `json:"days" doc:"The last 30 days with opened items, in UTC."`
	Signals  []InterestSignalAt `json:"signals" doc:"The last 200, oldest first."`
}

// An InterestFeature is what was learned of items with a property.
type InterestFeature struct {
	Kind  string  `json:"kind" enum:"word,topic,category,publisher"`
	Name  string  `json:"name"`
	Liked float64 `json:"liked" doc:"Number of opened items, weighted; a signal counts half after 14 days."`
	Other float64 `json:"other" doc:"Number of items that were skipped or hidden, weighted likewise."`
}

// An InterestDay has the numbers of items that were opened on a day.
type InterestDay struct {
	Day    string `json:"day" format:"date"`
	Opened int    `json:"opened"`
	Good   int    `json:"good,omitempty" doc:"Those with a positive sentiment."`
	Bad    int    `json:"bad,omitempty" doc:"Those with a negative sentiment."`
}

// An InterestSignalAt is a signal that was learned from.
type InterestSignalAt struct {
	InterestSignal
	At time.Time `json:"at"`
}

// The operations on suggestions. Interests belong to the client, as marks do.
var (
	ListSuggestions = Operation[SuggestionQuery, SuggestedItems]{ID: "list-suggestions", Method: "GET", Path: "/api/interests/suggestions", Tag: "interests", Scope: access.Read,
		Summary: "Items for you", Description: "Of the 2,000 newest unread items of the last 14 days, those first that the client is most likely to open.", Errors: []int{409, 422, 503}}
	SignalInterest = Operation[InterestSignalRequest, None]{ID: "signal-interest", Method: "POST", Path: "/api/interests/signals", Tag: "interests", Scope: access.Read,
		Summary: "Report what was done with an item", Description: "It is learned in the background, once for each item and signal; not at all if the client did not switch suggestions on. Stars need no signal.", Errors: []int{400, 422, 503}}
	ExportInterests = Operation[None, Interests]{ID: "export-interests", Method: "GET", Path: "/api/interests", Tag: "interests", Scope: access.Read,
		Summary: "All that was learned of the client", Errors: []int{409, 503}}
	SwitchInterests = Operation[SwitchInterestsRequest, None]{ID: "switch-interests", Method: "PUT", Path: "/api/interests", Tag: "interests", Scope: access.Read,
		Summary: "Switch suggestions on or off", Description: "Off, nothing is recorded; what was learned stays until it is forgotten.", Errors: []int{400, 409, 422, 503}}
	ForgetInterests = Operation[None, None]{ID: "forget-interests", Method: "DELETE", Path: "/api/interests", Tag: "interests", Scope: access.Read,
		Summary: "Forget what was learned of the client", Errors: []int{503}}
)

// The operations on reading lists. Marks belong to the client that sets them, so that a client that may read may set them.
var (
	ListReading = Operation[ReadingQuery, ReadingPage]{ID: "list-reading", Method: "GET", Path: "/api/reading", Tag: "reading", Scope: access.Read,
		Summary: "Items to read", Description: "Without spam, duplicates and muted items. Starred items are listed in any case.", Errors: []int{400, 404, 503}}
	GetFolders = Operation[FolderQuery, Folders]{ID: "get-folders", Method: "GET", Path: "/api/reading/folders", Tag: "reading", Scope: access.Read,
		Summary: "Folders and their numbers of unread items", Errors: []int{503}}
	MarkItems = Operation[MarkItemsRequest, None]{ID: "mark-items", Method: "POST", Path: "/api/reading/marks", Tag: "reading", Scope: access.Read,
		Summary: "Mark items as read, unread or starred", Errors: []int{400, 422, 503}}
	MarkAllRead = Operation[MarkAllReadRequest, MarkedRead]{ID: "mark-all-read", Method: "POST", Path: "/api/reading/all-read", Tag: "reading", Scope: access.Read,
		Summary: "Mark all items of a feed, a folder, a view, a label or all feeds as read", Errors: []int{400, 404, 422, 503}}
	ListLabels = Operation[None, ItemLabels]{ID: "list-labels", Method: "GET", Path: "/api/reading/labels", Tag: "reading", Scope: access.Read,
		Summary: "Labels that this client gave to items", Errors: []int{503}}
	GetAnnotation = Operation[ByID, Annotation]{ID: "get-annotation", Method: "GET", Path: "/api/items/{id}/annotation", Tag: "reading", Scope: access.Read,
		Summary: "This client's labels and note of an item", Errors: []int{404, 503}}
	AnnotateItem = Operation[AnnotateItemRequest, Annotation]{ID: "annotate-item", Method: "PATCH", Path: "/api/items/{id}/annotation", Tag: "reading", Scope: access.Read,
		Summary: "Change this client's labels or note of an item", Description: "An item with a label or a note is kept, as starred ones are.", Errors: []int{400, 404, 422, 503}}
)
