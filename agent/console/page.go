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

// menu leads to the areas, in this order.
var menu = []choice{
	{Label: "Search", URL: "/"}, {Label: "Stories", URL: storiesPath}, {Label: "Feeds", URL: feedsPath}, {Label: "Rules", URL: "/rules"},
	{Label: "Spam", URL: "/spam"}, {Label: "Mesh", URL: "/mesh"}, {Label: "Statistics", URL: "/statistics"},
}

// A page is what all templates are given.
type page struct {
	Title   string
	Search  form
	Here    string     // path of the page if the menu has it
	Scripts []string   // names of those it needs beside base.js, as "search.js"
	Feeds   []feedLink // what of it can be followed elsewhere
	Parts   []string   // templates that a script may ask for instead of the whole page
	Foot    *footer    // nil if the mesh does not say how it is
	Main    any
}

// A feedLink is where a page's list is served for feed readers.
type feedLink struct{ Title, Kind, URL string }

// A choice is a link that changes what is shown.
type choice struct {
	Label  string
	URL    string
	Count  int64
	Active bool
	Key    string // by which a script finds it again on the next page; may be empty
}

// A pager leads to other pages of a list.
type pager struct {
	First string // address of the first page; empty if this is it
	Next  string // address of the next page; empty if this is the last
	What  string // there are more of, as "results"
}

// partHeader is the header by which a script asks for a part of a page.
const partHeader = "Feedmesh-Part"

// render answers with a page made from the template, or with the part of it that
// is asked for. A page is made whole before any of it is sent.
func (c *console) render(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	if part := r.Header.Get(partHeader); slices.Contains(p.Parts, part) {
		name = part
		w.Header().Set(partHeader, part)
	} else if standing, err := c.standing.get(r.Context(), c.source, c.now()); err == nil {
		p.Foot = foot(standing)
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, p); err != nil {
		http.Error(w, "This page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	w.Write(b.Bytes())
}
