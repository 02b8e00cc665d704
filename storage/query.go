package storage

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"feedmesh/classify/query"
)

// A Query says which items to find.
type Query struct {
	Where query.Node // nil: all

	// What is found only if it is asked for, here or by [query.Flag] in Where, but
	// not below a [query.Not]; see [Query.Finds].
	Spam       bool // spam only; otherwise none of it
	Duplicates bool // duplicates too; otherwise the first of their kind only
	Muted      bool // those flagged [Muted] too

	Once   bool      // of the items of one story only that which comes first
	Newest bool      // newest first; otherwise best first, if Where asks for words
	Now    time.Time // by which the score counts how fresh an item is; zero: it does not
	Limit  int       // items a page; at most [MaxLimit]
	Cursor string    // Next of the page before
	Facets bool      // count what there is by each of [FacetNames]
}

// Finds reports whether items with the flag, [FlagSpam], [FlagDuplicate] or
// [Muted], are among those to find. Where Spam is set, there are no others.
func (q Query) Finds(flag string) bool {
	asked := map[string]bool{FlagSpam: q.Spam, FlagDuplicate: q.Duplicates, Muted: q.Muted}
	return asked[flag] || query.Asks(q.Where, query.Flag, flag)
}

// Admits reports whether the query finds items such as the document, whatever
// Where says: spam, duplicates and muted ones only where they are asked for.
func (q Query) Admits(d *query.Document) bool {
	for _, flag := range []string{FlagSpam, FlagDuplicate, Muted} {
		if slices.Contains(d.Flags, flag) && !q.Finds(flag) {
			return false
		}
	}
	return !q.Spam || slices.Contains(d.Flags, FlagSpam)
}

// Scored reports whether the order is by score.
func (q Query) Scored() bool { return !q.Newest && len(query.Texts(q.Where)) > 0 }

// Boost returns by what the score of an item's words is multiplied: 1 to 1.6. What
// is new has more, half as much a week later, and what stands out; see
// [Indexed.Prominence]. Where Now is zero, freshness does not count.
func (q Query) Boost(published time.Time, prominence int) float64 {
	const most, halved = 0.3, 7 * 24 * time.Hour
	boost := 1 + most*float64(prominence)/15
	if q.Now.IsZero() {
		return boost
	}
	age := max(q.Now.Sub(published), 0)
	return boost + most/(1+age.Hours()/halved.Hours())
}

// Key is equal for two queries if they find the same items in the same order,
// whatever the page: an engine's cursors carry it, to be told from others.
func (q Query) Key() string {
	where := ""
	if q.Where != nil {
		where = q.Where.String()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %t %t %t %t %t", where, q.Spam, q.Duplicates, q.Muted, q.Once, q.Newest))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// PageSize returns how many items a page has: Limit within its bounds, or 20
// if there is none.
func (q Query) PageSize() int {
	if q.Limit <= 0 {
		return 20
	}
	return min(q.Limit, MaxLimit)
}

// MaxLimit is the largest page an [Index] returns.
const MaxLimit = 100
