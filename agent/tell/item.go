// Package tell is the one place where items and packages near and story meet: what
// an item is placed by, how its place is written, and what is told of a story.
package tell

import (
	"net/url"
	"strings"

	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/storage"
)

// Mark returns what tells whether an item repeats another one. plain is the plain
// text of its HTML.
func Mark(i storage.Item, plain string, s *near.Settings) near.Mark {
	return near.Mark{
		ItemID: i.ID, FeedID: i.FeedID, Seen: i.FirstSeen,
		URLKey: near.URLKey(i.URL), TextHash: i.TextHash, Sketch: s.Sketch(i.Title, plain),
	}
}

// Repeats returns what an item says of the one that it repeats.
func Repeats(i storage.Item) near.Placed {
	return near.Placed{Of: i.DuplicateOf, By: i.DuplicateBy, Score: i.DuplicateScore, Why: i.DuplicateWhy}
}

// Item returns what tells which event and story an item belongs to.
func Item(i storage.Item, plain string) story.Item {
	return story.Item{
		ID: i.ID, Title: i.Title, Text: plain, Language: i.Language, Host: Publisher(i), Seen: i.FirstSeen, Repeats: i.DuplicateOf,
	}
}

// Belongs returns what an item says of its event and story.
func Belongs(i storage.Item) story.Placement {
	return story.Placement{EventID: i.EventID, StoryID: i.StoryID}
}

// Put writes to an item what it repeats, and where it belongs.
func Put(i *storage.Item, repeats near.Placed, belongs story.Placement) {
	i.DuplicateOf, i.DuplicateBy, i.DuplicateScore, i.DuplicateWhy = repeats.Of, repeats.By, repeats.Score, repeats.Why
	i.EventID, i.StoryID, i.StoryWhy = belongs.EventID, belongs.StoryID, belongs.Why.String()
}

// Publisher returns who published an item: the host that it is found at, as
// several feeds list what one site says; or its feed, if it is found nowhere.
func Publisher(i storage.Item) string {
	u, err := url.Parse(i.URL)
	if err != nil || u.Hostname() == "" {
		return i.FeedID
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}
