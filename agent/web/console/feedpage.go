package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/classify/language"
	"feedmesh/storage"
)

// A feedPage shows one feed in detail.
type feedPage struct {
	feedRow
	wire.Feed
	Problem        *wire.FeedProblem
	Site, Language string
	ItemsURL       string
	Added          *timestamp
	LastItem       *timestamp
	Due            *timestamp // time of the next poll if it is in the future
	Changed        *timestamp
	Error          string
	Failures       int64
	Polls          []pollRow
	Spark          *pollSpark
	Settings       feedSettings
	Purge          string // the next purge; empty: none
	NewestItems    []readingRow
	Follows        string // action of the form that follows or mutes the feed
}

type pollRow struct {
	At     *timestamp
	Status int
	Took   string
	Size   int64
	What   string
	Reason string // empty if unknown
	Way    string
}

// feedSettings are the values of the settings form: those of the feed, or the submitted values if they were
// rejected.
type feedSettings struct {
	Pinned, FullText       bool
	Tags, Spam, Keep       string
	UserAgent, User, Proxy string
	Headers                []string // names of the headers that are set
	HasPassword            bool
	Errors                 []string
}

func settingsOf(f wire.Feed) feedSettings {
	s := feedSettings{Pinned: f.Pinned, FullText: f.FullText, Tags: strings.Join(f.Tags, ", "), Keep: f.Keep}
	if f.SpamThreshold > 0 {
		s.Spam = strconv.FormatFloat(f.SpamThreshold, 'g', 3, 64)
	}
	if r := f.Request; r != nil {
		s.UserAgent, s.User, s.Proxy, s.Headers, s.HasPassword = r.UserAgent, r.User, r.Proxy, r.Headers, r.Password != ""
	}
	return s
}

func (c feedPages) feed(w http.ResponseWriter, r *http.Request) {
	if f, ok := c.readFeed(w, r); ok {
		c.showFeed(w, r, http.StatusOK, f, settingsOf(f))
	}
}

// newestOfFeed is the number of items on a feed's page.
const newestOfFeed = 10

// readFeed returns the feed of a request. If it fails it has written the response.
func (c feedPages) readFeed(w http.ResponseWriter, r *http.Request) (wire.Feed, bool) {
	f, err := c.Feeds.Get(r.Context(), wire.ByID{ID: r.PathValue("id")})
	return f, !c.handleError(w, r, err, "The feed", c.noFeed)
}

func (c feedPages) showFeed(w http.ResponseWriter, r *http.Request, status int, f wire.Feed, settings feedSettings) {
	now := c.Now()
	row := rowOf(f, now)
	main := feedPage{
		Follows: FollowsPath,
		feedRow: row, Feed: f, Problem: f.Problem, Site: storage.WebURL(f.Site), Language: language.Name(f.Language),
		ItemsURL: state{"feed": f.ID}.URL(), Added: newTimestamp(f.Added, now), LastItem: row.Newest,
		Spark: pollSparkOf(f.Polls), Settings: settings, Purge: purgeNote(r.Context(), c.Retention, f, now),
	}
	if s := f.State; s != nil {
		main.Changed, main.Error, main.Failures = newTimestamp(s.Changed, now), s.Error, int64(s.Failures)
		if s.Next.After(now) && s.Crawl == "" {
			main.Due = newTimestamp(s.Next, now)
		}
	}
	list, err := c.Reading.List(r.Context(), wire.ReadingQuery{Feed: f.ID, Show: wire.ShowAll, Limit: newestOfFeed})
	if err != nil && !errors.Is(err, storage.ErrNotFound) { // a feed that was removed meanwhile has none
		c.showUnavailable(w, r, err, "The store")
		return
	}
	for _, i := range list.Items {
		main.NewestItems = append(main.NewestItems, readingState{"feed": f.ID, "show": wire.ShowAll}.row(i, now))
	}
	for _, p := range f.Polls {
		main.Polls = append(main.Polls, pollRow{newTimestamp(p.At, now), p.Status, count(p.Duration.Milliseconds()), p.Size, service.DescribePoll(p), p.Reason, p.ProxyID})
	}
	c.render(w, r, status, "feed", page{Title: row.Title, Here: feedsPath, Main: main})
}

// setFeed changes the settings of a feed and redirects to its page.
func (c feedPages) setFeed(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	change, shown, err := readChange(r)
	if err == nil {
		_, err = c.Feeds.Set(r.Context(), wire.SetFeedRequest{ID: r.PathValue("id"), Body: change})
	}
	var wrong *service.Error
	switch {
	case errors.As(err, &wrong):
		f, ok := c.readFeed(w, r)
		if !ok {
			return
		}
		for _, field := range wrong.Fields {
			shown.Errors = append(shown.Errors, field.Message)
		}
		now := settingsOf(f)
		shown.Headers, shown.HasPassword = now.Headers, now.HasPassword
		c.showFeed(w, r, http.StatusUnprocessableEntity, f, shown)
	case errors.Is(err, storage.ErrNotFound):
		c.noFeed(w, r)
	case err != nil:
		c.showUnavailable(w, r, err, "The store")
	default:
		http.Redirect(w, r, feedPath(r.PathValue("id")), http.StatusSeeOther)
	}
}

