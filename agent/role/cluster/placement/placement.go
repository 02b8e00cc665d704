// Package placement converts between stored items and the packages near and story: [Signature] and
// [StoryItem] are the inputs of placement, [Apply] stores its result in an item, and [Summarize] computes a
// story's summary from at most [MaxItems] items.
package placement

import (
	"net/url"
	"strings"
	"time"

	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/storage"
)

// Signature returns the signature by which duplicates of an item are found. plain is the plain text of its
// HTML.
func Signature(i storage.Item, plain string, s *near.Settings) near.Signature {
	return near.Signature{
		ItemID: i.ID, FeedID: i.FeedID, Seen: i.FirstSeen,
		URLKey: near.URLKey(i.URL), TextHash: i.TextHash, Sketch: s.Sketch(i.Title, plain),
	}
}

// MatchOf returns an item's stored duplicate match.
func MatchOf(i storage.Item) near.Match {
	return near.Match{DuplicateOf: i.DuplicateOf, By: i.DuplicateBy, Score: i.DuplicateScore, Reason: i.DuplicateReason}
}

// StoryItem returns the input by which an item's event and story are found.
func StoryItem(i storage.Item, plain string) story.Item {
	return story.Item{
		ID: i.ID, Title: i.Title, Text: plain, Language: i.Language, Host: Publisher(i), Seen: i.Time(), DuplicateOf: i.DuplicateOf,
	}
}

// Archived reports whether an item was older than the window when it was first seen, as most items of a new feed. It
// is no part of today's stories.
func Archived(i storage.Item, window time.Duration) bool { return i.FirstSeen.Sub(i.Time()) > window }

// PlacementOf returns an item's stored event and story.
func PlacementOf(i storage.Item) story.Placement {
	return story.Placement{EventID: i.EventID, StoryID: i.StoryID}
}

// Apply sets an item's duplicate match and placement.
func Apply(i *storage.Item, repeats near.Match, belongs story.Placement) {
	i.DuplicateOf, i.DuplicateBy, i.DuplicateScore, i.DuplicateReason = repeats.DuplicateOf, repeats.By, repeats.Score, repeats.Reason
	i.EventID, i.StoryID, i.StoryReason = belongs.EventID, belongs.StoryID, belongs.Reason.String()
}

// Publisher returns the publisher of an item: the host of its URL, because several feeds may list one site's
// items, or the feed's ID if it has no host.
func Publisher(i storage.Item) string {
	u, err := url.Parse(i.URL)
	if err != nil || u.Hostname() == "" {
		return i.FeedID
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}
