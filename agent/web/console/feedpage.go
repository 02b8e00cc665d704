package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A feedPage shows one feed in detail.
type feedPage struct {
	feedRow
	wire.Feed
	Problem           *feedProblem
	Site              string
	Language          locale.Text
	ItemsURL          string
	Added             *locale.Timestamp
	LastItem          *locale.Timestamp
	Due               *locale.Timestamp // time of the next poll if it is in the future
	Changed           *locale.Timestamp
	Failed            locale.Text // the error of the last polls; nil: none
	LeftOut, Repaired locale.Text // of the last document
	Polls             []pollRow
	Spark             *pollSpark
	Settings          feedSettings
	Purge             locale.Text // the next purge; nil: none
	NewestItems       []readingRow
	Follows           string // action of the form that follows or mutes the feed
}

type pollRow struct {
	At     *locale.Timestamp
	Status int
	Took   locale.Text
	Size   int64
	What   locale.Text
	Reason locale.Text // nil if unknown
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
	Errors                 []locale.Text
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
	return f, !c.handleError(w, r, err, locale.T("The feed"), c.noFeed)
}

func (c feedPages) showFeed(w http.ResponseWriter, r *http.Request, status int, f wire.Feed, settings feedSettings) {
	now := c.Now()
	row := rowOf(f, now)
	main := feedPage{
		Follows: FollowsPath,
		feedRow: row, Feed: f, Problem: row.Problem, Site: storage.WebURL(f.Site), Language: languageName(f.Language),
		ItemsURL: state{"feed": f.ID}.URL(), Added: locale.NewTimestamp(f.Added, now), LastItem: row.Newest,
		Spark: pollSparkOf(f.Polls), Settings: settings, Purge: purgeNote(r.Context(), c.Retention, f, now),
	}
	if s := f.State; s != nil {
		main.Changed, main.LeftOut, main.Repaired = locale.NewTimestamp(s.Changed, now), locale.Composed(s.LeftOut()), composedList(s.Repaired())
		main.Failed = failedPolls(s)
		if s.Next.After(now) && s.Crawl == "" {
			main.Due = locale.NewTimestamp(s.Next, now)
		}
	}
	list, err := c.Reading.List(r.Context(), wire.ReadingQuery{Feed: f.ID, Show: wire.ShowAll, Limit: newestOfFeed})
	if err != nil && !errors.Is(err, storage.ErrNotFound) { // a feed that was removed meanwhile has none
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	for _, i := range list.Items {
		main.NewestItems = append(main.NewestItems, readingState{"feed": f.ID, "show": wire.ShowAll}.row(i, now))
	}
	for _, p := range f.Polls {
		main.Polls = append(main.Polls, pollRow{
			locale.NewTimestamp(p.At, now), p.Status, locale.Count(p.Duration.Milliseconds()), p.Size,
			composedSentences(service.DescribePoll(p)), locale.Composed(p.Reason), p.ProxyID,
		})
	}
	c.render(w, r, status, "feed", page{Title: locale.Data(row.Title), Here: feedsPath, Main: main})
}

// failedPolls describes the failures of the last polls; nil for none.
func failedPolls(s *subjects.State) locale.Text {
	failure := cmp.Or[locale.Text](locale.Composed(s.Error), locale.Data(""))
	switch {
	case s.Failures > 1:
		return locale.N(int64(s.Failures), "The last %d poll failed: %s", "The last %d polls failed: %s", failure)
	case s.Failures > 0:
		return locale.T("The last poll failed: %s", failure)
	}
	return nil
}

// composedList returns a list of texts that another package composed; nil for "".
func composedList(list string) locale.Text {
	return locale.Join(", ", composed(strings.Split(list, ", "))...)
}

// composedSentences returns sentences that another package composed, each of which is translated; nil for "".
func composedSentences(text string) locale.Text {
	return locale.Join(" ", composed(strings.Split(strings.ReplaceAll(text, ". ", ".\n"), "\n"))...)
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
			shown.Errors = append(shown.Errors, locale.Composed(field.Message))
		}
		now := settingsOf(f)
		shown.Headers, shown.HasPassword = now.Headers, now.HasPassword
		c.showFeed(w, r, http.StatusUnprocessableEntity, f, shown)
	case errors.Is(err, storage.ErrNotFound):
		c.noFeed(w, r)
	case err != nil:
		c.showUnavailable(w, r, err, locale.T("The store"))
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
	Problem *feedProblem
	Entries locale.Text // their number
	Pairs   []pairRow   // of the comparison

	LeftOut, Defects locale.Text
}

