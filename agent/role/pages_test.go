package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"

	"feedmesh/agent/fetch"
	"feedmesh/agent/mesh"
	"feedmesh/agent/page"
	"feedmesh/storage"
	"feedmesh/storage/memory"
	"feedmesh/subjects"
)

// A site serves pages on this machine and keeps count of its requests.
type site struct {
	*httptest.Server
	pages map[string]http.HandlerFunc // by path; others are not found

	mu    sync.Mutex
	asked []string    // paths, in order
	began []time.Time // when each was asked for
	now   int         // requests under way
	most  int         // at once
}

func newSite(t *testing.T, pages map[string]http.HandlerFunc) *site {
	t.Helper()
	s := &site{pages: pages}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked, s.began = append(s.asked, r.URL.Path), append(s.began, time.Now())
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

// other returns the address of a path of the site by another name.
func (s *site) other(path string) string {
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + path
}

// requests returns what was asked for but the robots.txt file, in order.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.asked), func(path string) bool { return path == "/robots.txt" })
}

// tale is what the pages of these tests tell, and their entries' teasers begin.
const tale = "The scheduler of the new kernel knows how long each task has waited, and prefers the one that waited longest. "

// said answers with a page that says something in five paragraphs.
func said(text string) http.HandlerFunc {
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

// pagerOf returns a pager that reaches this machine, and the locks it shares.
func pagerOf(t *testing.T, fetcher Fetcher) (*pager, *outbox) {
	t.Helper()
	if fetcher == nil {
		client := fetch.New(fetch.Options{UserAgent: "feedmesh/test", Timeout: 10 * time.Second, MaxBody: 10 << 20, MaxPacked: 6 << 20, Parallel: 8,
			Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
		t.Cleanup(client.Close)
		fetcher = client
	}
	out := &outbox{}
	return &pager{
		fetch: fetcher, robots: fetch.NewRobots(fetcher), hosts: newHostLocks(),
		out: out, clock: atNoon, metrics: metrics(), log: slog.New(slog.DiscardHandler),
	}, out
}

// pagesOf returns a task with an entry for each link, newest first.
func pagesOf(links ...string) subjects.Page {
	task := subjects.Page{Document: subjects.Document{
		Receipt: subjects.Receipt{FeedID: storage.FeedID(blog), Crawl: "c1", Fetched: noon.Add(-time.Second), Status: 200, ETag: `"1"`, FullText: true},
		URL:     blog, Title: "Blog", Site: "http://blog.example/",
	}}
	for i, l := range links {
		task.Entries = append(task.Entries, subjects.Entry{
			Key: fmt.Sprint("key ", i), Hash: fmt.Sprint("hash ", i), Link: l, Title: "A fair scheduler", HTML: "<p>" + tale + "</p>",
			Published: noon.Add(-time.Duration(i) * time.Hour),
		})
	}
	return task
}

// become has the pager do a task, and returns the entries that it hands on.
func become(t *testing.T, p *pager, out *outbox, task subjects.Page) []subjects.Entry {
	t.Helper()
	want := task.Document
	if err := p.receive(t.Context(), t.Context(), task); err != nil {
		t.Fatal(err)
	}
	got := only(t, out, subjects.Prepares)
	if got.Document.Receipt != want.Receipt || got.URL != want.URL || got.Title != want.Title || got.Site != want.Site {
		t.Errorf("got the document %+v, want %+v", got.Document, want)
	}
	return got.Entries
}

// timesOf returns how often an outcome was counted.
func timesOf(t *testing.T, p *pager, outcome pageOutcome) int {
	t.Helper()
	var m dto.Metric
	if err := p.metrics.pages.WithLabelValues(string(outcome)).Write(&m); err != nil {
		t.Fatal(err)
	}
	return int(m.GetCounter().GetValue())
}

func TestEntriesGetTheTextOfTheirPages(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/a": said(tale), "/b": said(tale)})
	p, out := pagerOf(t, nil)
	task := pagesOf(s.URL+"/a", s.URL+"/b")
	task.Entries[1].Image = "http://img.example/own.jpg"
	before := slices.Clone(task.Entries)
	got := become(t, p, out, task)
	for i, e := range got {
		if strings.Count(e.HTML, tale[:40]) != 5 || strings.Contains(e.HTML, "All rights reserved") {
			t.Errorf("got %q, want the five paragraphs of its page", e.HTML)
		}
		image := []string{s.URL + "/cover.jpg", "http://img.example/own.jpg"}[i]
		if e.Image != image {
			t.Errorf("got the image %s, want %s", e.Image, image)
		}
		if e.Key != before[i].Key || e.Hash != before[i].Hash || e.Title != before[i].Title || e.Link != before[i].Link || !e.Published.Equal(before[i].Published) {
			t.Errorf("got %+v, want all else as the feed gave it: %+v", e, before[i])
		}
	}
	if n := timesOf(t, p, pageIsBetter); n != 2 {
		t.Errorf("got %d counted, want 2", n)
	}
	if got := fmt.Sprint(s.asked); got != "[/robots.txt /a /b]" {
		t.Errorf("got %s asked for, want the robots.txt file once and first", got)
	}
}

func TestEntriesStayAsTheirFeedGaveThem(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		outcome pageOutcome
	}{
		{"not found", answers(404), pageOutcome(fetch.ClassClient)},
		{"forbidden", answers(403), pageOutcome(fetch.ClassClient)},
		{"broken", answers(500), pageOutcome(fetch.ClassServer)},
		{"a password", answers(401), pageOutcome(fetch.ClassLogin)},
		{"a wall", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cf-Mitigated", "challenge")
			answers(403)(w, r)
		}, pageOutcome(fetch.ClassWall)},
		{"no answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, pageOutcome(fetch.ClassReset)},
		{"no HTML", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			fmt.Fprint(w, "%PDF-1.7")
		}, pageIsNoHTML},
		{"too large", said(strings.Repeat(tale, page.MaxPage/len(tale)/5+1)), pageIsTooLarge},
		{"much too large", said(strings.Repeat(tale, 11<<20/len(tale)/5)), pageIsTooLarge},
		{"too much for a message", said(strings.Repeat(tale, maxEntries/len(tale)/5+1)), pageIsTooLarge},
		{"nothing for readers", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><body><div id=root></div></body></html>")
		}, pageIsUnread},
		{"about something else", said("We value your privacy. Together with our partners we store cookies. Please accept all of them, or choose among them, to go on. "), pageIsNoBetter},
		{"no more than the feed has", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><body><p>"+tale+"</p></body></html>")
		}, pageIsNoBetter},
		{"a ring", leadsTo("/a"), pageOutcome(fetch.ClassRedirect)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/a": c.answer})
			p, out := pagerOf(t, nil)
			want := pagesOf(s.URL + "/a").Entries[0]
			if got := become(t, p, out, pagesOf(s.URL+"/a"))[0]; got.HTML != want.HTML || got.Image != want.Image {
				t.Errorf("got %.300q, want it as it was", got.HTML)
			}
			if n := timesOf(t, p, c.outcome); n != 1 {
				t.Errorf("got %q counted %d times, want once", c.outcome, n)
			}
		})
	}
}

