// Package console serves pages for people: search, items, stories, feeds and how
// the mesh is. They are whole without scripts, and all of a search is in its address.
package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// A Source is what the pages tell of, as [api.Server] does. An item, a story or
// a feed that is not there is [storage.ErrNotFound]; a cursor of another list,
// [storage.ErrBadCursor]; what can't be done, an [api.Refusal]. Its methods may be
// called concurrently.
type Source interface {
	searchSource
	savedSource
	itemSource
	storySource
	feedSource
	importSource
	statusSource
	meshSource
	statisticsSource
	spamSource
	ruleSource
}

// patience is how long a page waits for its source.
const patience = 10 * time.Second

// Handler returns the pages. It answers every path, if only to say that there
// is nothing. Some have forms that change something: whoever serves them must
// refuse what pages of other sites send, as [api.Server] does.
func Handler(source Source) http.Handler {
	return handler(source, time.Now)
}

func handler(source Source, now func() time.Time) http.Handler {
	c := &console{source: source, now: now}
	mux := http.NewServeMux()
	c.searchRoutes(mux)
	c.savedRoutes(mux)
	c.itemRoutes(mux)
	c.storyRoutes(mux)
	c.feedRoutes(mux)
	c.importRoutes(mux)
	c.meshRoutes(mux)
	c.statisticsRoutes(mux)
	c.spamRoutes(mux)
	c.ruleRoutes(mux)
	mux.HandleFunc("/help", c.help)
	mux.HandleFunc(iconPath, serveIcon)
	mux.Handle(sheet.Path, sheet)
	for _, script := range scripts {
		mux.Handle(script.Path, script)
	}
	mux.HandleFunc("/", c.nothing)
	return c.guarded(mux)
}

type console struct {
	source   Source
	now      func() time.Time
	standing standing
}

// What a browser may load. Only our own scripts run, and they make no HTML but
// through the one policy of base.js; nothing is framed, and forms come here. Only
// the page of an item may show images, from wherever its publisher keeps them.
const (
	basePolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types feedmesh; "
	pagePolicy = basePolicy + "img-src 'none'"
	itemPolicy = basePolicy + "img-src https: http:"
)

// eventsPath is how the paths of streams of events end, which have no end in time.
const eventsPath = "/events"

// guarded sets what all answers have in common and refuses all but reading, and
// what our own forms send.
func (c *console) guarded(next *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		_, pattern := next.Handler(r)
		isForm := strings.HasPrefix(pattern, "POST ")
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !isForm {
			h.Set("Allow", "GET, HEAD")
			c.say(w, r, http.StatusMethodNotAllowed, message{
				Heading: "This page can only be read",
				Text:    []string{"Other changes are made through the REST API or by the agent's commands."},
			})
			return
		}
		if strings.HasSuffix(pattern, eventsPath) {
			next.ServeHTTP(w, r)
			return
		}
		wait := patience
		if isForm {
			wait = findPatience
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// A message is a page of words only.
type message struct {
	Heading string
	Text    []string // paragraphs
	Links   []choice
}

// say answers with a message.
func (c *console) say(w http.ResponseWriter, r *http.Request, status int, m message) {
	c.render(w, r, status, "message", page{Title: m.Heading, Main: m})
}

// help tells how to search, and which keys there are.
func (c *console) help(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "help-page", page{Title: "Help", Parts: []string{"help"}})
}

func (c *console) nothing(w http.ResponseWriter, r *http.Request) {
	c.say(w, r, http.StatusNotFound, message{
		Heading: "There is no such page",
		Text:    []string{"The address may be mistyped, or come from another version of feedmesh."},
		Links:   []choice{{Label: "Newest items", URL: "/"}},
	})
}

// sorry answers for a source that failed.
func (c *console) sorry(w http.ResponseWriter, r *http.Request, err error, what string) {
	c.say(w, r, http.StatusServiceUnavailable, failure(r, err, what))
}

// failure tells of a source that failed. What failed is named, why is not: the
// error is for whoever runs this, and readiness tells them.
func failure(r *http.Request, err error, what string) message {
	m := message{
		Heading: what + " does not answer",
		Text: []string{
			"Something this page stands on cannot be reached at the moment. Nothing is lost: feeds are read and items are kept as soon as that is possible.",
			"Try again in a minute.",
		},
		Links: []choice{{Label: "Try again", URL: r.URL.RequestURI()}, {Label: "What is wrong (readiness)", URL: "/readyz"}},
	}
	if errors.Is(err, context.DeadlineExceeded) {
		m.Heading = what + " takes too long"
	}
	return m
}
