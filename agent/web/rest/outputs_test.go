package rest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// readOutput returns the titles of an output's entries, as an outside reader has
// them.
func readOutput(t *testing.T, w *testbed, path string) []string {
	t.Helper()
	a := w.request(t, "GET", path, "")
	if a.StatusCode != 200 {
		t.Fatalf("%s: got %d %s", path, a.StatusCode, a.body)
	}
	got, err := gofeed.NewParser().ParseString(a.body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	titles := []string{}
	for _, item := range got.Items {
		titles = append(titles, item.Title)
	}
	return titles
}

func TestOutputs_SearchAsFeed(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for path, want := range map[string]string{
		"/outputs/search.rss": "Kernel released, Compiler released", "/outputs/search.atom?q=kernel": "Kernel released",
		"/outputs/search.json?q=compiler": "Compiler released", "/outputs/search.rss?category=linux": "Kernel released",
		"/outputs/search.json?q=nothing": "", "/outputs/search.rss?limit=1": "Kernel released", "/outputs/search.rss?feed=" + w.feed: "Kernel released, Compiler released",
		"/outputs/tag.atom?tag=it": "Kernel released, Compiler released", "/outputs/tag.rss?tag=other": "", "/outputs/tag.json?tag=it&limit=1": "Kernel released",
		"/outputs/stories.rss": "", "/outputs/stories.atom": "", "/outputs/stories.json?language=en": "",
	} {
		if got := strings.Join(readOutput(t, w, path), ", "); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	a := w.request(t, "GET", "/outputs/search.atom?q=kernel", "")
	for _, want := range []string{`href="` + w.URL + `/?q=kernel"`, `href="` + w.URL + `/outputs/search.atom?q=kernel"`, "It has a &lt;b&gt;new"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("there is no %s in %s", want, a.body)
		}
	}
	proxied := newTestbed(t, withOwner, func(d *setup) { d.TrustedProxies = loopbackProxies })
	if got := proxied.request(t, "GET", "/outputs/search.rss", "", "X-Forwarded-Proto", "https", "Authorization", "Bearer s3cret").body; !strings.Contains(got, "https://"+strings.TrimPrefix(proxied.URL, "http://")+"/outputs/search.rss") {
		t.Errorf("behind TLS it is at %s", got)
	}
}

func TestOutputs_NotModified(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, path := range []string{"/outputs/search.rss?q=kernel", "/outputs/search.atom", "/outputs/tag.json?tag=it", "/outputs/stories.rss"} {
		first := w.request(t, "GET", path, "")
		tag, at := first.Header.Get("ETag"), first.Header.Get("Last-Modified")
		if tag == "" || strings.HasPrefix(tag, "W/") || first.Header.Get("Cache-Control") == "" || at == "" && !strings.Contains(path, "stories") {
			t.Errorf("%s has the headers %v", path, first.Header)
		}
		if again := w.request(t, "GET", path, "", "If-None-Match", tag); again.StatusCode != http.StatusNotModified || again.body != "" {
			t.Errorf("%s again: got %d %s", path, again.StatusCode, again.body)
		}
		if again := w.request(t, "GET", path, "", "If-None-Match", `"other"`); again.StatusCode != 200 || again.body != first.body {
			t.Errorf("%s with another ETag: got %d", path, again.StatusCode)
		}
		if at != "" {
			if again := w.request(t, "GET", path, "", "If-Modified-Since", at); again.StatusCode != http.StatusNotModified {
				t.Errorf("%s since %s: got %d", path, at, again.StatusCode)
			}
		}
		if head := w.request(t, "HEAD", path, ""); head.StatusCode != 200 || head.Header.Get("ETag") != tag || head.body != "" {
			t.Errorf("HEAD %s: got %d %v", path, head.StatusCode, head.Header)
		}
	}
}

func TestOutputs_ReportErrors(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for path, want := range map[string]int{
		"/outputs/tag.rss": 400, "/outputs/tag.rss?tag=it&limit=1000": 400, "/outputs/searches/nothing.rss": 404, "/outputs/searches/x": 404,
		"/outputs/searches/x.xml": 404, "/outputs/nothing": 404, "/outputs/search.xml": 404,
	} {
		w.request(t, "GET", path, "").isProblem(t, want, "")
	}
	// A request that the API rejects is rejected with the same text.
	for _, query := range []string{"limit=1000", "sort=worst", "after=yesterday", "q=" + strings.Repeat("x", 5000), "q=" + url.QueryEscape(`"open`),
		"limit=x&sort=worst&once=perhaps&flag=%3Cb%3E", "limit=99999999999999999999", "language=%ff", "topic=%zz&limit=0"} {
		there, here := w.request(t, "GET", "/api/search?"+query, ""), w.request(t, "GET", "/outputs/search.rss?"+query, "")
		if there.StatusCode != here.StatusCode || there.StatusCode != 200 && here.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.50s: the API answers %d, its output %d %s", query, there.StatusCode, here.StatusCode, here.Header.Get("Content-Type"))
		}
		if there.StatusCode != 200 && here.body != there.body {
			t.Errorf("%.50s: the API answers %s, its output %s", query, there.body, here.body)
		}
	}
}

