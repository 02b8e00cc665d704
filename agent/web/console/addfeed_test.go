package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// send submits a form with the field url.
func send(source *site, target, address string) *http.Response {
	return submit(source, target, url.Values{"url": {address}}.Encode())
}

func TestFoundPage_OffersFeeds(t *testing.T) {
	source, host := newSite(t), hostileHost(t)
	known := storage.FeedID(host.URL + "/feed")
	source.AddFeeds(t, storage.Feed{ID: known, URL: host.URL + "/feed", Added: noon})
	r := send(source, "/feeds/find", " "+host.URL+"/page ")
	page := parse(t, body(t, r))
	if r.StatusCode != 200 {
		t.Fatalf("status %d, want 200", r.StatusCode)
	}
	if got := link(page, "Already added"); got != "/feeds/"+known {
		t.Errorf("the known feed leads to %q", got)
	}
	var offers []string
	for _, in := range elements(page, "input") {
		if attr(in, "name") == "url" && attr(in, "type") == "hidden" {
			offers = append(offers, attr(in, "value"))
		}
	}
	if !slices.Equal(offers, []string{host.URL + "/none"}) {
		t.Errorf("offered are %v, want the unknown feed alone", offers)
	}
	if text := words(page); !strings.Contains(text, "2 feeds found") || !strings.Contains(text, "Cannot be read: ") || !strings.Contains(text, "<script>") {
		t.Errorf("the page says %q", text)
	}
	if text := words(parse(t, body(t, send(source, "/feeds/find", "a.example")))); !strings.Contains(text, "No feed was found https://a.example/ no such host Add anyway") {
		t.Errorf("where nothing answers the page says %q", text)
	}
}

func TestFoundPage_SearchesLists(t *testing.T) {
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<opml version="2.0"><body><outline text="A <b>" xmlUrl="https://a.example/feed"/><outline text="Other" xmlUrl="https://b.example/feed"/></body></opml>`)
	}))
	defer list.Close()
	s := newSite(t)
	for typed, want := range map[string]string{
		"":       "2 feeds in this list",
		"other":  "1 feed matches. Other",
		"absent": "No feed matches.",
	} {
		if text := words(parse(t, body(t, submit(s, "/feeds/find", url.Values{"url": {list.URL}, "words": {typed}}.Encode())))); !strings.Contains(text, want) {
			t.Errorf("words %q: the page lacks %q: %s", typed, want, text)
		}
	}
}

func TestFeedsPage_AddAndRefresh(t *testing.T) {
	source := newSite(t)
	source.AddFeeds(t, storage.Feed{ID: "evil", URL: "https://e.example/", Added: noon})
	added := storage.FeedID("https://a.example/f")
	for _, c := range []struct {
		target, address string
		status          int
		location        string
	}{
		{"/feeds", "https://a.example/f", 303, "/feeds/" + added},
		{"/feeds/evil/refresh", "", 303, "/feeds/evil"},
		{"/feeds/none/refresh", "", 404, ""},
		{"/feeds/find", "", 303, "/feeds"},
		{"/feeds/find", strings.Repeat("x", maxForm), 303, "/feeds"},
	} {
		if r := send(source, c.target, c.address); r.StatusCode != c.status || r.Header.Get("Location") != c.location {
			t.Errorf("%s %.30s: status %d to %q, want %d to %q", c.target, c.address, r.StatusCode, r.Header.Get("Location"), c.status, c.location)
		}
	}
	if f, err := source.Store.Feed(t.Context(), added); err != nil || f.URL != "https://a.example/f" {
		t.Errorf("got %+v, %v; want the feed added", f, err)
	}
	if got := source.observed(t, subjects.Refresh); !slices.Equal(got, []string{"evil"}) {
		t.Errorf("refreshed are %q", got)
	}
	r := send(source, "/feeds", "http://"+evil)
	if text := words(parse(t, body(t, r))); r.StatusCode != 422 || !strings.Contains(text, "This feed cannot be added ") || !strings.Contains(text, "<script>") {
		t.Errorf("status %d, %q; want 422 and why", r.StatusCode, text)
	}
}
