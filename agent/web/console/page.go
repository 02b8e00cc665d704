package console

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strconv"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"count": count, "plural": plural, "bytes": size, "span": span, "percent": percent,
	"style": func() string { return sheet.Path }, "script": scriptPath,
	"menu": func() []choice { return menu },
}).ParseFS(templateFiles, "templates/*.html"))

// menu are the links of the main menu, in order.
var menu = []choice{
	{Label: "Search", URL: "/"}, {Label: "Stories", URL: storiesPath}, {Label: "Feeds", URL: feedsPath}, {Label: "Rules", URL: "/rules"},
	{Label: "Spam", URL: "/spam"}, {Label: "Mesh", URL: "/mesh"}, {Label: "Statistics", URL: "/statistics"},
}

// A page contains the data of all templates.
type page struct {
	Title   string
	Search  form
	Here    string     // path of the current menu entry
	Scripts []string   // names of scripts beside base.js, such as "search.js"
	Feeds   []feedLink // outputs for feed readers
	Parts   []string   // templates that a script may request instead of the whole page
	Foot    *footer    // nil if the status is not available
	Main    any
}

// A feedLink is an output of the page's list for feed readers.
type feedLink struct{ Title, Kind, URL string }

// A choice is a link that changes the shown state.
type choice struct {
	Label  string
	URL    string
	Count  int64
	Active bool
	Key    string // identifies the element for scripts on the next page; may be empty
}

// A pager contains the links to other pages of a list.
type pager struct {
	First string // URL of the first page; empty on the first page
	Next  string // URL of the next page; empty on the last page
	What  string // noun for the list's entries, such as "results"
}

// partHeader is the header with which a script requests a part of a page.
const partHeader = "Feedmesh-Part"

// render writes a page, or the requested part of it. The page is buffered, so that a template error does not
// leave a truncated response.
func (c *console) render(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	if part := r.Header.Get(partHeader); slices.Contains(p.Parts, part) {
		name = part
		w.Header().Set(partHeader, part)
	} else if status, err := c.statusCache.get(r.Context(), c.source, c.now()); err == nil {
		p.Foot = newFooter(status)
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, p); err != nil {
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	w.Write(b.Bytes())
}
