package storage

import (
	"math"
	"math/bits"
	"slices"

	"feedmesh/classify/query"
)

// Indexed is an item together with what an [Index] reads but no one stores with it.
type Indexed struct {
	Item
	Text    string // the plain text of its HTML
	Sources int    // publishers that tell its story, see [Story]; 0: nobody else does
}

// Prominence returns how much an item stands out, from 0 to 15, whatever is looked
// for: 4 if nobody else tells of it and no rule gave it a score. Each time twice
// as many publishers tell its story it is one more, up to 8 more; rules make it up
// to 3 more, or 4 less.
func (i Indexed) Prominence() int {
	told := min(max(bits.Len(uint(max(i.Sources, 0)))-1, 0), 8)
	return 4 + told + ruled(i.Score)
}

// ruled returns what a rule score is for [Indexed.Prominence], by its order of
// magnitude: -4 to 3.
func ruled(score float64) int {
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

// Document returns what [query.Matches] reads of the item.
func (i Indexed) Document() *query.Document {
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

// What [query.Flag] may ask for besides the flags of an [Item].
const (
	FlagSpam      = "spam"
	FlagDuplicate = "duplicate"
)
