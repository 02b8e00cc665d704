package wire

import (
	"time"

	"feedmesh/agent/access"
)

// A Retention is how long items are kept, and the next purge.
type Retention struct {
	Keep   string   `json:"keep" doc:"How long items are kept by default: an age such as 90d, a number of items of a feed such as 1000, both as in 90d,1000, or all."`
	Tags   []string `json:"tags,omitempty" doc:"The same for feeds with a tag, as TAG=LIMIT; the first tag of a feed in this list counts."`
	Items  int64    `json:"items" doc:"Items in the store."`
	Purged int64    `json:"purged" doc:"Items purged since their feeds were added."`

	Next   *Purge    `json:"next,omitempty" doc:"The next purge; absent if there is nothing to purge."`
	Begins time.Time `json:"begins,omitzero" doc:"When that begins."`
	Reason string    `json:"reason,omitempty" doc:"Why then."`

	Ended      time.Time `json:"ended,omitzero" doc:"When the last purge ended."`
	LastPurged int64     `json:"last_purged,omitempty" doc:"Items that it deleted."`
}

// A Purge is what a purge deletes.
type Purge struct {
	Items  int64       `json:"items"`
	Bytes  int64       `json:"bytes" doc:"Of their texts; files shrink by about twice as much."`
	Oldest time.Time   `json:"oldest,omitzero" doc:"When the oldest of them arrived."`
	Newest time.Time   `json:"newest,omitzero" doc:"When the newest of them arrived."`
	Feeds  []PurgeFeed `json:"feeds,omitempty" doc:"Feeds that lose most items, at most 100."`
	More   bool        `json:"more,omitempty" doc:"There are more items; counting ended early."`
}

// A PurgeFeed is the part of a [Purge] that belongs to one feed.
type PurgeFeed struct {
	FeedID string `json:"feed_id"`
	Title  string `json:"title"`
	Items  int64  `json:"items"`
	Bytes  int64  `json:"bytes"`
}

// A PurgeTrial is a request for the effect of a limit.
type PurgeTrial struct {
	Keep string `query:"keep" required:"true" maxLength:"32" doc:"Limit, such as 90d, 1000, 90d,1000 or all."`
	Feed string `query:"feed" maxLength:"64" doc:"ID of the feed that it would be set for; absent: all feeds without a setting of their own or by tag."`
}

// The operations on retention.
var (
	GetRetention = Operation[None, Retention]{ID: "get-retention", Method: "GET", Path: "/api/retention", Tag: "items", Scope: access.Read,
		Summary: "How long items are kept, and the next purge", Errors: []int{503}}
	TryRetention = Operation[PurgeTrial, Purge]{ID: "try-retention", Method: "GET", Path: "/api/retention/trial", Tag: "items", Scope: access.Read,
		Summary: "What a limit would delete", Description: "Nothing is deleted. Counting ends after 200,000 items.", Errors: []int{400, 404, 422, 503}}
)