func TestEntriesWithoutPagesOfTheirOwnStay(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/": said(tale), "/same": said(tale), "/own": said(tale)})
	p, out := pagerOf(t, nil)
	task := pagesOf("", s.URL+"/", s.URL+"/same", s.URL+"/same", "mailto:ann@blog.example", "/own")
	task.Site = s.URL + "/"
	got := become(t, p, out, task)
	for i, e := range got[:5] {
		if strings.Count(e.HTML, tale) != 1 {
			t.Errorf("entry %d: got %q, want it as it was", i, e.HTML)
		}
	}
	if strings.Count(got[5].HTML, tale[:40]) != 5 {
		t.Errorf("got %q of the entry with a page of its own, want its text", got[5].HTML)
	}
	if got := s.requests(); !slices.Equal(got, []string{"/own"}) {
		t.Errorf("got %v asked for, want /own only", got)
	}
}

func TestRobotsAreHonoured(t *testing.T) {
	for _, c := range []struct {
		name    string
		pages   map[string]http.HandlerFunc
		want    []string // what is asked for
		outcome pageOutcome
	}{
		{"all forbidden", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /")}, nil, pageIsForbidden},
		{"others forbidden", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /b")}, []string{"/a"}, pageIsBetter},
		{"we forbidden", map[string]http.HandlerFunc{"/robots.txt": robots("Allow: /\n\nUser-agent: feedmesh\nDisallow: /a")}, nil, pageIsForbidden},
		{"the file is not found", map[string]http.HandlerFunc{"/robots.txt": answers(404)}, []string{"/a"}, pageIsBetter},
		{"the file can't be had", map[string]http.HandlerFunc{"/robots.txt": answers(503)}, nil, pageIsForbidden},
		{"a redirect to what is forbidden", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /b"), "/a": leadsTo("/b")}, []string{"/a"}, pageIsForbidden},
		{"a redirect to what is allowed", map[string]http.HandlerFunc{"/robots.txt": robots("Disallow: /c"), "/a": leadsTo("/b")}, []string{"/a", "/b"}, pageIsBetter},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/a": said(tale), "/b": said(tale)})
			for path, answer := range c.pages {
				s.pages[path] = answer
			}
			p, out := pagerOf(t, nil)
			e := become(t, p, out, pagesOf(s.URL+"/a"))[0]
			if got := s.requests(); !slices.Equal(got, c.want) {
				t.Errorf("got %v asked for, want %v", got, c.want)
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

// Another host has a turn and a robots.txt file of its own.
func TestRobotsOfTheHostThatAPageIsRedirectedToAreHonoured(t *testing.T) {
	var s *site
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
		s = newSite(t, map[string]http.HandlerFunc{"/robots.txt": byName(answers(404), robots(c.robots)), "/b": said(tale)})
		s.pages["/a"] = leadsTo(s.other("/b"))
		p, out := pagerOf(t, nil)
		become(t, p, out, pagesOf(s.URL+"/a"))
		if n := timesOf(t, p, c.outcome); n != 1 {
			t.Errorf("%s: got %q counted %d times, want once", c.robots, c.outcome, n)
		}
		if asked := slices.Contains(s.requests(), "/b"); asked != (c.outcome == pageIsBetter) {
			t.Errorf("%s: got asked for the page %t", c.robots, asked)
		}
	}
	s = newSite(t, map[string]http.HandlerFunc{})
	s.pages["/a"], s.pages["/b"] = leadsTo(s.other("/b")), leadsTo(s.URL+"/a")
	p, out := pagerOf(t, nil)
	become(t, p, out, pagesOf(s.URL+"/a"))
	if n := timesOf(t, p, pageOutcome(fetch.ClassRedirect)); n != 1 || len(s.requests()) != pageHosts {
		t.Errorf("got a ring of two hosts counted %d times after %v, want once after %d", n, s.requests(), pageHosts)
	}
}

// One request to a host at a time, and from start to start what is configured, be
// they for pages, for a robots.txt file or for feeds.
func TestAHostIsAskedForPagesPolitely(t *testing.T) {
	const gap = 60 * time.Millisecond
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(gap / 3)
		said(tale)(w, r)
	}
	s := newSite(t, map[string]http.HandlerFunc{"/feed": slow, "/feed2": slow})
	links := make([]string, 9)
	for i := range links {
		path := fmt.Sprint("/", i)
		s.pages[path] = slow
		links[i] = s.URL + path
	}
	p, out := pagerOf(t, nil)
	p.hosts.spacing = gap
	c := &crawler{fetch: p.fetch, out: &outbox{}, clock: atNoon, metrics: p.metrics, slots: make(chan struct{}, 1), hosts: p.hosts}
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
	if got := sent(t, out, subjects.Prepares); len(got) != 3 || len(s.asked) != 12 {
		t.Errorf("got %d documents and %d requests, want 3 and 12: %v", len(got), len(s.asked), s.asked)
	}
	if s.most != 1 {
		t.Errorf("got %d requests at once, want 1", s.most)
	}
	for i := range s.began[1:] {
		if d := s.began[i+1].Sub(s.began[i]); d < gap-10*time.Millisecond { // what a connection takes differs
			t.Errorf("got %v from the start of %s to that of %s, want %v", d, s.asked[i], s.asked[i+1], gap)
		}
	}
}

func TestACrawlDelayIsHonoured(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/robots.txt": robots("Crawl-delay: 0.2"), "/a": said(tale), "/b": said(tale)})
	p, out := pagerOf(t, nil)
	become(t, p, out, pagesOf(s.URL+"/a", s.URL+"/b"))
	if len(s.began) != 3 || s.began[2].Sub(s.began[1]) < 190*time.Millisecond {
		t.Errorf("got requests at %v, want 200 ms between the pages", s.began)
	}
}

func TestOnlyTheNewestEntriesGetTheirPages(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{})
	var links []string
	for i := range maxPages + 3 {
		links = append(links, fmt.Sprint(s.URL, "/", i))
	}
	task := pagesOf(links...)
	slices.Reverse(task.Entries) // a feed may have its newest last
	p, out := pagerOf(t, nil)
	become(t, p, out, task)
	var want []string
	for i := range maxPages {
		want = append(want, fmt.Sprint("/", i))
	}
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("got %v asked for, want %v", got, want)
	}
}

func TestALateDocumentGoesOnAsItIs(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/a": said(tale)})
	p, out := pagerOf(t, nil)
	task := pagesOf(s.URL + "/a")
	task.Fetched = noon.Add(-pageLate - time.Second)
	if got := become(t, p, out, task)[0]; strings.Count(got.HTML, tale) != 1 || len(s.asked) != 0 {
		t.Errorf("got %q after %v was asked for, want it as it was", got.HTML, s.asked)
	}
	if n := timesOf(t, p, pageIsLate); n != 1 {
		t.Errorf("got %d late, want 1", n)
	}
}

// farLinks returns links to pages of hosts of their own.
func farLinks(n int) (links []string) {
	for i := range n {
		links = append(links, fmt.Sprintf("http://%d.example/a", i))
	}
	return links
}

func TestWhatIsNotFetchedInTimeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{delay: 14 * time.Second}
		p, out := pagerOf(t, w)
		began := time.Now()
		got := become(t, p, out, pagesOf(farLinks(maxPages)...))
		if took := time.Since(began); took != pageTime {
			t.Errorf("it took %v, want %v", took, pageTime)
		}
		if len(got) != maxPages || timesOf(t, p, pageIsLate) != maxPages-6 || len(w.fetched) != 13 {
			t.Errorf("got %d entries, %d of them late, and %d requests; want %d, %d and 13",
				len(got), timesOf(t, p, pageIsLate), len(w.fetched), maxPages, maxPages-6)
		}
		time.Sleep(time.Minute)
	})
}

func TestAPageMayTakeFifteenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
		p, out := pagerOf(t, slowPages{w})
		began := time.Now()
		become(t, p, out, pagesOf("http://a.example/a"))
		if took := time.Since(began); took != pageTimeout || timesOf(t, p, pageOutcome(fetch.ClassTimeout)) != 1 {
			t.Errorf("it took %v, and %d timed out; want %v and 1", took, timesOf(t, p, pageOutcome(fetch.ClassTimeout)), pageTimeout)
		}
		time.Sleep(time.Minute)
	})
}

// slowPages is a web that never answers but for robots.txt files.
type slowPages struct{ *web }

func (s slowPages) Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error) {
	if !strings.HasSuffix(r.URL, "/robots.txt") {
		s.delay = time.Hour
	}
	return s.web.Fetch(ctx, r, now)
}

func TestAPagerThatIsToStopLeavesItsTaskToTheNext(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/a": said(tale), "/c": said(tale)})
	active, stop := context.WithCancel(t.Context())
	s.pages["/b"] = func(w http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done() // it would take long
	}
	p, out := pagerOf(t, nil)
	began := time.Now()
	if err := p.receive(t.Context(), active, pagesOf(s.URL+"/a", s.URL+"/b", s.URL+"/c")); !errors.Is(err, errNoLonger) {
		t.Errorf("got %v, want that it is left", err)
	}
	if took := time.Since(began); took > 5*time.Second || len(sent(t, out, subjects.Prepares)) != 0 || slices.Contains(s.requests(), "/c") {
		t.Errorf("got %v asked for in %v, want it to stop at once, and to hand on nothing", s.requests(), took)
	}
}

