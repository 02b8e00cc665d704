package storage

// MaxFacet is the largest number of values a facet lists.
const MaxFacet = 20

// Results is one page of what a [Query] found.
type Results struct {
	Hits  []Hit
	Total int64  // how many items match, over all pages; where each story comes Once, it may be how many stories
	Next  string // Cursor of the next page; empty if this is the last

	// Facets counts the matches by each of [FacetNames]: at most [MaxFacet]
	// values each, most frequent first, then by value; of days the latest
	// [MaxDays], latest first. Nil unless asked for. Items count, not stories,
	// whether or not the query wants each story Once.
	Facets map[string][]FacetCount

	Forgiven bool // no item has all the words; these have words that are nearly those
}

// MaxDays is the largest number of days that the facet "day" lists.
const MaxDays = 31

// FacetNames are the facets that an [Index] counts. The values of "sentiment"
// are those of [SentimentOf]; those of "day" are the days, in UTC, on which items
// were published, as 2026-03-01; all others are of the item's field.
var FacetNames = []string{"category", "topic", "feed", "language", "day", "sentiment"}

// SentimentOf returns what a person would call an [Item]'s Sentiment: "negative"
// below -0.25, "positive" above 0.25, "neutral" between them, and nothing for
// exactly 0, which says that nobody looked or nothing was found.
func SentimentOf(sentiment float64) string {
	switch {
	case sentiment < -0.25:
		return "negative"
	case sentiment > 0.25:
		return "positive"
	case sentiment != 0:
		return "neutral"
	}
	return ""
}

// A Hit is one item found.
type Hit struct {
	ID    string
	Score float64 // the higher the better; 0 where order is by time
}

// A FacetCount says how many matches have a value.
type FacetCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}
