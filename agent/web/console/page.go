package console

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/mesh"
	"feedmesh/agent/service"
	"feedmesh/agent/web/console/offline"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
	"feedmesh/subjects"
)

//go:embed templates
var templateFiles embed.FS

var templates = parsed(templateFiles)

// A templateSet has the templates by language and by the largest scope of the client: pages are made without the controls
// that it can't use, by the function may. All are made at their first use and cached: parsed templates take megabytes, and
// the page of a node in a mesh may never be opened.
type templateSet map[templateKey]func() *template.Template

type templateKey struct {
	language *locale.Language
	largest  access.Scope
}

// of returns the templates for the client of a request.
func (s templateSet) of(r *http.Request) *template.Template {
	return s[templateKey{locale.From(r), access.From(r.Context()).Largest()}]()
}

// parsed returns the templates of folders named templates. Their use panics if one can't be parsed: they are embedded.
func parsed(folders ...fs.FS) templateSet {
	all := sync.OnceValue(func() *template.Template { return parseFolders(folders) })
	set := templateSet{}
	for _, language := range locale.Languages {
		for _, largest := range append([]access.Scope{"", access.Metrics}, access.Scopes...) {
			client := access.Client{Scopes: []access.Scope{largest}}
			set[templateKey{language, largest}] = sync.OnceValue(func() *template.Template {
				own := template.Must(all().Clone()).Funcs(language.Functions()).Funcs(template.FuncMap{
					"may": client.May, "texts": func() string { return textsPath(language) },
				})
				language.Translate(own)
				return own
			})
		}
	}
	return set
}

// parseFolders parses the templates of folders named templates.
func parseFolders(folders []fs.FS) *template.Template {
	all := template.New("").Funcs(locale.English.Functions()).Funcs(template.FuncMap{
		"style": func() string { return sheet.Path }, "script": scriptPath, "texts": func() string { return "" },
		"manifest": func() string { return offline.ManifestPath }, "touchIcon": func() string { return offline.TouchIcon },
		"lightTheme": func() string { return offline.LightTheme }, "darkTheme": func() string { return offline.DarkTheme },
		"menu": func() []choice { return menu }, "may": access.Client{}.May,
	})
	for _, folder := range folders {
		template.Must(all.ParseFS(folder, "templates/*.html"))
	}
	return all
}

// Paths of the pages of package front.
const (
	NewsPath    = "/news"
	FollowsPath = NewsPath + "/follows"
)

// menu are the links of the main menu, in order.
var menu = []choice{
	{Label: locale.T("News"), URL: NewsPath}, {Label: locale.T("Read"), URL: readPath}, {Label: locale.T("For you"), URL: "/for-you"},
	{Label: locale.T("Search"), URL: "/"}, {Label: locale.T("Stories"), URL: storiesPath}, {Label: locale.T("Feeds"), URL: feedsPath},
	{Label: locale.T("Rules"), URL: "/rules"}, {Label: locale.T("Mesh"), URL: "/mesh"},
}

// A page contains the data of all templates.
type page struct {
	Title   locale.Text
	Search  form
	Here    string     // path of the current menu entry
	Address string     // path and query of the page, to which the choice of a language leads back
	Wide    bool       // the page uses the whole width of the window
	Scripts []string   // names of scripts beside base.js, such as "search.js"
	Feeds   []feedLink // outputs for feed readers
	Parts   []string   // templates that a script may request instead of the whole page
	Foot    *footer    // nil if the status is not available
	Off     int64      // number of the client's subscriptions that were turned off
	Person  string     // name of the person who is logged in; empty: none
	Logout  bool       // the person has a session that a form can end
	Main    any
}

// A feedLink is an output of the page's list for feed readers.
type feedLink struct {
	Title     locale.Text
	Kind, URL string
}

// A choice is a link that changes the shown state.
type choice struct {
	Label  locale.Text
	URL    string
	Count  int64
	Active bool
	Icon   string // path of the icon before the label; may be empty
	Key    string // identifies the element for scripts on the next page; may be empty
}

// A pager contains the links to other pages of a list.
type pager struct {
	First string      // URL of the first page; empty on the first page
	Next  string      // URL of the next page; empty on the last page
	More  locale.Text // label of the link to the next page, such as "More results"
}

// partHeader is the header with which a script requests a part of a page.
const partHeader = "Feedmesh-Part"

// render writes a page, or the requested part of it. The page is buffered, so that a template error does not
// leave a truncated response.
func (c *console) render(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	p.identify(r)
	if part := r.Header.Get(partHeader); slices.Contains(p.Parts, part) {
		name = part
		w.Header().Set(partHeader, part)
	} else {
		c.addStatus(r, &p)
	}
	c.write(w, templates.of(r), status, name, p)
}

// addStatus sets what pages show of the mesh and of the subscriptions of the client, both from caches.
func (c *console) addStatus(r *http.Request, p *page) {
	if status, err := c.status(r.Context()); err == nil {
		p.Foot = newFooter(status)
	}
	p.Off = int64(c.Subscriptions.CountOff(r.Context()))
}

