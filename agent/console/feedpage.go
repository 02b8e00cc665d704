package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// A feedPage tells all of a feed.
type feedPage struct {
	feedRow
	api.Feed
	Trouble        *api.Trouble
	Site, Language string
	ItemsURL       string
	Added          *stamp
	LastItem       *stamp
	Due            *stamp // when it is polled next, if that is in time to come
	Changed        *stamp
	Error          string
	Failures       int64
	Polls          []pollRow
	Spark          *pollSpark
	Settings       feedSettings
}

type pollRow struct {
	At     *stamp
	Status int
	Took   string
	Size   int64
	What   string
	Way    string
}

// feedSettings are what the form shows: the feed's own, or what a person wrote
// that could not be taken.
type feedSettings struct {
	Pinned, FullText       bool
	Tags, Spam             string
	UserAgent, User, Proxy string
	Headers                []string // names of those that are set
	HasPassword            bool
	Faults                 []string
}

func settingsOf(f api.Feed) feedSettings {
	s := feedSettings{Pinned: f.Pinned, FullText: f.FullText, Tags: strings.Join(f.Tags, ", ")}
	if f.SpamThreshold > 0 {
		s.Spam = strconv.FormatFloat(f.SpamThreshold, 'g', 3, 64)
	}
	if r := f.Request; r != nil {
		s.UserAgent, s.User, s.Proxy, s.Headers, s.HasPassword = r.UserAgent, r.User, r.Proxy, r.Headers, r.Password != ""
	}
	return s
}

func (c *console) feed(w http.ResponseWriter, r *http.Request) {
	if f, ok := c.readFeed(w, r); ok {
		c.showFeed(w, r, http.StatusOK, f, settingsOf(f))
	}
}

// readFeed returns the feed that a request names. If there is none it has answered.
func (c *console) readFeed(w http.ResponseWriter, r *http.Request) (api.Feed, bool) {
	f, err := c.source.Feed(r.Context(), r.PathValue("id"))
	return f, !c.failed(w, r, err, "The feed", c.noFeed)
}

func (c *console) showFeed(w http.ResponseWriter, r *http.Request, status int, f api.Feed, settings feedSettings) {
	now := c.now()
	row := rowOf(f, now)
	main := feedPage{
		feedRow: row, Feed: f, Trouble: f.Trouble, Site: storage.WebURL(f.Site), Language: language(f.Language),
		ItemsURL: state{"feed": f.ID}.URL(), Added: stamped(f.Added, now), LastItem: row.Newest,
		Spark: pollSparkOf(f.Polls), Settings: settings,
	}
	if s := f.State; s != nil {
		main.Changed, main.Error, main.Failures = stamped(s.Changed, now), s.Error, int64(s.Failures)
		if s.Next.After(now) && s.Crawl == "" {
			main.Due = stamped(s.Next, now)
		}
	}
	for _, p := range f.Polls {
		main.Polls = append(main.Polls, pollRow{stamped(p.At, now), p.Status, count(p.Took.Milliseconds()), p.Size, api.WhatPoll(p), p.Way})
	}
	c.render(w, r, status, "feed", page{Title: row.Title, Here: feedsPath, Main: main})
}

// setFeed changes a feed's settings and shows its page.
func (c *console) setFeed(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	change, shown, err := readChange(r)
	if err == nil {
		_, err = c.source.SetFeed(r.Context(), r.PathValue("id"), change)
	}
	var wrong *api.WrongChange
	switch {
	case errors.As(err, &wrong):
		f, ok := c.readFeed(w, r)
		if !ok {
			return
		}
		for _, fault := range wrong.Faults {
			shown.Faults = append(shown.Faults, faultWords(fault))
		}
		now := settingsOf(f)
		shown.Headers, shown.HasPassword = now.Headers, now.HasPassword
		c.showFeed(w, r, http.StatusUnprocessableEntity, f, shown)
	case errors.Is(err, storage.ErrNotFound):
		c.noFeed(w, r)
	case err != nil:
		c.sorry(w, r, err, "The store")
	default:
		http.Redirect(w, r, feedPath(r.PathValue("id")), http.StatusSeeOther)
	}
}

// faultWords returns a fault of a change without where REST has it.
func faultWords(fault error) string {
	var detail *huma.ErrorDetail
	if errors.As(fault, &detail) {
		return detail.Message
	}
	return fault.Error()
}

