package storage

// MaxFacet is the maximum number of values per facet.
const MaxFacet = 20

// Results is one page of the results of a [Query].
type Results struct {
	Hits  []Hit
	Total int64  // matches over all pages; with OnePerStory possibly the number of stories
	Next  string // Cursor of the next page; empty after the last

	// Facets counts the matches by each of [FacetNames]: at most [MaxFacet] values each, most frequent first,
	// then by value; for days the latest [MaxDays], latest first. Nil unless requested. It counts items, not
	// stories, even with OnePerStory.
	Facets map[string][]FacetCount

	Fuzzy bool // no item contains all words; these contain similar words
}

// MaxDays is the maximum number of days in the facet "day".
const MaxDays = 31

// FacetNames are the facets that an [Index] counts. The values of "sentiment" come from [SentimentOf]. The
// values of "day" are the UTC days of publication, such as 2026-03-01. All others are values of the item's
// field.
var FacetNames = []string{"category", "topic", "feed", "language", "day", "sentiment"}

// SentimentOf returns the name of an [Item]'s Sentiment: "negative" below -0.25, "positive" above 0.25,
// "neutral" between, and "" for exactly 0, which means not scored or no sentiment found.
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

// A Hit is one result of a search.
type Hit struct {
	ID    string
	Score float64 // higher is better; 0 if ordered by time
}

// A FacetCount is the number of matches with a value.
type FacetCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}
