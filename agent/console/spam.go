package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

const spamPath = "/spam"

// A spamSource lists what is held to be spam.
type spamSource interface {
	Spam(ctx context.Context, feedID, cursor string, limit int) (api.SpamPage, error)
	SpamLists(ctx context.Context) (api.SpamLists, error)
}

func (c *console) spamRoutes(mux *http.ServeMux) {
	mux.HandleFunc(spamPath, c.spam)
	mux.HandleFunc("POST "+spamPath, c.decideSpam)
}

// spamParams are the parameters of the address of a list of spam.
var spamParams = []param{{name: "feed", max: maxID}, {name: "cursor", max: 128}}

// A spamPage lists what is held to be spam.
type spamPage struct {
	pager
	Items     []spamRow
	Total     int64
	Lists     *api.SpamLists // nil if they can't be told
	Changed   *stamp         // of Lists
	Threshold string
	Feed      string // whose spam this is; empty: all
	Clear     string // address without that
	Here      string // where forms come back to
}

// A spamRow is an item that is held to be spam.
type spamRow struct {
	ID       string
	URL      string // of its page
	Title    string
	Lang     string
	Feed     choice // of which only its spam is shown
	FeedPage string
	Host     string
	Score    string
	Judged   *stamp
	Why      []string
	ByPerson bool
}

func spamURL(feed, cursor string) string {
	return addressOf(spamPath, map[string]string{"feed": feed, "cursor": cursor})
}

func (c *console) spam(w http.ResponseWriter, r *http.Request) {
	values, err := readParams(r.URL.RawQuery, spamParams)
	if err != nil {
		c.badSpam(w, r, err)
		return
	}
	feed, cursor := values["feed"], values["cursor"]
	found, err := c.source.Spam(r.Context(), feed, cursor, pageSize)
	switch {
	case errors.Is(err, storage.ErrBadCursor):
		c.badSpam(w, r, err)
		return
	case err != nil:
		c.sorry(w, r, err, "The store")
		return
	}
	now := c.now()
	main := spamPage{pager: pager{What: "spam"}, Total: found.Total, Here: spamURL(feed, cursor), Clear: spamPath}
	for _, item := range found.Items {
		main.Items = append(main.Items, spamRowOf(item, now))
	}
	if feed != "" {
		main.Feed = feed
		if len(main.Items) > 0 {
			main.Feed = main.Items[0].Feed.Label
		}
	}
	if cursor != "" {
		main.First = spamURL(feed, "")
	}
	if found.Next != "" {
		main.Next = spamURL(feed, found.Next)
	}
	if lists, err := c.source.SpamLists(r.Context()); err == nil {
		main.Lists, main.Changed, main.Threshold = &lists, stamped(lists.Changed, now), hundredth(lists.Threshold)
	}
	c.render(w, r, http.StatusOK, "spam", page{Title: "Spam", Here: spamPath, Main: main})
}

func (c *console) badSpam(w http.ResponseWriter, r *http.Request, wrong error) {
	c.badAddress(w, r, "There is no such list of spam", wrong, choice{Label: "All spam", URL: spamPath})
}

func spamRowOf(i api.SpamItem, now time.Time) spamRow {
	feed := i.FeedTitle
	if feed == "" {
		feed = "A feed without a title"
	}
	return spamRow{
		ID: i.ID, URL: itemURL(i.ID), Title: titled(i.Title), Lang: i.Language, Feed: choice{Label: feed, URL: spamURL(i.FeedID, "")},
		FeedPage: feedPath(i.FeedID), Host: host(i.URL), Score: hundredth(i.SpamScore), Judged: stamped(i.Judged, now), Why: i.Why, ByPerson: i.Corrected,
	}
}

// decideSpam has an item be what the form says, and shows the list again.
func (c *console) decideSpam(w http.ResponseWriter, r *http.Request) {
	id, is, back := formValue(w, r, "item"), formValue(w, r, "spam"), formValue(w, r, "back")
	if id == "" || len(id) > maxID || is != "yes" && is != "no" {
		c.say(w, r, http.StatusBadRequest, message{
			Heading: "There is nothing to decide", Text: []string{"The form does not say which item is spam, or is not."},
			Links: []choice{{Label: "All spam", URL: spamPath}},
		})
		return
	}
	if back != spamPath && !strings.HasPrefix(back, spamPath+"?") { // it leads nowhere else
		back = spamPath
	}
	if _, err := c.source.CallSpam(r.Context(), id, is == "yes"); err != nil {
		c.refused(w, r, err, "The store", choice{Label: "All spam", URL: back})
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}
