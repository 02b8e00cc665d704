package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func (c feedPages) routes(mux *http.ServeMux) {
	mux.HandleFunc(feedsPath, c.feeds)
	mux.HandleFunc("POST "+feedsPath, c.add)
	mux.HandleFunc("POST "+findPath, c.find)
	mux.HandleFunc("POST "+bulkPath, c.bulk)
	mux.HandleFunc(feedsPath+"/{id}", c.feed)
	mux.HandleFunc("GET "+feedsPath+"/{id}/icon", c.icon)
	mux.HandleFunc("POST "+feedsPath+"/{id}/refresh", c.refresh)
	mux.HandleFunc("POST "+feedsPath+"/{id}/settings", c.setFeed)
	mux.HandleFunc("POST "+feedsPath+"/{id}/test", c.testFeed)
	mux.HandleFunc("POST "+feedsPath+"/{id}/addresses", c.findAddresses)
	mux.HandleFunc("POST "+feedsPath+"/{id}/move", c.moveFeed)
	mux.HandleFunc(feedsPath+"/{id}/remove", c.confirmRemove)
	mux.HandleFunc("POST "+feedsPath+"/{id}/remove", c.removeFeed)
}

const (
	feedsPath = "/feeds"
	findPath  = "/feeds/find"
	bulkPath  = "/feeds/bulk"
)

// feedPath returns the path of a feed's page.
func feedPath(id string) string { return feedsPath + "/" + url.PathEscape(id) }

// feedsOnPage is the number of feeds on a page.
const feedsOnPage = 50

// feedParams are the URL parameters of the list of feeds.
var feedParams = []param{
	{name: "q", max: 256},
	{name: "state", max: 16, of: "filter", values: wire.FeedStates},
	{name: "class", max: 64, of: "filter"},
	{name: "tier", max: 8, of: "filter", values: []string{"hot", "warm", "cold"}},
	{name: "tag", max: 128, of: "filter"},
	{name: "host", max: 255, of: "filter"},
	{name: "pinned", max: 4, of: "filter", values: []string{"yes"}},
	{name: "sort", max: 8, values: []string{"url", "title", "items", "newest", "added"}, initial: "title"},
	{name: "after", max: 4096, of: "page"},
}

// A feedState is the state of a list of feeds, by URL parameter.
type feedState map[string]string

// filter returns the filter of the list.
func (s feedState) filter() wire.FeedFilter {
	return wire.FeedFilter{
		Text: s["q"], Tag: s["tag"], Host: s["host"], Pinned: s["pinned"] != "", State: s["state"], Class: s["class"], Tier: s["tier"],
	}
}

// with returns the URL of the list with a changed value, on its first page.
func (s feedState) with(name, value string) string {
	next := map[string]string{}
	for _, p := range feedParams {
		now := s[p.name]
		if p.name == name {
			now = value
		}
		if now != p.initial && (p.name != "after" || name == "after") {
			next[p.name] = now
		}
	}
	return addressOf(feedsPath, next)
}

// unfiltered returns the URL of the list without filters, on its first page.
func (s feedState) unfiltered() string {
	return addressOf(feedsPath, map[string]string{"q": s["q"], "sort": s["sort"]})
}

// A feedsPage lists feeds.
type feedsPage struct {
	pager
	Query     string
	Keep      []field // hidden fields of the search form
	Selection []field // hidden fields that select the listed feeds
	Feeds     []feedRow
	Total     int64
	Unknown   bool     // whether states of feeds are unknown
	Any       bool     // whether feeds exist at all, as far as known
	Chips     []choice // active filters; the URL removes the filter
	Clear     string   // URL without filters
	Filters   []feedFilter
	Sorts     []choice
	Columns   []feedColumn
	Host      *hostNote // nil unless the list is that of a host
}

// A hostNote is the record of the requests to a host.
type hostNote struct {
	wire.Host
	Last, Paused *locale.Timestamp
	Reason       locale.Text // of the pause or the spacing
	Problem      locale.Text // description of the last error
	None         bool        // there were no requests
	Unknown      bool        // the record can't be read
}

func (c feedPages) hostNote(r *http.Request, name string) *hostNote {
	if name == "" {
		return nil
	}
	h, err := c.Feeds.Host(r.Context(), wire.HostName{Host: name})
	h.Name = name
	none := errors.Is(err, storage.ErrNotFound)
	return &hostNote{
		Host: h, Last: locale.NewTimestamp(h.Last, c.Now()), Paused: locale.NewTimestamp(h.Paused, c.Now()), Reason: locale.Composed(h.Reason),
		Problem: locale.Composed(service.DescribeClass(h.Class, h.Status)), None: none, Unknown: err != nil && !none,
	}
}

