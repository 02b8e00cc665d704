package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"feedmesh/agent/role/bodycache"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/crawl/page"
	"feedmesh/agent/role/crawl/site"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// pageServer serves pages on localhost and counts requests.
type pageServer struct {
	*httptest.Server
	pages map[string]http.HandlerFunc // by path; others return 404

	mu    sync.Mutex
	paths []string    // paths, in order
	began []time.Time // start times of the requests
	now   int         // requests in progress
	most  int         // maximum of concurrent requests
}

func newSite(t *testing.T, pages map[string]http.HandlerFunc) *pageServer {
	t.Helper()
	s := &pageServer{pages: pages}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *pageServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths, s.began = append(s.paths, r.URL.Path), append(s.began, time.Now())
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
	}()
	if answer := s.pages[r.URL.Path]; answer != nil {
		answer(w, r)
		return
	}
	http.NotFound(w, r)
}

// otherHost returns the URL of a path of the site under another host name.
func (s *pageServer) otherHost(path string) string {
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + path
}

// requests returns the requested paths except robots.txt, in order.
func (s *pageServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.paths), func(path string) bool { return path == "/robots.txt" })
}

// tale is the text of the test pages and the beginning of their entries' teasers.
const tale = "The scheduler of the new kernel knows how long each task has waited, and prefers the one that waited longest. "