// identify sets the person who requests the page, and its address.
func (p *page) identify(r *http.Request) {
	if client := access.From(r.Context()); client.Person {
		p.Person, p.Logout = client.Name, client.Session != ""
	}
	if r.Method == http.MethodGet {
		p.Address = r.URL.RequestURI()
	}
}

// write sends a page. A failure is a defect of a template or of its data: it is logged.
func (c *console) write(w http.ResponseWriter, from *template.Template, status int, name string, p page) {
	var b bytes.Buffer
	if err := from.ExecuteTemplate(&b, name, p); err != nil {
		c.Log.Error("a page could not be rendered", "template", name, "err", err)
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

// A Layout renders pages of other packages as the console renders its own.
type Layout struct {
	console   *console
	templates templateSet
}

// NewLayout returns a layout with further templates, which may use those of the console: top and bottom, and outer-top
// and outer-bottom for pages without menu and status. Its first page panics if a template can't be parsed.
func NewLayout(s *service.Service, files ...fs.FS) *Layout {
	set := templates
	if len(files) > 0 {
		set = parsed(append([]fs.FS{templateFiles}, files...)...)
	}
	return &Layout{&console{Service: s}, set}
}

// Handler returns the handler of pages with headers and timeouts as those of the console. small are the patterns of forms that
// store less than a kilobyte, or remove something: they are tried while the disk is full too.
func (l *Layout) Handler(pages *http.ServeMux, small ...string) http.Handler {
	return l.console.withHeaders(pages, small...)
}

// Message writes a page with sentences only, for a client that may be unknown.
func (l *Layout) Message(w http.ResponseWriter, r *http.Request, status int, heading locale.Text, text ...locale.Text) {
	w.Header().Set("Content-Security-Policy", pagePolicy)
	m := message{Heading: heading}
	for _, t := range text {
		m.Text = append(m.Text, locale.Sentence(t))
	}
	if access.From(r.Context()).May(access.Read) {
		m.Links = []choice{{Label: locale.T("Newest items"), URL: "/"}}
	}
	l.console.showMessage(w, r, status, m)
}

// Error writes a page that explains an error of the component named by what, such as "The store". A client error has a
// link back.
func (l *Layout) Error(w http.ResponseWriter, r *http.Request, err error, what, backLabel locale.Text, backURL string) {
	l.console.showError(w, r, err, what, choice{Label: backLabel, URL: backURL})
}

// Lang returns the language code of a partition, empty if it contains several languages.
func Lang(partition string) string { return langOf(partition) }

// ShowsPictures reports whether the reader chose to see pictures.
func ShowsPictures(r *http.Request) bool { return pictureChoice(r) != noPictures }

// IsPart reports whether a script requests a part of a page.
func IsPart(r *http.Request) bool { return r.Header.Get(partHeader) != "" }

// Render writes a page with the status of the mesh for a client that may read it, and without for others.
func (l *Layout) Render(w http.ResponseWriter, r *http.Request, status int, name string, title locale.Text, main any) {
	l.render(w, r, status, name, page{Title: title, Here: r.URL.Path, Main: main})
}

// RenderLive writes a page as Render does, with a script such as "search.js". The script may request a part of the page, the template
// with the name of the part.
func (l *Layout) RenderLive(w http.ResponseWriter, r *http.Request, status int, name, script, part string, title locale.Text, main any) {
	l.render(w, r, status, name, page{Title: title, Here: r.URL.Path, Scripts: []string{script}, Parts: []string{part}, Main: main})
}

func (l *Layout) render(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	p.identify(r)
	if part := r.Header.Get(partHeader); slices.Contains(p.Parts, part) {
		name = part
		w.Header().Set(partHeader, part)
	} else if access.From(r.Context()).May(access.Read) {
		l.console.addStatus(r, &p)
	}
	l.console.write(w, l.templates.of(r), status, name, p)
}

// Assets returns the paths of the files that pages are made with, which contain no data.
func Assets() []string {
	paths := []string{sheet.Path, iconPath}
	for _, script := range scripts() {
		paths = append(paths, script.Path)
	}
	return paths
}

// showError responds with the reason of a client error and a link back. Other errors are reported as a
// failure of the component named by what, such as "The store".
func (c *console) showError(w http.ResponseWriter, r *http.Request, err error, what locale.Text, back choice) {
	status := statusOf(err)
	if status == 0 {
		c.showUnavailable(w, r, err, what)
		return
	}
	m := message{Heading: locale.T("This cannot be done"), Text: []locale.Text{explanation(err)}, Links: []choice{back}}
	if status == http.StatusNotFound {
		m.Heading = locale.T("Not found")
	}
	c.showMessage(w, r, status, m)
}

// handleError reports whether err is not nil, and then responds: with missing for [storage.ErrNotFound], else
// with a failure of the component named by what.
func (c *console) handleError(w http.ResponseWriter, r *http.Request, err error, what locale.Text, missing http.HandlerFunc) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, storage.ErrNotFound):
		missing(w, r)
	default:
		c.showUnavailable(w, r, err, what)
	}
	return true
}

