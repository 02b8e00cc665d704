package storage

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Feeds is the part of a [Store] that stores feeds.
type Feeds interface {
	// Feed returns the feed with the given ID, or [ErrNotFound].
	Feed(ctx context.Context, id string) (Feed, error)

	// FindFeeds returns at most q.Limit matching feeds after q.After, in the order of q.Sort.
	FindFeeds(ctx context.Context, q FeedQuery) ([]Feed, error)

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

// A Feed is a web document that lists items.
type Feed struct {
	ID       string    `json:"id"` // [FeedID] of URL
	URL      string    `json:"url"`
	Title    string    `json:"title,omitempty"`
	Site     string    `json:"site,omitempty"`      // the website of the feed
	Language string    `json:"language,omitempty"`  // declared by the feed, ISO 639-1
	Tags     []string  `json:"tags,omitempty"`      // set by users; folders of an imported list
	Pinned   bool      `json:"pinned,omitempty"`    // always poll as often as possible
	FullText bool      `json:"full_text,omitempty"` // fetch the linked pages for the full text of items
	Request  *Request  `json:"request,omitempty"`   // options for fetching; nil: defaults
	Added    time.Time `json:"added"`

	SpamThreshold float64 `json:"spam_threshold,omitempty"` // SpamScore from which items are spam; 0: the deployment's default

	// PutItems maintains the following fields; AddFeeds ignores them.

	Items    int64     `json:"items"`              // number of stored items
	LastItem time.Time `json:"last_item,omitzero"` // newest Published of its items; zero without items
	Rate     float64   `json:"rate"`               // items a day by the dates of the last document; 0 if unknown

	Categories map[string]float64 `json:"categories,omitempty"` // categories of its latest items, see [CountCategories]
}

// Counts contains numbers of feeds and of their items.
type Counts struct {
	Feeds int64 `json:"feeds"`
	Items int64 `json:"items"`
}

// Name returns the feed's display name: its title, or its URL without one.
func (f Feed) Name() string { return cmp.Or(f.Title, f.URL) }

// feedBatchSize is the batch size of [ForEachFeed].
const feedBatchSize = 1000

// ForEachFeed calls do with each feed, ordered by URL, until do returns an error. It reads feeds in batches,
// so memory stays bounded.
func ForEachFeed(ctx context.Context, from Feeds, do func(Feed) error) error {
	for query := (FeedQuery{Limit: feedBatchSize}); ; {
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

// Settings are the fields of a [Feed] that a user edits.
type Settings struct {
	Tags     []string
	Pinned   bool
	FullText bool
	Request  *Request

	SpamThreshold float64 // 0 to 1
}

// Settings returns the feed's settings.
func (f Feed) Settings() Settings {
	return Settings{Tags: f.Tags, Pinned: f.Pinned, FullText: f.FullText, Request: f.Request, SpamThreshold: f.SpamThreshold}
}

// WithTags returns the settings with the tags in remove deleted and the tags in add appended, each once.
func (s Settings) WithTags(add, remove []string) Settings {
	s.Tags = slices.DeleteFunc(slices.Clone(s.Tags), func(tag string) bool { return slices.Contains(remove, tag) })
	for _, tag := range add {
		if !slices.Contains(s.Tags, tag) {
			s.Tags = append(s.Tags, tag)
		}
	}
	return s
}

// A Request contains a user's options for fetching a feed. The zero Request uses the defaults.
type Request struct {
	UserAgent string            `json:"user_agent,omitempty"` // replaces the default
	Header    map[string]string `json:"header,omitempty"`     // additional headers by name
	User      string            `json:"user,omitempty"`       // for HTTP basic authentication
	Password  string            `json:"password,omitempty"`   // stored in plain text: readable by everyone with access to the store
	Proxy     string            `json:"proxy,omitempty"`      // ID of a [Proxy]; "direct" for none; empty: chosen by the proxies' rules
}

// MergeFeeds returns feed after old has moved to it. Fields of feed take precedence over fields of old, and
// its tags come first. Categories are added, and Added is the earlier time. The store itself counts Items and
// LastItem.
func MergeFeeds(feed, old Feed) Feed {
	feed.Title = cmp.Or(feed.Title, old.Title)
	feed.Site = cmp.Or(feed.Site, old.Site)
	feed.Language = cmp.Or(feed.Language, old.Language)
	feed.Rate = cmp.Or(feed.Rate, old.Rate)
	feed.Pinned = feed.Pinned || old.Pinned
	feed.FullText = feed.FullText || old.FullText
	feed.Request = cmp.Or(feed.Request, old.Request)
	feed.SpamThreshold = cmp.Or(feed.SpamThreshold, old.SpamThreshold)
	feed.Categories = addCategories(feed.Categories, old.Categories)
	feed.Tags = slices.Clone(feed.Tags)
	for _, tag := range old.Tags {
		if !slices.Contains(feed.Tags, tag) {
			feed.Tags = append(feed.Tags, tag)
		}
	}
	if feed.Added.IsZero() || old.Added.Before(feed.Added) {
		feed.Added = old.Added
	}
	return feed
}
