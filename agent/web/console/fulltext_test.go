package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"feedmesh/agent/service/servicetest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Without scripts, a form replaces the text of an item by the article of its page, or states why it does not.
func TestFullText_ByForm(t *testing.T) {
	t.Parallel()
	sentence := "The kernel scheduler now divides the time of the processor fairly between all tasks, which the maintainers measured on many machines. "
	publisher := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/article":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<html><head><title>A fair scheduler</title></head><body><nav>Menu</nav><article><h1>A fair scheduler</h1>%s<script>alert(1)</script></article></body></html>`,
				strings.Repeat("<p>"+strings.Repeat(sentence, 6)+"</p>", 5))
		case "/file":
			w.Header().Set("Content-Type", "application/pdf")
			fmt.Fprint(w, "%PDF-1.7")
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(publisher.Close)
	s := newSite(t)
	s.AddFeeds(t, storage.Feed{ID: "f", URL: publisher.URL + "/feed", Added: noon})
	const summary = "<p>The kernel scheduler divides the time fairly.</p>"
	for id, path := range map[string]string{"full": "/article", "file": "/file", "private": "/private", "gone": "/gone"} {
		s.items(t, "f", storage.Item{ID: id, Title: "A fair scheduler", HTML: summary, URL: publisher.URL + path, FirstSeen: noon})
	}
	s.items(t, "f", storage.Item{ID: "away", Title: "A fair scheduler", HTML: summary, URL: "http://10.1.2.3/", FirstSeen: noon})

	page := body(t, serve(s, "GET", "/read?open=full"))
	if !strings.Contains(page, `action="/read/full-text"`) || !strings.Contains(body(t, serve(s, "GET", "/items/full")), `action="/read/full-text"`) {
		t.Fatal("an item with a summary has no form for its full text")
	}
	for _, back := range []string{"/items/full", "/read?open=full", "https://evil.example/"} {
		got := submit(s, "/read/full-text", url.Values{"id": {"full"}, "back": {back}}.Encode())
		want, status := back, http.StatusConflict // the second time the page has no fuller text
		if back == "/items/full" {
			status = http.StatusSeeOther
		}
		if got.StatusCode != status || status == http.StatusSeeOther && got.Header.Get("Location") != want {
			t.Errorf("back %s: got status %d to %q, want %d", back, got.StatusCode, got.Header.Get("Location"), status)
		}
		if strings.Contains(body(t, got), "evil.example") {
			t.Error("the page links to another site")
		}
	}
	item := s.stored(t, "full")
	if strings.Count(item.HTML, "divides the time of the processor") != 30 || strings.Contains(item.HTML, "script>") || strings.Contains(item.HTML, "Menu") || item.Revision != 1 {
		t.Errorf("got the text %q, revision %d; want the sanitized article", item.HTML, item.Revision)
	}
	if tasks := servicetest.Published(t, s.Mesh, subjects.IndexQueue); len(tasks) != 1 || tasks[0].IDs[0] != "full" {
		t.Errorf("got the index tasks %+v, want one of the item", tasks)
	}
	if strings.Contains(body(t, serve(s, "GET", "/items/full")), `action="/read/full-text"`) {
		t.Error("an item with its full text still has the form")
	}
	for id, want := range map[string]string{
		"file": "not an HTML page", "private": "robots.txt of the publisher does not allow", "gone": "can&#39;t be fetched", "away": "No full text",
	} {
		got := submit(s, "/read/full-text", url.Values{"id": {id}, "back": {"/read?open=" + id}}.Encode())
		if text := body(t, got); got.StatusCode != http.StatusConflict || !strings.Contains(text, want) {
			t.Errorf("%s: got status %d %s, want %q", id, got.StatusCode, between(text, "<main", "</main>"), want)
		}
		if s.stored(t, id).HTML != summary {
			t.Errorf("%s: the item changed", id)
		}
	}
	if got := submit(s, "/read/full-text", "id=none"); got.StatusCode != http.StatusNotFound {
		t.Errorf("an item that does not exist: got status %d", got.StatusCode)
	}
}
