package wire

import (
	"time"

	"feedmesh/agent/access"
)

// The kinds of addresses.
const (
	KindFeed        = "feed"
	KindPage        = "page"        // searched for feeds
	KindUnreachable = "unreachable" // see Problem
)

// A DiscoverRequest is a search for feeds at an address.
type DiscoverRequest struct {
	Body DiscoveredAddress
}

// A DiscoveredAddress is an address to search for feeds.
type DiscoveredAddress struct {
	URL string `json:"url" minLength:"1" maxLength:"4096"`
}

// A Discovery is the result of the search for feeds at an address.
type Discovery struct {
	URL     string      `json:"url"`
	Kind    string      `json:"kind" enum:"feed,page,unreachable"`
	Feeds   []Candidate `json:"feeds" doc:"The feed itself, or those of the page, likeliest first."`
	Problem string      `json:"problem,omitempty" doc:"Why no feed was found."`
}

// A Candidate is a feed found at an address.
type Candidate struct {
	URL     string    `json:"url"`
	FeedID  string    `json:"feed_id"`
	Stored  bool      `json:"known" doc:"Whether it is stored already."`
	Title   string    `json:"title,omitempty"`
	Format  string    `json:"format,omitempty" doc:"RSS, Atom, RDF or JSON Feed; absent if it was not read."`
	Entries int       `json:"entries" doc:"Number of entries."`
	Newest  time.Time `json:"newest,omitzero" doc:"Publication time of the newest entry."`
	Problem string    `json:"problem,omitempty" doc:"Why it could not be read, although it is a feed or its page links to it as one."`
}

// DiscoverFeeds searches an address for feeds.
var DiscoverFeeds = Operation[DiscoverRequest, Discovery]{ID: "discover-feeds", Method: "POST", Path: "/api/feeds/discover", Tag: "feeds", Scope: access.Write,
	Summary:     "Find the feeds at an address: a feed, or a web page",
	Description: "Fetches the address and at most eight candidates, and adds nothing.", Errors: []int{400, 422, 503}}