// badAddress responds with 400 to invalid URL parameters; wrong is an error of [readParams] or
// [storage.ErrBadCursor].
func (c *console) badAddress(w http.ResponseWriter, r *http.Request, heading locale.Text, invalid error, back choice) {
	detail := locale.T("The URL is invalid: %s.", locale.Composed(invalid.Error()))
	if errors.Is(invalid, storage.ErrBadCursor) {
		detail = locale.T("The URL belongs to another list. Start again from the first page.")
	}
	c.showMessage(w, r, http.StatusBadRequest, message{Heading: heading, Text: []locale.Text{detail}, Links: []choice{back}})
}

// explanation returns the reason for an error, as a sentence.
func explanation(err error) locale.Text { return locale.Sentence(locale.Composed(err.Error())) }

// statusOf returns the HTTP status of a client error, or 0 for a server error.
func statusOf(err error) int {
	var wrong *service.Error
	switch {
	case errors.Is(err, mesh.ErrNoTask), errors.Is(err, storage.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, storage.ErrConflict), errors.Is(err, mesh.ErrNoReplay), errors.Is(err, workbench.ErrNoUndo), errors.Is(err, workbench.ErrFinished):
		return http.StatusConflict
	case errors.Is(err, workbench.ErrBusy):
		return http.StatusTooManyRequests
	case errors.As(err, &wrong):
		return problem.StatusOf(wrong.Kind)
	}
	return 0
}

// statusCache caches the mesh status, or the error, for statusMaxAge. Every page shows it and computing it is
// expensive. The lock is held during a request, so concurrent pages share its result.
type statusCache struct {
	mu     sync.Mutex
	taken  time.Time
	status wire.Status
	err    error
}

const (
	statusMaxAge  = 2 * time.Second
	statusTimeout = 2 * time.Second
)

// status returns the cached status of the mesh.
func (c *console) status(ctx context.Context) (wire.Status, error) {
	return c.statusCache.get(ctx, c.Status, c.Now())
}

func (s *statusCache) get(ctx context.Context, from *service.Status, now time.Time) (wire.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken.IsZero() || now.Sub(s.taken) >= statusMaxAge {
		// The result is cached for other pages, so the request is not cancelled with this one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusTimeout)
		defer cancel()
		s.status, s.err = from.Get(ctx, wire.None{})
		s.taken = now
	}
	return s.status, s.err
}

// A footer is the one-line status of the mesh.
type footer struct {
	Feeds, Items, Indexed int64
	Waiting, Quarantined  int64
	Version               string
	Stalled               []locale.Text // shown above the page
}

func newFooter(s wire.Status) *footer {
	f := &footer{Feeds: s.Feeds.Stored, Items: s.Items, Indexed: s.Indexed, Version: s.Version}
	for _, report := range s.Stalled {
		f.Stalled = append(f.Stalled, locale.Composed(report))
	}
	for _, q := range s.Queues {
		if q.Queue == subjects.QuarantineStream {
			f.Quarantined += int64(q.Tasks)
		} else {
			f.Waiting += int64(q.Tasks)
		}
	}
	return f
}

// redirectOrExplain responds to a manual edit: with a redirect to next, with a message that it is pending, or
// with the error and a link back.
func (c *console) redirectOrExplain(w http.ResponseWriter, r *http.Request, pending bool, err error, back, next string) {
	var refusal *service.Error
	m := message{Links: []choice{{Label: locale.T("Back"), URL: back}}}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		m.Heading, m.Text = locale.T("Not found"), []locale.Text{locale.T("The item or story was removed, or moved to another story.")}
		c.showMessage(w, r, http.StatusNotFound, m)
	case errors.As(err, &refusal):
		m.Heading, m.Text = locale.T("This cannot be done"), []locale.Text{explanation(refusal)}
		c.showMessage(w, r, http.StatusConflict, m)
	case errors.Is(err, service.ErrOlderAgent):
		m.Heading, m.Text = locale.T("This cannot be done now"), []locale.Text{explanation(err)}
		c.showMessage(w, r, http.StatusServiceUnavailable, m)
	case err != nil:
		c.showUnavailable(w, r, err, locale.T("The mesh"))
	case pending:
		m.Heading, m.Text = locale.T("The change is pending"), []locale.Text{locale.T("It was accepted and will be applied by the cluster actor of its language.")}
		c.showMessage(w, r, http.StatusAccepted, m)
	default:
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

// unavailablePolicy is the content security policy of pages without scripts and forms.
const unavailablePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Unavailable returns a handler that answers browsers with a page of status 503 while nothing else can be served. The
// page states the reason, a sentence, and loads itself again every five seconds. Other requests are passed to next.
func Unavailable(reason string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == sheet.Path:
			sheet.ServeHTTP(w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.Contains(r.Header.Get("Accept"), "text/html"):
			next.ServeHTTP(w, r)
			return
		}
		var b bytes.Buffer
		m := message{
			Heading: locale.T("Not available yet"),
			Text:    []locale.Text{locale.Composed(reason + "."), locale.T("No data is lost. This page loads itself again every five seconds.")},
		}
		if err := templates.of(r).ExecuteTemplate(&b, "unavailable", m); err != nil {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", unavailablePolicy)
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write(b.Bytes())
	})
}
