// Package views serves the pages of views: their list, the graph of what they read, their items, the editor with its preview, and subscriptions with their
// log. [Handler] returns the handler of all pages, in the layout of the console. They work without scripts; with one, the preview follows the text.
package views

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/chart"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/output"
	"feedmesh/agent/wire"
	"feedmesh/classify/expression"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

//go:embed templates
var templates embed.FS

// Path is the path of the list. Those of the other pages begin with it.
const Path = "/views"

const (
	editPath = Path + "/edit"
	maxForm  = 192 << 10 // bytes
	pageSize = 50        // items of a page
	charted  = 14        // days of the chart of a preview
)

type pages struct {
	*service.Service
	*console.Layout
}

// Public returns the paths of pages that need no login.
func Public() []string { return []string{deliver.UnsubscribePath} }

// Handler returns the handler of all pages. Forms change data: the caller must reject cross-site requests, as package
// rest does.
func Handler(s *service.Service) http.Handler {
	p := &pages{s, console.NewLayout(s, templates)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, p.list)
	mux.HandleFunc("GET "+editPath, p.edit)
	mux.HandleFunc("POST "+editPath, p.save)
	mux.HandleFunc("GET "+graphPath, p.graph)
	mux.HandleFunc("GET "+Path+"/show/{name}", p.items)
	mux.HandleFunc("GET "+Path+"/days/{name}", p.days)
	mux.HandleFunc("POST "+Path+"/remove/{name}", p.remove)
	mux.HandleFunc("GET "+subscriptionsPath, p.subscriptions)
	mux.HandleFunc("POST "+subscriptionsPath, p.subscribe)
	mux.HandleFunc("GET "+subscriptionsPath+"/{id}", p.log)
	mux.HandleFunc("POST "+subscriptionsPath+"/{id}/turn", p.turn)
	mux.HandleFunc("POST "+subscriptionsPath+"/{id}/repeat", p.repeat)
	mux.HandleFunc("POST "+subscriptionsPath+"/{id}/remove", p.removeSubscription)
	mux.HandleFunc("GET "+deliver.UnsubscribePath, p.showUnsubscribe)
	mux.HandleFunc("POST "+deliver.UnsubscribePath, p.unsubscribe)
	return p.Handler(mux, "POST "+deliver.UnsubscribePath, "POST "+Path+"/remove/{name}", "POST "+subscriptionsPath+"/{id}/turn", "POST "+subscriptionsPath+"/{id}/repeat", "POST "+subscriptionsPath+"/{id}/remove")
}

// A row is a view in the list.
type row struct {
	wire.ViewState
	URL, Edit, Remove string
	Graph             string // URL of the views connected to it
	Days              string // URL of the page with its chart
	RSS, Atom, JSON   string
	Reads             []link
}

type link struct{ Name, URL string }

func itemsPath(name string) string { return Path + "/show/" + name }

func rowOf(v wire.ViewState) row {
	out := output.Path + "views/" + v.Name
	r := row{
		ViewState: v, URL: itemsPath(v.Name), Edit: editPath + "?name=" + v.Name, Days: Path + "/days/" + v.Name, Remove: Path + "/remove/" + v.Name,
		Graph: graphPath + "?view=" + v.Name,
		RSS:   out + ".rss", Atom: out + ".atom", JSON: out + ".json",
	}
	r.Title = cmp.Or(v.Title, v.Name)
	for _, name := range v.View.Reads() {
		r.Reads = append(r.Reads, link{name, itemsPath(name)})
	}
	return r
}

func (p *pages) list(w http.ResponseWriter, r *http.Request) {
	all, err := p.Views.List(r.Context(), wire.None{})
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("Newest items"), "/")
		return
	}
	rows := make([]row, len(all.Views))
	for i, v := range all.Views {
		rows[i] = rowOf(v)
	}
	p.Render(w, r, http.StatusOK, "views", locale.T("Views"), rows)
}

// An itemRow is an item of a view.
type itemRow struct {
	URL, Lang, Title, Feed, FeedURL, Excerpt string
	Labels                                   []string
	At                                       *locale.Timestamp
}

