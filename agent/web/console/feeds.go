package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"feedmesh/agent/service"
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
	Last, Paused *timestamp
	Problem      string // description of the last error
	None         bool   // there were no requests
	Unknown      bool   // the record can't be read
}

func (c feedPages) hostNote(r *http.Request, name string) *hostNote {
	if name == "" {
		return nil
	}
	h, err := c.Feeds.Host(r.Context(), wire.HostName{Host: name})
	h.Name = name
	none := errors.Is(err, storage.ErrNotFound)
	return &hostNote{
		Host: h, Last: newTimestamp(h.Last, c.Now()), Paused: newTimestamp(h.Paused, c.Now()), Problem: service.DescribeClass(h.Class, h.Status),
		None: none, Unknown: err != nil && !none,
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
	Title   string
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
	Rate    string // items a day; empty if unknown
	Newest  *timestamp
	Tier    string
	Next    string
	Reason  string
	Last    string
	Polled  *timestamp
	Failing bool
	Problem *wire.FeedProblem
	Pinned  bool
	Tags    []choice
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
		c.showUnavailable(w, r, err, "The list of feeds")
		return
	}
	main := feedsPage{pager: pager{What: "feeds"}, Clear: s.unfiltered(), Query: s["q"], Any: len(s) > 0 || len(found.Feeds) > 0, Sorts: s.sorts(), Columns: s.columns(), Host: c.hostNote(r, s["host"])}
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
	c.render(w, r, http.StatusOK, "feeds", page{Title: "Feeds", Here: feedsPath, Scripts: []string{"feeds.js"}, Main: main})
}

func (s feedState) sort() string {
	if s["sort"] == "" {
		return "title"
	}
	return s["sort"]
}

const badFeedsHeading = "Invalid list of feeds"

var toFeeds = choice{Label: "All feeds", URL: feedsPath}

// stateWords are the labels of feed states.
var stateWords = map[string]string{
	wire.StateFailing: "Failing", wire.StateGone: "Gone", wire.StateNew: "Never polled", wire.StateDue: "Due now",
	wire.StatePolling: "Being polled", wire.StateOK: "OK",
}

func chipLabel(name, value string) string {
	switch name {
	case "state":
		return stateWords[value]
	case "pinned":
		return "Pinned"
	}
	return name + ": " + value
}

// sorts returns the sort orders of the list.
func (s feedState) sorts() []choice {
	var sorts []choice
	for _, o := range [][2]string{{"title", "Title"}, {"items", "Most items"}, {"newest", "Newest item"}, {"added", "Recently added"}, {"url", "Address"}} {
		sorts = append(sorts, choice{Label: o[1], URL: s.with("sort", o[0]), Active: s.sort() == o[0]})
	}
	return sorts
}

// columns returns the columns of the table.
func (s feedState) columns() []feedColumn {
	sorted := func(label, by, class, order string) feedColumn {
		return feedColumn{choice{Label: label, URL: s.with("sort", by), Active: s.sort() == by}, class, order}
	}
	plain := func(label, class string) feedColumn { return feedColumn{choice{Label: label}, class, ""} }
	return []feedColumn{
		sorted("Feed", "title", "", "ascending"), sorted("Items", "items", "number", "descending"), plain("Rate", "number spare"),
		sorted("Newest", "newest", "", "descending"), plain("Last poll", "spare"), plain("Next poll", "spare"),
	}
}

// filters returns the filters of the list. The URL of an active value removes it.
func (s feedState) filters(f wire.FeedFacets) []feedFilter {
	choices := func(name string, counts []wire.FeedCount, label func(string) string) (list []choice) {
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
	same := func(word string) string { return word }
	tags := make([]wire.FeedCount, min(len(f.Tags), 20))
	for i := range tags {
		tags[i] = wire.FeedCount{Name: f.Tags[i].Tag, Feeds: f.Tags[i].Feeds}
	}
	all := []feedFilter{
		{"State", "by-state", choices("state", f.States, func(state string) string { return stateWords[state] })},
		{"Error", "by-error", choices("class", f.Classes, same)},
		{"Tier", "by-tier", choices("tier", f.Tiers, same)},
		{"Tag", "by-tag", choices("tag", tags, same)},
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
		ID: f.ID, Title: cmp.Or(f.Title, host(f.URL), f.URL), URL: feedPath(f.ID), Address: f.URL, Host: storage.HostOf(f.URL), Items: f.Items, Newest: newTimestamp(f.LastItem, now),
		Next: nextPoll(f, now), Last: f.LastPoll(), Failing: f.State != nil && f.State.Failures > 0, Problem: f.Problem, Pinned: f.Pinned,
	}
	if f.State != nil {
		row.Tier, row.Reason, row.Polled = f.State.Tier, f.State.Reason, newTimestamp(f.State.Polled, now)
	}
	row.Rate = rate(f.Rate)
	return row
}

func nextPoll(f wire.Feed, now time.Time) string {
	return f.NextPoll(now, func(t time.Time) string { return ago(now.Sub(t)) })
}

func (c feedPages) noFeed(w http.ResponseWriter, r *http.Request) {
	c.showMessage(w, r, http.StatusNotFound, message{
		Heading: "Feed not found",
		Text:    []string{"It may have been removed, or moved to another URL."},
		Links:   []choice{toFeeds},
	})
}
