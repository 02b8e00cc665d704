package storage

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"
)

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
	Keep          string  `json:"keep,omitempty"`           // how long its items are kept, as [ParseKeep] reads it; empty: by tag or the deployment's default

	// PutItems maintains the following fields; AddFeeds ignores them.

	Items    int64     `json:"items"`              // number of stored items
	Purged   int64     `json:"purged,omitempty"`   // number of items purged since it was added
	LastItem time.Time `json:"last_item,omitzero"` // newest Published of its items, which a purge does not change; zero without items
	Rate     float64   `json:"rate"`               // items a day by the dates of the last document; 0 if unknown

	Categories map[string]float64 `json:"categories,omitempty"` // categories of its latest items, see [CountCategories]

	Writes int64 `json:"-"` // number of PutItems that wrote items; lower than before if the store went back to an older state
}

// Counts contains numbers of feeds and of their items.
type Counts struct {
	Feeds  int64 `json:"feeds"`
	Items  int64 `json:"items"`
	Purged int64 `json:"purged,omitempty"` // items purged since their feeds were added
}

// Name returns the feed's display name: its title, or the host of its URL without one. Clients that may not read feeds
// see it, so it is never the URL, which may contain a password or a key.
func (f Feed) Name() string {
	if f.Title != "" && !strings.Contains(f.Title, f.URL) {
		return f.Title
	}
	if u, err := url.Parse(f.URL); err == nil {
		return u.Host
	}
	return ""
}

// Settings are the fields of a [Feed] that a user edits.
type Settings struct {
	Tags     []string
	Pinned   bool
	FullText bool
	Request  *Request

	SpamThreshold float64 // 0 to 1
	Keep          string  // see [Feed]
}

// Settings returns the feed's settings.
func (f Feed) Settings() Settings {
	return Settings{Tags: f.Tags, Pinned: f.Pinned, FullText: f.FullText, Request: f.Request, SpamThreshold: f.SpamThreshold, Keep: f.Keep}
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
	Password  string            `json:"password,omitempty"`   // sealed, like the values of Header, except in a mesh without a key
	Proxy     string            `json:"proxy,omitempty"`      // ID of a [Proxy]; "direct" for none; empty: chosen by the proxies' rules
}

// MergeFeeds returns feed after old has moved to it. Fields of feed take precedence over fields of old, and
// its tags come first. Categories and Purged are added, and Added is the earlier time. The store itself counts Items and
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
	feed.Keep = cmp.Or(feed.Keep, old.Keep)
	feed.Purged += old.Purged
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
