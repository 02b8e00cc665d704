package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A feedFake is the part of [fake] for the pages of feeds.
type feedFake struct {
	lists   []wire.FeedSearch // requested lists
	bulks   []wire.BulkChange
	changes []wire.FeedChange
	setErr  error // of settings and bulk changes
	facets  wire.FeedFacets
	step    wire.BulkResult
	tested  wire.FetchTest
}

func (f *fake) FindFeeds(_ context.Context, q wire.FeedSearch) (wire.FeedPage, error) {
	f.lists = append(f.lists, q)
	return f.feeds, f.err
}

func (f *fake) FeedFacets(context.Context) (wire.FeedFacets, error) { return f.facets, f.err }

func (f *fake) ChangeFeeds(_ context.Context, b wire.BulkChange) (wire.BulkResult, error) {
	f.bulks = append(f.bulks, b)
	return f.step, errors.Join(f.err, f.setErr)
}

func (f *fake) SetFeed(ctx context.Context, id string, change wire.FeedChange) (wire.Feed, error) {
	f.changes = append(f.changes, change)
	feed, err := f.Feed(ctx, id)
	return feed, errors.Join(err, f.setErr)
}

func (f *fake) TestFetch(_ context.Context, in wire.FetchTestRequest) (wire.FetchTest, error) {
	f.done = append(f.done, "test "+in.Feed)
	return f.tested, errors.Join(f.err, f.setErr)
}

func (f *fake) RemoveFeed(ctx context.Context, id string) error {
	f.done = append(f.done, "remove "+id)
	_, err := f.Feed(ctx, id)
	return err
}

// failingFeeds is a source whose first feed has every kind of problem.
func failingFeeds() *fake {
	source := hostile()
	source.feeds.Feeds[0].Problem = &wire.FeedProblem{Summary: evil, Advice: evil, Class: evil}
	total := int64(1234)
	source.feeds.Total = &total
	source.facets = wire.FeedFacets{
		States:  []wire.FeedCount{{Name: "failing", Feeds: 12}, {Name: "gone"}},
		Classes: []wire.FeedCount{{Name: evil, Feeds: 7}}, Tiers: []wire.FeedCount{{Name: "hot", Feeds: 3}},
		Tags: []storage.TagCount{{Tag: evil, Feeds: 2}},
	}
	return source
}

func pagesOfFeeds() map[string]shown {
	rare := failingFeeds()
	rare.feeds.Feeds = nil
	return map[string]shown{
		"feeds":          {"/feeds", 200, failingFeeds()},
		"filtered feeds": {"/feeds?q=%3Cscript%3E&state=failing&class=%22%3E&tier=hot&tag=a&host=b&pinned=yes&sort=items", 200, failingFeeds()},
		"more feeds":     {"/feeds?after=https://a.example/", 200, failingFeeds()},
		"rare feeds":     {"/feeds?state=gone", 200, rare},
		"strange feeds":  {"/feeds?state=%3Cscript%3E", 400, failingFeeds()},
		"stale feeds":    {"/feeds?after=x", 400, stale()},
		"no feeds":       {"/feeds", 200, &fake{}},
		"feeds down":     {"/feeds", 503, broken()},
		"feed":           {"/feeds/evil", 200, failingFeeds()},
		"new feed":       {"/feeds/plain", 200, hostile()},
		"no feed":        {"/feeds/none", 404, hostile()},
		"feed down":      {"/feeds/evil", 503, broken()},
		"remove feed":    {"/feeds/evil/remove", 200, hostile()},
		"remove none":    {"/feeds/none/remove", 404, hostile()},
	}
}

