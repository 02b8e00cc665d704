package console

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/output"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const searchesPath = "/searches"

func (c searchPages) savedRoutes(mux *http.ServeMux) {
	mux.HandleFunc(searchesPath, c.searches)
	mux.HandleFunc("POST "+searchesPath, c.saveSearch)
	mux.HandleFunc("POST "+searchesPath+"/{name}/remove", c.removeSearch)
}

// A savedRow is a saved search.
type savedRow struct {
	follow
	URL    string // of the search page
	Added  *locale.Timestamp
	Remove string // action of the form that removes it
}

func (c searchPages) searches(w http.ResponseWriter, r *http.Request) {
	saved, err := c.SavedSearches.List(r.Context(), wire.None{})
	if err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return
	}
	rows := make([]savedRow, len(saved.Searches))
	for i, s := range saved.Searches {
		rows[i] = savedRow{
			follow: savedFollow(s), URL: strings.TrimSuffix("/?"+s.Query, "?"), Added: locale.NewTimestamp(s.Added, c.Now()),
			Remove: searchesPath + "/" + s.Name + "/remove",
		}
	}
	c.render(w, r, http.StatusOK, "searches", page{Title: locale.T("Saved searches"), Main: rows})
}

// savedFollow returns the output URLs of a saved search. They do not change with its query.
func savedFollow(s storage.SavedSearch) follow {
	at := output.Path + "searches/" + s.Name
	return follow{RSS: at + ".rss", Atom: at + ".atom", JSON: at + ".json", Title: cmp.Or(s.Title, s.Name)}
}

// Maximum lengths of a saved search: title in characters, query in bytes.
const (
	maxTitle = 200
	maxSaved = 4096
)

// saveSearch saves a search under a name derived from its title. An existing search of that name is replaced.
func (c searchPages) saveSearch(w http.ResponseWriter, r *http.Request) {
	title, query := formValue(w, r, "title"), formValue(w, r, "query")
	if title == "" || utf8.RuneCountInString(title) > maxTitle || len(query) > maxSaved {
		c.redirectOrExplain(w, r, false, &service.Error{Kind: service.KindConflict, Message: "a saved search needs a title, of 200 characters at most"}, "/?"+query, "")
		return
	}
	_, err := c.SavedSearches.Save(r.Context(), wire.SaveSearchRequest{Name: nameOf(title), Body: wire.SearchSetting{Title: title, Query: query}})
	c.redirectOrExplain(w, r, false, err, "/", searchesPath)
}

// removeSearch removes a saved search. A missing search is not an error.
func (c searchPages) removeSearch(w http.ResponseWriter, r *http.Request) {
	_, err := c.SavedSearches.Remove(r.Context(), wire.SavedSearchName{Name: r.PathValue("name")})
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	c.redirectOrExplain(w, r, false, err, searchesPath, searchesPath)
}

// maxName bounds the name of a saved search, in bytes.
const maxName = 64

// nameOf returns a name for URLs: the title's ASCII letters and digits, joined by hyphens. A title without
// any is named by its hash, so that equal titles get equal names.
func nameOf(title string) string {
	parts := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(parts, "-")
	if name == "" {
		sum := sha256.Sum256([]byte(title))
		return "search-" + hex.EncodeToString(sum[:4])
	}
	return strings.Trim(name[:min(len(name), maxName)], "-")
}

// A follow contains the output URLs of a search or list.
type follow struct {
	RSS, Atom, JSON string // URLs for feed readers
	Query           string // query to save the search with, for this page and for feed readers; empty for other lists
	Title           string // suggested title
}

// follow returns the output URLs of the search's first page, without prefix matching of a word being typed.
func (s state) follow() *follow {
	values := s.output()
	f := followed("search", values)
	for _, name := range []string{"show", "day", "stories"} { // parameters of the search page only
		if s[name] != "" {
			values.Set(name, s[name])
		}
	}
	f.Query, f.Title = values.Encode(), s["q"]
	return f
}

// follow returns the output URLs of the list of stories.
func (l listing) follow() *follow {
	values := url.Values{}
	for _, name := range []string{"language", "category", "topic", "sort"} {
		if l[name] != "" {
			values.Set(name, l[name])
		}
	}
	return followed("stories", values)
}

func followed(what string, values url.Values) *follow {
	address := func(format string) string {
		return strings.TrimSuffix(output.Path+what+"."+format+"?"+values.Encode(), "?")
	}
	return &follow{RSS: address("rss"), Atom: address("atom"), JSON: address("json")}
}

// output returns the state as parameters of GET /api/search. Relative times become part of the query.
func (s state) output() url.Values {
	values := url.Values{}
	for _, name := range []string{"category", "topic", "feed", "language", "unique", "sort"} {
		if s[name] != "" {
			values.Set(name, s[name])
		}
	}
	q := s["q"]
	switch days := daysOf[s["time"]]; {
	case s["day"] != "":
		after, before := s.between(time.Time{})
		values.Set("after", after.Format(time.RFC3339))
		values.Set("before", before.Format(time.RFC3339))
	case days > 0 && q != "":
		q = fmt.Sprintf("(%s) age:<%dd", q, days)
	case days > 0:
		q = fmt.Sprintf("age:<%dd", days)
	}
	if q != "" {
		values.Set("q", q)
	}
	switch s["show"] {
	case "":
		if s.once() {
			values.Set("once", "true")
		}
	case "spam", "duplicates":
		values.Set(s["show"], "true")
	default:
		values.Set("duplicates", "true")
		values.Set("flag", s["show"])
	}
	return values
}

// links returns the formats as links for the page's head.
func (f *follow) links(title locale.Text) []feedLink {
	return []feedLink{
		{Title: locale.T("%s (Atom)", title), Kind: "application/atom+xml", URL: f.Atom},
		{Title: locale.T("%s (RSS)", title), Kind: "application/rss+xml", URL: f.RSS},
		{Title: locale.T("%s (JSON Feed)", title), Kind: "application/feed+json", URL: f.JSON},
	}
}
