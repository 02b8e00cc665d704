package console

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// hostileFeeds adds a feed whose texts are hostile and whose last poll failed, and a new one.
func (s *site) hostileFeeds(t *testing.T) {
	t.Helper()
	s.AddFeeds(t,
		storage.Feed{ID: "evil", URL: "https://a.example/" + evil, Title: evil, Site: "javascript:alert(1)", Language: evil, Tags: []string{evil}, Pinned: true, Added: noon,
			Request: &storage.Request{UserAgent: evil, Header: map[string]string{evil: evil}, User: evil, Password: "p", Proxy: evil}},
		storage.Feed{ID: "plain", URL: "https://b.example/", Added: noon})
	s.Mesh.States["evil"] = &subjects.State{Tier: "hot", Next: noon.Add(time.Hour), Reason: evil, Polled: noon, Failures: 2, Class: evil, Error: evil, Changed: noon}
	s.Mesh.PollLog["evil"] = []subjects.Poll{
		{At: noon, Duration: 1234 * time.Millisecond, Status: 200, Size: 4200, ProxyID: evil, Reason: "price " + evil}, {At: noon.Add(-time.Hour), Class: evil},
	}
	_, err := s.Store.PutItems(t.Context(), storage.Batch{FeedID: "evil", Rate: 1.5})
	must(t, err)
}

// manyFeeds returns a site with 1,234 feeds, of which 12 fail: the hostile feeds, feeds that are not failing, and
// failing feeds. The first two in order of title are the hostile feed and the feed plain.
func manyFeeds(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.hostileFeeds(t)
	s.items(t, "evil", storage.Item{ID: "1"}, storage.Item{ID: "2"}, storage.Item{ID: "3"})
	feeds := make([]storage.Feed, 1232)
	for n := range feeds {
		id := fmt.Sprintf("n%04d", n)
		feeds[n] = storage.Feed{ID: id, URL: "https://" + id + ".example/", Title: "~" + id, Added: noon}
		if n < 11 {
			s.Mesh.States[id] = &subjects.State{Tier: "hot", Polled: noon, Failures: 1, Class: "dns"}
		}
	}
	feeds[3].Tags = []string{"t"}
	s.AddFeeds(t, feeds...)
	return s
}

func pagesOfFeeds(t *testing.T, all sites) map[string]shown {
	many := manyFeeds(t)
	evilFilter := url.Values{"q": {"<script>"}, "state": {"failing"}, "class": {evil}, "tier": {"hot"}, "tag": {evil}, "host": {"a.example"}, "pinned": {"yes"}, "sort": {"items"}}
	return map[string]shown{
		"feeds":          {"/feeds", 200, all.hostile},
		"filtered feeds": {"/feeds?" + evilFilter.Encode(), 200, all.hostile},
		"more feeds":     {linkOn(t, many, "/feeds", "More feeds"), 200, many},
		"rare feeds":     {"/feeds?state=gone", 200, all.hostile},
		"strange feeds":  {"/feeds?state=%3Cscript%3E", 400, all.hostile},
		"stale feeds":    {"/feeds?after=x", 400, all.hostile},
		"no feeds":       {"/feeds", 200, all.empty},
		"feeds down":     {"/feeds", 503, all.broken},
		"feed":           {"/feeds/evil", 200, all.hostile},
		"new feed":       {"/feeds/plain", 200, all.hostile},
		"no feed":        {"/feeds/none", 404, all.hostile},
		"feed down":      {"/feeds/evil", 503, all.broken},
		"remove feed":    {"/feeds/evil/remove", 200, all.hostile},
		"remove none":    {"/feeds/none/remove", 404, all.hostile},
	}
}

// rows returns the text of a page's table, cell by cell.
func rows(page *html.Node) []string {
	var list []string
	for _, row := range elements(elements(page, "tbody")[0], "tr") {
		var cells []string
		for cell := range row.ChildNodes() {
			cells = append(cells, words(cell))
		}
		list = append(list, strings.Join(cells, " | "))
	}
	return list
}