// send submits a form with the field url.
func send(source Source, target, address string) *http.Response {
	return submit(source, target, url.Values{"url": {address}}.Encode())
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

// entries returns the text of the list's entries on a page.
func entries(page *html.Node) []string {
	var list []string
	for _, ul := range elements(page, "ul") {
		if !slices.ContainsFunc(ul.Attr, func(a html.Attribute) bool { return a.Key == "data-list" }) {
			continue
		}
		for li := range ul.ChildNodes() {
			if text := words(li); text != "" {
				list = append(list, text)
			}
		}
	}
	return list
}

func TestFeedsPage_ListsState(t *testing.T) {
	source := failingFeeds()
	page := parse(t, body(t, serve(source, "GET", "/feeds")))
	listed := entries(page)
	for i, want := range []string{"· pinned · 3 items · 1.5 a day · newest just now", "b.example · 0 items Last poll none yet Next poll soon"} {
		if len(listed) != 2 || !strings.Contains(listed[i], want) {
			t.Errorf("got %q, want two with %q", listed, want)
		}
	}
	if want := "Next poll in 1 hour (hot)"; !strings.Contains(listed[0], want) || !strings.Contains(listed[0], "Last poll failed: ") {
		t.Errorf("got %q, want %q and that it failed", listed[0], want)
	}
	if got, want := link(page, "More feeds"), "/feeds?"+(url.Values{"after": {evil}}).Encode(); got != want {
		t.Errorf("more feeds are at %s, want %s", got, want)
	}
	if got, want := link(page, "Failing 12"), "/feeds?state=failing"; got != want {
		t.Errorf("failing feeds are at %q, want %q", got, want)
	}
	if text := words(page); !strings.Contains(text, "1,234 feeds") || strings.Contains(text, "Gone for good 0") {
		t.Errorf("the page says %q, want how many there are, and no state without feeds", text)
	}
}

func TestFeedsPage_URLContainsState(t *testing.T) {
	source := failingFeeds()
	page := parse(t, body(t, serve(source, "GET", "/feeds?q=a&state=failing&class=dns&tier=hot&tag=t&host=h&pinned=yes&sort=items")))
	want := wire.FeedSearch{
		FeedFilter: wire.FeedFilter{Text: "a", Tag: "t", Host: "h", Pinned: true, State: "failing", Class: "dns", Tier: "hot"},
		Sort:       "items", Limit: feedsOnPage, Count: true,
	}
	if len(source.lists) != 1 || source.lists[0] != want {
		t.Errorf("asked for %+v, want %+v", source.lists, want)
	}
	if got, want := link(page, "Remove filter class: dns ×"), "/feeds?host=h&pinned=yes&q=a&sort=items&state=failing&tag=t&tier=hot"; got != want {
		t.Errorf("without its error the list is at %q, want %q", got, want)
	}
	if got, want := link(page, "Failing 12"), "/feeds?class=dns&host=h&pinned=yes&q=a&sort=items&tag=t&tier=hot"; got != want {
		t.Errorf("a chosen filter leads to %q, want %q", got, want)
	}
}

// post submits a form.
func post(source Source, target string, form url.Values) *http.Response {
	return submit(source, target, form.Encode())
}

// hidden returns the hidden fields of the form with an action.
func hidden(page *html.Node, path string) url.Values {
	fields := url.Values{}
	for _, form := range elements(page, "form") {
		if attr(form, "action") != path {
			continue
		}
		for _, in := range elements(form, "input") {
			if attr(in, "type") == "hidden" {
				fields.Add(attr(in, "name"), attr(in, "value"))
			}
		}
	}
	return fields
}

func TestFeedsPage_BulkChanges(t *testing.T) {
	t.Run("at once where few are chosen", func(t *testing.T) {
		source := failingFeeds()
		source.step = wire.BulkResult{Done: 2, Failed: 1, Reasons: []wire.FeedFailure{{ID: "x", Why: evil}}}
		r := post(source, "/feeds/bulk", url.Values{"do": {"tag"}, "tags": {"a, b ,"}, "id": {"1", "2"}, "state": {"failing"}})
		want := wire.BulkChange{Action: wire.ActionTag, Tags: []string{"a", "b"}, IDs: []string{"1", "2"}}
		if len(source.bulks) != 1 || !reflect.DeepEqual(source.bulks[0], want) {
			t.Errorf("done is %+v, want %+v", source.bulks, want)
		}
		page := parse(t, body(t, r))
		if text := words(page); !strings.Contains(text, "2 feeds tagged 1 feed could not be changed: <script>") {
			t.Errorf("the page says %q", text)
		}
		if got := link(page, "Back to the feeds"); got != "/feeds?state=failing" {
			t.Errorf("back is at %q", got)
		}
	})
	t.Run("after a question where many are, step by step", func(t *testing.T) {
		source := failingFeeds()
		source.step = wire.BulkResult{Found: 1500}
		form := url.Values{"do": {"refresh"}, "all": {"yes"}, "class": {"dns"}, "q": {`"><script>`}}
		page := parse(t, body(t, post(source, "/feeds/bulk", form)))
		filter := wire.FeedFilter{Text: `"><script>`, Class: "dns"}
		want := wire.BulkChange{Action: wire.ActionRefresh, Filter: &filter, All: true, DryRun: true}
		if !reflect.DeepEqual(source.bulks, []wire.BulkChange{want}) || !strings.Contains(words(page), "Poll 1,500 feeds?") {
			t.Fatalf("done is %+v, the page says %q; want a count and a question", source.bulks, words(page))
		}
		source.step = wire.BulkResult{Done: 900, Next: "https://m.example/"}
		page = parse(t, body(t, post(source, "/feeds/bulk", hidden(page, "/feeds/bulk"))))
		if want.DryRun = false; !reflect.DeepEqual(source.bulks[1], want) || !strings.Contains(words(page), "More feeds remain") {
			t.Fatalf("done is %+v, the page says %q; want the first step", source.bulks[1], words(page))
		}
		source.step = wire.BulkResult{Done: 600}
		page = parse(t, body(t, post(source, "/feeds/bulk", hidden(page, "/feeds/bulk"))))
		if want.After = "https://m.example/"; !reflect.DeepEqual(source.bulks[2], want) || strings.Contains(words(page), "Go on") {
			t.Errorf("done is %+v, the page says %q; want the last step", source.bulks[2], words(page))
		}
	})
	t.Run("after a question where they are to be removed", func(t *testing.T) {
		source := failingFeeds()
		post(source, "/feeds/bulk", url.Values{"do": {"remove"}, "id": {"1"}})
		if len(source.bulks) != 1 || !source.bulks[0].DryRun {
			t.Errorf("done is %+v, want nothing but a count", source.bulks)
		}
	})
	t.Run("only if it makes sense", func(t *testing.T) {
		source := failingFeeds()
		source.setErr = &service.Error{Kind: service.KindInvalid}
		for _, form := range []url.Values{{}, {"do": {"explode"}, "id": {"1"}}, {"do": {"pin"}}, {"do": {"pin"}, "all": {"yes"}, "state": {"odd"}}} {
			if r := post(source, "/feeds/bulk", form); r.StatusCode != 400 {
				t.Errorf("%v: status %d, want 400", form, r.StatusCode)
			}
		}
		source.setErr = &service.Error{Kind: service.KindBusy}
		if r := post(source, "/feeds/bulk", url.Values{"do": {"pin"}, "id": {"1"}}); r.StatusCode != 429 {
			t.Errorf("while others are: status %d, want 429", r.StatusCode)
		}
	})
}

func TestFeedPage_SavesSettingsAndKeepsSecrets(t *testing.T) {
	source := failingFeeds()
	form := url.Values{"pinned": {"yes"}, "tags": {"a, b c"}, "spam": {"0,7"}, "user_agent": {"X"}, "user": {"me"}, "proxy": {"p"}, "password": {""}, "header": {"X-Key"}, "value": {"v"}}
	r := post(source, "/feeds/evil/settings", form)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/feeds/evil" || len(source.changes) != 1 {
		t.Fatalf("status %d to %q after %d changes", r.StatusCode, r.Header.Get("Location"), len(source.changes))
	}
	c := source.changes[0]
	if !slices.Equal(*c.Tags, []string{"a", "b c"}) || !*c.Pinned || *c.FullText || *c.SpamThreshold != .7 || *c.UserAgent != "X" || *c.User != "me" ||
		*c.Proxy != "p" || c.Password != nil || c.Headers["X-Key"] != "v" {
		t.Errorf("the change is %+v", c)
	}
	source.setErr = &service.Error{Kind: service.KindInvalid, Fields: []service.FieldError{{Message: "there is no proxy " + evil, At: "body.proxy"}}}
	r = post(source, "/feeds/evil/settings", form)
	page := parse(t, body(t, r))
	if text := words(page); r.StatusCode != 422 || !strings.Contains(text, "were not changed: there is no proxy <script>") {
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
	source.setErr = nil
	for _, form := range []url.Values{{"spam": {"2"}}, {"spam": {"-1"}}, {"spam": {"NaN"}}, {"spam": {"much"}}, {"tags": {strings.Repeat("a", maxForm)}}} {
		if r := post(source, "/feeds/evil/settings", form); r.StatusCode != 422 {
			t.Errorf("%.40v: status %d, want 422", form, r.StatusCode)
		}
	}
	if r := post(source, "/feeds/none/settings", form); r.StatusCode != 404 {
		t.Errorf("no feed: status %d, want 404", r.StatusCode)
	}
}

func TestFeedPage_TestFetchShowsHeaders(t *testing.T) {
	source := hostile()
	source.tested = wire.FetchTest{
		URL: evil, Took: 1234, Size: 4200, Title: evil, Format: "RSS", Entries: 2, First: []wire.TestedEntry{{Title: evil, Link: "javascript:alert(1)", Published: noon}},
		Hops: []wire.FetchHop{
			{URL: evil, Status: 301, Sent: []wire.FetchHeader{{Name: "Authorization", Value: "set"}}, Received: []wire.FetchHeader{{Name: "Location", Value: evil}}},
			{URL: evil, Status: 200, Received: []wire.FetchHeader{{Name: "Etag", Value: evil}}},
		},
	}
	r := post(source, "/feeds/evil/test", nil)
	page := body(t, r)
	text := words(parse(t, page))
	for _, want := range []string{"Authorization set", "Status 301", "Redirected to <script>", "Etag <script>", "RSS · <script>", "· 2 entries · 4.2 KB · 1,234 ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Contains(page, `href="javascript`) {
		t.Error("what a host says is taken for markup")
	}
	source.tested.Comparison = &wire.Comparison{Parser: "gofeed v1", Entries: 2, Same: 1, Differ: 1, Pairs: []wire.EntryPair{
		{Ours: &wire.ParsedEntry{Title: evil, Link: "javascript:alert(1)", Published: noon}, Theirs: &wire.ParsedEntry{Title: "b"}, Differs: []string{"title"}},
		{Theirs: &wire.ParsedEntry{Title: "c"}},
	}}
	page = body(t, post(source, "/feeds/evil/test", nil))
	text = words(parse(t, page))
	for _, want := range []string{"Second opinion: gofeed v1", "2 entries: 1 read alike, 1 differ", "not found", "found by one parser only"} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison lacks %q: %s", want, text)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Contains(page, `href="javascript`) {
		t.Error("the comparison contains markup of a feed")
	}
	source.tested = wire.FetchTest{Error: evil, Problem: &wire.FeedProblem{Summary: "It is away.", Advice: "Wait."}}
	if text := words(parse(t, body(t, post(source, "/feeds/evil/test", nil)))); !strings.Contains(text, "It is away. Wait. <script>") {
		t.Errorf("of a failure the page says %q", text)
	}
	source.setErr = &service.Error{Kind: service.KindBusy, Message: "a fetch test is running"}
	if r := post(source, "/feeds/evil/test", nil); r.StatusCode != 429 {
		t.Errorf("a second test: status %d, want 429", r.StatusCode)
	}
}

func TestFeedPage_RemovalRequiresConfirmation(t *testing.T) {
	source := hostile()
	page := parse(t, body(t, serve(source, "GET", "/feeds/evil/remove")))
	if text := words(page); len(source.done) > 0 || !strings.Contains(text, "Its 3 items will be removed") {
		t.Fatalf("done is %v, the page says %q", source.done, text)
	}
	if r := post(source, "/feeds/evil/remove", nil); r.StatusCode != 303 || r.Header.Get("Location") != "/feeds" || !slices.Equal(source.done, []string{"remove evil"}) {
		t.Errorf("status %d to %q after %v", r.StatusCode, r.Header.Get("Location"), source.done)
	}
	if r := post(source, "/feeds/none/remove", nil); r.StatusCode != 404 {
		t.Errorf("no feed: status %d, want 404", r.StatusCode)
	}
}

func TestFeedPage_ShowsReasonAndPolls(t *testing.T) {
	page := body(t, serve(hostile(), "GET", "/feeds/evil"))
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

func TestFoundPage_OffersFeeds(t *testing.T) {
	source := hostile()
	r := send(source, "/feeds/find", " a.example ")
	page := parse(t, body(t, r))
	if r.StatusCode != 200 || !slices.Equal(source.done, []string{"discover a.example"}) {
		t.Fatalf("status %d after %v, want 200 after a look", r.StatusCode, source.done)
	}
	if got := link(page, "Already added"); got != "/feeds/evil" {
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
	if text := words(page); !strings.Contains(text, "2 feeds found") || !strings.Contains(text, "Cannot be read: <script>") {
		t.Errorf("the page says %q", text)
	}
	source.discovery = wire.Discovery{URL: "https://a.example/", Kind: wire.KindUnreachable, Problem: "no answer"}
	if text := words(parse(t, body(t, send(source, "/feeds/find", "a.example")))); !strings.Contains(text, "No feed was found https://a.example/ no answer Add anyway") {
		t.Errorf("where nothing answers the page says %q", text)
	}
}

func TestFeedsPage_AddAndRefresh(t *testing.T) {
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
	source.outcome = wire.ImportInvalid
	r := send(source, "/feeds", "nonsense")
	if text := words(parse(t, body(t, r))); r.StatusCode != 422 || !strings.Contains(text, "This feed cannot be added "+strings.Join(strings.Fields(evil), " ")) {
		t.Errorf("status %d, %q; want 422 and why", r.StatusCode, text)
	}
}