func TestAHostThatDoesNotAnswerIsLeft(t *testing.T) {
	for _, c := range []struct {
		class  fetch.Class
		status int
		asked  int // of four pages
	}{
		{fetch.ClassTimeout, 0, 2}, {fetch.ClassConnect, 0, 2}, {fetch.ClassServer, 503, 1}, {fetch.ClassClient, 429, 1},
		{fetch.ClassWall, 403, 1}, {fetch.ClassLogin, 401, 1}, {fetch.ClassClient, 404, 4}, {fetch.ClassServer, 500, 4}, {fetch.ClassTooLarge, 0, 4},
	} {
		w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
		var links []string
		for i := range 4 {
			links = append(links, fmt.Sprint("http://a.example/", i))
			w.pages[links[i]] = fails(c.class, c.status)
		}
		p, out := pagerOf(t, w)
		become(t, p, out, pagesOf(append(links, "http://b.example/a")...))
		if got := len(w.fetched) - 3; got != c.asked { // two robots.txt files and a page of the other host
			t.Errorf("%s %d: got %d pages asked for, want %d", c.class, c.status, got, c.asked)
		}
		if n := timesOf(t, p, pageIsLeft); n != 4-c.asked {
			t.Errorf("%s %d: got %d left, want %d", c.class, c.status, n, 4-c.asked)
		}
	}
}