// readChange reads the form of settings. A password and a header's value that are
// left empty stay as they are: the page does not know them.
func readChange(r *http.Request) (api.Change, feedSettings, error) {
	unread := r.ParseForm() // it says so only the first time
	text := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	shown := feedSettings{
		Pinned: text("pinned") != "", FullText: text("full_text") != "", Tags: text("tags"), Spam: text("spam"),
		UserAgent: text("user_agent"), User: text("user"), Proxy: text("proxy"),
	}
	if unread != nil {
		return api.Change{}, shown, wrongForm("the form is larger than this page's")
	}
	tags := tagsIn(shown.Tags)
	spam, err := 0.0, error(nil)
	if shown.Spam != "" {
		spam, err = strconv.ParseFloat(strings.Replace(shown.Spam, ",", ".", 1), 64)
	}
	switch {
	case err != nil || !(spam >= 0 && spam <= 1):
		return api.Change{}, shown, wrongForm("the score for spam must be a number from 0 to 1; leave it empty for what all others have")
	case len(tags) > api.MaxTags:
		return api.Change{}, shown, wrongForm(fmt.Sprintf("there are more than %d tags", api.MaxTags))
	}
	change := api.Change{
		Tags: &tags, Pinned: &shown.Pinned, FullText: &shown.FullText, SpamThreshold: &spam,
		UserAgent: &shown.UserAgent, User: &shown.User, Proxy: &shown.Proxy,
	}
	if password := r.PostFormValue("password"); password != "" {
		change.Password = &password
	}
	if name := text("header"); name != "" {
		change.Headers = map[string]string{name: text("value")}
	}
	return change, shown, nil
}

// tagsIn returns the tags of a text that has commas between them.
func tagsIn(text string) []string {
	tags := []string{}
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

func wrongForm(why string) error { return &api.WrongChange{Faults: []error{errors.New(why)}} }

// A fetchTestPage tells of a fetch that was tried.
type fetchTestPage struct {
	api.FetchTest
	Feed    string // its title
	URL     string // of its page
	Again   string // where the form goes
	First   []fetchedRow
	Read    bool
	Entries int64
}

type fetchedRow struct {
	Title, Link string
	Published   *stamp
}

// testFeed fetches a feed for a person to see.
func (c *console) testFeed(w http.ResponseWriter, r *http.Request) {
	f, ok := c.readFeed(w, r)
	if !ok {
		return
	}
	told, err := c.source.TestFetch(r.Context(), f.ID, "")
	if errors.Is(err, api.ErrTooMuch) {
		c.say(w, r, http.StatusTooManyRequests, message{
			Heading: "Another test is under way", Text: []string{"Try again when it has ended."},
			Links: []choice{{Label: "Back to the feed", URL: feedPath(f.ID)}},
		})
		return
	}
	if err != nil {
		c.sorry(w, r, err, "The store")
		return
	}
	main := fetchTestPage{FetchTest: told, Feed: rowOf(f, c.now()).Title, URL: feedPath(f.ID), Again: feedPath(f.ID) + "/test", Read: told.Error == "", Entries: int64(told.Entries)}
	for _, e := range told.First {
		main.First = append(main.First, fetchedRow{e.Title, storage.WebURL(e.Link), stamped(e.Published, c.now())})
	}
	c.render(w, r, http.StatusOK, "feed-test", page{Title: "Test of " + main.Feed, Here: feedsPath, Main: main})
}

// A removePage asks whether a feed is really to go.
type removePage struct {
	Title, URL, RemoveURL string
	Items                 int64
}

func (c *console) askToRemove(w http.ResponseWriter, r *http.Request) {
	f, ok := c.readFeed(w, r)
	if !ok {
		return
	}
	row := rowOf(f, c.now())
	c.render(w, r, http.StatusOK, "feed-remove", page{Title: "Remove " + row.Title, Here: feedsPath,
		Main: removePage{row.Title, row.URL, row.URL + "/remove", f.Items}})
}

func (c *console) removeFeed(w http.ResponseWriter, r *http.Request) {
	err := c.source.RemoveFeed(r.Context(), r.PathValue("id"))
	if !c.failed(w, r, err, "The store", c.noFeed) {
		http.Redirect(w, r, feedsPath, http.StatusSeeOther)
	}
}
