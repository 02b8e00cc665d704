package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const spamPath = "/spam"

func (c spamPages) routes(mux *http.ServeMux) {
	mux.HandleFunc(spamPath, c.spam)
	mux.HandleFunc("POST "+spamPath, c.decideSpam)
}

// spamParams are the URL parameters of the list of spam.
var spamParams = []param{{name: "feed", max: maxID}, {name: "cursor", max: 128}}

// A spamPage lists spam.
type spamPage struct {
	pager
	Items     []spamRow
	Total     int64
	Lists     *wire.SpamLists   // nil if they are not available
	Changed   *locale.Timestamp // of Lists
	Threshold string
	Feed      locale.Text // title of the feed to which the list is filtered; nil: all
	Clear     string      // URL without the filter
	Here      string      // URL to which forms return
}

// A spamRow is an item marked as spam.
type spamRow struct {
	ID       string
	URL      string // of the item's page
	Title    locale.Text
	Lang     string
	Feed     choice // links to the feed's spam
	FeedPage string
	Host     string
	Score    string
	Judged   *locale.Timestamp
	Reasons  []locale.Text
	ByPerson bool
}

func spamURL(feed, cursor string) string {
	return addressOf(spamPath, map[string]string{"feed": feed, "cursor": cursor})
}

func (c spamPages) spam(w http.ResponseWriter, r *http.Request) {
	values, err := readParams(r.URL.RawQuery, spamParams)
	if err != nil {
		c.badSpam(w, r, err)
		return
	}
	feed, cursor := values["feed"], values["cursor"]
	found, err := c.Spam.List(r.Context(), wire.ListSpamRequest{Feed: feed, Cursor: cursor, Limit: pageSize})
	switch {
	case errors.Is(err, storage.ErrBadCursor):
		c.badSpam(w, r, err)
		return
	case err != nil:
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	now := c.Now()
	main := spamPage{pager: pager{More: locale.T("More spam")}, Total: found.Total, Here: spamURL(feed, cursor), Clear: spamPath}
	for _, item := range found.Items {
		main.Items = append(main.Items, spamRowOf(item, now))
	}
	if feed != "" {
		main.Feed = locale.Data(feed)
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
	if lists, err := c.Spam.Lists(r.Context()); err == nil {
		main.Lists, main.Changed, main.Threshold = &lists, locale.NewTimestamp(lists.Changed, now), hundredth(lists.Threshold)
	}
	c.render(w, r, http.StatusOK, "spam", page{Title: locale.T("Spam"), Here: spamPath, Main: main})
}

func (c spamPages) badSpam(w http.ResponseWriter, r *http.Request, wrong error) {
	c.badAddress(w, r, locale.T("Invalid list of spam"), wrong, choice{Label: locale.T("All spam"), URL: spamPath})
}

func spamRowOf(i wire.SpamItem, now time.Time) spamRow {
	feed := locale.T("A feed without a title")
	if i.FeedTitle != "" {
		feed = locale.Data(i.FeedTitle)
	}
	return spamRow{
		ID: i.ID, URL: itemURL(i.ID), Title: TitleOrDefault(i.Title), Lang: i.Language, Feed: choice{Label: feed, URL: spamURL(i.FeedID, "")},
		FeedPage: feedPath(i.FeedID), Host: host(i.URL), Score: hundredth(i.SpamScore), Judged: locale.NewTimestamp(i.Judged, now), Reasons: composed(i.Reasons), ByPerson: i.Corrected,
	}
}

// setSpam corrects an item to be spam or not.
func (c *console) setSpam(ctx context.Context, id string, is bool) error {
	correct := c.Spam.Release
	if is {
		correct = c.Spam.Report
	}
	_, err := correct(ctx, wire.ByID{ID: id})
	return err
}

// decideSpam marks an item as spam or not spam, and redirects to the list.
func (c spamPages) decideSpam(w http.ResponseWriter, r *http.Request) {
	id, is, back := formValue(w, r, "item"), formValue(w, r, "spam"), formValue(w, r, "back")
	if id == "" || len(id) > maxID || is != "yes" && is != "no" {
		c.showMessage(w, r, http.StatusBadRequest, message{
			Heading: locale.T("Invalid form"), Text: []locale.Text{locale.T("The form does not name an item, or whether it is spam.")},
			Links: []choice{{Label: locale.T("All spam"), URL: spamPath}},
		})
		return
	}
	if back != spamPath && !strings.HasPrefix(back, spamPath+"?") { // prevents open redirects
		back = spamPath
	}
	if err := c.setSpam(r.Context(), id, is == "yes"); err != nil {
		c.showError(w, r, err, locale.T("The store"), choice{Label: locale.T("All spam"), URL: back})
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}