// A feedColumn is a column of the table; its label is a link that sorts by it, unless the URL is empty.
type feedColumn struct {
	choice
	Class string
	Order string // of the rows, if it is active
}

// A feedFilter is a filter of the list and its values.
type feedFilter struct {
	Title   locale.Text
	ID      string
	Choices []choice
}

type feedRow struct {
	ID      string
	Icon    string // path; may be empty
	Title   string
	URL     string // of the feed's page
	Address string
	Host    string
	HostURL string // of the list of its feeds
	Items   int64
	Rate    locale.Text // items a day; nil if unknown
	Newest  *locale.Timestamp
	Tier    locale.Text
	Next    locale.Text
	Reason  locale.Text
	Last    locale.Text
	Polled  *locale.Timestamp
	Failing bool
	Problem *feedProblem
	Pinned  bool
	Tags    []choice
}

// A feedProblem describes the error of a feed and the advice for it.
type feedProblem struct {
	Summary, Advice locale.Text
	Moved           bool // the feed is probably at another address
}

// problemOf returns nil for nil.
func problemOf(p *wire.FeedProblem) *feedProblem {
	if p == nil {
		return nil
	}
	return &feedProblem{locale.Composed(p.Summary), composedSentences(p.Advice), p.Moved}
}

func (c feedPages) feeds(w http.ResponseWriter, r *http.Request) {
	values, err := readParams(r.URL.RawQuery, feedParams)
	s := feedState(values)
	if err != nil {
		c.badAddress(w, r, badFeedsHeading, err, toFeeds)
		return
	}
	found, err := c.Feeds.List(r.Context(), wire.FeedSearch{FeedFilter: s.filter(), Sort: s.sort(), After: s["after"], Limit: feedsOnPage, Count: true})
	if errors.Is(err, storage.ErrBadCursor) {
		c.badAddress(w, r, badFeedsHeading, err, toFeeds)
		return
	}
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The list of feeds"))
		return
	}
	main := feedsPage{pager: pager{More: locale.T("More feeds")}, Clear: s.unfiltered(), Query: s["q"], Any: len(s) > 0 || len(found.Feeds) > 0, Sorts: s.sorts(), Columns: s.columns(), Host: c.hostNote(r, s["host"])}
	if found.Total != nil {
		main.Total = *found.Total
	}
	for _, p := range feedParams {
		if value := s[p.name]; value != "" && p.name != "after" {
			main.Selection = append(main.Selection, field{p.name, value})
			if p.name != "q" {
				main.Keep = append(main.Keep, field{p.name, value})
			}
			if p.of == "filter" {
				main.Chips = append(main.Chips, choice{Label: chipLabel(p.name, value), URL: s.with(p.name, "")})
			}
		}
	}
	if slices.ContainsFunc(found.Feeds, func(f wire.Feed) bool { return f.Unknown }) {
		main.Unknown = true
	} else if facets, err := c.Feeds.Facets(r.Context(), wire.None{}); err == nil { // filters are optional
		main.Filters = s.filters(facets)
	}
	if s["after"] != "" {
		main.First = s.with("after", "")
	}
	if found.Next != "" {
		main.Next = s.with("after", found.Next)
	}
	for _, f := range found.Feeds {
		row := s.row(f, c.Now())
		row.Icon = iconOf(r, f.ID)
		main.Feeds = append(main.Feeds, row)
	}
	c.render(w, r, http.StatusOK, "feeds", page{Title: locale.T("Feeds"), Here: feedsPath, Scripts: []string{"feeds.js"}, Main: main})
}

func (s feedState) sort() string {
	if s["sort"] == "" {
		return "title"
	}
	return s["sort"]
}

var (
	badFeedsHeading = locale.T("Invalid list of feeds")
	toFeeds         = choice{Label: locale.T("All feeds"), URL: feedsPath}
)

// stateWords are the labels of feed states.
var stateWords = map[string]locale.Text{
	wire.StateFailing: locale.T("Failing"), wire.StateGone: locale.T("Gone"), wire.StateNew: locale.T("Never polled"), wire.StateDue: locale.T("Due now"),
	wire.StatePolling: locale.T("Being polled"), wire.StateOK: locale.T("OK"),
}

func chipLabel(name, value string) locale.Text {
	switch name {
	case "state":
		return stateWords[value]
	case "class":
		return locale.T("class: %s", locale.Composed(value))
	case "tier":
		return locale.T("tier: %s", locale.Composed(value))
	case "tag":
		return locale.T("tag: %s", value)
	case "host":
		return locale.T("host: %s", value)
	}
	return locale.T("Pinned")
}

