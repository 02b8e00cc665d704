package wire

import "time"

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