func TestAHostThatAnswersNowAndThenIsNotLeft(t *testing.T) {
	w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
	links := farLinks(1)
	for i := range 3 {
		links = append(links, fmt.Sprint(links[0], i))
	}
	w.pages[links[0]], w.pages[links[2]] = fails(fetch.ClassTimeout, 0), fails(fetch.ClassTimeout, 0)
	p, out := pagerOf(t, w)
	become(t, p, out, pagesOf(links...))
	if n := timesOf(t, p, pageIsLeft); n != 0 || len(w.fetched) != 5 {
		t.Errorf("got %v asked for and %d left, want all asked for", w.fetched, n)
	}
}

func TestWhatIsBetter(t *testing.T) {
	long := strings.Repeat(tale, 6)
	for _, c := range []struct {
		name, title, html, found string
		want                     bool
	}{
		{"an article for a teaser", "A fair scheduler", "<p>" + tale + "</p>", long, true},
		{"an article for nothing", "A fair scheduler", "", long, true},
		{"by the summary alone", "Unheard of!", tale, long, true},
		{"by the title alone", "A fair scheduler", `<a href="x">Comments</a>`, long, true},
		{"words in other forms", "Новый планировщик ядра", "", strings.Repeat("О новом планировщике в ядре: он знает, сколько ждала каждая из задач. ", 5), true},
		{"Chinese", "新的内核调度器", "", strings.Repeat("新的调度器知道每个任务等待了多久,内核优先选择等待最久的任务。", 10), true},
		{"as much as the feed has", "A fair scheduler", long, long, false},
		{"a little more", "A fair scheduler", long, long + tale, false},
		{"some more", "A fair scheduler", long, long + tale + tale, false},
		{"less", "A fair scheduler", long, tale, false},
		{"too short to matter", "A fair scheduler", "", tale, false},
		{"about something else", "A fair scheduler", tale, strings.Repeat("To go on, please subscribe to our newsletter with your address. ", 9), false},
		{"Chinese about something else", "新的内核调度器", "", strings.Repeat("请登录后继续阅读。订阅我们的会员即可查看完整文章。", 12), false},
		{"of which nothing can be said", "Q&A", "", long, false},
	} {
		e := subjects.Entry{Title: c.title, HTML: c.html}
		if got := better(e, page.Found{Text: c.found}); got != c.want {
			t.Errorf("%s: got better %t, want %t", c.name, got, c.want)
		}
	}
}