func TestFeedsPage_ListsState(t *testing.T) {
	source := manyFeeds(t)
	page := parse(t, body(t, serve(source, "GET", "/feeds")))
	listed := rows(page)
	if len(listed) != feedsOnPage {
		t.Fatalf("got %d feeds, want a page of %d", len(listed), feedsOnPage)
	}
	slices.SortStableFunc(listed, func(a, b string) int { // the feed without a title sorts elsewhere than among titles
		return cmp.Compare(strings.Index(a, "~"), strings.Index(b, "~"))
	})
	for i, want := range []string{"| 3 | 1.5 a day | just now | failed: ", "b.example | 0 |  |  | none yet | soon"} {
		if !strings.Contains(listed[i], want) && !strings.Contains(listed[1-i], want) {
			t.Errorf("got %q, want two with %q", listed[:2], want)
		}
	}
	first := listed[slices.IndexFunc(listed, func(e string) bool { return strings.Contains(e, "pinned") })]
	if want := "| in 1 hour (hot)"; !strings.Contains(first, want) || !strings.Contains(first, "| failed: ") {
		t.Errorf("got %q, want %q and that it failed", first, want)
	}
	second := link(page, "More feeds")
	if got := rows(parse(t, body(t, serve(source, "GET", second)))); !strings.HasPrefix(second, "/feeds?after=") || len(got) != feedsOnPage || got[0] == listed[0] {
		t.Errorf("more feeds are at %s, want the next page", second)
	}
	if got, want := link(page, "Failing 12"), "/feeds?state=failing"; got != want {
		t.Errorf("failing feeds are at %q, want %q", got, want)
	}
	if text := words(page); !strings.Contains(text, "1,234 feeds") || strings.Contains(text, "Gone for good 0") {
		t.Errorf("the page says %q, want how many there are, and no state without feeds", text)
	}
}

func TestFeedsPage_URLContainsState(t *testing.T) {
	const query = "q=a&state=failing&class=dns&tier=hot&tag=t&host=h&pinned=yes&sort=items"
	values, err := readParams(query, feedParams)
	must(t, err)
	want := wire.FeedFilter{Text: "a", Tag: "t", Host: "h", Pinned: true, State: "failing", Class: "dns", Tier: "hot"}
	if s := feedState(values); s.filter() != want || s.sort() != "items" {
		t.Errorf("asks for %+v by %s, want %+v", s.filter(), s.sort(), want)
	}
	page := parse(t, body(t, serve(manyFeeds(t), "GET", "/feeds?"+query)))
	if got, want := link(page, "Remove filter class: dns ×"), "/feeds?host=h&pinned=yes&q=a&sort=items&state=failing&tag=t&tier=hot"; got != want {
		t.Errorf("without its error the list is at %q, want %q", got, want)
	}
	if got, want := link(page, "Failing 12"), "/feeds?class=dns&host=h&pinned=yes&q=a&sort=items&tag=t&tier=hot"; got != want {
		t.Errorf("a chosen filter leads to %q, want %q", got, want)
	}
	filtered := newSite(t)
	for n, id := range []string{"hit", "untagged", "unpinned", "cold", "reset", "fine", "else", "nameless"} {
		f := storage.Feed{ID: id, URL: fmt.Sprintf("https://h/%d/a", n), Tags: []string{"t"}, Pinned: true, Added: noon}
		state := &subjects.State{Tier: "hot", Polled: noon, Failures: 1, Class: "dns"}
		switch id {
		case "untagged":
			f.Tags = nil
		case "unpinned":
			f.Pinned = false
		case "cold":
			state.Tier = "cold"
		case "reset":
			state.Class = "reset"
		case "fine":
			state.Failures = 0
		case "else":
			f.URL = "https://x/a"
		case "nameless":
			f.URL = "https://h/"
		}
		filtered.AddFeeds(t, f)
		filtered.Mesh.States[id] = state
	}
	page = parse(t, body(t, serve(filtered, "GET", "/feeds?"+query)))
	if got := rows(page); len(got) != 1 || link(page, "h") != "/feeds/hit" {
		t.Errorf("got %q, want the only feed that has all of it", got)
	}
}

func TestFeedsPage_WithoutSchedule(t *testing.T) {
	s := manyFeeds(t)
	s.Mesh.Broken = errUnavailable
	page := parse(t, body(t, serve(s, "GET", "/feeds")))
	if got := rows(page); len(got) != feedsOnPage || !strings.Contains(got[0], "| unknown | unknown") {
		t.Errorf("got %d feeds, %q, want all with unknown polls", len(got), got[:1])
	}
	if text := words(page); !strings.Contains(text, "The schedule cannot be read at the moment") {
		t.Errorf("got %q, want a note", text)
	}
}

func TestFeedsPage_OfAHostShowsItsRecord(t *testing.T) {
	source := newSite(t)
	source.hostileFeeds(t)
	source.Mesh.Hosts["b.example"] = &subjects.Host{
		Name: "b.example", Polls: 1200, Failures: 3, Latency: .25, Status: 429, Class: "http 4xx", LastRequest: noon.Add(-time.Hour),
		Spacing: 90 * time.Second, PausedUntil: noon.Add(time.Hour), Reason: "Retry-After",
	}
	text := words(parse(t, body(t, serve(source, "GET", "/feeds?host=b.example"))))
	for _, want := range []string{"1,200, 3 failed · 0.25 s on average", "status 429 · The server limits the rate of requests", "90 s between requests", "No requests until", "Retry-After"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from %q", want, text)
		}
	}
	if text := words(parse(t, body(t, serve(source, "GET", "/feeds?host=a.example")))); !strings.Contains(text, "No requests yet") {
		t.Errorf("got %q for a host without requests", text)
	}
}
