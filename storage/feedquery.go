package storage

import (
	"cmp"
	"context"
	"strings"
	"time"
)

// MaxFeedIDs is how many feeds a [FeedQuery] may name by their IDs.
const MaxFeedIDs = 10_000

// FeedFinder is the part of a [Store] that finds feeds by what is stored of them.
type FeedFinder interface {
	// FindFeeds returns at most q.Limit feeds that match, in the order of q.Sort,
	// those after q.After.
	FindFeeds(ctx context.Context, q FeedQuery) ([]Feed, error)

	// CountFeeds returns how many feeds match, whatever q.After and q.Limit are.
	CountFeeds(ctx context.Context, q FeedQuery) (int64, error)

	// FeedTags returns at most limit tags with how many feeds have them, most
	// used first, then by name (bytewise).
	FeedTags(ctx context.Context, limit int) ([]TagCount, error)
}

// A TagCount says how many feeds have a tag.
type TagCount struct {
	Tag   string `json:"tag"`
	Feeds int64  `json:"feeds"`
}

// A FeedQuery says which feeds are looked for. What is empty narrows nothing.
type FeedQuery struct {
	Text   string   // in the title, address or site, whatever the case; see [FeedWords]
	Tag    string   // as it is written
	Host   string   // of the address, as [HostOf] returns it
	Pinned bool     // only those that are
	IDs    []string // only these, at most [MaxFeedIDs]; nil for all, while empty is none

	Sort  FeedSort
	After FeedPlace
	Limit int
}

// A FeedSort is an order of feeds. Equal ones are ordered by ID.
type FeedSort string

// The orders.
const (
	FeedsByURL   FeedSort = ""       // bytewise
	FeedsByTitle FeedSort = "title"  // by their words, bytewise
	FeedsByItems FeedSort = "items"  // most first
	FeedsByLast  FeedSort = "newest" // that with the newest item first
	FeedsByAdded FeedSort = "added"  // last added first
)

// A FeedPlace is a place in an order of feeds. The zero FeedPlace comes before
// all.
type FeedPlace struct {
	Text   string `json:"t,omitempty"` // what FeedsByURL and FeedsByTitle go by
	Number int64  `json:"n,omitempty"` // what the others go by
	ID     string `json:"i"`
}

// Place returns the place of a feed in an order.
func (s FeedSort) Place(f Feed) FeedPlace {
	place := FeedPlace{ID: f.ID}
	switch s {
	case FeedsByTitle:
		place.Text = FeedWords(f.Title, f.URL, f.Site)
	case FeedsByItems:
		place.Number = f.Items
	case FeedsByLast:
		place.Number = microsOf(f.LastItem)
	case FeedsByAdded:
		place.Number = f.Added.UnixMicro()
	default:
		place.Text = f.URL
	}
	return place
}

// Compare says in which order two places come: those of larger numbers first.
func (p FeedPlace) Compare(other FeedPlace) int {
	return cmp.Or(cmp.Compare(p.Text, other.Text), cmp.Compare(other.Number, p.Number), cmp.Compare(p.ID, other.ID))
}

// microsOf returns t in microseconds, 0 for the zero time.
func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Bytes of a feed's title, address and site that go into its words: what is
// longer is found by its beginning.
const (
	titleWords   = 256
	addressWords = 512
)

// FeedWords returns what a feed is found and ordered by: the beginnings of its
// title, address and site in lower case, a line each.
func FeedWords(title, url, site string) string {
	return FoldFeedText(beginning(title, titleWords) + "\n" + beginning(url, addressWords) + "\n" + beginning(site, addressWords))
}

// FoldFeedText returns text in the form in which [FeedWords] has it.
func FoldFeedText(text string) string {
	return strings.ToLower(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"))
}

func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// HostOf returns the host of a canonical URL, with its port if it has one.
func HostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
