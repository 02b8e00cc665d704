package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/agent/api"
	"feedmesh/classify/query"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// A searchSource finds items. A cursor of another search is
// [storage.ErrBadCursor].
type searchSource interface {
	Search(ctx context.Context, q api.Search) (api.Found, error)
}

func (c *console) searchRoutes(mux *http.ServeMux) {
	mux.HandleFunc("/{$}", c.search)
}

// A searchPage is what a search found, and ways on from it.
type searchPage struct {
	pager
	Heading  string
	Count    string // what was found, in words
	Notes    []string
	Sorts    []choice
	Chips    []choice // filters in force; following one takes it away
	Clear    string   // address without filters
	Groups   []group
	Results  []result
	Empty    *empty // why there are no results; nil if there are
	Forgiven bool   // no item has all the words; the results have some that are like them
	Follow   *follow
	Fault    *fault   // what is wrong with the query; nil if nothing is
	Message  *message // why nothing can be found; nil if it can
}

// A result is an item found.
type result struct {
	URL        string
	Title      []text.Span
	Passage    []text.Span
	Lang       string // code of its language, or empty
	Language   string // its name
	Feed       choice
	Host       string
	Published  *stamp
	Assumed    bool
	Categories []choice
	Duplicate  string // address of the item it is a duplicate of, or empty
	Story      choice // the story it belongs to; its URL is empty if nobody else tells of it
}

// noTitle stands for the title of a feed that is no longer kept.
const noTitle = "A removed feed"

// An empty says why there is nothing to show.
type empty struct {
	Kind       string      // "items": there are none at all; "match": none match; "page": none are left on this page
	Mesh       *api.Status // nil if it does not say how it is
	Words      int         // how many were searched for
	Unfiltered string      // address of the search without filters; empty if there are none
	Any        string      // address of the search for any of the words; empty where that makes no sense
}

// The parts of a search page that a script asks for.
const (
	resultsPart = "results" // both others
	hitsPart    = "hits"
	filtersPart = "filters"
)

func (c *console) search(w http.ResponseWriter, r *http.Request) {
	s, err := readState(r.URL.RawQuery)
	if err != nil {
		c.showSearch(w, r, http.StatusBadRequest, s, searchPage{Message: badSearch("There is a mistake in this search: " + err.Error() + ".")})
		return
	}
	now, q := c.now(), s.search(c.now())
	q.Facets = r.Header.Get(partHeader) != hitsPart // while somebody types, there is no time for them
	found, err := c.source.Search(r.Context(), q)
	var wrong *query.Fault
	switch {
	case errors.As(err, &wrong):
		c.showSearch(w, r, http.StatusBadRequest, s, searchPage{Fault: faultOf(s["q"], wrong)})
	case errors.Is(err, storage.ErrBadCursor):
		why := "The address of this page belongs to another search. Go to the first page and on from there."
		c.showSearch(w, r, http.StatusBadRequest, s.first(), searchPage{Message: badSearch(why)})
	case err != nil:
		m := failure(r, err, "Search")
		c.showSearch(w, r, http.StatusServiceUnavailable, s, searchPage{Message: &m})
	default:
		main := s.show(found, now)
		if len(found.Items) == 0 {
			main.Empty = c.why(r, s, found.Total)
			if main.Empty.Kind == "items" {
				main.Groups, main.Follow = nil, nil
			}
		}
		c.showSearch(w, r, http.StatusOK, s, main)
	}
}

// showSearch answers with a search page.
func (c *console) showSearch(w http.ResponseWriter, r *http.Request, status int, s state, main searchPage) {
	p := page{
		Title: "Newest items", Here: "/", Search: s.form(), Scripts: []string{"search.js"},
		Parts: []string{resultsPart, hitsPart, filtersPart}, Main: main,
	}
	if s["q"] != "" {
		p.Title = s["q"]
	}
	p.Search.Faulty = main.Fault != nil
	if main.Follow != nil {
		p.Feeds = main.Follow.links(p.Title)
	}
	c.render(w, r, status, "search", p)
}

// badSearch tells of a search that makes no sense.
func badSearch(why string) *message {
	return &message{Heading: "This search cannot be done", Text: []string{why}, Links: []choice{{Label: "Start anew", URL: "/"}}}
}

// A fault is a query that can't be understood, cut where the fault is.
type fault struct {
	Before, At, After string
	What              string // in words
}

