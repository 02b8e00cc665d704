package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func TestFeedPage_SavesSettingsAndKeepsSecrets(t *testing.T) {
	source := newSite(t)
	source.hostileFeeds(t)
	must(t, storage.Proxies(source.Store).Put(t.Context(), storage.Proxy{ID: "p", URL: "http://p.example:8080"}))
	settings := func() storage.Feed {
		f, err := source.Store.Feed(t.Context(), "evil")
		must(t, err)
		return f
	}
	form := url.Values{"pinned": {"yes"}, "tags": {"a, b c"}, "spam": {"0,7"}, "user_agent": {"X"}, "user": {evil}, "proxy": {"p"}, "password": {""}, "header": {"X-Key"}, "value": {"v"}}
	r := post(source, "/feeds/evil/settings", form)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/feeds/evil" || !slices.Equal(source.observed(t, subjects.Changed), []string{"evil"}) {
		t.Fatalf("status %d to %q after changes of %q", r.StatusCode, r.Header.Get("Location"), source.observed(t, subjects.Changed))
	}
	c := settings()
	if !slices.Equal(c.Tags, []string{"a", "b c"}) || !c.Pinned || c.FullText || c.SpamThreshold != .7 || c.Request.UserAgent != "X" || c.Request.User != evil ||
		c.Request.Proxy != "p" || c.Request.Password != "p" || c.Request.Header["X-Key"] != "v" {
		t.Errorf("the change is %+v, %+v", c, c.Request)
	}
	form.Set("proxy", evil)
	r = post(source, "/feeds/evil/settings", form)
	page := parse(t, body(t, r))
	if text := words(page); r.StatusCode != 422 || !strings.Contains(text, `were not changed: there is no proxy "<script>`) {
		t.Errorf("status %d, %q; want 422 and why", r.StatusCode, text)
	}
	for _, in := range elements(page, "input") {
		if attr(in, "name") == "user_agent" && attr(in, "value") != "X" {
			t.Errorf("what a person wrote is gone: %q", attr(in, "value"))
		}
		if attr(in, "type") == "password" && attr(in, "value") != "" {
			t.Errorf("%s shows %q", attr(in, "name"), attr(in, "value"))
		}
	}
	for _, form := range []url.Values{{"spam": {"2"}}, {"spam": {"-1"}}, {"spam": {"NaN"}}, {"spam": {"much"}}, {"tags": {strings.Repeat("a", maxForm)}}} {
		if r := post(source, "/feeds/evil/settings", form); r.StatusCode != 422 {
			t.Errorf("%.40v: status %d, want 422", form, r.StatusCode)
		}
	}
	if got := settings(); !reflect.DeepEqual(got, c) {
		t.Errorf("what was refused was stored: %+v", got)
	}
	if r := post(source, "/feeds/none/settings", form); r.StatusCode != 404 {
		t.Errorf("no feed: status %d, want 404", r.StatusCode)
	}
}

func TestMain(m *testing.M) { servicetest.Main(m) }