type fetchedRow struct {
	Title, Link string
	Published   *locale.Timestamp
}

// A pairRow is an entry as two parsers read it.
type pairRow struct {
	wire.EntryPair
	Differs locale.Text // names of fields; nil: one parser did not find the entry
}

// testPageOf returns the page of a result, without links.
func testPageOf(result wire.FetchTest, now time.Time) fetchTestPage {
	p := fetchTestPage{
		FetchTest: result, Read: result.Error == "", Problem: problemOf(result.Problem), Entries: entriesText(result.Entries),
		LeftOut: locale.Composed(result.LeftOut()), Defects: composedList(result.Defects()),
	}
	for _, e := range result.First {
		p.First = append(p.First, fetchedRow{e.Title, storage.WebURL(e.Link), locale.NewTimestamp(e.Published, now)})
	}
	if result.Comparison != nil {
		for _, pair := range result.Comparison.Pairs {
			p.Pairs = append(p.Pairs, pairRow{pair, locale.Join(", ", composed(pair.Differs)...)})
		}
	}
	return p
}

// entriesText returns a number of entries of a document.
func entriesText(n int) locale.Text { return locale.N(int64(n), "%d entry", "%d entries") }

// testFeed fetches a feed and shows the exchange.
func (c feedPages) testFeed(w http.ResponseWriter, r *http.Request) {
	f, ok := c.readFeed(w, r)
	if !ok {
		return
	}
	result, err := c.FetchTests.Run(r.Context(), wire.TestFetchRequest{Body: wire.FetchTestRequest{Feed: f.ID, Compare: true}})
	if service.KindOf(err) == service.KindBusy {
		c.showMessage(w, r, http.StatusTooManyRequests, message{
			Heading: locale.T("Another test is running"), Text: []locale.Text{locale.T("Retry when it has finished.")},
			Links: []choice{{Label: locale.T("Back to the feed"), URL: feedPath(f.ID)}},
		})
		return
	}
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	main := testPageOf(result, c.Now())
	main.Feed, main.URL, main.Again = rowOf(f, c.Now()).Title, feedPath(f.ID), feedPath(f.ID)+"/test"
	c.render(w, r, http.StatusOK, "feed-test", page{Title: locale.T("Test of %s", main.Feed), Here: feedsPath, Main: main})
}

// A removePage is the confirmation before a feed is removed.
type removePage struct {
	Title, URL, RemoveURL string
	Warning               locale.Text
}

func (c feedPages) confirmRemove(w http.ResponseWriter, r *http.Request) {
	f, ok := c.readFeed(w, r)
	if !ok {
		return
	}
	row := rowOf(f, c.Now())
	warning := locale.N(f.Items, "Its %d item will be removed too. This cannot be undone.", "Its %d items will be removed too. This cannot be undone.")
	c.render(w, r, http.StatusOK, "feed-remove", page{Title: locale.T("Remove %s", row.Title), Here: feedsPath,
		Main: removePage{row.Title, row.URL, row.URL + "/remove", warning}})
}

func (c feedPages) removeFeed(w http.ResponseWriter, r *http.Request) {
	_, err := c.Feeds.Remove(r.Context(), wire.ByID{ID: r.PathValue("id")})
	if !c.handleError(w, r, err, locale.T("The store"), c.noFeed) {
		http.Redirect(w, r, feedsPath, http.StatusSeeOther)
	}
}