func faultOf(q string, f *query.Fault) *fault {
	at := min(max(f.Pos, 0), len(q))
	for at > 0 && at < len(q) && !utf8.RuneStart(q[at]) {
		at--
	}
	_, size := utf8.DecodeRuneInString(q[at:])
	return &fault{Before: q[:at], At: q[at : at+size], After: q[at+size:], What: sentence(strings.TrimSuffix(f.Msg, "."))}
}

// why finds out why there is nothing to show.
func (c *console) why(r *http.Request, s state, total int64) *empty {
	e := &empty{Kind: "match", Words: len(strings.Fields(s["q"]))}
	if all := s.unfiltered(); len(all) < len(s.first()) {
		e.Unfiltered = all.URL()
	}
	if words := strings.Fields(s["q"]); len(words) > 1 && !strings.ContainsAny(s["q"], `":()|*-`) {
		e.Any = s.without("typing").with("q", strings.Join(words, " OR ")).URL()
	}
	if status, err := c.standing.get(r.Context(), c.source, c.now()); err == nil {
		e.Mesh = &status
	}
	switch {
	case total > 0:
		e.Kind = "page"
	case e.Mesh != nil && (e.Mesh.Items == 0 || e.Mesh.Indexed == 0):
		e.Kind = "items"
	}
	return e
}

// show returns the page of what was found.
func (s state) show(found api.Found, now time.Time) searchPage {
	p := searchPage{
		pager:    pager{What: "results"},
		Heading:  "Newest items",
		Count:    plural(found.Total, "item"),
		Chips:    s.chips(found),
		Clear:    s.unfiltered().URL(),
		Groups:   s.groups(found),
		Results:  make([]result, len(found.Items)),
		Forgiven: found.Forgiven && len(found.Items) > 0,
		Follow:   s.follow(),
	}
	if s.once() {
		p.Count = plural(found.Total, "result")
	}
	if found.By == api.ByStore {
		p.Notes = append(p.Notes, found.Why)
		if found.Next != "" {
			p.Count = "At least " + p.Count
		}
	}
	if s["q"] != "" {
		p.Heading = "Results for “" + s["q"] + "”"
		p.Sorts = []choice{
			{Label: "Best match", URL: s.with("sort", "").URL(), Active: s["sort"] == "", Key: "sort"},
			{Label: "Newest", URL: s.with("sort", "newest").URL(), Active: s["sort"] == "newest", Key: "sort newest"},
		}
	}
	for i, item := range found.Items {
		p.Results[i] = s.result(item, now)
	}
	if s["cursor"] != "" {
		p.First = s.first().URL()
	}
	if found.Next != "" {
		p.Next = s.more(found.Next, now).URL()
	}
	if p.First != "" || p.Next != "" {
		p.Count += ", " + s.pageWord(found)
	}
	return p
}

// pageWord says which page it is, and of how many where that is known: what the
// store finds is counted as far as it was read, and of stories their items are.
func (s state) pageWord(found api.Found) string {
	word := "page " + strconv.Itoa(s.page())
	if s.once() || found.By == api.ByStore {
		return word
	}
	pages := max(int64(s.page()), (found.Total+pageSize-1)/pageSize)
	return word + " of " + count(pages)
}

func (s state) result(item api.FoundItem, now time.Time) result {
	r := result{
		URL:       itemURL(item.ID),
		Title:     item.TitleSpans,
		Passage:   item.TextSpans,
		Lang:      item.Language,
		Language:  language(item.Language),
		Feed:      choice{Label: cmp.Or(item.FeedTitle, noTitle), URL: s.with("feed", item.FeedID).URL()},
		Host:      host(item.URL),
		Published: stamped(item.Published, now),
		Assumed:   item.Assumed != "",
	}
	if len(r.Title) == 0 {
		r.Title = []text.Span{{Text: titled("")}}
	}
	if len(r.Passage) == 0 && item.Excerpt != "" {
		r.Passage = []text.Span{{Text: item.Excerpt}}
	}
	r.Categories = linked(item.Categories, func(name string) string { return s.with("category", name).URL() })
	if item.DuplicateOf != "" {
		r.Duplicate = itemURL(item.DuplicateOf)
	}
	if t := item.Told; t != nil {
		r.Story = choice{Label: told(t), URL: storyPath(item.StoryID)}
	}
	return r
}

// told says how much a story is told.
func told(t *api.Telling) string {
	if t.Sources < 2 {
		return plural(int64(t.Items), "item") + " about it"
	}
	return plural(int64(t.Sources), "publisher") + " tell of it"
}
