package console

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// A searchPage is what a search found, and ways on from it.
type searchPage struct {
	Heading string
	Total   int64
	Page    string // which one, in words; empty if there is only one
	Sorts   []choice
	Chips   []choice // filters in force; following one takes it away
	Clear   string   // address without filters
	Groups  []group
	Results []result
	First   string // address of the first page; empty if this is it
	Next    string // address of the next page; empty if this is the last
	Empty   *empty // why there are no results; nil if there are
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
}

func (c *console) search(w http.ResponseWriter, r *http.Request) {
	s, err := readState(r.URL.RawQuery)
	if err != nil {
		why := strings.ReplaceAll(err.Error(), "\n", "; ")
		c.bad(w, r, "There is a mistake in this search: "+why+".", s)
		return
	}
	now := c.now()
	found, err := c.source.Search(r.Context(), s.search(now))
	switch {
	case errors.Is(err, storage.ErrBadCursor):
		c.bad(w, r, "The address of this page belongs to another search. Go to the first page and on from there.", s.first())
		return
	case err != nil:
		c.sorry(w, r, err, "Search", s)
		return
	}
	p := page{Title: "Newest items", Search: s.form(), Here: "/"}
	if s["q"] != "" {
		p.Title = s["q"]
	}
	p.Search.Focus = len(s) == 0
	main := s.show(found, now)
	if len(found.Items) == 0 {
		main.Empty = c.why(r, s, found.Total)
		if main.Empty.Kind == "items" {
			main.Groups = nil
		}
	}
	p.Main = main
	c.render(w, r, http.StatusOK, "search", p)
}

// why finds out why there is nothing to show.
func (c *console) why(r *http.Request, s state, total int64) *empty {
	e := &empty{Kind: "match", Words: len(strings.Fields(s["q"]))}
	if all := s.unfiltered(); len(all) < len(s.first()) {
		e.Unfiltered = all.URL()
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
		Heading: "Newest items",
		Total:   found.Total,
		Chips:   s.chips(found),
		Clear:   s.unfiltered().URL(),
		Groups:  s.groups(found),
		Results: make([]result, len(found.Items)),
	}
	if s["q"] != "" {
		p.Heading = "Results for “" + s["q"] + "”"
		p.Sorts = []choice{
			{Label: "Best match", URL: s.with("sort", "").URL(), Active: s["sort"] == ""},
			{Label: "Newest", URL: s.with("sort", "newest").URL(), Active: s["sort"] == "newest"},
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
		p.Page = pageWord(s.page(), found.Total)
	}
	return p
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
		r.Title = []text.Span{{Text: "Untitled"}}
	}
	if len(r.Passage) == 0 && item.Excerpt != "" {
		r.Passage = []text.Span{{Text: item.Excerpt}}
	}
	for _, name := range item.Categories {
		r.Categories = append(r.Categories, choice{Label: name, URL: s.with("category", name).URL()})
	}
	if item.DuplicateOf != "" {
		r.Duplicate = itemURL(item.DuplicateOf)
	}
	if t := item.Told; t != nil {
		r.Story = choice{Label: plural(int64(t.Items), "item") + " of " + plural(int64(t.Sources), "publisher"), URL: storyPath(item.StoryID)}
	}
	return r
}
