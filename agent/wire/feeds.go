package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A FeedFilter selects feeds. Empty fields select all.
type FeedFilter struct {
	Text   string `query:"q" json:"q,omitempty" maxLength:"256" doc:"Text in the title, address or site, case-insensitive."`
	Tag    string `query:"tag" json:"tag,omitempty" maxLength:"128" doc:"Only feeds with this tag."`
	Host   string `query:"host" json:"host,omitempty" maxLength:"255" doc:"Only feeds of this host, with its port if it has one."`
	Pinned bool   `query:"pinned" json:"pinned,omitempty" doc:"Only pinned feeds."`
	State  string `query:"state" json:"state,omitempty" enum:"failing,gone,new,due,polling,ok" doc:"Only feeds in this state. new: never polled; due: the next poll is overdue."`
	Class  string `query:"class" json:"class,omitempty" maxLength:"64" doc:"Only feeds whose last poll failed with this class of error, such as dns or http 4xx."`
	Tier   string `query:"tier" json:"tier,omitempty" enum:"hot,warm,cold" doc:"Only feeds in this polling tier."`
}

// ByState reports whether the filter needs the states that only the schedule stores.
func (f FeedFilter) ByState() bool { return f.State != "" || f.Class != "" || f.Tier != "" }

// A FeedSearch is a request for a page of feeds.
type FeedSearch struct {
	FeedFilter
	Sort  string `query:"sort" enum:"url,title,items,newest,added" default:"url" doc:"By address, by title, or most items, newest item or last added first."`
	After string `query:"after" maxLength:"4096" doc:"The value of next of the previous page, in the same order."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum length of the page."`
	Count bool   `query:"count" doc:"Count all matching feeds."`
}

// FeedFacets are the numbers of feeds by state, error, tier and tag.
type FeedFacets struct {
	States  []FeedCount        `json:"states" doc:"In a fixed order; a feed may be in two of them."`
	Classes []FeedCount        `json:"classes" doc:"Kinds of the errors of feeds that fail, most frequent first."`
	Tiers   []FeedCount        `json:"tiers" doc:"Most often read first."`
	Tags    []storage.TagCount `json:"tags" doc:"The most used ones, most used first."`
}

// A FeedProblem describes the current error of a feed and the advice for it.
type FeedProblem struct {
	Summary string `json:"what" doc:"Description."`
	Advice  string `json:"do" doc:"Advice for the user."`
	Class   string `json:"class,omitempty" doc:"Kind of the error."`
	Moved   bool   `json:"moved,omitempty" doc:"Whether it is probably at another address: discover finds the feeds of its site, and move changes the address."`
}

// A Feed is a stored feed with its state in the schedule. It contains no secrets.
type Feed struct {
	storage.Feed
	Request *RequestView    `json:"request,omitempty" doc:"Its request settings; absent: defaults."`
	State   *subjects.State `json:"state,omitempty" doc:"Its state in the schedule; absent until the first."`
	Unknown bool            `json:"stateUnknown,omitempty" doc:"Its state is absent because the schedule could not be read."`
	Polls   []subjects.Poll `json:"polls,omitempty" doc:"Its last polls, newest first; absent in lists."`
	Problem *FeedProblem    `json:"trouble,omitempty" doc:"Its current problem, if any."`
}

// A FeedPage is a page of feeds.
type FeedPage struct {
	Feeds []Feed `json:"feeds"`
	Next  string `json:"next,omitempty" doc:"Value of after for the next page; absent on the last. A page may be short or empty without being the last."`
	Total *int64 `json:"total,omitempty" doc:"Number of matching feeds; absent unless requested."`
}

// NextPoll returns the next poll of the feed in words; at formats a time.
func (f Feed) NextPoll(now time.Time, at func(time.Time) string) string {
	switch s := f.State; {
	case f.Unknown:
		return "unknown"
	case s == nil:
		return "soon"
	case s.Crawl != "":
		return "under way"
	case s.Next.IsZero():
		return "never"
	case s.Next.Before(now):
		return "due"
	default:
		return at(s.Next)
	}
}

// LastPoll returns the result of the feed's last poll in words.
func (f Feed) LastPoll() string {
	switch s := f.State; {
	case f.Unknown:
		return "unknown"
	case s == nil || s.Polled.IsZero():
		return "none yet"
	case s.Failures > 0 && s.Class != "":
		return "failed: " + s.Class
	default:
		return string(s.Outcome)
	}
}

