package console

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// feedsOnPage is how many feeds a page lists.
const feedsOnPage = 100

// A feedsPage lists feeds, ordered by address.
type feedsPage struct {
	Feeds []feedRow
	First string // address of the first page; "" on it
	Next  string // "" on the last
}

type feedRow struct {
	Title   string
	URL     string // of its page
	Address string
	Items   int64
	Newest  *stamp
	Next    string
	Last    string
	Failing bool
	Pinned  bool
}

func (c *console) feeds(w http.ResponseWriter, r *http.Request) {
	after, now := r.URL.Query().Get("after"), c.now()
	found, err := c.source.Feeds(r.Context(), after, feedsOnPage)
	if err != nil {
		c.sorry(w, r, err, "The list of feeds", nil)
		return
	}
	var main feedsPage
	if after != "" {
		main.First = feedsPath
	}
	if found.Next != "" {
		main.Next = feedsPath + "?" + url.Values{"after": {found.Next}}.Encode()
	}
	for _, f := range found.Feeds {
		main.Feeds = append(main.Feeds, rowOf(f, now))
	}
	c.render(w, r, http.StatusOK, "feeds", page{Title: "Feeds", Here: feedsPath, Main: main})
}

func rowOf(f api.Feed, now time.Time) feedRow {
	row := feedRow{
		Title: f.Title, URL: feedPath(f.ID), Address: f.URL, Items: f.Items, Newest: stamped(f.LastItem, now),
		Next: nextPoll(f, now), Last: f.LastPoll(), Failing: f.State != nil && f.State.Failures > 0, Pinned: f.Pinned,
	}
	if row.Title == "" {
		row.Title = host(f.URL)
	}
	if row.Title == "" {
		row.Title = f.URL
	}
	return row
}

func nextPoll(f api.Feed, now time.Time) string {
	return f.NextPoll(now, func(t time.Time) string { return ago(now.Sub(t)) })
}

const (
	feedsPath = "/feeds"
	findPath  = "/feeds/find"
)

// feedPath returns the path of a feed's page.
func feedPath(id string) string { return feedsPath + "/" + url.PathEscape(id) }

// A feedPage tells all of a feed.
type feedPage struct {
	feedRow
	api.Feed
	Site, Language string
	ItemsURL       string
	Added          *stamp
	LastItem       *stamp
	Due            *stamp // when it is polled next, if that is in time to come
	Polled         *stamp
	Changed        *stamp
	Reason, Error  string
	Failures       int64
	Polls          []pollRow
	RefreshURL     string
}

type pollRow struct {
	At     *stamp
	Status int
	Took   string
	Size   int64
	Class  string
	Way    string
}

func (c *console) feed(w http.ResponseWriter, r *http.Request) {
	now := c.now()
	f, err := c.source.Feed(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.noFeed(w, r)
		return
	case err != nil:
		c.sorry(w, r, err, "The feed", nil)
		return
	}
	row := rowOf(f, now)
	main := feedPage{
		feedRow: row, Feed: f, Site: webURL(f.Site), Language: language(f.Language),
		ItemsURL: state{"feed": f.ID}.URL(), Added: stamped(f.Added, now), LastItem: row.Newest, RefreshURL: row.URL + "/refresh",
	}
	if s := f.State; s != nil {
		main.Polled, main.Changed = stamped(s.Polled, now), stamped(s.Changed, now)
		main.Reason, main.Error, main.Failures = s.Reason, s.Error, int64(s.Failures)
		if s.Next.After(now) && s.Crawl == "" {
			main.Due = stamped(s.Next, now)
		}
	}
	for _, p := range f.Polls {
		main.Polls = append(main.Polls, pollRow{stamped(p.At, now), p.Status, count(p.Took.Milliseconds()), p.Size, p.Class, p.Way})
	}
	c.render(w, r, http.StatusOK, "feed", page{Title: row.Title, Here: feedsPath, Main: main})
}

func (c *console) noFeed(w http.ResponseWriter, r *http.Request) {
	c.say(w, r, http.StatusNotFound, message{
		Heading: "There is no such feed",
		Text:    []string{"It may have been removed, or moved to another address."},
		Links:   []choice{{Label: "All feeds", URL: feedsPath}},
	})
}