func TestDocumentsGoByWayOfTheirPagesIfSomebodyWantsIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		tags    string // of the setting
		receipt bool   // wants it
		feed    string // the feed's tags
		depth   mesh.Depth
		want    bool
	}{
		{name: "nobody wants it", feed: "it,news"},
		{name: "the feed's setting", receipt: true, want: true},
		{name: "all", tags: "all", want: true},
		{name: "by a tag", tags: "blogs,IT", feed: "news,it", want: true},
		{name: "by another tag", tags: "blogs", feed: "news,it"},
		{name: "a feed without tags", tags: "blogs"},
		{name: "a long queue", receipt: true, depth: mesh.Depth{Fill: 0.6}},
		{name: "a queue that stands still", receipt: true, depth: mesh.Depth{Oldest: 700}},
		{name: "a queue in use", receipt: true, depth: mesh.Depth{Fill: 0.4, Oldest: 300}, want: true},
	} {
		store := &memory.Store{}
		split := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		if _, err := store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(blog), URL: blog, Added: noon, Tags: split(c.feed)}); err != nil {
			t.Fatal(err)
		}
		p, out := parserOf(store)
		c.depth.Queue = subjects.Pages.Name
		p.fullText = &fullText{tags: split(c.tags), depths: func(context.Context) ([]mesh.Depth, error) {
			return []mesh.Depth{{Queue: "parse", Fill: 1}, c.depth}, nil
		}}
		task := parseOf(t, rss("a b", plainly))
		task.FullText = c.receipt
		if err := p.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if !c.want {
			only(t, out, subjects.Prepares)
			continue
		}
		got := only(t, out, subjects.Pages)
		if titles(got.Entries) != "a b " || got.Receipt != task.Receipt || got.Title != "Blog" {
			t.Errorf("%s: got %+v to fetch pages for, want the document with its two entries", c.name, got)
		}
	}
}

// Two agents crawl; one of them fetches pages.
func TestOneAgentServesTheQueueOfPages(t *testing.T) {
	r := newRig(t)
	s := newSite(t, map[string]http.HandlerFunc{"/a": said(tale)})
	p, _ := pagerOf(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	for _, agent := range []string{"a", "b"} {
		m, _ := r.join(agent)
		env := r.env(m)
		env.Fetch = p.fetch
		group.Go(func() {
			if err := servePages(ctx, env, newHostLocks()); err != nil {
				t.Error(err)
			}
		})
	}
	task := pagesOf(s.URL + "/a")
	if err := subjects.Publish(ctx, r.mesh, subjects.Pages, task); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the document is prepared", func() bool {
		stream, err := r.js.Stream(ctx, subjects.Prepares.Name)
		return err == nil && stream.CachedInfo().State.Msgs == 1
	})
	leases, err := r.mesh.Leases(ctx)
	if err != nil || leases[subjects.Pages.Name].Agent == "" {
		t.Errorf("got leases %v, %v; want one for the pages", leases, err)
	}
}

func TestFeedsAreHandedOutHoweverManyPagesWait(t *testing.T) {
	r := newRig(t)
	stream, err := r.js.Stream(t.Context(), subjects.Pages.Name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxMsgs = 1
	if _, err := r.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := subjects.Publish(t.Context(), r.mesh, subjects.Pages, pagesOf(blog)); err != nil {
		t.Fatal(err)
	}
	s := r.scheduler(&memory.Store{})
	s.plan.Load(subjects.FeedState{FeedID: "f", State: &subjects.State{URL: feedURL(0), Tier: subjects.Cold, Next: noon.Add(-time.Minute)}})
	if err := s.dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.lanes(); got != "cold " {
		t.Errorf("got tasks of %q handed out, want the cold one", got)
	}
}
