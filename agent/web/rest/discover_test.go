package rest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	aFeed   = `<rss version="2.0"><channel><title>News</title><link>http://x/</link><item><guid>1</guid><title>A</title><pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate></item></channel></rss>`
	anAtom  = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom news</title><id>x</id></feed>`
	aBroken = `<rss version="2.0"><channel><title>News</channel`
)

// A site is a web site that counts requests.
type site struct {
	*httptest.Server
	asked atomic.Int64
}

// aSite returns a site with a page of two feeds and an unavailable feed, a page without links, and a page with
// many broken links.
func aSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	page := func(format string, args ...any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			s.asked.Add(1)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!doctype html><html><title>x</title>"+format+"</html>", args...)
		}
	}
	document := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			s.asked.Add(1)
			fmt.Fprint(w, text)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/{$}", page(`<link rel=alternate type="application/rss+xml" href="/feed" title="The news">
		<link rel=alternate type="application/atom+xml" href="/atom.xml"><link rel=alternate type="application/rss+xml" href="/away" title="Away">
		<link rel=alternate type="application/rss+xml" href="/same"><a href="/notes.rss">nothing</a>`))
	mux.Handle("/feed", document(aFeed))
	mux.Handle("/atom.xml", document(anAtom))
	mux.Handle("/same", http.RedirectHandler("/feed", http.StatusFound))
	mux.Handle("/silent/", page(""))
	mux.Handle("/silent/rss.xml", document(aFeed))
	mux.Handle("/broken", document(aBroken))
	many := strings.Builder{}
	for i := range 40 {
		fmt.Fprintf(&many, `<link rel=feed href="/none/%d">`, i)
	}
	mux.Handle("/many", page("%s", many.String()))
	mux.Handle("/empty/", page("nothing here"))
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func discovered(t *testing.T, w *testbed, address string) wire.Discovery {
	t.Helper()
	d, err := w.server.Discovery.Find(t.Context(), wire.DiscoverRequest{Body: wire.DiscoveredAddress{URL: address}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDiscover_ReadsFeedsOfPage(t *testing.T) {
	t.Parallel()
	w, s := newTestbed(t), aSite(t)
	if _, err := w.Store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(s.URL + "/atom.xml"), URL: s.URL + "/atom.xml"}); err != nil {
		t.Fatal(err)
	}
	got := discovered(t, w, s.URL+"#top")
	if got.Kind != wire.KindPage || got.URL != s.URL+"/" || len(got.Feeds) != 3 {
		t.Fatalf("got %+v, want a page with three feeds", got)
	}
	rss, atom, away := got.Feeds[0], got.Feeds[1], got.Feeds[2]
	if rss.URL != s.URL+"/feed" || rss.Title != "News" || rss.Format != "RSS" || rss.Entries != 1 || rss.Newest.Year() != 2026 || rss.Stored || rss.FeedID != storage.FeedID(rss.URL) {
		t.Errorf("RSS: got %+v", rss)
	}
	if atom.Title != "Atom news" || atom.Format != "Atom" || !atom.Stored {
		t.Errorf("Atom: got %+v, want it stored", atom)
	}
	if away.Title != "Away" || !strings.Contains(away.Problem, "404") || away.Format != "" {
		t.Errorf("unavailable feed: got %+v, want the reason", away)
	}
}

func TestDiscover_DetectsFeed(t *testing.T) {
	t.Parallel()
	w, s := newTestbed(t), aSite(t)
	if got := discovered(t, w, s.URL+"/feed"); got.Kind != wire.KindFeed || len(got.Feeds) != 1 || got.Feeds[0].Title != "News" || s.asked.Load() != 1 {
		t.Errorf("got %+v after %d requests, want the feed after one", got, s.asked.Load())
	}
	if got := discovered(t, w, s.URL+"/broken"); got.Kind != wire.KindFeed || len(got.Feeds) != 1 || !strings.Contains(got.Feeds[0].Problem, "the document ends before its first item") {
		t.Errorf("broken feed: got %+v, want the feed with its error", got)
	}
}

func TestDiscover_TriesWellKnownPaths(t *testing.T) {
	t.Parallel()
	w, s := newTestbed(t), aSite(t)
	if got := discovered(t, w, s.URL+"/silent/"); got.Kind != wire.KindPage || len(got.Feeds) != 1 || got.Feeds[0].URL != s.URL+"/silent/rss.xml" {
		t.Errorf("got %+v, want the feed beside the page", got)
	}
	before := s.asked.Load()
	got := discovered(t, w, s.URL+"/many")
	problems := func(c wire.Candidate) bool { return c.Problem == "" }
	if asked := s.asked.Load() - before; asked > 1+service.MaxProbes || len(got.Feeds) != 40 || slices.ContainsFunc(got.Feeds, problems) {
		t.Errorf("got %d candidates after %d requests, want all 40 named ones after at most 9", len(got.Feeds), asked)
	}
}

func TestDiscover_SearchesLists(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	list := strings.Builder{}
	list.WriteString(`<?xml version="1.0"?><opml version="2.0"><body><outline text="Databases"><outline text="Planet Postgres" xmlUrl="https://pg.example/feed" htmlUrl="https://pg.example/"/><outline text="Again" xmlUrl="https://PG.example/feed"/></outline>`)
	for n := range 70 {
		fmt.Fprintf(&list, `<outline text="Blog %d" xmlUrl="https://b%d.example/rss"/>`, n, n)
	}
	list.WriteString(`</body></opml>`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/damaged" {
			fmt.Fprint(w, `<opml version="2.0"><body></body></opml>`)
			return
		}
		fmt.Fprint(w, list.String())
	}))
	defer s.Close()
	find := func(path, words string) wire.Discovery {
		t.Helper()
		d, err := w.server.Discovery.Find(t.Context(), wire.DiscoverRequest{Body: wire.DiscoveredAddress{URL: s.URL + path, Words: words}})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if got := find("/", ""); got.Kind != wire.KindList || got.Listed != 72 || got.Matches != 71 || len(got.Feeds) != 50 {
		t.Errorf("got %s with %d feeds, %d match, %d returned; want a list of 72, 71 without the repeated one, 50 returned", got.Kind, got.Listed, got.Matches, len(got.Feeds))
	}
	got := find("/", " databases POSTGRES ")
	if len(got.Feeds) != 1 || got.Feeds[0].URL != "https://pg.example/feed" || got.Feeds[0].Title != "Planet Postgres" || got.Feeds[0].FeedID == "" || got.Feeds[0].Stored {
		t.Errorf("got %+v, want one feed", got)
	}
	if got := find("/", "postgres blog"); got.Kind != wire.KindList || got.Matches != 0 || len(got.Feeds) != 0 {
		t.Errorf("got %+v, want no match", got)
	}
	if got := find("/damaged", ""); got.Kind != wire.KindList || !strings.Contains(got.Problem, "no feed URLs") {
		t.Errorf("got %+v, want the reason", got)
	}
}

func TestDiscover_ReportsReason(t *testing.T) {
	t.Parallel()
	w, s := newTestbed(t), aSite(t)
	for address, want := range map[string][2]string{
		s.URL + "/nowhere":            {wire.KindUnreachable, "404"},
		"nonsense":                    {wire.KindUnreachable, "is not a web address"},
		"http://169.254.169.254/meta": {wire.KindUnreachable, "169.254.169.254"},
	} {
		if got := discovered(t, w, address); got.Kind != want[0] || !strings.Contains(got.Problem, want[1]) || got.Feeds == nil {
			t.Errorf("%s: got %+v, want %v", address, got, want)
		}
	}
	alone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "<html><body>hello</body></html>")
	}))
	defer alone.Close()
	if got := discovered(t, w, alone.URL); got.Kind != wire.KindPage || len(got.Feeds) != 0 || !strings.Contains(got.Problem, "no feed was found: ") {
		t.Errorf("a page without feeds: got %+v", got)
	}
}
