// Package console serves pages for people: search, items, stories, feeds and how
// the mesh is. They are whole without scripts, and all of a search is in its address.
package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/api"
)

// A Source is what the pages tell of, as [api.Server] does. An item, a story or
// a feed that is not there is [storage.ErrNotFound]; a cursor of another list,
// [storage.ErrBadCursor]; what can't be done, an [api.Refusal]. Its methods may be
// called concurrently.
type Source interface {
	Search(ctx context.Context, q api.Search) (api.Found, error)
	Item(ctx context.Context, id string) (api.ItemView, error)
	Status(ctx context.Context) (api.Status, error)
	Feeds(ctx context.Context, after string, limit int) (api.FeedPage, error)
	Feed(ctx context.Context, id string) (api.Feed, error)
	Discover(ctx context.Context, address string) (api.Discovery, error)
	AddFeeds(ctx context.Context, urls, tags []string) (api.Intakes, error)
	RefreshFeed(ctx context.Context, id string) error
	CallSpam(ctx context.Context, id string, is bool) (api.ItemView, error)
	Duplicates(ctx context.Context, id string) (api.Duplicates, error)
	Related(ctx context.Context, id string, limit int) (api.Related, error)
	DifferItem(ctx context.Context, id string) (api.Duplicates, error)
	Stories(ctx context.Context, q api.StorySearch) (api.StoryPage, error)
	Story(ctx context.Context, id string) (api.StoryView, error)
	SplitStory(ctx context.Context, id string, what api.Splitting) (api.StoryView, error)
	JoinStories(ctx context.Context, id, other string) (api.StoryView, error)
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
	mux.HandleFunc("/{$}", c.search)
	mux.HandleFunc("/items/{id}", c.item)
	mux.HandleFunc("POST /items/{id}/spam", c.callSpam)
	mux.HandleFunc("POST /items/{id}/differ", c.differ)
	mux.HandleFunc(storiesPath, c.stories)
	mux.HandleFunc(storiesPath+"/{id}", c.story)
	mux.HandleFunc("POST "+storiesPath+"/{id}/split", c.split)
	mux.HandleFunc("POST "+storiesPath+"/{id}/join", c.join)
	mux.HandleFunc("/status", c.status)
	mux.HandleFunc(feedsPath, c.feeds)
	mux.HandleFunc("POST "+feedsPath, c.add)
	mux.HandleFunc("POST "+findPath, c.find)
	mux.HandleFunc(feedsPath+"/{id}", c.feed)
	mux.HandleFunc("POST "+feedsPath+"/{id}/refresh", c.refresh)
	mux.HandleFunc(stylePath, serveStyle)
	mux.HandleFunc("/", c.nothing)
	return c.guarded(mux)
}

type console struct {
	source   Source
	now      func() time.Time
	standing standing
}

// What a browser may load. Nothing runs, nothing is framed, and forms come here.
// Only the page of an item has images, from wherever its publisher keeps them.
const (
	basePolicy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
	pagePolicy = basePolicy + "img-src 'none'"
	itemPolicy = basePolicy + "img-src https: http:"
)

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
	state   state // what the search field shows
}

// say answers with a message.
func (c *console) say(w http.ResponseWriter, r *http.Request, status int, m message) {
	c.render(w, r, status, "message", page{Title: m.Heading, Search: m.state.form(), Main: m})
}

func (c *console) nothing(w http.ResponseWriter, r *http.Request) {
	c.say(w, r, http.StatusNotFound, message{
		Heading: "There is no such page",
		Text:    []string{"The address may be mistyped, or come from another version of feedmesh."},
		Links:   []choice{{Label: "Newest items", URL: "/"}},
	})
}

// sorry answers for a source that failed. What failed is named, why is not: the
// error is for whoever runs this, and readiness tells them.
func (c *console) sorry(w http.ResponseWriter, r *http.Request, err error, what string, s state) {
	m := message{
		Heading: what + " does not answer",
		Text: []string{
			"Something this page stands on cannot be reached at the moment. Nothing is lost: feeds are read and items are kept as soon as that is possible.",
			"Try again in a minute.",
		},
		Links: []choice{{Label: "Try again", URL: r.URL.RequestURI()}, {Label: "What is wrong (readiness)", URL: "/readyz"}},
		state: s,
	}
	if errors.Is(err, context.DeadlineExceeded) {
		m.Heading = what + " takes too long"
	}
	c.say(w, r, http.StatusServiceUnavailable, m)
}

// bad answers for a search that makes no sense.
func (c *console) bad(w http.ResponseWriter, r *http.Request, why string, s state) {
	c.say(w, r, http.StatusBadRequest, message{
		Heading: "This search cannot be done",
		Text:    []string{why},
		Links:   []choice{{Label: "Start anew", URL: "/"}},
		state:   s,
	})
}
