package wire

import (
	"time"

	"feedmesh/agent/access"
)

// The kinds of addresses.
const (
	KindFeed        = "feed"
	KindPage        = "page"        // searched for feeds
	KindList        = "list"        // of feeds, in the format OPML
	KindUnreachable = "unreachable" // see Problem
)

// A DiscoverRequest is a search for feeds at an address.
type DiscoverRequest struct {
	Body DiscoveredAddress
}

// A DiscoveredAddress is an address to search for feeds.
type DiscoveredAddress struct {
	URL   string `json:"url" minLength:"1" maxLength:"4096"`
	Words string `json:"words,omitempty" maxLength:"256" doc:"If the address is that of a list in the format OPML: only its feeds whose title, address, site or folders contain all these words."`
}

// A Discovery is the result of the search for feeds at an address.
type Discovery struct {
	URL     string      `json:"url"`
	Kind    string      `json:"kind" enum:"feed,page,list,unreachable"`
	Feeds   []Candidate `json:"feeds" doc:"The feed itself, those of the page, likeliest first, or the first 50 of the list that match; those of a list are not fetched."`
	Listed  int64       `json:"listed,omitempty" doc:"Number of feeds of the list."`
	Matches int64       `json:"matches,omitempty" doc:"Number of those that match."`
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
	Summary:     "Find the feeds at an address: a feed, a web page, or a list in the format OPML",
	Description: "Fetches the address and at most eight candidates, and adds nothing.", Errors: []int{400, 422, 503}}
