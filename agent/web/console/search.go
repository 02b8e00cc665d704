package console

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/classify/language"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

func (c searchPages) searchRoutes(mux *http.ServeMux) {
	mux.HandleFunc("/{$}", c.search)
}

// A searchPage shows the results of a search.
type searchPage struct {
	pager
	Heading  locale.Text
	Count    locale.Text // number of results, and of pages
	Notes    []locale.Text
	Sorts    []choice
	Chips    []choice // active filters; the URL removes the filter
	Clear    string   // URL without filters
	Groups   []group
	Digest   []quoteRow // sentences that summarize the results
	Results  []result
	Hidden   []hiddenRow
	Less     locale.Text // number of Hidden
	Empty    *empty      // set if there are no results
	Forgiven bool        // no item has all the words; the results are close matches
	Follow   *follow
	Fault    *syntaxError // error of the query, or nil
	Message  *message     // error of the search, or nil
}

// A result is an item found.
type result struct {
	URL        string
	Title      []wire.Span // none: the item has no title
	Passage    []wire.Span
	Lang       string // language code, or empty
	Language   locale.Text
	Feed       choice
	Host       string
	Published  *locale.Timestamp
	Assumed    bool
	Categories []choice
	Duplicate  string // URL of the item of which it is a duplicate, or empty
	Story      choice // its story; the URL is empty if no other publisher covers it
}

// A hiddenRow is a result that is not unique enough.
type hiddenRow struct {
	URL   string
	Title locale.Text
	Of    string // URL of the result that it repeats
	Why   locale.Text
}

// orRemoved returns the title of a feed; that of a removed one is empty.
func orRemoved(title string) locale.Text { return locale.DataOr(title, locale.T("A removed feed")) }

// languageName returns the name of a language by its ISO 639-1 code; nil for no code.
func languageName(code string) locale.Text { return locale.Composed(language.Name(code)) }

// An empty is the explanation of a search without results.
type empty struct {
	Kind       string       // "items": nothing stored; "match": no match; "page": none left on this page
	Mesh       *wire.Status // nil if the status is not available
	Words      int          // number of words of the query
	Unfiltered string       // URL of the search without filters; empty if it has none
	Any        string       // URL of the search for any of the words; empty if not applicable
}

// The parts of a search page that scripts request.
const (
	resultsPart = "results" // both of the others
	hitsPart    = "hits"
	filtersPart = "filters"
)

func (c searchPages) search(w http.ResponseWriter, r *http.Request) {
	s, err := readState(r.URL.RawQuery)
	if err != nil {
		c.showSearch(w, r, http.StatusBadRequest, s, searchPage{Message: badSearch(locale.T("Invalid search: %s.", locale.Composed(err.Error())))})
		return
	}
	now, q := c.Now(), s.search(c.Now())
	q.Facets = r.Header.Get(partHeader) != hitsPart // facets are too expensive for each keystroke
	q.Digest = s["q"] != "" && s["cursor"] == "" && s["typing"] == ""
	found, err := c.Search.Find(r.Context(), q)
	var wrong *query.SyntaxError
	var refused *service.Error
	switch {
	case errors.As(err, &wrong):
		c.showSearch(w, r, http.StatusBadRequest, s, searchPage{Fault: newSyntaxError(s["q"], wrong)})
	case errors.Is(err, storage.ErrBadCursor):
		text := locale.T("The URL belongs to another search. Start again from the first page.")
		c.showSearch(w, r, http.StatusBadRequest, s.first(), searchPage{Message: badSearch(text)})
	case errors.As(err, &refused):
		c.showSearch(w, r, http.StatusBadRequest, s, searchPage{Message: badSearch(locale.T("Invalid search: %s.", locale.Composed(refused.Error())))})
	case err != nil:
		m := failure(r, err, locale.T("Search"))
		c.showSearch(w, r, http.StatusServiceUnavailable, s, searchPage{Message: &m})
	default:
		main := s.show(found, now)
		if len(found.Items) == 0 {
			main.Empty = c.whyEmpty(r, s, found.Total)
			if main.Empty.Kind == "items" {
				main.Groups, main.Follow = nil, nil
			}
		}
		c.showSearch(w, r, http.StatusOK, s, main)
	}
}

// showSearch writes a search page.
func (c searchPages) showSearch(w http.ResponseWriter, r *http.Request, status int, s state, main searchPage) {
	p := page{
		Title: locale.T("Newest items"), Here: "/", Search: s.form(), Scripts: []string{"search.js"},
		Parts: []string{resultsPart, hitsPart, filtersPart}, Main: main,
	}
	if s["q"] != "" {
		p.Title = locale.Data(s["q"])
	}
	p.Search.Faulty = main.Fault != nil
	if main.Follow != nil {
		p.Feeds = main.Follow.links(p.Title)
	}
	c.render(w, r, status, "search", p)
}

// badSearch returns the message for an invalid search.
func badSearch(why locale.Text) *message {
	return &message{Heading: locale.T("Invalid search"), Text: []locale.Text{why}, Links: []choice{{Label: locale.T("New search"), URL: "/"}}}
}