// sorts returns the sort orders of the list.
func (s feedState) sorts() []choice {
	var sorts []choice
	for _, o := range []struct {
		by    string
		label locale.Text
	}{
		{"title", locale.T("Title")}, {"items", locale.T("Most items")}, {"newest", locale.T("Newest item")}, {"added", locale.T("Recently added")}, {"url", locale.T("Address")},
	} {
		sorts = append(sorts, choice{Label: o.label, URL: s.with("sort", o.by), Active: s.sort() == o.by})
	}
	return sorts
}

// columns returns the columns of the table.
func (s feedState) columns() []feedColumn {
	sorted := func(label locale.Text, by, class, order string) feedColumn {
		return feedColumn{choice{Label: label, URL: s.with("sort", by), Active: s.sort() == by}, class, order}
	}
	plain := func(label locale.Text, class string) feedColumn { return feedColumn{choice{Label: label}, class, ""} }
	return []feedColumn{
		sorted(locale.T("Feed"), "title", "", "ascending"), sorted(locale.T("Items"), "items", "number", "descending"), plain(locale.T("Rate"), "number spare"),
		sorted(locale.T("Newest item"), "newest", "", "descending"), plain(locale.T("Last poll"), "spare"), plain(locale.T("Next poll"), "spare"),
	}
}

// filters returns the filters of the list. The URL of an active value removes it.
func (s feedState) filters(f wire.FeedFacets) []feedFilter {
	choices := func(name string, counts []wire.FeedCount, label func(string) locale.Text) (list []choice) {
		for _, n := range counts {
			if n.Feeds == 0 && s[name] != n.Name {
				continue
			}
			one := choice{Label: label(n.Name), Count: n.Feeds, Active: s[name] == n.Name, URL: s.with(name, n.Name)}
			if one.Active {
				one.URL = s.with(name, "")
			}
			list = append(list, one)
		}
		return list
	}
	tags := make([]wire.FeedCount, min(len(f.Tags), 20))
	for i := range tags {
		tags[i] = wire.FeedCount{Name: f.Tags[i].Tag, Feeds: f.Tags[i].Feeds}
	}
	all := []feedFilter{
		{locale.T("State"), "by-state", choices("state", f.States, func(state string) locale.Text { return stateWords[state] })},
		{locale.T("Error"), "by-error", choices("class", f.Classes, locale.Composed)},
		{locale.T("Tier"), "by-tier", choices("tier", f.Tiers, locale.Composed)},
		{locale.T("Tag"), "by-tag", choices("tag", tags, func(tag string) locale.Text { return locale.Data(tag) })},
	}
	return slices.DeleteFunc(all, func(f feedFilter) bool { return len(f.Choices) == 0 })
}

// row returns a feed's row, with links for its tags.
func (s feedState) row(f wire.Feed, now time.Time) feedRow {
	row := rowOf(f, now)
	row.HostURL = s.with("host", row.Host)
	row.Tags = linksOf(f.Tags, func(tag string) string { return s.with("tag", tag) })
	return row
}

func rowOf(f wire.Feed, now time.Time) feedRow {
	row := feedRow{
		ID: f.ID, Title: cmp.Or(f.Title, host(f.URL), f.URL), URL: feedPath(f.ID), Address: f.URL, Host: storage.HostOf(f.URL), Items: f.Items, Newest: locale.NewTimestamp(f.LastItem, now),
		Next: nextPoll(f, now), Last: locale.Composed(f.LastPoll()), Failing: f.State != nil && f.State.Failures > 0, Problem: problemOf(f.Problem), Pinned: f.Pinned,
	}
	if f.State != nil {
		row.Tier, row.Reason, row.Polled = locale.Composed(f.State.Tier), locale.Composed(f.State.Reason), locale.NewTimestamp(f.State.Polled, now)
	}
	row.Rate = locale.Rate(f.Rate)
	return row
}

func nextPoll(f wire.Feed, now time.Time) locale.Text {
	var at locale.Text
	words := f.NextPoll(now, func(t time.Time) string {
		at = locale.Ago(now.Sub(t))
		return ""
	})
	if at != nil {
		return at
	}
	return locale.Composed(words)
}

func (c feedPages) noFeed(w http.ResponseWriter, r *http.Request) {
	c.showMessage(w, r, http.StatusNotFound, message{
		Heading: locale.T("Feed not found"),
		Text:    []locale.Text{locale.T("It may have been removed, or moved to another URL.")},
		Links:   []choice{toFeeds},
	})
}