// readChange parses the settings form. An empty password or header value leaves the stored value unchanged,
// because the page does not contain it.
func readChange(r *http.Request) (wire.FeedChange, feedSettings, error) {
	unread := r.ParseForm() // only the first call returns the error
	text := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	shown := feedSettings{
		Pinned: text("pinned") != "", FullText: text("full_text") != "", Tags: text("tags"), Spam: text("spam"), Keep: text("keep"),
		UserAgent: text("user_agent"), User: text("user"), Proxy: text("proxy"),
	}
	if unread != nil {
		return wire.FeedChange{}, shown, formError("the form is too large")
	}
	tags := tagsIn(shown.Tags)
	spam, err := 0.0, error(nil)
	if shown.Spam != "" {
		spam, err = strconv.ParseFloat(strings.Replace(shown.Spam, ",", ".", 1), 64)
	}
	switch {
	case err != nil || !(spam >= 0 && spam <= 1):
		return wire.FeedChange{}, shown, formError("the spam score must be a number from 0 to 1; leave it empty for the default")
	case len(tags) > service.MaxTags:
		return wire.FeedChange{}, shown, formError(fmt.Sprintf("more than %d tags", service.MaxTags))
	}
	change := wire.FeedChange{
		Tags: &tags, Pinned: &shown.Pinned, FullText: &shown.FullText, SpamThreshold: &spam, Keep: &shown.Keep,
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

// tagsIn splits comma-separated tags.
func tagsIn(text string) []string {
	tags := []string{}
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

func formError(why string) error {
	return &service.Error{Kind: service.KindInvalid, Fields: []service.FieldError{{Message: why}}}
}

// A fetchTestPage shows the result of a test fetch.
type fetchTestPage struct {
	wire.FetchTest
	Feed    string // title of the feed
	URL     string // of the feed's page
	Again   string // action of the form that repeats the test
	First   []fetchedRow
	Read    bool
	Entries int64
}

type fetchedRow struct {
	Title, Link string
	Published   *timestamp
}

// testFeed fetches a feed and shows the exchange.
func (c feedPages) testFeed(w http.ResponseWriter, r *http.Request) {
	f, ok := c.readFeed(w, r)
	if !ok {
		return
	}
	result, err := c.FetchTests.Run(r.Context(), wire.TestFetchRequest{Body: wire.FetchTestRequest{Feed: f.ID, Compare: true}})
	if service.KindOf(err) == service.KindBusy {
		c.showMessage(w, r, http.StatusTooManyRequests, message{
			Heading: "Another test is running", Text: []string{"Retry when it has finished."},
			Links: []choice{{Label: "Back to the feed", URL: feedPath(f.ID)}},
		})
		return
	}
	if err != nil {
		c.showUnavailable(w, r, err, "The store")
		return
	}
	main := fetchTestPage{FetchTest: result, Feed: rowOf(f, c.Now()).Title, URL: feedPath(f.ID), Again: feedPath(f.ID) + "/test", Read: result.Error == "", Entries: int64(result.Entries)}
	for _, e := range result.First {
		main.First = append(main.First, fetchedRow{e.Title, storage.WebURL(e.Link), newTimestamp(e.Published, c.Now())})
	}
	c.render(w, r, http.StatusOK, "feed-test", page{Title: "Test of " + main.Feed, Here: feedsPath, Main: main})
}

// A removePage is the confirmation before a feed is removed.
type removePage struct {
	Title, URL, RemoveURL string
	Items                 int64
}

func (c feedPages) confirmRemove(w http.ResponseWriter, r *http.Request) {
	f, ok := c.readFeed(w, r)
	if !ok {
		return
	}
	row := rowOf(f, c.Now())
	c.render(w, r, http.StatusOK, "feed-remove", page{Title: "Remove " + row.Title, Here: feedsPath,
		Main: removePage{row.Title, row.URL, row.URL + "/remove", f.Items}})
}

func (c feedPages) removeFeed(w http.ResponseWriter, r *http.Request) {
	_, err := c.Feeds.Remove(r.Context(), wire.ByID{ID: r.PathValue("id")})
	if !c.handleError(w, r, err, "The store", c.noFeed) {
		http.Redirect(w, r, feedsPath, http.StatusSeeOther)
	}
}
