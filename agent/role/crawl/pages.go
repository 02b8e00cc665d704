package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/crawl/page"
	"feedmesh/agent/role/crawl/site"
	"feedmesh/agent/role/work"
	"feedmesh/agent/secret"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// pageWorkers is the number of documents whose pages are fetched concurrently. They are separate from the
	// fetch slots of feeds: neither waits for the other.
	pageWorkers = 4

	// maxPages bounds the entries of a document whose pages are fetched, newest first. The first document of
	// a feed contains its whole archive.
	maxPages = 20

	pagesTimeout = 3 * time.Minute // for all pages of a document: well within its lease
)

// servePages fetches the pages of entries, in parallel to the feeds.
//
// It is active on one agent of the mesh only: the schedule spaces the fetches of feeds over all agents but
// not of pages, so two agents could request from one host at the same time.
func servePages(ctx context.Context, env *work.Env, hosts *site.Locks) error {
	p := &pager{
		pages: site.New(env.Fetch, hosts, env.Clock.Now),
		out:   env.Mesh, clock: env.Clock, outcomes: newMetrics(env.Metrics).pages, secrets: env.Secrets, log: env.Log,
	}
	return env.Mesh.Single(ctx, subjects.PageQueue.Name, func(active context.Context) error {
		receive := func(ctx context.Context, task subjects.Page) error { return p.receive(ctx, active, task) }
		return mesh.Serve(active, env.Mesh, subjects.PageQueue, "", mesh.ActorFunc[subjects.Page](receive), pageWorkers)
	})
}

// pager replaces the content of entries by the article of the linked page if that is fuller, and passes the
// document on as parse would. It may also add an image; all other fields are unchanged. Key and hash stay
// those of the feed, by which the next poll recognizes the entry.
//
// The schedule's timeout for a document is [subjects.InFlightTimeout]. To avoid a second fetch of a waiting
// document, late documents continue unchanged, and the queue's age stays below that timeout.
type pager struct {
	pages    *site.Pages
	out      subjects.Publisher
	clock    work.Clock
	outcomes *prometheus.CounterVec // of entries
	secrets  *secret.Keys
	log      *slog.Logger
}

// errStandby reports that this agent stops or another one is active.
var errStandby = errors.New("page fetching is not active on this agent")

// receive processes a task. When active ends it returns the task to the queue for the next active agent,
// because finishing may take minutes.
func (p *pager) receive(ctx, active context.Context, task subjects.Page) error {
	if p.clock.Now().Sub(task.Fetched) > subjects.MaxPageAge {
		p.outcomes.WithLabelValues(string(pageIsLate)).Add(float64(min(len(task.Entries), maxPages)))
	} else {
		limited, cancel := context.WithTimeout(ctx, pagesTimeout)
		defer cancel()
		defer context.AfterFunc(active, cancel)()
		p.improveAll(limited, task)
		if active.Err() != nil {
			return mesh.RetryAfter(time.Second, errStandby)
		}
	}
	return work.PublishEntries(ctx, p.out, task.Document, task.Entries)
}

// improveAll improves as many entries of a task as its timeout allows.
func (p *pager) improveAll(ctx context.Context, task subjects.Page) {
	v := &visit{pager: p, links: linksOf(task), host: subjects.HostOf(task.URL), routes: p.routesOf(task), silent: map[string]int{}, budget: work.MaxEntries}
	for _, e := range task.Entries {
		v.budget -= len(e.HTML)
	}
	for _, i := range newestEntries(task.Entries) {
		outcome, err := v.improve(ctx, &task.Entries[i], v.links[i])
		p.outcomes.WithLabelValues(string(outcome)).Inc()
		if err != nil {
			p.log.Debug("page not used", "role", subjects.CrawlQueue.Name, "feed_id", task.FeedID, "url", v.links[i], "err", err)
		}
	}
}

// routesOf returns the routes for pages on the host of a task's document; none: direct only. A region is a route of other agents.
func (p *pager) routesOf(task subjects.Page) []string {
	if task.Route.ID == "" {
		return nil
	}
	address, err := p.secrets.OpenProxy(task.Route.ID, task.Route.URL)
	if err != nil {
		p.log.Warn("pages are fetched without the proxy of their feed", "role", subjects.CrawlQueue.Name, "feed_id", task.FeedID, "proxy", task.Route.ID, "err", err)
		return nil
	}
	if (storage.Proxy{URL: address}).Region() != "" {
		return nil
	}
	return []string{address}
}