// The searches that earlier versions saved become views, at whose feeds readers arrive from the former addresses.
func TestSavedSearches_BecomeViews(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	put := func(name, title, query string) {
		t.Helper()
		if err := storage.SavedSearches(w.Store).Put(t.Context(), storage.SavedSearch{Name: name, Title: title, Query: query, Added: now}); err != nil {
			t.Fatal(err)
		}
	}
	feed, err := w.Store.Feed(t.Context(), w.feed)
	if err != nil {
		t.Fatal(err)
	}
	put("kernels", "All <kernels>", "q=kernel+OR+linux&category=linux&once=true&unique=60&limit=1")
	put("taken", "", "q=go")
	put("news", "", "")
	put("past", "", "after=2026-01-01T00:00:00Z&duplicates=true&spam=true&language=en&q=limit")
	put("feed", "", url.Values{"q": {`kernel feed:"` + feed.Name() + `"`}}.Encode())
	put("mine", "", "q=is:unread")
	if a := putView(t, w, "view taken = from tag:it"); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	for range 2 { // the second time there are none
		if err := w.Service.Views.ConvertSearches(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, v := range getJSON[wire.Views](t, w, "/api/views").Views {
		if got[v.Name] = v.Definition; v.Problem != "" {
			got[v.Name] += " PROBLEM " + v.Problem
		}
	}
	for name, want := range map[string]string{
		"kernels":      `view kernels "All <kernels>" for everyone = from all where (kernel OR linux ) cat:linux once story unique 60%`,
		"taken":        `view taken = from tag:it`,
		"search-taken": `view search-taken for everyone = from all where go`,
		"news":         `view news for everyone = from all`,
		"past":         `view past for everyone = from all where (limit ) lang:en after:2026-01-01T00:00:00Z is:spam (is:duplicate OR -is:duplicate)`,
		"feed":         `view feed for everyone = from all where kernel (feed:` + w.feed + ` )`,
		"mine":         `view mine for everyone = from all where is:unread PROBLEM is:unread depends on the person who reads; a view has the same items for all: remove it`,
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s is %s\nwant %s", name, got[name], want)
		}
	}
	if left, err := storage.SavedSearches(w.Store).List(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("still saved are %v, %v", left, err)
	}
	for from, to := range map[string]string{
		"/outputs/searches/kernels.rss?limit=5": "/outputs/views/kernels.rss?limit=5", "/outputs/searches/taken.json": "/outputs/views/search-taken.json",
	} {
		if a := w.request(t, "GET", from, ""); a.StatusCode != http.StatusMovedPermanently || a.Header.Get("Location") != to {
			t.Errorf("%s: got %d %q, want %s", from, a.StatusCode, a.Header.Get("Location"), to)
		}
	}
}
