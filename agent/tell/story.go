package tell

import (
	"slices"
	"time"

	"feedmesh/classify/story"
	"feedmesh/storage"
)

// MaxRead is how many items of a story are looked at, the newest: of a story with
// more, these say what it is about.
const MaxRead = 1000

const (
	maxCategories = 3
	maxTopics     = 8
)

// Story returns what is told of a story, from what it is made of, and whether there
// is anything to tell: spam and muted items say nothing, and one item alone is no
// story to be told. weight is what a feed counts, see [story.SourceWeight]; burst,
// whether items of the story come more often than they used to.
func Story(id string, of storage.Told, weight func(feedID string) float64, burst bool, now time.Time) (told storage.Story, ok bool) {
	items := Heard(of.Items)
	if len(items) < 2 {
		return storage.Story{}, false
	}
	slices.Reverse(items) // the oldest first
	versions := make([]story.Version, len(items))
	tellings := make([]story.Telling, len(items))
	var categories, topics [][]string
	publishers := map[string]bool{}
	for n, i := range items {
		publisher, w, repeats := Publisher(i), weight(i.FeedID), i.DuplicateOf != ""
		publishers[publisher] = true
		versions[n] = story.Version{
			ItemID: i.ID, Title: i.Title, Text: i.Excerpt, Language: i.Language, Source: publisher,
			Weight: w, Seen: i.FirstSeen, Repeats: repeats,
		}
		tellings[n] = story.Telling{Source: publisher, Weight: w, Seen: i.FirstSeen, Repeats: repeats}
		if !repeats {
			categories, topics = append(categories, i.Categories), append(topics, i.Topics)
		}
	}
	headline := story.Headline(versions)
	heat := story.HeatOf(tellings)
	told = storage.Story{
		ID: id, Lane: items[0].Lane, Headline: versions[headline].ItemID, Title: versions[headline].Title,
		Items: of.Count - (len(of.Items) - len(items)), Events: of.Events, Sources: len(publishers),
		FirstSeen: of.First, LastSeen: of.Last,
		Categories: story.MostNamed(categories, maxCategories), Topics: story.MostNamed(topics, maxTopics),
		Heat: float64(heat), Clicks: of.Clicks, Burst: burst, Rank: story.Rank(heat, of.Clicks, burst), Told: now,
	}
	for _, line := range story.Summary(versions, headline) {
		told.Summary = append(told.Summary, storage.Line(line))
	}
	return told, true
}

// Heard returns the items that a story is told of: spam and muted items say nothing.
func Heard(items []storage.Item) []storage.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i storage.Item) bool {
		return i.Spam || slices.Contains(i.Flags, storage.Muted)
	})
}
