// Package console serves the web pages: reading, search, items, stories, feeds, rules, spam, statistics and the state
// of the mesh. [Handler] returns the handler of all pages. They work without scripts, and a URL contains the
// whole state of a search.
package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
)

// pageTimeout is the timeout of the requests for a page.
const pageTimeout = 10 * time.Second

// Handler returns the handler of all pages; it answers unregistered paths with 404. Forms change data: the
// caller must reject cross-site requests, as package rest does.
func Handler(s *service.Service) http.Handler {
	c := &console{Service: s}
	mux := http.NewServeMux()
	searchPages{c}.searchRoutes(mux)
	readingPages{c}.routes(mux)
	itemPages{c}.routes(mux)
	storyPages{c}.routes(mux)
	feedPages{c}.routes(mux)
	importPages{c}.routes(mux)
	meshPages{c}.routes(mux)
	meshPages{c}.statisticsRoutes(mux)
	spamPages{c}.routes(mux)
	rulePages{c}.routes(mux)
	mux.HandleFunc(helpPath, c.help)
	mux.HandleFunc(iconPath, serveIcon)
	mux.Handle(sheet.Path, sheet)
	for _, script := range scripts() {
		mux.Handle(script.Path, script)
	}
	mux.HandleFunc("/", c.notFound)
	return c.withHeaders(mux)
}

// A console has what all pages share.
type console struct {
	*service.Service
	statusCache statusCache
}

// The pages of each noun.
type (
	searchPages  struct{ *console } // results
	readingPages struct{ *console }
	itemPages    struct{ *console }
	storyPages   struct{ *console }
	feedPages    struct{ *console }
	importPages  struct{ *console }
	meshPages    struct{ *console } // the mesh and statistics
	spamPages    struct{ *console }
	rulePages    struct{ *console }
)

// The content security policy of pages. Only the console's own scripts run, and they create HTML only through
// the trusted-types policy of base.js. Pages cannot be framed, and forms submit only to this server.
// Images are the icons and those of package imageproxy. Only the reading page registers a worker.
const (
	basePolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'; manifest-src 'self'; require-trusted-types-for 'script'; trusted-types feedmesh; "
	pagePolicy    = basePolicy + "worker-src 'none'"
	readingPolicy = basePolicy + "worker-src 'self'"
)

// eventsPath is the suffix of paths of event streams, which have no timeout.
const eventsPath = "/events"

// withHeaders sets the security headers of all responses, a timeout, and answers 405 to methods other than
// GET, HEAD and the POST of registered forms. While the disk is full it rejects forms but those of the patterns in small.
func (c *console) withHeaders(next *http.ServeMux, small ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Language", locale.From(r).Code)
		_, pattern := next.Handler(r)
		isForm := strings.HasPrefix(pattern, "POST ")
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !isForm {
			h.Set("Allow", "GET, HEAD")
			c.showMessage(w, r, http.StatusMethodNotAllowed, message{
				Heading: locale.T("This page can only be read"),
				Text:    []locale.Text{locale.T("Use the REST API or the agent's commands for other changes.")},
			})
			return
		}
		if err := c.CheckSpace(); isForm && err != nil && !slices.Contains(small, pattern) {
			c.showMessage(w, r, statusOf(err), message{
				Heading: locale.T("The disk is full"), Text: []locale.Text{explanation(err)}, Links: []choice{{Label: locale.T("Newest items"), URL: "/"}},
			})
			return
		}
		if strings.HasSuffix(pattern, eventsPath) {
			next.ServeHTTP(w, r)
			return
		}
		wait := pageTimeout
		if isForm {
			wait = formTimeout
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// A message is a page with text and links only.
type message struct {
	Heading locale.Text
	Text    []locale.Text // paragraphs
	Links   []choice
}

// showMessage responds with a message, without menu and status for a client that may not read.
func (c *console) showMessage(w http.ResponseWriter, r *http.Request, status int, m message) {
	if !access.From(r.Context()).May(access.Read) {
		p := page{Title: m.Heading, Main: m}
		p.identify(r)
		c.write(w, templates.of(r), status, "outer-message", p)
		return
	}
	c.render(w, r, status, "message", page{Title: m.Heading, Main: m})
}

// helpPath is the path of the help page.
const helpPath = "/help"

// help shows the query syntax and the keyboard shortcuts.
func (c *console) help(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "help-page", page{Title: locale.T("Help"), Parts: []string{"help"}})
}

func (c *console) notFound(w http.ResponseWriter, r *http.Request) {
	c.showMessage(w, r, http.StatusNotFound, message{
		Heading: locale.T("Page not found"),
		Text:    []locale.Text{locale.T("The URL may be mistyped, or belong to another version of feedmesh.")},
		Links:   []choice{{Label: locale.T("Newest items"), URL: "/"}},
	})
}

// showUnavailable responds with 503: the service failed.
func (c *console) showUnavailable(w http.ResponseWriter, r *http.Request, err error, what locale.Text) {
	c.showMessage(w, r, http.StatusServiceUnavailable, failure(r, err, what))
}

// failure returns the message for a failed service. It names the component, but not the error, which is for
// operators and reported by /readyz.
func failure(r *http.Request, err error, what locale.Text) message {
	m := message{
		Heading: locale.T("%s is not available", what),
		Text: []locale.Text{
			locale.T("A component that this page depends on cannot be reached at the moment. No data is lost: polling and storing continue when it recovers."),
			locale.T("Retry in a minute."),
		},
		Links: []choice{{Label: locale.T("Retry"), URL: r.URL.RequestURI()}, {Label: locale.T("Readiness"), URL: "/readyz"}},
	}
	if errors.Is(err, context.DeadlineExceeded) {
		m.Heading = locale.T("%s timed out", what)
	}
	return m
}
