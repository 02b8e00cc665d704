package storage

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"feedmesh/classify/query"
)

// A Query selects and orders items of an [Index].
type Query struct {
	Where query.Node // nil: all

	// Flagged items match only if requested, by these fields or by a [query.Flag] in Where that is not below
	// a [query.Not]; see [Query.IncludesFlag].
	Spam       bool // only spam; otherwise no spam
	Duplicates bool // include duplicates; otherwise originals only
	Muted      bool // include items flagged [FlagMuted]

	// Semantic is the weight of similarity in meaning, in percent, for results that are ordered by score. 0: items match by their
	// words. Otherwise the most similar items match too, and results are fewer than [MaxSemantic]. Only an index with an embedder
	// finds such items.
	Semantic int

	OnePerStory bool      // only the first item of each story
	Newest      bool      // newest first; otherwise best first, if Where contains words
	Now         time.Time // reference time for the freshness of items in the score; zero: ignore freshness
	Limit       int       // items a page; at most [MaxLimit]
	Cursor      string    // Results.Next of the previous page
	Facets      bool      // count the matches by each of [FacetNames]
}

// IncludesFlag reports whether the query admits items with the flag [FlagSpam], [FlagDuplicate] or
// [FlagMuted]. If Spam is set, all results are spam.
func (q Query) IncludesFlag(flag string) bool {
	requested := map[string]bool{FlagSpam: q.Spam, FlagDuplicate: q.Duplicates, FlagMuted: q.Muted}
	return requested[flag] || query.SelectsValue(q.Where, query.Flag, flag)
}

// Scored reports whether results are ordered by score.
func (q Query) Scored() bool { return !q.Newest && len(query.Texts(q.Where)) > 0 }

// Boost returns the factor for the text score of an item: 1 to 1.6. Freshness adds up to 0.3, half of it
// after a week, and prominence up to 0.3; see [IndexItem.Prominence]. If Now is zero, freshness is ignored.
func (q Query) Boost(published time.Time, prominence int) float64 {
	const most, halved = 0.3, 7 * 24 * time.Hour
	boost := 1 + most*float64(prominence)/15
	if q.Now.IsZero() {
		return boost
	}
	age := max(q.Now.Sub(published), 0)
	return boost + most/(1+age.Hours()/halved.Hours())
}

// Key returns the same string for queries with the same items in the same order, whatever the page. Engines
// put it in their cursors to detect the cursor of another query.
func (q Query) Key() string {
	where := ""
	if q.Where != nil {
		where = q.Where.String()
	}
	text := fmt.Appendf(nil, "%q %t %t %t %t %t", where, q.Spam, q.Duplicates, q.Muted, q.OnePerStory, q.Newest)
	if q.Semantic > 0 {
		text = fmt.Appendf(text, " %d", q.Semantic)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// PageSize returns the number of items per page: Limit within its bounds, or 20 without a limit.
func (q Query) PageSize() int {
	if q.Limit <= 0 {
		return 20
	}
	return min(q.Limit, MaxLimit)
}

// MaxLimit is the largest page an [Index] returns.
const MaxLimit = 100

// MaxSemantic bounds the results of a semantic search on all pages: every item is similar to some degree.
const MaxSemantic = 200

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

// Flags that [query.Flag] accepts in addition to the flags of an [Item].
const (
	FlagSpam      = "spam"
	FlagDuplicate = "duplicate"
)

// PackCursor encodes v as an opaque cursor. It panics if v contains anything but texts, times and finite
// numbers.
func PackCursor(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// UnpackCursor decodes a cursor of [PackCursor] into v. It returns [ErrBadCursor] for malformed cursors; the
// caller must check that the cursor belongs to its list.
func UnpackCursor(cursor string, v any) error {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(text, v) != nil {
		return ErrBadCursor
	}
	return nil
}