func itemRowOf(item wire.FoundItem, set view.Set, now time.Time) itemRow {
	return itemRow{
		URL: "/items/" + url.PathEscape(item.ID), Lang: item.Language, Title: set.Prefix + cmp.Or(item.Title, item.Excerpt, item.URL), Feed: item.FeedTitle,
		FeedURL: "/feeds/" + url.PathEscape(item.FeedID), Excerpt: item.Excerpt, Labels: set.Labels, At: locale.NewTimestamp(item.Time(), now),
	}
}

// An itemsPage shows the items of a view.
type itemsPage struct {
	row
	Items []itemRow
	Next  string // URL of the next page; empty on the last
}

func (p *pages) items(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	v, err := p.Views.Get(r.Context(), wire.ViewName{Name: name})
	var found wire.ViewItems
	if err == nil {
		found, err = p.Views.Items(r.Context(), wire.ListViewItemsRequest{Name: name, Limit: pageSize, Cursor: r.URL.Query().Get("cursor")})
	}
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("Views"), Path)
		return
	}
	page := itemsPage{row: rowOf(v)}
	for _, item := range found.Items {
		page.Items = append(page.Items, itemRowOf(item, v.Set, p.Now()))
	}
	if found.Next != "" {
		page.Next = itemsPath(name) + "?cursor=" + url.QueryEscape(found.Next)
	}
	p.Render(w, r, http.StatusOK, "view", locale.Data(page.Title), page)
}

// A daysPage shows what a view had on each of the last days.
type daysPage struct {
	row
	wire.ViewSeries
	Chart template.HTML
	CSV   string // URL
}

func (p *pages) days(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	v, err := p.Views.Get(r.Context(), wire.ViewName{Name: name})
	var series wire.ViewSeries
	if err == nil {
		series, err = p.Views.Series(r.Context(), wire.ViewSeriesRequest{ViewName: wire.ViewName{Name: name}, Days: 30})
	}
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("Views"), Path)
		return
	}
	page := daysPage{row: rowOf(v), ViewSeries: series, CSV: "/api/views/" + name + "/series.csv?days=90"}
	var columns []chart.Column
	for _, day := range slices.Backward(series.Days) {
		columns = append(columns, chart.Column{Label: day.Day[len("2026-"):], Values: []int64{int64(day.Stories), int64(day.Items - day.Stories)}})
	}
	l := locale.From(r)
	page.Chart = chart.Columns(locale.T("Items a day").In(l), []string{locale.T("stories").In(l), locale.T("further items of them").In(l)}, columns)
	p.Render(w, r, http.StatusOK, "view-days", locale.Data(page.Title), page)
}

// An editor is the form of a view.
type editor struct {
	Definition string
	Problem    locale.Text // nil: none
	Place      *place      // of the problem; nil: unknown
	IsPart     bool        // a script requests the preview alone; it announces the problem
	Previewed  bool
	Found      locale.Text // number of items
	Filling    bool        // items may be missing
	Items      []itemRow
	Days       template.HTML // chart of the items of each day; empty without items
}

// A place is a position in a definition.
type place struct {
	Line, Column  int    // from 1; columns count characters
	Before, After string // what is on the line before and after it, at most maxExcerpt characters
}

const maxExcerpt = 40

// placeOf returns the position of an offset in bytes.
func placeOf(definition string, offset int) *place {
	offset = min(offset, len(definition))
	before, after := definition[:offset], definition[offset:]
	p := &place{Line: 1 + strings.Count(before, "\n")}
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	left, right := []rune(before), []rune(after)
	p.Column, p.Before, p.After = len(left)+1, before, after
	if len(left) > maxExcerpt {
		p.Before = "…" + string(left[len(left)-maxExcerpt:])
	}
	if len(right) > maxExcerpt {
		p.After = string(right[:maxExcerpt]) + "…"
	}
	return p
}

// example is the definition that the editor begins with.
const example = `view my-view "My view" = from all where linux once story window 7d`

