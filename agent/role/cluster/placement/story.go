package placement

import (
	"slices"
	"time"

	"feedmesh/classify/story"
	"feedmesh/storage"
)

// MaxItems bounds the items of a story that are read, newest first; they are enough to describe a larger
// story.
const MaxItems = 1000

const (
	maxCategories = 3
	maxTopics     = 8
)

// Summarize returns the summary of a story. ok is false if the story has fewer than two items besides spam
// and muted ones. weight returns the weight of a feed, see [story.SourceWeight]; burst states whether the
// story has a burst.
func Summarize(id string, of storage.StoryItems, weight func(feedID string) float64, burst bool, now time.Time) (summary storage.Story, ok bool) {
	items := CountedItems(of.Items)
	if len(items) < 2 {
		return storage.Story{}, false
	}
	slices.Reverse(items) // the oldest first
	versions := make([]story.Document, len(items))
	sightings := make([]story.SourceSighting, len(items))
	var categories, topics [][]string
	publishers := map[string]bool{}
	for n, i := range items {
		publisher, w, repeats := Publisher(i), weight(i.FeedID), i.DuplicateOf != ""
		publishers[publisher] = true
		versions[n] = document(i, publisher, w)
		sightings[n] = story.SourceSighting{Source: publisher, Weight: w, Seen: i.Time(), Duplicate: repeats}
		if !repeats {
			categories, topics = append(categories, i.Categories), append(topics, i.Topics)
		}
	}
	headline := story.Headline(versions)
	hotness := story.NewHotScore(sightings)
	summary = storage.Story{
		ID: id, Partition: items[0].Partition, Headline: versions[headline].ItemID, Title: versions[headline].Title,
		Items: of.Count - (len(of.Items) - len(items)), Events: of.Events, Sources: len(publishers),
		FirstSeen: of.FirstSeen, LastSeen: of.LastSeen,
		Categories: story.CommonNames(categories, maxCategories), Topics: story.CommonNames(topics, maxTopics),
		HotScore: float64(hotness), Clicks: of.Clicks, Burst: burst, Rank: story.Rank(hotness, of.Clicks, burst), Summarized: now,
	}
	for _, line := range story.Summary(versions, headline) {
		summary.Summary = append(summary.Summary, storage.Line(line))
	}
	return summary, true
}

func document(i storage.Item, publisher string, weight float64) story.Document {
	return story.Document{
		ItemID: i.ID, Title: i.Title, Text: i.Excerpt, Language: i.Language, Source: publisher,
		Weight: weight, Seen: i.Time(), Duplicate: i.DuplicateOf != "",
	}
}

// Headline returns the title that represents the items of an event, oldest first, without spam and muted ones if there
// are others.
func Headline(items []storage.Item) string {
	if counted := CountedItems(items); len(counted) > 0 {
		items = counted
	}
	versions := make([]story.Document, len(items))
	for n, i := range items {
		versions[n] = document(i, Publisher(i), 1)
	}
	if best := story.Headline(versions); best >= 0 {
		return versions[best].Title
	}
	return ""
}

// CountedItems returns the items without spam and muted ones.
func CountedItems(items []storage.Item) []storage.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i storage.Item) bool {
		return i.Spam || slices.Contains(i.Flags, storage.FlagMuted)
	})
}