// The states of feeds. A feed has one of the first four, and may be due or polling in addition.
const (
	StateOK      = "ok"      // its last poll succeeded
	StateFailing = "failing" // its last poll failed
	StateGone    = "gone"    // its host answered that it is gone; it is not polled any more
	StateNew     = "new"     // its first poll has not ended
	StateDue     = "due"     // its next poll should have begun
	StatePolling = "polling" // being polled now
)

// FeedStates lists the states, the most urgent first.
var FeedStates = []string{StateFailing, StateGone, StateNew, StateDue, StatePolling, StateOK}

// A FeedCount is the number of feeds with a value.
type FeedCount struct {
	Name  string `json:"name"`
	Feeds int64  `json:"feeds"`
}

// A RequestView is the request settings of a feed, without secrets.
type RequestView struct {
	UserAgent string   `json:"user_agent,omitempty"`
	Headers   []string `json:"headers,omitempty" doc:"Names of the headers sent besides the usual ones; their values are never returned."`
	User      string   `json:"user,omitempty"`
	Password  string   `json:"password,omitempty" enum:"set" doc:"Whether a password is set; its value is never returned."`
	Proxy     string   `json:"proxy,omitempty" doc:"ID of a proxy; direct: no proxy; absent: chosen by the rules of proxies."`
}

// A FeedChange is a change of a feed's settings. Nil fields stay unchanged.
type FeedChange struct {
	Tags          *[]string         `json:"tags,omitempty" maxItems:"32" doc:"Replaces all tags."`
	Pinned        *bool             `json:"pinned,omitempty" doc:"Whether it is polled as often as possible."`
	FullText      *bool             `json:"full_text,omitempty" doc:"Whether to fetch the full text of items from the linked pages."`
	SpamThreshold *float64          `json:"spam_threshold,omitempty" minimum:"0" maximum:"1" doc:"Score from which its items are spam; 0: the default."`
	Keep          *string           `json:"keep,omitempty" maxLength:"32" doc:"How long its items are kept: 90d, 1000 (items), 90d,1000 or all; empty: by tag or the default."`
	UserAgent     *string           `json:"user_agent,omitempty" maxLength:"256" doc:"User agent for its requests; empty: the default."`
	Headers       map[string]string `json:"headers,omitempty" maxProperties:"32" doc:"Custom request headers, merged with the stored ones; an empty value removes a header."`
	User          *string           `json:"user,omitempty" maxLength:"256" doc:"User for HTTP basic authentication; empty: none. Changing it removes the password."`
	Password      *string           `json:"password,omitempty" maxLength:"1024" doc:"Password of that user. It is never returned."`
	Proxy         *string           `json:"proxy,omitempty" maxLength:"32" doc:"ID of a proxy; direct: no proxy; empty: chosen by the rules of proxies."`
}

// A SetFeedRequest changes the settings of a feed.
type SetFeedRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of a feed."`
	Body FeedChange
}

// A FeedAddress is the new address of a feed.
type FeedAddress struct {
	URL string `json:"url" minLength:"1" maxLength:"2048"`
}

// A MoveFeedRequest moves a feed to another address.
type MoveFeedRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of a feed."`
	Body FeedAddress
}

// A MovedFeed is a feed that will have another address.
type MovedFeed struct {
	ID  string `json:"id" doc:"ID of the feed at the new address."`
	URL string `json:"url"`
}

// A HostName selects a host.
type HostName struct {
	Host string `path:"host" maxLength:"255" doc:"Name of a host, without port."`
}

// A Host is the record of the requests of all feeds of a host.
type Host struct {
	Name     string    `json:"name"`
	Polls    int64     `json:"polls" doc:"Number of requests."`
	Failures int64     `json:"failures" doc:"Failed ones of these."`
	Seconds  float64   `json:"seconds,omitempty" doc:"Average time until the end of a response."`
	Status   int       `json:"status,omitempty" doc:"HTTP status of the last response."`
	Class    string    `json:"class,omitempty" doc:"Kind of the last error."`
	Last     time.Time `json:"last,omitzero" doc:"Start of the last request."`
	Spacing  int64     `json:"spacing,omitempty" doc:"Minimum seconds between requests, if above the setting."`
	Paused   time.Time `json:"paused,omitzero" doc:"No requests before then, at the host's request."`
	Reason   string    `json:"reason,omitempty" doc:"Reason of spacing or pause."`
	Proxy    string    `json:"proxy,omitempty" doc:"ID of the proxy that gets responses where direct requests do not."`
}

