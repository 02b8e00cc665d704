package storage

import (
	"math"
	"math/bits"
	"slices"

	"feedmesh/classify/query"
)

// IndexItem is an item with the derived fields that an [Index] needs and a [Store] does not store.
type IndexItem struct {
	Item
	Text    string // the plain text of its HTML
	Sources int    // publishers of its story, see [Story]; 0: only its own
}

// Prominence returns the item's query-independent weight, from 0 to 15. It is 4 for an item without rule
// score whose story has one publisher. Each doubling of the publishers adds 1, up to 8. The rule score adds
// up to 3, or subtracts up to 4.
func (i IndexItem) Prominence() int {
	coverage := min(max(bits.Len(uint(max(i.Sources, 0)))-1, 0), 8)
	return 4 + coverage + ruleWeight(i.Score)
}

// ruleWeight converts a rule score to its share of [IndexItem.Prominence], -4 to 3, by order of magnitude.
func ruleWeight(score float64) int {
	steps := 0
	for _, least := range []float64{1, 5, 20, 80} {
		if math.Abs(score) >= least {
			steps++
		}
	}
	if score < 0 {
		return -steps
	}
	return min(steps, 3)
}

// Document returns the item's fields as [query.Matches] needs them.
func (i IndexItem) Document() *query.Document {
	flags := slices.Clone(i.Flags)
	if i.Spam {
		flags = append(flags, FlagSpam)
	}
	if i.DuplicateOf != "" {
		flags = append(flags, FlagDuplicate)
	}
	return &query.Document{
		Title: i.Title, Author: i.Author, Text: i.Text, Tags: i.Tags, URL: i.URL,
		Feed: i.FeedID, Language: i.Language, Story: i.StoryID, Categories: i.Categories, Topics: i.Topics,
		Flags: flags, Published: i.Published,
	}
}

// Flags that [query.Flag] accepts in addition to the flags of an [Item].
const (
	FlagSpam      = "spam"
	FlagDuplicate = "duplicate"
)
