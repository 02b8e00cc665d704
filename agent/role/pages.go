package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/fetch"
	"feedmesh/agent/mesh"
	"feedmesh/agent/page"
	"feedmesh/agent/plan"
	"feedmesh/subjects"
)

const (
	// pageWorkers is how many documents' pages are fetched at once. They are beside
	// the slots that fetches of feeds have: neither waits for the other.
	pageWorkers = 4

	// maxPages is how many entries of a document get the text of their pages, newest
	// first. A feed that is read for the first time has its whole archive.
	maxPages = 20

	// pageHosts is how many hosts a page may be redirected over, each with a turn
	// and a robots.txt file of its own.
	pageHosts = 4

	pageTime    = 3 * time.Minute  // for all pages of a document: well within its lease
	pageTimeout = 15 * time.Second // for one: feeds of its host wait meanwhile
	pageLate    = 5 * time.Minute  // after which a document goes on as it is; see pager
)

// servePages has the pages of entries fetched, beside the feeds.
//
// One agent of the mesh does so: the schedule, which spaces the fetches of feeds
// over all agents, knows nothing of pages, so two agents would ask one host at the
// same time.
func servePages(ctx context.Context, env *Env, hosts *hostLocks) error {
	p := &pager{
		fetch: env.Fetch, robots: fetch.NewRobots(env.Fetch), hosts: hosts,
		out: env.Mesh, clock: env.Clock, metrics: env.Metrics, log: env.Log,
	}
	return env.Mesh.Single(ctx, subjects.Pages.Name, func(active context.Context) error {
		receive := func(ctx context.Context, task subjects.Page) error { return p.receive(ctx, active, task) }
		return mesh.Serve(active, env.Mesh, subjects.Pages, "", mesh.ActorFunc[subjects.Page](receive), pageWorkers)
	})
}

// pager puts the text of the pages that entries link to in place of what the feed
// gave of them, where that is better, and hands the document on as parse would
// have done. Of an entry it changes nothing else but that it may give it an image:
// by key and hash, which are the feed's own, the next poll knows it.
//
// The schedule waits for a document for no longer than [subjects.InFlight]. So
// that none is fetched again while it waits here, those that are late go on as
// they are, and the queue is never much longer than that.
type pager struct {
	fetch   Fetcher
	robots  *fetch.Robots
	hosts   *hostLocks
	out     subjects.Publisher
	clock   Clock
	metrics *Metrics
	log     *slog.Logger

	reading sync.Mutex // a page made to that end takes 100 MB to read: one does at a time
}

// errNoLonger says that this agent is to stop, or another one fetches pages now.
var errNoLonger = errors.New("this agent no longer fetches pages")

// receive does a task. When active ends it does not finish it, as that may take
// minutes, but leaves it to whoever is next.
func (p *pager) receive(ctx, active context.Context, task subjects.Page) error {
	if p.clock.Now().Sub(task.Fetched) > pageLate {
		p.metrics.pages.WithLabelValues(string(pageIsLate)).Add(float64(min(len(task.Entries), maxPages)))
	} else {
		limited, cancel := context.WithTimeout(ctx, pageTime)
		defer cancel()
		defer context.AfterFunc(active, cancel)()
		p.improveAll(limited, task)
		if active.Err() != nil {
			return mesh.Later(time.Second, errNoLonger)
		}
	}
	return publishParts(ctx, p.out, subjects.Prepares, task.Document, task.Entries, func(d subjects.Document, e []subjects.Entry) subjects.Prepare {
		return subjects.Prepare{Document: d, Entries: e}
	})
}

// improveAll improves the entries of a task, as many as there is time for.
func (p *pager) improveAll(ctx context.Context, task subjects.Page) {
	v := &visit{pager: p, links: linksOf(task), silent: map[string]int{}, room: maxEntries}
	for _, e := range task.Entries {
		v.room -= len(e.HTML)
	}
	for _, i := range newestEntries(task.Entries) {
		outcome, err := v.improve(ctx, &task.Entries[i], v.links[i])
		p.metrics.pages.WithLabelValues(string(outcome)).Inc()
		if err != nil {
			p.log.Debug("an entry stays as its feed gave it", "role", subjects.Crawls.Name, "feed_id", task.FeedID, "url", v.links[i], "err", err)
		}
	}
}