// hostileHost serves a feed with hostile texts at /feed, which /old redirects to, and at /differ a feed that gofeed
// reads otherwise.
func hostileHost(t *testing.T) *httptest.Server {
	entry := func(title, link, extra string) string {
		return "<item><title>" + html.EscapeString(title) + "</title><link>" + link + "</link>" + extra + "</item>"
	}
	feed := func(entries string) string {
		return `<rss version="2.0"><channel><title>` + html.EscapeString(evil) + "</title>" + entries + "</channel></rss>"
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", evil)
		switch r.URL.Path {
		case "/old":
			http.Redirect(w, r, "/feed?"+url.QueryEscape(evil), http.StatusMovedPermanently)
		case "/feed":
			io.WriteString(w, feed(entry(evil, "javascript:alert(1)", "<pubDate>Tue, 29 Sep 2026 12:00:00 GMT</pubDate>")+entry("b", "https://a.example/b", "")))
		case "/differ":
			io.WriteString(w, feed(entry(evil, "https://a.example/a", "<pubDate>29 сентября 2026 г. 10:00</pubDate>")+entry("b", "https://a.example/b", "")))
		case "/page":
			io.WriteString(w, `<html><link rel="alternate" type="application/rss+xml" href="/feed"><link rel="alternate" type="application/rss+xml" href="/none" title="`+html.EscapeString(evil)+`">`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(host.Close)
	return host
}

func TestFeedPage_TestFetchShowsHeaders(t *testing.T) {
	source, host := newSite(t), hostileHost(t)
	source.AddFeeds(t,
		storage.Feed{ID: "evil", URL: host.URL + "/old", Title: evil, Added: noon, Request: &storage.Request{User: "me", Password: "secret"}},
		storage.Feed{ID: "differ", URL: host.URL + "/differ", Added: noon}, storage.Feed{ID: "away", URL: "https://a.example/", Added: noon})
	r := post(source, "/feeds/evil/test", nil)
	page := body(t, r)
	text := words(parse(t, page))
	for _, want := range []string{
		"Authorization set", "Status 301", "Redirected to " + host.URL + "/feed?", "Etag <script>", "RSS · <script>", "· 2 entries · 4", " ms", "Second opinion: gofeed", "2 entries: 1 read alike, 1 differ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Contains(page, `href="javascript`) || strings.Contains(page, "secret") {
		t.Error("what a host says is taken for markup")
	}
	page = body(t, post(source, "/feeds/differ/test", nil))
	text = words(parse(t, page))
	for _, want := range []string{"Second opinion: gofeed", "2 entries: 1 read alike, 1 differ", "published"} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison lacks %q: %s", want, text)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Contains(page, `href="javascript`) {
		t.Error("the comparison contains markup of a feed")
	}
	if text := words(parse(t, body(t, post(source, "/feeds/away/test", nil)))); !strings.Contains(text, "The host name does not resolve. The site may have moved or closed.") || !strings.Contains(text, "no such host") {
		t.Errorf("of a failure the page says %q", text)
	}
	busy, waiting := make(chan struct{}), make(chan struct{})
	blocked := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(waiting); <-busy }))
	defer blocked.Close()
	source.AddFeeds(t, storage.Feed{ID: "slow", URL: blocked.URL + "/", Added: noon})
	var first sync.WaitGroup
	first.Go(func() { post(source, "/feeds/slow/test", nil) })
	<-waiting
	if r := post(source, "/feeds/evil/test", nil); r.StatusCode != 429 {
		t.Errorf("a second test: status %d, want 429", r.StatusCode)
	}
	close(busy)
	first.Wait()
}

// Figures, a comparison and an error that no host of a test gives.
func TestFeedPage_TestFetchShowsFigures(t *testing.T) {
	c := &console{Service: newSite(t).Service}
	for _, tested := range []struct {
		result wire.FetchTest
		want   []string
	}{
		{wire.FetchTest{
			Entries: 2, Took: 1234, Size: 4200, Title: evil, Format: "RSS", Comparison: &wire.Comparison{Parser: "gofeed v1", Entries: 2, Same: 1, Differ: 1, Pairs: []wire.EntryPair{
				{Ours: &wire.ParsedEntry{Title: evil, Link: "javascript:alert(1)", Published: noon}, Theirs: &wire.ParsedEntry{Title: "b"}, Differs: []string{"title"}},
				{Theirs: &wire.ParsedEntry{Title: "c"}},
			}},
		}, []string{"RSS · <script>", "· 2 entries · 4.2 KB · 1,234 ms", "Second opinion: gofeed v1", "2 entries: 1 read alike, 1 differ", "not found", "found by one parser only"}},
		{wire.FetchTest{Error: evil, Problem: &wire.FeedProblem{Summary: "It is away.", Advice: "Wait."}}, []string{"It is away. Wait. <script>"}},
	} {
		w := httptest.NewRecorder()
		c.render(w, httptest.NewRequest("GET", "/", nil), 200, "feed-test", page{Main: testPageOf(tested.result, noon)})
		text := words(parse(t, w.Body.String()))
		for _, want := range tested.want {
			if !strings.Contains(text, want) {
				t.Errorf("the page lacks %q: %s", want, text)
			}
		}
		if strings.Contains(w.Body.String(), "<script>alert") || strings.Contains(w.Body.String(), `href="javascript`) {
			t.Error("the page contains markup of a feed")
		}
	}
}

