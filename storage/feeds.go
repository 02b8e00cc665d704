package storage

import (
	"cmp"
	"context"
	"crypto/md5"
	"regexp"
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
	Text        string   // in title, URL or site, case-insensitive; see [FeedSearchText]
	Tag         string   // exact
	Host        string   // of the URL, as [HostOf] returns it
	Pinned      bool     // only pinned feeds
	Slot        *int     // only feeds with hosts in this slot, see [HostSlot]; nil: all
	WithRequest bool     // only feeds with a request of their own
	IDs         []string // only these, at most [MaxFeedIDs]; nil: all; empty: none

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

// HostSlots is the number of slots into which hosts are divided.
const HostSlots = 64

// HostSlot returns the slot of the host of a canonical URL, from 0 to [HostSlots] - 1. All feeds of a host are in one, whatever
// their ports. PostgreSQL calculates it too.
func HostSlot(url string) int {
	host := ""
	if found := urlHost.FindStringSubmatch(url); found != nil {
		host = found[1]
	}
	sum := md5.Sum([]byte(host)) // not for security: a hash that PostgreSQL has too
	return int(sum[0]) % HostSlots
}

// urlHost matches up to the end of the host in a URL. The pattern means the same to PostgreSQL.
var urlHost = regexp.MustCompile(`://(\[[^]/]*\]|[^/:[]*)`)

// Feeds is the part of a [Store] that stores feeds.
type Feeds interface {
	// Feed returns the feed with the given ID, or [ErrNotFound].
	Feed(ctx context.Context, id string) (Feed, error)

	// FindFeeds returns at most q.Limit matching feeds after q.After, in the order of q.Sort.
	FindFeeds(ctx context.Context, q FeedQuery) ([]Feed, error)

	// FeedVersions returns at most limit feeds with URLs after the given one, ordered by URL (bytewise): those with hosts in a
	// slot, see [HostSlot], or all if slot is nil. It costs a fraction of FindFeeds.
	FeedVersions(ctx context.Context, slot *int, after string, limit int) ([]FeedVersion, error)

	// CountFeeds returns the number of matching feeds and of their items, regardless of q.After and q.Limit.
	CountFeeds(ctx context.Context, q FeedQuery) (Counts, error)

	// FeedTags returns at most limit tags with their number of feeds, most used first, then by name
	// (bytewise).
	FeedTags(ctx context.Context, limit int) ([]TagCount, error)

	// AddFeeds adds the feeds whose IDs are not stored yet, as one batch in one transaction, and returns
	// their IDs in the given order, each once. A stored feed stays unchanged, even if it has moved to another
	// URL.
	AddFeeds(ctx context.Context, feeds ...Feed) (added []string, err error)

	// SetFeed replaces the user's settings of a feed, and returns the updated feed. It returns [ErrNotFound]
	// if the feed does not exist.
	SetFeed(ctx context.Context, id string, settings Settings) (Feed, error)

	// MoveFeed moves all items of a feed to the feed at another URL and deletes the old feed, in one
	// transaction. The URL must be canonical. The target is merged as [MergeFeeds] defines, and created if it
	// does not exist. If the target has an item of the same key, the moved item is deleted: its duplicates
	// become duplicates of the kept item, which becomes their original. The kept item also inherits a user's
	// [Correction] of the deleted item, unless it has its own. All other items get their ID in the target
	// feed. Corrections, marks and job records follow them.
	//
	// From then on the old URL, and every URL that redirected to it, redirects to the new URL until that feed
	// is removed. If url itself redirects to a third feed, the items move there. If it redirects to the feed
	// that moves, that redirect is removed. A move to the feed's own URL does nothing.
	//
	// It returns the IDs of all affected items, each once: old and new IDs, and the duplicates of those
	// items. It returns [ErrNotFound] if the feed does not exist.
	MoveFeed(ctx context.Context, id, url string) (affected []string, err error)

	// ResolveFeed returns the ID under which a feed's items are stored now: id itself unless the feed was
	// moved. It returns [ErrNotFound] if neither exists.
	ResolveFeed(ctx context.Context, id string) (string, error)

	// RemoveFeed deletes a feed and its items, with their corrections, marks and job records, in one
	// transaction. It returns the IDs of all affected items, each once: the removed items, and items of other
	// feeds that were their duplicates and become originals. Redirects to the feed are deleted too. It
	// returns [ErrNotFound] if the feed does not exist.
	RemoveFeed(ctx context.Context, id string) (affected []string, err error)
}

// A FeedVersion has the fields of a stored feed by which the schedule compares it with its state.
type FeedVersion struct {
	ID, URL string
	Writes  int64 // see [Feed]
}

// Version returns the version of a feed.
func (f Feed) Version() FeedVersion { return FeedVersion{f.ID, f.URL, f.Writes} }

// ForEachVersion calls do with the version of each feed in a slot, or of all feeds if slot is nil, ordered by URL, until do
// returns an error. It reads them in batches.
func ForEachVersion(ctx context.Context, from Feeds, slot *int, do func(FeedVersion) error) error {
	for after := ""; ; {
		page, err := from.FeedVersions(ctx, slot, after, versionBatchSize)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, v := range page {
			if err := do(v); err != nil {
				return err
			}
		}
		after = page[len(page)-1].URL
	}
}

// versionBatchSize is the batch size of [ForEachVersion].
const versionBatchSize = 5000

// ForEachFeed calls do with each feed, ordered by URL, until do returns an error. It reads feeds in batches,
// so memory stays bounded.
func ForEachFeed(ctx context.Context, from Feeds, do func(Feed) error) error {
	return ForEachMatch(ctx, from, FeedQuery{}, do)
}

// ForEachMatch is [ForEachFeed] with the feeds that match a query, in its order.
func ForEachMatch(ctx context.Context, from Feeds, query FeedQuery, do func(Feed) error) error {
	for query.Limit = feedBatchSize; ; {
		page, err := from.FindFeeds(ctx, query)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, f := range page {
			if err := do(f); err != nil {
				return err
			}
		}
		query.After = query.Sort.Position(page[len(page)-1])
	}
}

// feedBatchSize is the batch size of [ForEachMatch].
const feedBatchSize = 1000