// newestEntries returns the indexes of the newest entries, at most maxPages, newest first. Entries without a
// date follow in their order.
func newestEntries(entries []subjects.Entry) []int {
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return entries[b].Published.Compare(entries[a].Published) })
	return order[:min(len(order), maxPages)]
}

// linksOf returns the address of each entry's page: "" without a link, or if other entries or the feed's site
// share it.
func linksOf(task subjects.Page) []string {
	links, users := make([]string, len(task.Entries)), map[string]int{}
	if u, err := url.Parse(task.URL); err == nil {
		users[work.Absolute(u, task.Site)]++
	}
	for i, e := range task.Entries {
		links[i] = work.Link(task.Document, e)
		users[links[i]]++
	}
	for i, l := range links {
		if users[l] > 1 {
			links[i] = ""
		}
	}
	return links
}

// A pageOutcome is the result for an entry's page. The values, with the classes of fetch errors, are few, so
// they may label metrics.
type pageOutcome string

const (
	pageIsBetter    pageOutcome = "better"
	pageIsNoBetter  pageOutcome = "no better"  // or about another subject
	pageIsMissing   pageOutcome = "no page"    // of its own
	pageIsForbidden pageOutcome = "robots.txt" // disallows it
	pageIsLeft      pageOutcome = "left"       // its host does not answer, or limits requests
	pageIsLate      pageOutcome = "late"
	pageIsNoHTML    pageOutcome = "not html"
	pageIsTooLarge  pageOutcome = "too large"
	pageIsUnread    pageOutcome = "unread" // no article found
)

// A visit fetches the pages of one document.
type visit struct {
	*pager
	links  []string
	host   string         // of the document
	routes []string       // for pages on that host
	silent map[string]int // by host: consecutive requests without a response
	budget int            // bytes by which all entries together may grow
}

// improve replaces an entry's content, or returns the reason why not.
func (v *visit) improve(ctx context.Context, e *subjects.Entry, address string) (pageOutcome, error) {
	if address == "" {
		return pageIsMissing, errors.New("the entry has no page of its own")
	}
	if err := ctx.Err(); err != nil {
		return pageIsLate, err
	}
	host := subjects.HostOf(address)
	if v.silent[host] >= maxUnanswered {
		return pageIsLeft, fmt.Errorf("%s did not answer requests for other pages", host)
	}
	var routes []string
	if host == v.host {
		routes = v.routes
	}
	d, err := v.pages.Fetch(ctx, address, routes...)
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) && !isFetchError(err) {
			return pageIsLate, err
		}
		return v.failed(host, err), err
	}
	v.silent[host] = 0
	found, err := v.pages.Extract(d)
	if err != nil {
		return outcomeOf(err), err
	}
	if !site.IsFuller(e.Title, e.HTML, e.Summary, found) {
		return pageIsNoBetter, errors.New("the page does not contain a fuller text of the entry")
	}
	more := len(found.HTML) - len(e.HTML)
	if more > v.budget {
		return pageIsTooLarge, errors.New("the page exceeds the message size")
	}
	v.budget -= more
	e.HTML, e.Image = found.HTML, cmp.Or(e.Image, found.Image)
	return pageIsBetter, nil
}

// failed counts a failure against its host if other pages would fail likewise.
func (v *visit) failed(host string, err error) pageOutcome {
	if e := (*fetch.Error)(nil); errors.As(err, &e) {
		switch {
		case e.Status == 429, e.Status == 503, e.Class == fetch.ClassBotBlock, e.Class == fetch.ClassLogin:
			v.silent[host] = maxUnanswered
		case e.Status == 0 && e.Class != fetch.ClassTooLarge && e.Class != fetch.ClassRedirect:
			v.silent[host]++
		}
	}
	return outcomeOf(err)
}

func outcomeOf(err error) pageOutcome {
	e := (*fetch.Error)(nil)
	switch {
	case errors.Is(err, site.ErrRobots):
		return pageIsForbidden
	case errors.Is(err, page.ErrNotHTML):
		return pageIsNoHTML
	case errors.Is(err, page.ErrTooLarge):
		return pageIsTooLarge
	case errors.As(err, &e):
		return pageOutcome(e.Class)
	}
	return pageIsUnread
}

func isFetchError(err error) bool {
	e := (*fetch.Error)(nil)
	return errors.As(err, &e)
}