// A syntaxError is a query with a parse error, split at its position.
type syntaxError struct {
	Before, At, After string
	What              locale.Text // error message
}

func newSyntaxError(q string, f *query.SyntaxError) *syntaxError {
	at := min(max(f.Offset, 0), len(q))
	for at > 0 && at < len(q) && !utf8.RuneStart(q[at]) {
		at--
	}
	_, size := utf8.DecodeRuneInString(q[at:])
	return &syntaxError{Before: q[:at], At: q[at : at+size], After: q[at+size:], What: locale.Sentence(locale.Composed(strings.TrimSuffix(f.Message, ".")))}
}

// whyEmpty determines why a search has no results.
func (c searchPages) whyEmpty(r *http.Request, s state, total int64) *empty {
	e := &empty{Kind: "match", Words: len(strings.Fields(s["q"]))}
	if all := s.unfiltered(); len(all) < len(s.first()) {
		e.Unfiltered = all.URL()
	}
	if words := strings.Fields(s["q"]); len(words) > 1 && !strings.ContainsAny(s["q"], `":()|*-`) {
		e.Any = s.without("typing").with("q", strings.Join(words, " OR ")).URL()
	}
	if status, err := c.status(r.Context()); err == nil {
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

// show returns the page of the results.
func (s state) show(found wire.SearchResults, now time.Time) searchPage {
	p := searchPage{
		pager:    pager{More: locale.T("More results")},
		Heading:  locale.T("Newest items"),
		Count:    locale.Plural(found.Total, "item"),
		Chips:    s.chips(found),
		Clear:    s.unfiltered().URL(),
		Groups:   s.groups(found),
		Results:  make([]result, len(found.Items)),
		Forgiven: found.Fuzzy && len(found.Items) > 0,
		Follow:   s.follow(),
	}
	least := locale.N(found.Total, "At least %d item", "At least %d items")
	if s.once() {
		p.Count = locale.Plural(found.Total, "result")
		least = locale.N(found.Total, "At least %d result", "At least %d results")
	}
	if found.By == wire.ByStore {
		p.Notes = append(p.Notes, locale.Composed(found.Why))
		if found.Next != "" {
			p.Count = least
		}
	}
	if s["q"] != "" {
		p.Heading = locale.T("Results for “%s”", s["q"])
		p.Sorts = []choice{
			{Label: locale.T("Best match"), URL: s.with("sort", "").URL(), Active: s["sort"] == "", Key: "sort"},
			{Label: locale.T("Newest"), URL: s.with("sort", "newest").URL(), Active: s["sort"] == "newest", Key: "sort newest"},
		}
	}
	for _, q := range found.Digest {
		p.Digest = append(p.Digest, quoteRow{q.Text, itemURL(q.Item.ID), q.Item.Publisher})
	}
	for _, h := range found.Hidden {
		p.Hidden = append(p.Hidden, hiddenRow{itemURL(h.ID), TitleOrDefault(h.Title), itemURL(h.Of), locale.Sentence(locale.Composed(h.Why))})
	}
	p.Less = locale.N(int64(len(p.Hidden)), "%d result hidden: not unique enough", "%d results hidden: not unique enough")
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
		p.Count = locale.Join(", ", p.Count, s.pageWord(found))
	}
	return p
}

// pageWord formats the page number, with the number of pages if it is known: results of the store are counted
// only as far as they were read, and with one item per story the total counts items.
func (s state) pageWord(found wire.SearchResults) locale.Text {
	page := strconv.Itoa(s.page())
	if s.once() || found.By == wire.ByStore {
		return locale.T("page %s", page)
	}
	pages := max(int64(s.page()), (found.Total+pageSize-1)/pageSize)
	return locale.T("page %s of %d", page, pages)
}

func (s state) result(item wire.FoundItem, now time.Time) result {
	r := result{
		URL:       itemURL(item.ID),
		Title:     item.TitleSpans,
		Passage:   item.TextSpans,
		Lang:      item.Language,
		Language:  languageName(item.Language),
		Feed:      choice{Label: orRemoved(item.FeedTitle), URL: s.with("feed", item.FeedID).URL()},
		Host:      host(item.URL),
		Published: locale.NewTimestamp(statedOrSeen(item.Item), now),
		Assumed:   item.Assumed != "",
	}
	if len(r.Passage) == 0 && item.Excerpt != "" {
		r.Passage = []wire.Span{{Text: item.Excerpt}}
	}
	r.Categories = linksOf(item.Categories, func(name string) string { return s.with("category", name).URL() })
	if item.DuplicateOf != "" {
		r.Duplicate = itemURL(item.DuplicateOf)
	}
	if t := item.Coverage; t != nil {
		r.Story = choice{Label: coverageText(t), URL: storyPath(item.StoryID)}
	}
	return r
}

// coverageText formats the coverage of a story.
func coverageText(t *wire.StoryCoverage) locale.Text {
	if t.Sources < 2 {
		return locale.N(int64(t.Items), "%d item about it", "%d items about it")
	}
	return locale.Plural(int64(t.Sources), "publisher")
}