func (p *pages) edit(w http.ResponseWriter, r *http.Request) {
	form := editor{Definition: cmp.Or(r.URL.Query().Get("definition"), example)}
	if name := r.URL.Query().Get("name"); name != "" {
		v, err := p.Views.Get(r.Context(), wire.ViewName{Name: name})
		if err != nil {
			p.Error(w, r, err, locale.T("The store"), locale.T("Views"), Path)
			return
		}
		form.Definition = v.Definition
	}
	p.showEditor(w, r, http.StatusOK, form)
}

// showEditor writes the editor, or its preview if a script requests this part.
func (p *pages) showEditor(w http.ResponseWriter, r *http.Request, status int, form editor) {
	p.RenderLive(w, r, status, "view-editor", "views.js", "view-preview", locale.T("Edit view"), form)
}

// save stores a view, or shows what it would have.
func (p *pages) save(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	// Browsers send lines that end with \r\n; scripts, and the positions of errors, count \n.
	form := editor{Definition: strings.ReplaceAll(r.PostFormValue("definition"), "\r\n", "\n"), IsPart: console.IsPart(r)}
	v, err := view.Parse(form.Definition)
	switch {
	case err != nil:
	case form.IsPart || r.PostFormValue("do") == "preview":
		err = p.preview(r, v, &form)
	default:
		_, err = p.Views.Save(r.Context(), wire.SaveViewRequest{Name: v.Name, Body: wire.ViewSetting{Definition: form.Definition}})
		if err == nil {
			http.Redirect(w, r, itemsPath(v.Name), http.StatusSeeOther)
			return
		}
	}
	status := http.StatusOK
	var syntax *expression.SyntaxError
	switch {
	case err == nil:
	case errors.As(err, &syntax):
		form.Place = placeOf(form.Definition, syntax.Offset)
		fallthrough
	case isConflict(err):
		form.Problem = locale.Composed(err.Error())
		if !form.IsPart { // the script that requests the part expects errors of an unfinished text
			status = http.StatusConflict
		}
	default:
		p.Error(w, r, err, locale.T("The store"), locale.T("Views"), Path)
		return
	}
	p.showEditor(w, r, status, form)
}

// isConflict reports whether an error is that of a definition.
func isConflict(err error) bool {
	var refusal *service.Error
	return errors.As(err, &refusal)
}

// preview adds to the form what its view would have.
func (p *pages) preview(r *http.Request, v view.View, form *editor) error {
	found, err := p.Views.Preview(r.Context(), wire.PreviewViewRequest{Body: wire.ViewSetting{Definition: form.Definition}})
	if err != nil {
		return err
	}
	form.Previewed, form.Filling = true, found.Filling
	switch n := len(found.Items); {
	case found.Searched == 0:
		form.Found = locale.T("No item matches.")
	case found.Searched < storage.MaxLimit:
		form.Found = locale.Plural(int64(n), "item")
	case n == found.Searched:
		form.Found = locale.T("The newest %d items", n)
	default:
		form.Found = locale.T("%d of the newest %d items that match", n, found.Searched)
	}
	for _, item := range found.Items {
		form.Items = append(form.Items, itemRowOf(item, v.Set, p.Now()))
	}
	days := found.Days[:min(len(found.Days), charted)]
	var columns []chart.Column
	for _, day := range slices.Backward(days) {
		columns = append(columns, chart.Column{Label: day.Value[len("2026-"):], Values: []int64{day.Count}})
	}
	if len(columns) > 0 {
		form.Days = chart.Columns(locale.T("Items a day").In(locale.From(r)), []string{""}, columns)
	}
	return nil
}

// remove removes a view. A missing view is no error.
func (p *pages) remove(w http.ResponseWriter, r *http.Request) {
	_, err := p.Views.Remove(r.Context(), wire.ViewName{Name: r.PathValue("name")})
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		p.Error(w, r, fmt.Errorf("remove the view: %w", err), locale.T("The store"), locale.T("Views"), Path)
		return
	}
	http.Redirect(w, r, Path, http.StatusSeeOther)
}
