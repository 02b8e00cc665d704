package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedmesh/agent/api"
)

// send sends a form of one field, url.
func send(source Source, target, address string) *http.Response {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", target, strings.NewReader(url.Values{"url": {address}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	handler(source, func() time.Time { return noon }).ServeHTTP(w, r)
	return w.Result()
}

// rows returns what the rows of a page's table say, cell by cell.
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

func TestFeedsAreListedWithHowTheyDo(t *testing.T) {
	page := parse(t, body(t, serve(hostile(), "GET", "/feeds")))
	listed := rows(page)
	for i, want := range []string{"| 3 | just now | in 1 hour | failed: ", "b.examplehttps://b.example/ | 0 | – | soon | none yet"} {
		if len(listed) != 2 || !strings.Contains(listed[i], want) {
			t.Errorf("got %q, want two with %q", listed, want)
		}
	}
	if got, want := link(page, "More feeds"), "/feeds?"+(url.Values{"after": {evil}}).Encode(); got != want {
		t.Errorf("more feeds are at %s, want %s", got, want)
	}
}

func TestAFeedsPageTellsWhyAndOfItsPolls(t *testing.T) {
	page := body(t, serve(hostile(), "GET", "/feeds/evil"))
	text := words(parse(t, page))
	for _, want := range []string{"Next poll in 1 hour", "Why then <script>", "The last 2 polls failed: <script>", "Password set", "Pinned read as often as possible", "1.5 items a day"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	polls := rows(parse(t, page))
	if len(polls) != 2 || !strings.HasPrefix(polls[0], "just now · 29 Sep 2026, 12:00 UTC | 200 | 1,234 | 4.2 KB |  | <script>") || !strings.HasPrefix(polls[1], "1 hour ago · 29 Sep 2026, 11:00 UTC | – | 0 | – | <script>") {
		t.Errorf("the polls are %q", polls)
	}
	if strings.Contains(page, `href="javascript`) {
		t.Error("the site's link would run a script")
	}
}

func TestAPageOffersTheFeedsOfAnAddress(t *testing.T) {
	source := hostile()
	r := send(source, "/feeds/find", " a.example ")
	page := parse(t, body(t, r))
	if r.StatusCode != 200 || !slices.Equal(source.done, []string{"discover a.example"}) {
		t.Fatalf("status %d after %v, want 200 after a look", r.StatusCode, source.done)
	}
	if got := link(page, "known already"); got != "/feeds/evil" {
		t.Errorf("the known feed leads to %q", got)
	}
	var offers []string
	for _, in := range elements(page, "input") {
		if attr(in, "name") == "url" && attr(in, "type") == "hidden" {
			offers = append(offers, attr(in, "value"))
		}
	}
	if !slices.Equal(offers, []string{"https://a.example/2"}) {
		t.Errorf("offered are %v, want the unknown feed alone", offers)
	}
	if text := words(page); !strings.Contains(text, "2 feeds found") || !strings.Contains(text, "It could not be read: <script>") {
		t.Errorf("the page says %q", text)
	}
	source.discovery = api.Discovery{URL: "https://a.example/", Kind: api.Unreachable, Problem: "no answer"}
	if text := words(parse(t, body(t, send(source, "/feeds/find", "a.example")))); !strings.Contains(text, "No feed was found https://a.example/ no answer Add it all the same") {
		t.Errorf("where nothing answers the page says %q", text)
	}
}

func TestFormsAddAndPoll(t *testing.T) {
	source := hostile()
	for _, c := range []struct {
		target, address string
		status          int
		location        string
	}{
		{"/feeds", "https://a.example/f", 303, "/feeds/id"},
		{"/feeds/evil/refresh", "", 303, "/feeds/evil"},
		{"/feeds/none/refresh", "", 404, ""},
		{"/feeds/find", "", 303, "/feeds"},
		{"/feeds/find", strings.Repeat("x", maxForm), 303, "/feeds"},
	} {
		if r := send(source, c.target, c.address); r.StatusCode != c.status || r.Header.Get("Location") != c.location {
			t.Errorf("%s %.30s: status %d to %q, want %d to %q", c.target, c.address, r.StatusCode, r.Header.Get("Location"), c.status, c.location)
		}
	}
	if want := []string{"add https://a.example/f", "refresh evil", "refresh none"}; !slices.Equal(source.done, want) {
		t.Errorf("done is %v, want %v", source.done, want)
	}
	source.outcome = api.Invalid
	r := send(source, "/feeds", "nonsense")
	if text := words(parse(t, body(t, r))); r.StatusCode != 422 || !strings.Contains(text, "This feed cannot be added "+strings.Join(strings.Fields(evil), " ")) {
		t.Errorf("status %d, %q; want 422 and why", r.StatusCode, text)
	}
}
