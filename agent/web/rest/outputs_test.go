package rest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

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
	if a := w.request(t, "PUT", "/api/searches/kernels", `{"title":"Kernels","query":"?q=kernel&limit=1"}`); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	for path, want := range map[string]string{
		"/outputs/search.rss": "Kernel released, Compiler released", "/outputs/search.atom?q=kernel": "Kernel released",
		"/outputs/search.json?q=compiler": "Compiler released", "/outputs/search.rss?category=linux": "Kernel released",
		"/outputs/search.json?q=nothing": "", "/outputs/search.rss?limit=1": "Kernel released", "/outputs/search.rss?feed=" + w.feed: "Kernel released, Compiler released",
		"/outputs/tag.atom?tag=it": "Kernel released, Compiler released", "/outputs/tag.rss?tag=other": "", "/outputs/tag.json?tag=it&limit=1": "Kernel released",
		"/outputs/searches/kernels.rss": "Kernel released", "/outputs/searches/kernels.atom": "Kernel released", "/outputs/searches/kernels.json": "Kernel released",
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

func TestSavedSearches_RoundTrip(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	put := w.request(t, "PUT", "/api/searches/go-news", `{"title":"Go <news>","query":"q=go+-rust&category=software"}`)
	var got storage.SavedSearch
	if err := json.Unmarshal([]byte(put.body), &got); err != nil || put.StatusCode != 200 || got.Name != "go-news" || got.Title != "Go <news>" || !got.Added.Equal(now.Truncate(time.Microsecond)) {
		t.Fatalf("got %d %s, %v", put.StatusCode, put.body, err)
	}
	if query, err := url.ParseQuery(got.Query); err != nil || query.Get("q") != "go -rust" || query.Get("category") != "software" {
		t.Errorf("its query is %q", got.Query)
	}
	if all := getJSON[wire.SavedSearches](t, w, "/api/searches").Searches; len(all) != 1 || all[0] != got {
		t.Errorf("got %+v", all)
	}
	if one := getJSON[storage.SavedSearch](t, w, "/api/searches/go-news"); one != got {
		t.Errorf("got %+v", one)
	}
	w.request(t, "GET", "/api/searches/other", "").isProblem(t, 404, "other")
	for _, name := range []string{"Go", "a%20b", "-x", strings.Repeat("x", 65)} {
		if a := w.request(t, "PUT", "/api/searches/"+name, `{"query":"q=x"}`); a.StatusCode != 422 {
			t.Errorf("%s: got %d %s", name, a.StatusCode, a.body)
		}
	}
	w.request(t, "PUT", "/api/searches/x", `{"query":"%zz"}`).isProblem(t, 409, "question mark")
	for query, why := range map[string]string{"database kernel": `"database kernel" is no parameter`, "q=go&cat=x": `"cat" is no parameter`, "q=go+(": "character 4"} {
		w.request(t, "PUT", "/api/searches/x", `{"query":"`+query+`"}`).isProblem(t, 409, why)
	}
	if a := w.request(t, "DELETE", "/api/searches/go-news", ""); a.StatusCode != 204 {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
	w.request(t, "DELETE", "/api/searches/go-news", "").isProblem(t, 404, "go-news")
}