// respondText responds with a page of five paragraphs of a text.
func respondText(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!DOCTYPE html><html><head><title>%s</title><meta property="og:image" content="/cover.jpg"></head><body>
			<nav><a href="/">Home</a></nav><article>%s</article><footer>All rights reserved</footer></body></html>`,
			"A fair scheduler", strings.Repeat("<p>"+text+"</p>", 5))
	}
}

func answers(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", status) }
}

func leadsTo(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
}

func robots(lines string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "User-agent: *\n"+lines) }
}

// localFetcher returns a fetcher that may connect to localhost.
func localFetcher(t *testing.T) work.Fetcher {
	client := fetch.New(fetch.Options{UserAgent: "feedmesh/test", Timeout: 10 * time.Second, MaxBody: 10 << 20, MaxCompressed: 6 << 20, Parallel: 8,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
	t.Cleanup(client.Close)
	return client
}

// pagerOf returns a pager with a fetcher, by default that of [localFetcher], and its worktest.Outbox.
func pagerOf(t *testing.T, fetcher work.Fetcher) (*pager, *worktest.Outbox) {
	t.Helper()
	if fetcher == nil {
		fetcher = localFetcher(t)
	}
	out := &worktest.Outbox{}
	return &pager{
		pages: site.New(fetcher, site.NewLocks(0), worktest.AtNoon),
		out:   out, clock: worktest.AtNoon, outcomes: newMetrics(prometheus.NewRegistry()).pages, log: slog.New(slog.DiscardHandler),
	}, out
}

// pagesOf returns a task with an entry for each link, newest first.
func pagesOf(links ...string) subjects.Page {
	task := subjects.Page{Document: subjects.Document{
		Receipt: subjects.Receipt{FeedID: storage.FeedID(worktest.Blog), Crawl: "c1", Fetched: worktest.Noon.Add(-time.Second), Status: 200, ETag: `"1"`, FullText: true},
		URL:     worktest.Blog, Title: "Blog", Site: "http://blog.example/",
	}}
	for i, l := range links {
		task.Entries = append(task.Entries, subjects.Entry{
			Key: fmt.Sprint("key ", i), Hash: fmt.Sprint("hash ", i), Link: l, Title: "A fair scheduler", HTML: "<p>" + tale + "</p>",
			Published: worktest.Noon.Add(-time.Duration(i) * time.Hour),
		})
	}
	return task
}

// processPages processes a task and returns the published entries.
func processPages(t *testing.T, p *pager, out *worktest.Outbox, task subjects.Page) []subjects.Entry {
	t.Helper()
	want := task.Document
	if err := p.receive(t.Context(), t.Context(), task); err != nil {
		t.Fatal(err)
	}
	got := worktest.Only(t, out, subjects.PrepareQueue)
	if got.Document.Receipt != want.Receipt || got.URL != want.URL || got.Title != want.Title || got.Site != want.Site {
		t.Errorf("got the document %+v, want %+v", got.Document, want)
	}
	return got.Entries
}

// timesOf returns the count of an outcome.
func timesOf(t *testing.T, p *pager, outcome pageOutcome) int {
	t.Helper()
	var m dto.Metric
	if err := p.outcomes.WithLabelValues(string(outcome)).Write(&m); err != nil {
		t.Fatal(err)
	}
	return int(m.GetCounter().GetValue())
}

func TestPager_UsesTheTextOfPages(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/a": respondText(tale), "/b": respondText(tale)})
	p, out := pagerOf(t, nil)
	task := pagesOf(s.URL+"/a", s.URL+"/b")
	task.Entries[1].Image = "http://img.example/own.jpg"
	before := slices.Clone(task.Entries)
	got := processPages(t, p, out, task)
	for i, e := range got {
		if strings.Count(e.HTML, tale[:40]) != 5 || strings.Contains(e.HTML, "All rights reserved") {
			t.Errorf("got %q, want the five paragraphs of the page", e.HTML)
		}
		image := []string{s.URL + "/cover.jpg", "http://img.example/own.jpg"}[i]
		if e.Image != image {
			t.Errorf("got the image %s, want %s", e.Image, image)
		}
		if e.Key != before[i].Key || e.Hash != before[i].Hash || e.Title != before[i].Title || e.Link != before[i].Link || !e.Published.Equal(before[i].Published) {
			t.Errorf("got %+v, want the other fields unchanged: %+v", e, before[i])
		}
	}
	if n := timesOf(t, p, pageIsBetter); n != 2 {
		t.Errorf("got %d counted, want 2", n)
	}
	if got := fmt.Sprint(s.paths); got != "[/robots.txt /a /b]" {
		t.Errorf("got requests %s, want robots.txt once and first", got)
	}
}

func TestPager_KeepsFeedContent(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		outcome pageOutcome
	}{
		{"not found", answers(404), pageOutcome(fetch.ClassClient)},
		{"forbidden", answers(403), pageOutcome(fetch.ClassClient)},
		{"broken", answers(500), pageOutcome(fetch.ClassServer)},
		{"password required", answers(401), pageOutcome(fetch.ClassLogin)},
		{"login page", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cf-Mitigated", "challenge")
			answers(403)(w, r)
		}, pageOutcome(fetch.ClassBotBlock)},
		{"connection closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, pageOutcome(fetch.ClassReset)},
		{"no HTML", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			fmt.Fprint(w, "%PDF-1.7")
		}, pageIsNoHTML},
		{"too large", respondText(strings.Repeat(tale, page.MaxPage/len(tale)/5+1)), pageIsTooLarge},
		{"far too large", respondText(strings.Repeat(tale, 11<<20/len(tale)/5)), pageIsTooLarge},
		{"too large for a message", respondText(strings.Repeat(tale, work.MaxEntries/len(tale)/5+1)), pageIsTooLarge},
		{"no article", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><body><div id=root></div></body></html>")
		}, pageIsUnread},
		{"other subject", respondText("We value your privacy. Together with our partners we store cookies. Please accept all of them, or choose among them, to go on. "), pageIsNoBetter},
		{"no more text than the feed", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><body><p>"+tale+"</p></body></html>")
		}, pageIsNoBetter},
		{"redirect loop", leadsTo("/a"), pageOutcome(fetch.ClassRedirect)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/a": c.answer})
			p, out := pagerOf(t, nil)
			want := pagesOf(s.URL + "/a").Entries[0]
			if got := processPages(t, p, out, pagesOf(s.URL+"/a"))[0]; got.HTML != want.HTML || got.Image != want.Image {
				t.Errorf("got %.300q, want it unchanged", got.HTML)
			}
			if n := timesOf(t, p, c.outcome); n != 1 {
				t.Errorf("got %q counted %d times, want once", c.outcome, n)
			}
		})
	}
}

func TestPager_EntriesWithoutOwnPages(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/": respondText(tale), "/same": respondText(tale), "/own": respondText(tale)})
	p, out := pagerOf(t, nil)
	task := pagesOf("", s.URL+"/", s.URL+"/same", s.URL+"/same", "mailto:ann@blog.example", "/own")
	task.Site = s.URL + "/"
	got := processPages(t, p, out, task)
	for i, e := range got[:5] {
		if strings.Count(e.HTML, tale) != 1 {
			t.Errorf("entry %d: got %q, want it unchanged", i, e.HTML)
		}
	}
	if strings.Count(got[5].HTML, tale[:40]) != 5 {
		t.Errorf("got %q for the entry with its own page, want the page's text", got[5].HTML)
	}
	if got := s.requests(); !slices.Equal(got, []string{"/own"}) {
		t.Errorf("got requests %v, want only /own", got)
	}
}

func TestPager_ObeysRobots(t *testing.T) {
	for _, c := range []struct {
		name    string
		pages   map[string]http.HandlerFunc
		want    []string // requested paths
		outcome pageOutcome
	}{
		{"all disallowed", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /")}, nil, pageIsForbidden},
		{"other path disallowed", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /b")}, []string{"/a"}, pageIsBetter},
		{"disallowed for feedmesh", map[string]http.HandlerFunc{"/robots.txt": robots("Allow: /\n\nUser-agent: feedmesh\nDisallow: /a")}, nil, pageIsForbidden},
		{"robots.txt not found", map[string]http.HandlerFunc{"/robots.txt": answers(404)}, []string{"/a"}, pageIsBetter},
		{"robots.txt unavailable", map[string]http.HandlerFunc{"/robots.txt": answers(503)}, nil, pageIsForbidden},
		{"redirect to a disallowed path", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /b"), "/a": leadsTo("/b")}, []string{"/a"}, pageIsForbidden},
		{"redirect to an allowed path", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /c"), "/a": leadsTo("/b")}, []string{"/a", "/b"}, pageIsBetter},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/a": respondText(tale), "/b": respondText(tale)})
			for path, answer := range c.pages {
				s.pages[path] = answer
			}
			p, out := pagerOf(t, nil)
			e := processPages(t, p, out, pagesOf(s.URL+"/a"))[0]
			if got := s.requests(); !slices.Equal(got, c.want) {
				t.Errorf("got requests %v, want %v", got, c.want)
			}
			if n := timesOf(t, p, c.outcome); n != 1 {
				t.Errorf("got %q counted %d times, want once", c.outcome, n)
			}
			if better := strings.Count(e.HTML, tale[:40]) == 5; better != (c.outcome == pageIsBetter) {
				t.Errorf("got %q", e.HTML)
			}
		})
	}
}

// The other host has its own lock and robots.txt file.
func TestPager_ObeysRobotsAfterRedirect(t *testing.T) {
	var s *pageServer
	byName := func(here, there http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Host, "localhost") {
				there(w, r)
			} else {
				here(w, r)
			}
		}
	}
	for _, c := range []struct {
		robots  string
		outcome pageOutcome
	}{{"Disallow: /", pageIsForbidden}, {"Disallow:", pageIsBetter}} {
		s = newSite(t, map[string]http.HandlerFunc{"/robots.txt": byName(answers(404), robots(c.robots)), "/b": respondText(tale)})
		s.pages["/a"] = leadsTo(s.otherHost("/b"))
		p, out := pagerOf(t, nil)
		processPages(t, p, out, pagesOf(s.URL+"/a"))
		if n := timesOf(t, p, c.outcome); n != 1 {
			t.Errorf("%s: got %q counted %d times, want once", c.robots, c.outcome, n)
		}
		if requested := slices.Contains(s.requests(), "/b"); requested != (c.outcome == pageIsBetter) {
			t.Errorf("%s: got page requested %t", c.robots, requested)
		}
	}
	s = newSite(t, map[string]http.HandlerFunc{})
	s.pages["/a"], s.pages["/b"] = leadsTo(s.otherHost("/b")), leadsTo(s.URL+"/a")
	p, out := pagerOf(t, nil)
	processPages(t, p, out, pagesOf(s.URL+"/a"))
	if n := timesOf(t, p, pageOutcome(fetch.ClassRedirect)); n != 1 || len(s.requests()) != site.MaxHosts {
		t.Errorf("redirect loop of two hosts: counted %d times after %v, want once after %d", n, s.requests(), site.MaxHosts)
	}
}

// startFetcher records when fetches start. A server sees them later, by the time of the connection, which differs.
type startFetcher struct {
	work.Fetcher
	mu     sync.Mutex
	starts []time.Time
}

func (f *startFetcher) Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error) {
	f.mu.Lock()
	f.starts = append(f.starts, time.Now())
	f.mu.Unlock()
	return f.Fetcher.Fetch(ctx, r, now)
}

// At most one request to a host at a time, with the configured spacing between starts, for pages, robots.txt
// files and feeds together.
func TestPager_SpacesRequests(t *testing.T) {
	const gap = 60 * time.Millisecond
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(gap / 3)
		respondText(tale)(w, r)
	}
	s := newSite(t, map[string]http.HandlerFunc{"/feed": slow, "/feed2": slow})
	links := make([]string, 9)
	for i := range links {
		path := fmt.Sprint("/", i)
		s.pages[path] = slow
		links[i] = s.URL + path
	}
	local, locks := localFetcher(t), site.NewLocks(gap)
	fetcher := &startFetcher{Fetcher: local}
	p, out := pagerOf(t, local)
	p.pages = site.New(fetcher, locks, worktest.AtNoon)
	c := &crawler{fetcher: fetcher, out: &worktest.Outbox{}, clock: worktest.AtNoon, metrics: newMetrics(prometheus.NewRegistry()), bodies: new(bodycache.Cache), slots: make(chan struct{}, 1), hosts: locks}
	var group sync.WaitGroup
	for i := range 3 {
		group.Go(func() {
			if err := p.receive(t.Context(), t.Context(), pagesOf(links[3*i:3*i+3]...)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Go(func() {
		for _, path := range []string{"/feed", "/feed2"} {
			time.Sleep(3 * gap)
			if err := c.Receive(t.Context(), crawlOf(s.URL+path)); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	if got := worktest.Sent(t, out, subjects.PrepareQueue); len(got) != 3 || len(s.paths) != 12 || len(fetcher.starts) != 12 {
		t.Errorf("got %d documents and %d requests, want 3 and 12: %v", len(got), len(s.paths), s.paths)
	}
	if s.most != 1 {
		t.Errorf("got %d concurrent requests, want 1", s.most)
	}
	for i := range fetcher.starts[1:] {
		if d := fetcher.starts[i+1].Sub(fetcher.starts[i]); d < gap-10*time.Millisecond { // tolerance for the time since the lock
			t.Errorf("got %v between the starts of %s and %s, want %v", d, s.paths[i], s.paths[i+1], gap)
		}
	}
}

// Pages on the host of a feed that came through a proxy are fetched through it, with robots.txt, those of other hosts directly. A
// region is a route of other agents.
func TestPager_UsesTheProxyOfTheFeed(t *testing.T) {
	const by = "X-Test-Proxy"
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.Header.Set(by, "eu") }})
	t.Cleanup(proxy.Close)
	forRequests := func(proxied bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if proxied != (r.Header.Get(by) != "") {
				answers(http.StatusForbidden)(w, r)
				return
			}
			respondText(tale)(w, r)
		}
	}
	s := newSite(t, map[string]http.HandlerFunc{"/proxied": forRequests(true), "/direct": forRequests(false)})
	for url, page := range map[string]string{proxy.URL: "/proxied", storage.RegionScheme + "us": "/direct"} {
		p, out := pagerOf(t, nil)
		task := pagesOf(s.URL+page, s.otherHost("/direct"))
		task.URL, task.Route = s.URL+"/feed.xml", subjects.Route{ID: "eu", URL: url}
		processPages(t, p, out, task)
		if n := timesOf(t, p, pageIsBetter); n != 2 {
			t.Errorf("%s: got %d pages of %v, want both", url, n, s.requests())
		}
	}
}

func TestPager_ObeysCrawlDelay(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/robots.txt": robots("Crawl-delay: 0.2"), "/a": respondText(tale), "/b": respondText(tale)})
	p, out := pagerOf(t, nil)
	processPages(t, p, out, pagesOf(s.URL+"/a", s.URL+"/b"))
	if len(s.began) != 3 || s.began[2].Sub(s.began[1]) < 190*time.Millisecond {
		t.Errorf("got requests at %v, want 200 ms between the pages", s.began)
	}
}

func TestPager_OnlyNewestEntries(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{})
	var links []string
	for i := range maxPages + 3 {
		links = append(links, fmt.Sprint(s.URL, "/", i))
	}
	task := pagesOf(links...)
	slices.Reverse(task.Entries) // a feed may list its newest entry last
	p, out := pagerOf(t, nil)
	processPages(t, p, out, task)
	var want []string
	for i := range maxPages {
		want = append(want, fmt.Sprint("/", i))
	}
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("got requests %v, want %v", got, want)
	}
}

func TestPager_LateDocumentPassesUnchanged(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/a": respondText(tale)})
	p, out := pagerOf(t, nil)
	task := pagesOf(s.URL + "/a")
	task.Fetched = worktest.Noon.Add(-subjects.MaxPageAge - time.Second)
	if got := processPages(t, p, out, task)[0]; strings.Count(got.HTML, tale) != 1 || len(s.paths) != 0 {
		t.Errorf("got %q after requests %v, want it unchanged", got.HTML, s.paths)
	}
	if n := timesOf(t, p, pageIsLate); n != 1 {
		t.Errorf("got %d late entries, want 1", n)
	}
}

// farLinks returns links to pages on different hosts.
func farLinks(n int) (links []string) {
	for i := range n {
		links = append(links, fmt.Sprintf("http://%d.example/a", i))
	}
	return links
}

func TestPager_TimeoutKeepsFeedContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{delay: 14 * time.Second}
		p, out := pagerOf(t, w)
		began := time.Now()
		got := processPages(t, p, out, pagesOf(farLinks(maxPages)...))
		if took := time.Since(began); took != pagesTimeout {
			t.Errorf("took %v, want %v", took, pagesTimeout)
		}
		if len(got) != maxPages || timesOf(t, p, pageIsLate) != maxPages-6 || len(w.fetched) != 13 {
			t.Errorf("got %d entries, %d of them late, and %d requests; want %d, %d and 13",
				len(got), timesOf(t, p, pageIsLate), len(w.fetched), maxPages, maxPages-6)
		}
		time.Sleep(time.Minute)
	})
}

func TestPager_PageTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
		p, out := pagerOf(t, slowPages{w})
		began := time.Now()
		processPages(t, p, out, pagesOf("http://a.example/a"))
		if took := time.Since(began); took != site.PageTimeout || timesOf(t, p, pageOutcome(fetch.ClassTimeout)) != 1 {
			t.Errorf("took %v with %d timeouts; want %v and 1", took, timesOf(t, p, pageOutcome(fetch.ClassTimeout)), site.PageTimeout)
		}
		time.Sleep(time.Minute)
	})
}

// slowPages is a web that responds to robots.txt requests only.
type slowPages struct{ *web }

func (s slowPages) Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error) {
	if !strings.HasSuffix(r.URL, "/robots.txt") {
		s.delay = time.Hour
	}
	return s.web.Fetch(ctx, r, now)
}

func TestPager_StopReturnsTheTask(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/a": respondText(tale), "/c": respondText(tale)})
	active, stop := context.WithCancel(t.Context())
	s.pages["/b"] = func(w http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done() // it would take long
	}
	p, out := pagerOf(t, nil)
	began := time.Now()
	if err := p.receive(t.Context(), active, pagesOf(s.URL+"/a", s.URL+"/b", s.URL+"/c")); !errors.Is(err, errStandby) {
		t.Errorf("got %v, want the context's error", err)
	}
	if took := time.Since(began); took > 9*time.Second || // the client's timeout is 10 s
		len(worktest.Sent(t, out, subjects.PrepareQueue)) != 0 || slices.Contains(s.requests(), "/c") {
		t.Errorf("got requests %v in %v, want an immediate stop and no published task", s.requests(), took)
	}
}

func TestPager_SkipsUnansweringHost(t *testing.T) {
	for _, c := range []struct {
		class    fetch.Class
		status   int
		requests int // of four pages
	}{
		{fetch.ClassTimeout, 0, 2}, {fetch.ClassConnect, 0, 2}, {fetch.ClassServer, 503, 1}, {fetch.ClassClient, 429, 1},
		{fetch.ClassBotBlock, 403, 1}, {fetch.ClassLogin, 401, 1}, {fetch.ClassClient, 404, 4}, {fetch.ClassServer, 500, 4}, {fetch.ClassTooLarge, 0, 4},
	} {
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
		var links []string
		for i := range 4 {
			links = append(links, fmt.Sprint("http://a.example/", i))
			w.pages[links[i]] = fails(c.class, c.status)
		}
		p, out := pagerOf(t, w)
		processPages(t, p, out, pagesOf(append(links, "http://b.example/a")...))
		if got := len(w.fetched) - 3; got != c.requests { // two robots.txt files and a page of the other host
			t.Errorf("%s %d: got %d page requests, want %d", c.class, c.status, got, c.requests)
		}
		if n := timesOf(t, p, pageIsLeft); n != 4-c.requests {
			t.Errorf("%s %d: got %d skipped pages, want %d", c.class, c.status, n, 4-c.requests)
		}
	}
}

func TestPager_KeepsAnsweringHost(t *testing.T) {
	w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
	links := farLinks(1)
	for i := range 3 {
		links = append(links, fmt.Sprint(links[0], i))
	}
	w.pages[links[0]], w.pages[links[2]] = fails(fetch.ClassTimeout, 0), fails(fetch.ClassTimeout, 0)
	p, out := pagerOf(t, w)
	processPages(t, p, out, pagesOf(links...))
	if n := timesOf(t, p, pageIsLeft); n != 0 || len(w.fetched) != 5 {
		t.Errorf("got requests %v and %d skipped pages, want all requested", w.fetched, n)
	}
}

func TestIsFuller(t *testing.T) {
	long := strings.Repeat(tale, 6)
	for _, c := range []struct {
		name, title, html, found string
		want                     bool
	}{
		{"article instead of teaser", "A fair scheduler", "<p>" + tale + "</p>", long, true},
		{"article instead of nothing", "A fair scheduler", "", long, true},
		{"match by the summary only", "Unheard of!", tale, long, true},
		{"match by the title only", "A fair scheduler", `<a href="x">Comments</a>`, long, true},
		{"inflected words", "Новый планировщик ядра", "", strings.Repeat("О новом планировщике в ядре: он знает, сколько ждала каждая из задач. ", 5), true},
		{"Chinese", "新的内核调度器", "", strings.Repeat("新的调度器知道每个任务等待了多久,内核优先选择等待最久的任务。", 10), true},
		{"same text", "A fair scheduler", long, long, false},
		{"slightly longer", "A fair scheduler", long, long + tale, false},
		{"longer, but not enough", "A fair scheduler", long, long + tale + tale, false},
		{"less", "A fair scheduler", long, tale, false},
		{"too short", "A fair scheduler", "", tale, false},
		{"other subject", "A fair scheduler", tale, strings.Repeat("To go on, please subscribe to our newsletter with your address. ", 9), false},
		{"other subject, Chinese", "新的内核调度器", "", strings.Repeat("请登录后继续阅读。订阅我们的会员即可查看完整文章。", 12), false},
		{"title without words", "Q&A", "", long, false},
	} {
		e := subjects.Entry{Title: c.title, HTML: c.html}
		if got := site.IsFuller(e.Title, e.HTML, e.Summary, page.Article{Text: c.found}); got != c.want {
			t.Errorf("%s: got better %t, want %t", c.name, got, c.want)
		}
	}
}

// Two agents crawl; one of them fetches pages.
func TestPages_OneAgentIsActive(t *testing.T) {
	r := worktest.NewTestbed(t)
	s := newSite(t, map[string]http.HandlerFunc{"/a": respondText(tale)})
	fetcher := localFetcher(t)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	for _, agent := range []string{"a", "b"} {
		m, _ := r.Join(agent)
		env := r.Env(m)
		env.Fetch = fetcher
		group.Go(func() {
			if err := servePages(ctx, env, site.NewLocks(0)); err != nil {
				t.Error(err)
			}
		})
	}
	task := pagesOf(s.URL + "/a")
	if err := subjects.Publish(ctx, r.Mesh, subjects.PageQueue, task); err != nil {
		t.Fatal(err)
	}
	worktest.Eventually(t, "the document is prepared", func() bool {
		stream, err := r.JS.Stream(ctx, subjects.PrepareQueue.Name)
		return err == nil && stream.CachedInfo().State.Msgs == 1
	})
	leases, err := r.Mesh.Leases(ctx)
	if err != nil || leases[subjects.PageQueue.Name].Agent == "" {
		t.Errorf("got leases %v, %v; want one for pages", leases, err)
	}
}