// FeedAddresses are addresses of feeds to add.
type FeedAddresses struct {
	URLs []string `json:"urls" minItems:"1" maxItems:"10000"`
	Tags []string `json:"tags,omitempty" maxItems:"32"`
}

// An AddFeedsRequest adds feeds.
type AddFeedsRequest struct{ Body FeedAddresses }

// The operations on feeds.
var (
	ListFeeds = Operation[FeedSearch, FeedPage]{ID: "list-feeds", Method: "GET", Path: "/api/feeds", Tag: "feeds", Scope: access.Read,
		Summary: "List feeds, optionally by state, tag, host or text", Errors: []int{400, 503}}
	AddFeeds = Operation[AddFeedsRequest, ImportResults]{ID: "add-feeds", Method: "POST", Path: "/api/feeds", Tag: "feeds", Scope: access.Write,
		Summary: "Add feeds by their addresses", Errors: []int{400, 413, 422, 503}}
	GetFeed = Operation[ByID, Feed]{ID: "get-feed", Method: "GET", Path: "/api/feeds/{id}", Tag: "feeds", Scope: access.Read,
		Summary: "One feed", Errors: []int{404, 503}}
	RemoveFeed = Operation[ByID, None]{ID: "remove-feed", Method: "DELETE", Path: "/api/feeds/{id}", Tag: "feeds", Scope: access.Write,
		Summary: "Remove a feed and its items", Errors: []int{404, 503}}
	SetFeed = Operation[SetFeedRequest, Feed]{ID: "set-feed", Method: "PATCH", Path: "/api/feeds/{id}", Tag: "feeds", Scope: access.Write,
		Summary: "Change the settings of a feed", Errors: []int{400, 404, 409, 422, 503}}
	CountFeeds = Operation[None, FeedFacets]{ID: "count-feeds", Method: "GET", Path: "/api/feeds/facets", Tag: "feeds", Scope: access.Read,
		Summary: "Count feeds by state, tier, tag and class of error", Errors: []int{503}}
	RefreshFeed = Operation[ByID, None]{ID: "refresh-feed", Method: "POST", Path: "/api/feeds/{id}/refresh", Tag: "feeds", Scope: access.Write,
		Summary: "Poll a feed now, without conditional headers", Errors: []int{404, 503}, Status: 202}
	GetHost = Operation[HostName, Host]{ID: "get-host", Method: "GET", Path: "/api/hosts/{host}", Tag: "feeds", Scope: access.Read,
		Summary: "Record of the requests to a host", Errors: []int{404, 503}}
	MoveFeed = Operation[MoveFeedRequest, MovedFeed]{ID: "move-feed", Method: "POST", Path: "/api/feeds/{id}/move", Tag: "feeds", Scope: access.Write,
		Summary: "Move a feed with its items and marks to another address", Errors: []int{400, 404, 422, 503}, Status: 202}
	ListPolls = Operation[ByID, PollHistory]{ID: "list-polls", Method: "GET", Path: "/api/feeds/{id}/polls", Tag: "feeds", Scope: access.Read,
		Summary: "Poll history of a feed", Errors: []int{404, 503}}
	ExportFeeds = Operation[None, Document]{ID: "export-feeds", Method: "GET", Path: "/api/feeds/export", Tag: "feeds", Scope: access.Read,
		Summary: "All feeds as OPML", Errors: []int{503}, Type: "text/x-opml+xml"}
)

// PollHistory is the history of a feed's polls, newest first.
type PollHistory struct {
	Polls []PollView `json:"polls" doc:"At most fifty; one entry stands for up to ten polls in a row without new items."`
}

// A PollView is one poll of a feed.
type PollView struct {
	At     time.Time `json:"at"`
	Took   int64     `json:"took_ms"`
	Status int       `json:"status,omitempty" doc:"HTTP; absent without an answer."`
	Size   int64     `json:"size" doc:"Bytes of the document; 0 where there is none, as with 304."`
	Class  string    `json:"class,omitempty" doc:"Class of the error; absent after success."`
	What   string    `json:"what" doc:"Description of the result."`
	Reason string    `json:"reason,omitempty" doc:"Why the feed was polled then; absent if an older agent recorded the poll."`
	Proxy  string    `json:"proxy,omitempty" doc:"ID of the proxy used."`
	Before int       `json:"before,omitempty" doc:"Number of polls just before it without new items, which are not stored separately."`
}