// newestEntries returns which of the entries are the newest, at most maxPages,
// newest first. Those without a date keep their order, after the others.
func newestEntries(entries []subjects.Entry) []int {
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return entries[b].Published.Compare(entries[a].Published) })
	return order[:min(len(order), maxPages)]
}

// linksOf returns the address of each entry's own page: "" for one without a
// link, and for one that shares it with others or with the feed's site.
func linksOf(task subjects.Page) []string {
	links, users := make([]string, len(task.Entries)), map[string]int{}
	base := baseOf(task.Document)
	if u, err := url.Parse(task.URL); err == nil {
		users[absolute(u, task.Site)]++
	}
	for i, e := range task.Entries {
		links[i] = link(base, e)
		users[links[i]]++
	}
	for i, l := range links {
		if users[l] > 1 {
			links[i] = ""
		}
	}
	return links
}

// A pageOutcome says what became of an entry whose page was wanted. There are
// few, so they may label metrics; the classes of fetch errors are outcomes too.
type pageOutcome string

const (
	pageIsBetter    pageOutcome = "better"
	pageIsNoBetter  pageOutcome = "no better"  // or about something else
	pageIsMissing   pageOutcome = "no page"    // of its own
	pageIsForbidden pageOutcome = "robots.txt" // forbids it
	pageIsLeft      pageOutcome = "left"       // as its host does not answer, or wants no more
	pageIsLate      pageOutcome = "late"
	pageIsNoHTML    pageOutcome = "not html"
	pageIsTooLarge  pageOutcome = "too large"
	pageIsUnread    pageOutcome = "unread" // no article is seen on it
)

var errRobots = errors.New("the site's robots.txt forbids it")

// A visit goes to the pages of one document.
type visit struct {
	*pager
	links  []string
	silent map[string]int // how often in a row a host did not answer
	room   int            // bytes by which the entries may grow together
}

// improve improves an entry, or says why not.
func (v *visit) improve(ctx context.Context, e *subjects.Entry, address string) (pageOutcome, error) {
	if address == "" {
		return pageIsMissing, errors.New("it has no page of its own")
	}
	if err := ctx.Err(); err != nil {
		return pageIsLate, err
	}
	host := plan.HostOf(address)
	if v.silent[host] >= patience {
		return pageIsLeft, fmt.Errorf("%s did not answer for other pages just before", host)
	}
	d, err := v.page(ctx, address)
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) && !isFetchError(err) {
			return pageIsLate, err
		}
		return v.failed(host, err), err
	}
	v.silent[host] = 0
	found, err := v.read(d)
	if err != nil {
		return outcomeOf(err), err
	}
	if !better(*e, found) {
		return pageIsNoBetter, errors.New("what is on its page is not clearly more of the same")
	}
	more := len(found.HTML) - len(e.HTML)
	if more > v.room {
		return pageIsTooLarge, errors.New("a message has no room for it")
	}
	v.room -= more
	e.HTML, e.Image = found.HTML, cmp.Or(e.Image, found.Image)
	return pageIsBetter, nil
}

// read finds the article in a document.
func (p *pager) read(d fetch.Document) (page.Found, error) {
	address, err := url.Parse(d.URL)
	if err != nil {
		return page.Found{}, err
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	body, err := fetch.Unpack(d.Body, page.MaxPage)
	if err != nil {
		return page.Found{}, err
	}
	return page.Article(body, d.ContentType, address)
}

// failed counts a failure against its host where others would meet it too.
func (v *visit) failed(host string, err error) pageOutcome {
	if e := (*fetch.Error)(nil); errors.As(err, &e) {
		switch {
		case e.Status == 429, e.Status == 503, e.Class == fetch.ClassWall, e.Class == fetch.ClassLogin:
			v.silent[host] = patience
		case e.Status == 0 && e.Class != fetch.ClassTooLarge && e.Class != fetch.ClassRedirect:
			v.silent[host]++
		}
	}
	return outcomeOf(err)
}

func outcomeOf(err error) pageOutcome {
	e := (*fetch.Error)(nil)
	switch {
	case errors.Is(err, errRobots):
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