func TestFeedPage_RemovalRequiresConfirmation(t *testing.T) {
	source := newSite(t)
	source.items(t, "evil", storage.Item{ID: "1"}, storage.Item{ID: "2"}, storage.Item{ID: "3"})
	page := parse(t, body(t, serve(source, "GET", "/feeds/evil/remove")))
	if _, err := source.Store.Feed(t.Context(), "evil"); err != nil || !strings.Contains(words(page), "Its 3 items will be removed") {
		t.Fatalf("got %v, the page says %q", err, words(page))
	}
	if r := post(source, "/feeds/evil/remove", nil); r.StatusCode != 303 || r.Header.Get("Location") != "/feeds" || !slices.Equal(source.observed(t, subjects.Removed), []string{"evil"}) {
		t.Errorf("status %d to %q after removal of %q", r.StatusCode, r.Header.Get("Location"), source.observed(t, subjects.Removed))
	}
	if _, err := source.Store.Feed(t.Context(), "evil"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want the feed gone", err)
	}
	if r := post(source, "/feeds/none/remove", nil); r.StatusCode != 404 {
		t.Errorf("no feed: status %d, want 404", r.StatusCode)
	}
}

func TestFeedPage_ShowsReasonAndPolls(t *testing.T) {
	page := body(t, serve(hostile(t), "GET", "/feeds/evil"))
	text := words(parse(t, page))
	for _, want := range []string{"Next poll in 1 hour", "Reason <script>", "The last 2 polls failed: <script>", "Password set", "Pinned polled as often as possible", "1.5 items a day"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	polls := rows(parse(t, page))
	if len(polls) != 2 || !strings.HasPrefix(polls[0], "just now · 29 Sep 2026, 12:00 UTC | 200 | 1,234 | 4.2 KB | Document received (HTTP 200). | price <script>") || !strings.HasPrefix(polls[1], "1 hour ago · 29 Sep 2026, 11:00 UTC | – | 0 | – | Error: <script>") {
		t.Errorf("the polls are %q", polls)
	}
	if strings.Contains(page, `href="javascript`) {
		t.Error("the site's link would run a script")
	}
}

func TestFeedPage_LeftOutEntriesHaveTheirOwnLabel(t *testing.T) {
	source := newSite(t)
	source.AddFeeds(t, storage.Feed{ID: "large", URL: "https://large.example/", Added: noon})
	source.Mesh.States["large"] = &subjects.State{URL: "https://large.example/", Malformed: "95000 of its 100000 entries were left out: the newest 5000 are kept, bare ampersands"}
	text := words(parse(t, body(t, serve(source, "GET", "/feeds/large"))))
	if want := "Left out 95000 of its 100000 entries were left out: the newest 5000 are kept Repaired bare ampersands"; !strings.Contains(text, want) {
		t.Errorf("the page lacks %q: %s", want, text)
	}
}

func TestFeedPage_MovesToAnotherAddress(t *testing.T) {
	source := newSite(t)
	source.hostileFeeds(t)
	for address, status := range map[string]int{"https://new.example/feed": 202, "https://b.example/": 422, "": 422, "ftp://new.example/": 422} {
		r := post(source, "/feeds/plain/move", url.Values{"url": {address}})
		if text := words(parse(t, body(t, r))); r.StatusCode != status || status == 202 && !strings.Contains(text, address) {
			t.Errorf("%q: got %d %s, want %d", address, r.StatusCode, text, status)
		}
	}
	if r := post(source, "/feeds/none/move", url.Values{"url": {"https://new.example/feed"}}); r.StatusCode != 404 {
		t.Errorf("a feed that is not stored: got %d, want 404", r.StatusCode)
	}
	if moved := source.observed(t, subjects.Move); !slices.Equal(moved, []string{"plain"}) {
		t.Errorf("moved %v, want the feed once", moved)
	}
}

func TestFeedPage_ListsItsNewestItems(t *testing.T) {
	source := newSite(t)
	source.hostileFeeds(t)
	for n := range 12 {
		source.items(t, "plain", storage.Item{ID: fmt.Sprint("i", n), Title: fmt.Sprintf("Number %02d", n), FirstSeen: noon.Add(time.Duration(n) * time.Minute)})
	}
	text := words(parse(t, body(t, serve(source, "GET", "/feeds/plain"))))
	for n := range 12 {
		if title := fmt.Sprintf("Number %02d", n); strings.Contains(text, title) != (n >= 2) {
			t.Errorf("%s: listed %t, want the ten newest", title, strings.Contains(text, title))
		}
	}
}
