package storage

import (
	"cmp"
	"strings"
	"time"
)

// MaxFeedIDs is the maximum number of IDs in a [FeedQuery].
const MaxFeedIDs = 10_000

// A TagCount is the number of feeds with a tag.
type TagCount struct {
	Tag   string `json:"tag"`
	Feeds int64  `json:"feeds"`
}

// A FeedQuery selects feeds. Empty fields are no condition.
type FeedQuery struct {
	Text   string   // in title, URL or site, case-insensitive; see [FeedSearchText]
	Tag    string   // exact
	Host   string   // of the URL, as [HostOf] returns it
	Pinned bool     // only pinned feeds
	IDs    []string // only these, at most [MaxFeedIDs]; nil: all; empty: none

	Sort  FeedSort
	After FeedPosition
	Limit int
}

// A FeedSort is an order of feeds. Ties are ordered by ID.
type FeedSort string

// Orders of feeds.
const (
	FeedsByURL   FeedSort = ""       // bytewise
	FeedsByTitle FeedSort = "title"  // by [FeedSearchText], bytewise
	FeedsByItems FeedSort = "items"  // most first
	FeedsByLast  FeedSort = "newest" // newest item first
	FeedsByAdded FeedSort = "added"  // last added first
)

// A FeedPosition is the sort key of a feed, for keyset pagination. The zero FeedPosition comes first.
type FeedPosition struct {
	Text   string `json:"t,omitempty"` // sort key of FeedsByURL and FeedsByTitle
	Number int64  `json:"n,omitempty"` // sort key of all other orders
	ID     string `json:"i"`
}

// Position returns a feed's position in the order.
func (s FeedSort) Position(f Feed) FeedPosition {
	place := FeedPosition{ID: f.ID}
	switch s {
	case FeedsByTitle:
		place.Text = FeedSearchText(f.Title, f.URL, f.Site)
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

// Compare orders two positions; larger numbers come first.
func (p FeedPosition) Compare(other FeedPosition) int {
	return cmp.Or(cmp.Compare(p.Text, other.Text), cmp.Compare(other.Number, p.Number), cmp.Compare(p.ID, other.ID))
}

// microsOf returns t in microseconds, 0 for the zero time.
func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Bytes of title, URL and site that [FeedSearchText] includes. Longer texts match by their start.
const (
	titleWords   = 256
	addressWords = 512
)

// FeedSearchText returns the text by which a feed is found and ordered: the start of its title, URL and site
// in lower case, one per line.
func FeedSearchText(title, url, site string) string {
	return FoldFeedText(truncate(title, titleWords) + "\n" + truncate(url, addressWords) + "\n" + truncate(site, addressWords))
}

// FoldFeedText normalizes text as [FeedSearchText] does.
func FoldFeedText(text string) string {
	return strings.ToLower(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"))
}

func truncate(text string, most int) string {
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
