package storage

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
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

// Admits reports whether the document's flags are admitted: spam, duplicates and muted items only if
// requested. It does not evaluate Where.
func (q Query) Admits(d *query.Document) bool {
	for _, flag := range []string{FlagSpam, FlagDuplicate, FlagMuted} {
		if slices.Contains(d.Flags, flag) && !q.IncludesFlag(flag) {
			return false
		}
	}
	return !q.Spam || slices.Contains(d.Flags, FlagSpam)
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
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %t %t %t %t %t", where, q.Spam, q.Duplicates, q.Muted, q.OnePerStory, q.Newest))
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
