package views_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web/views"
	"feedmesh/storage"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A fixture is the pages of a service with two items.
type fixture struct {
	*servicetest.Testbed
	handler http.Handler
	ann     context.Context
	now     time.Time
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{now: noon}
	f.Testbed = servicetest.New(t, func() time.Time { return f.now })
	f.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/", Title: "Feed <f>", Added: noon})
	items := f.PutItems(t, "f",
		storage.Item{ID: "a", Key: "a", Title: "Kernel <a>", Published: noon, FirstSeen: noon},
		storage.Item{ID: "b", Key: "b", Title: "Compiler", Published: noon.Add(-time.Hour), FirstSeen: noon})
	f.IndexItems(t, items...)
	f.handler = views.Handler(f.Service)
	f.ann = access.With(t.Context(), access.Client{ID: "ann", Scopes: access.Scopes})
	return f
}

func (f *fixture) send(t *testing.T, method, path string, form url.Values, status int) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(f.ann, method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("%s %s: got %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	return w
}

func contains(t *testing.T, page *httptest.ResponseRecorder, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(page.Body.String(), w) {
			t.Errorf("the page lacks %q", w)
		}
	}
}

// lostIndex is an index that does not answer within the timeout.
type lostIndex struct{ storage.Index }

func (lostIndex) Search(context.Context, storage.Query) (storage.Results, error) {
	return storage.Results{}, storage.ErrUnavailable
}

// A script requests the preview alone, in which an error is expected and not announced by itself.
func TestPages_PreviewAsPart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	request := func(definition string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(f.ann, "POST", "/views/edit", strings.NewReader(url.Values{"definition": {definition}, "do": {"preview"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Feedmesh-Part", "view-preview")
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		return w
	}
	part := func(definition string) *httptest.ResponseRecorder {
		t.Helper()
		w := request(definition)
		if w.Code != http.StatusOK || w.Header().Get("Feedmesh-Part") != "view-preview" || strings.Contains(w.Body.String(), "<textarea") {
			t.Fatalf("got %d, %v, %s", w.Code, w.Header(), w.Body)
		}
		return w
	}
	found := part("view k = from all where kernel")
	contains(t, found, "Kernel &lt;a&gt;", `id="preview-found">1 item<`, `<div id="problem"></div>`)
	contains(t, part("view k = from all where qwertyuiop"), `id="preview-found">No item matches.<`)
	for definition, want := range map[string]string{
		"view k = from tag:x,\r\n <b> limit 5\r\n":                             `<p>Line 2, column 2</p>` + "\n" + `<div class="scroll" role="group" aria-label="Place of the error" tabindex="0"><pre dir="ltr"> &lt;b&gt; limit 5` + "\n" + `<span aria-hidden="true"><span class="unseen"> </span>^`,
		"view k = from all\n where lang:english\nlimit 5":                      "Line 2, column 13",
		"view k = from all where " + strings.Repeat("a ", 50) + "lang:english": "Line 1, column 130",
		"view k = from view:none":                                              "view none, which does not exist",
	} {
		wrong := part(definition)
		contains(t, wrong, want)
		if page := wrong.Body.String(); strings.Contains(page, "alert") || strings.Contains(page, "<h2>") {
			t.Errorf("%s: got %s", definition, page)
		}
	}
	contains(t, f.send(t, "POST", "/views/edit", url.Values{"definition": {"view k = from"}, "do": {"save"}}, http.StatusConflict), "Line 1, column 14", `aria-invalid="true"`)
	f.Service.Index = lostIndex{f.Index}
	if w := request("view k = from all where other"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Feedmesh-Part") != "" {
		t.Errorf("got %d, %v without an index", w.Code, w.Header())
	}
}

func TestPages_PreviewOfJoinsAndUniqueness(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	text := "<p>The new version repairs several errors and reads large files in half of the time.</p>"
	items := f.PutItems(t, "f",
		storage.Item{ID: "c", Key: "c", Title: "Release", HTML: text, StoryID: "s", Published: noon.Add(-2 * time.Hour)},
		storage.Item{ID: "d", Key: "d", Title: "Repetition", HTML: text, Published: noon.Add(-time.Hour)},
		storage.Item{ID: "e", Key: "e", Title: "Report", HTML: "<p>Another text.</p>", StoryID: "s", Published: noon.Add(-3 * time.Hour)})
	f.IndexItems(t, items...)
	f.send(t, "POST", "/views/edit", url.Values{"definition": {"view reports = from all where title:report"}, "do": {"save"}}, http.StatusSeeOther)
	v, err := storage.Views(f.Store).Get(t.Context(), "reports")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Store.ChangeMembers(t.Context(), storage.Fence{}, []storage.Member{{View: v.Number, ItemID: "e", Entered: noon, Published: noon.Add(-3 * time.Hour)}}, nil); err != nil {
		t.Fatal(err)
	}
	for definition, want := range map[string][3]bool{
		"view x = from all where errors":                                     {true, true, false},
		"view x = from all where errors unique 60%":                          {true, false, false},
		"view x = from all join view:reports":                                {true, false, true},
		"view x = from all join view:reports within 1h where title:release":  {true, false, false},
		"view x = from all join view:reports within 24h where title:release": {true, false, false},
	} {
		page := f.send(t, "POST", "/views/edit", url.Values{"definition": {definition}, "do": {"preview"}}, http.StatusOK)
		for i, title := range []string{">Release<", ">Repetition<", ">Report<"} {
			if got := strings.Contains(page.Body.String(), title); got != want[i] {
				t.Errorf("%s: shows %s: %v, want %v", definition, title, got, want[i])
			}
		}
		if strings.Contains(definition, "join") {
			contains(t, page, "A view that it reads is being filled in")
		}
	}
}

func TestPages_GraphOfViews(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	save := func(definition string) {
		t.Helper()
		f.send(t, "POST", "/views/edit", url.Values{"definition": {definition}, "do": {"save"}}, http.StatusSeeOther)
	}
	contains(t, f.send(t, "GET", "/views/graph", nil, http.StatusOK), "Graph of views")
	save("view base = from feed:f, tag:Хабр, host:example.org")
	save(`view reader "<اخبار>" for people = from all`)
	save("view many = from tag:a, tag:b, tag:c, tag:d, tag:e join view:base")
	save("view top = from view:many, view:reader where go")
	save("view alone = from all")
	f.send(t, "POST", "/views/subscriptions", url.Values{"views": {"top, base"}, "channel": {"webhook"}, "receiver": {"https://receiver.example/"}}, http.StatusOK)
	page := f.send(t, "GET", "/views/graph", nil, http.StatusOK)
	contains(t, page, `<a class="node strong" href="/views/show/top"><title>top, 0 items · 1 subscription, Being filled in</title>`, "\u2068&lt;اخبار&gt;\u2069", "Feed &lt;f&gt;", `href="/feeds/f"`,
		`href="/feeds?tag=%D0%A5%D0%B0%D0%B1%D1%80"`, `href="/feeds?host=example.org"`, "5 feeds, tags and hosts", "all items", `class="edge dashed"`,
		`<th scope="row" class="wide"><a href="/views/show/top"><bdi>top</bdi></a></th>`)
	chosen := f.send(t, "GET", "/views/graph?view=base", nil, http.StatusOK)
	contains(t, chosen, "Not connected to it: 2.", "/views/show/many", "/views/show/top")
	if page := chosen.Body.String(); strings.Contains(page, `href="/views/show/alone"`) || strings.Contains(page, `href="/views/show/reader"`) {
		t.Error("the graph has views that are not connected to the chosen one")
	}
	contains(t, chosen, "reader, not shown") // top reads it
	f.send(t, "GET", "/views/graph?view=none", nil, http.StatusNotFound)

	err := storage.Views(f.Store).Change(t.Context(), "broken", func(*storage.View) (*storage.View, error) {
		return &storage.View{Name: "broken", Number: 77, Owner: "ann", Definition: "view broken = of the future", Changed: noon}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, f.send(t, "GET", "/views/graph", nil, http.StatusOK), "Unreadable: gets no items</title>")

	ann := f.ann
	f.ann = access.With(t.Context(), access.Client{ID: "bob", Scopes: []access.Scope{access.Read}})
	others := f.send(t, "GET", "/views/graph", nil, http.StatusOK)
	contains(t, others, "/views/show/reader", "Only your subscriptions are counted")
	for _, hidden := range []string{"/show/base", "/show/many", "/show/top", "/show/alone", "broken", "1 subscription"} {
		if strings.Contains(others.Body.String(), hidden) {
			t.Errorf("another person sees %s", hidden)
		}
	}
	f.send(t, "GET", "/views/graph?view=base", nil, http.StatusNotFound)

	f.ann = ann
	for i := range 200 {
		save(fmt.Sprintf("view n%03d = from view:base", i))
	}
	many := f.send(t, "GET", "/views/graph", nil, http.StatusOK)
	contains(t, many, "There are 206 views, and the graph has at most 200")
	if strings.Contains(many.Body.String(), "<svg") {
		t.Error("a graph of too many views is drawn")
	}
	contains(t, f.send(t, "GET", "/views/graph?view=base", nil, http.StatusOK), "The graph has at most 200 views; left out of these: 3.", "Not connected to it: 3.")
}

func TestPages_EditPreviewSaveReadRemove(t *testing.T) {
	f := newFixture(t)
	contains(t, f.send(t, "GET", "/views", nil, 200), "No views yet", "/views/edit")
	contains(t, f.send(t, "GET", "/views/edit", nil, 200), "once story window 7d")

	form := url.Values{"definition": {`view k "Kernels & more" = from all where kernel prefix "K: "`}, "do": {"preview"}}
	preview := f.send(t, "POST", "/views/edit", form, 200)
	contains(t, preview, "K: Kernel &lt;a&gt;", "Items a day", "<svg", "view k &#34;Kernels")
	if strings.Contains(preview.Body.String(), "Compiler") {
		t.Error("the preview has an item that does not match")
	}
	for definition, why := range map[string]string{"view k = from": "", "view k = from view:none": "none", "view k = from all where is:unread": "depends on the person"} {
		for _, do := range []string{"preview", "save"} {
			wrong := f.send(t, "POST", "/views/edit", url.Values{"definition": {definition}, "do": {do}}, 409)
			contains(t, wrong, `role="alert"`, why, definition)
		}
	}

	form.Set("do", "save")
	if to := f.send(t, "POST", "/views/edit", form, 303).Header().Get("Location"); to != "/views/show/k" {
		t.Errorf("got sent to %s", to)
	}
	contains(t, f.send(t, "GET", "/views/show/k", nil, 200), "Kernels &amp; more", "No items yet", "Older items are being filled in", "/outputs/views/k.atom")
	v, err := storage.Views(f.Store).Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Store.ChangeMembers(t.Context(), storage.Fence{}, []storage.Member{{View: v.Number, ItemID: "a", Entered: noon, Published: noon}}, nil); err != nil {
		t.Fatal(err)
	}
	contains(t, f.send(t, "GET", "/views/show/k", nil, 200), "K: Kernel &lt;a&gt;", "/items/a", "Feed &lt;f&gt;")
	contains(t, f.send(t, "GET", "/views", nil, 200), "1 item", "/views/edit?name=k", "/views/remove/k")
	contains(t, f.send(t, "GET", "/views/edit?name=k", nil, 200), "Kernels &amp; more")
	f.send(t, "GET", "/views/show/none", nil, 404)

	form = url.Values{"definition": {"view reader = from view:k"}, "do": {"save"}}
	f.send(t, "POST", "/views/edit", form, 303)
	contains(t, f.send(t, "GET", "/views/show/reader", nil, 200), `<a href="/views/show/k">k</a>`)
	f.send(t, "POST", "/views/remove/k", nil, 409)
	f.send(t, "POST", "/views/remove/reader", nil, 303)
	f.send(t, "POST", "/views/remove/k", nil, 303)
	f.send(t, "POST", "/views/remove/k", nil, 303)
	contains(t, f.send(t, "GET", "/views", nil, 200), "No views yet")
}

func TestSubscriptions_AddedTurnedOffAndRemoved(t *testing.T) {
	f := newFixture(t)
	f.send(t, "POST", "/views/edit", url.Values{"definition": {"view k = from all"}, "do": {"save"}}, 303)
	contains(t, f.send(t, "GET", "/views/subscriptions?view=k", nil, 200), "No subscriptions yet", `value="k"`)
	wrong := url.Values{"views": {"k, none"}, "channel": {"webhook"}, "receiver": {"https://receiver.example/<hook>"}}
	contains(t, f.send(t, "POST", "/views/subscriptions", wrong, 409), "no view none", "receiver.example/&lt;hook&gt;")
	form := url.Values{"views": {"k"}, "channel": {"webhook"}, "receiver": {"https://receiver.example/hook?key=s3cret"}}
	added := f.send(t, "POST", "/views/subscriptions", form, 200)
	contains(t, added, "whsec_")
	if page := added.Body.String(); strings.Contains(page, "s3cret") {
		t.Error("the page shows the query of the receiver")
	}
	all, err := storage.Subscriptions(f.Store).List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	path := "/views/subscriptions/" + all[0].ID
	contains(t, f.send(t, "GET", path, nil, 200), "Nothing was sent yet")
	attempt := storage.Attempt{View: 1, Serial: 1, ItemID: "a", Items: 1, Number: 2, Entered: noon, At: noon, Status: 503, Error: "the receiver responded 503 <busy>", Next: noon.Add(time.Hour)}
	if err := f.Store.FinishDelivery(t.Context(), "", storage.DeliveryState{Subscription: all[0].ID, Failures: 1, FailingSince: noon}, []storage.Attempt{attempt}, false); err != nil {
		t.Fatal(err)
	}
	contains(t, f.send(t, "GET", path, nil, 200), "503 &lt;busy&gt;", "/items/a", "Failing since", "Turn off")
	f.send(t, "POST", path+"/repeat", url.Values{"item": {"a"}}, 303)
	f.send(t, "POST", path+"/turn", url.Values{"do": {"off"}}, 303)
	contains(t, f.send(t, "GET", "/views/subscriptions", nil, 200), "turned off on request")
	const note = "Off, because receivers failed"
	if page := f.send(t, "GET", "/views", nil, 200).Body.String(); strings.Contains(page, note) {
		t.Error("a subscription that was turned off on request is noted on each page")
	}
	f.send(t, "POST", path+"/turn", url.Values{"do": {"on"}}, 303)
	if err := f.Store.ChangeDelivery(t.Context(), all[0].ID, func(d *storage.DeliveryState) {
		d.Off, d.Problem = "it failed for 5 days", "none of the items <has> a sentiment"
	}); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(time.Minute)
	contains(t, f.send(t, "GET", "/views", nil, 200), note, `<a href="/views/subscriptions">1 subscription</a>`)
	contains(t, f.send(t, "GET", path, nil, 200), "The condition can't hold", "&lt;has&gt;")
	ann := f.ann
	f.ann = access.With(t.Context(), access.Client{ID: "bob", Scopes: []access.Scope{access.Read}})
	if page := f.send(t, "GET", "/views", nil, 200).Body.String(); strings.Contains(page, note) {
		t.Error("the pages of another client have the note")
	}
	f.ann = ann
	f.send(t, "POST", path+"/turn", url.Values{"do": {"on"}}, 303)
	if page := f.send(t, "GET", "/views", nil, 200).Body.String(); strings.Contains(page, note) {
		t.Error("the note stays after the subscription was turned on")
	}
	f.send(t, "POST", path+"/remove", nil, 303)
	f.send(t, "POST", path+"/remove", nil, 303)
	f.send(t, "GET", path, nil, 404)
}

// The link in a mail ends its subscription without a login, by a form or by the mail program; a wrong one does nothing.
func TestUnsubscribe_ByTheLinkOfAMail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ann = t.Context() // without a client
	stored := func() bool {
		all, err := storage.Subscriptions(f.Store).List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(all) == 1
	}
	add := func(channel string) {
		t.Helper()
		s := storage.Subscription{ID: "s", Owner: "ann", Title: "News <n>", Views: []int64{1}, Channel: channel, Receiver: "ann@example.org", Secret: "key", Created: noon}
		if err := storage.Subscriptions(f.Store).Change(t.Context(), "s", func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
			t.Fatal(err)
		}
	}
	add("mail")
	for _, link := range []string{"/unsubscribe", "/unsubscribe?id=s", "/unsubscribe?id=s&key=", "/unsubscribe?id=s&key=other", "/unsubscribe?id=t&key=key"} {
		contains(t, f.send(t, "GET", link, nil, http.StatusNotFound), "no subscription for this link")
		f.send(t, "POST", link, url.Values{"List-Unsubscribe": {"One-Click"}}, http.StatusNotFound)
	}
	contains(t, f.send(t, "GET", "/unsubscribe?id=s&key=key", nil, http.StatusOK), "News &lt;n&gt;", `name="key" value="key"`)
	if !stored() {
		t.Fatal("a GET, which programs send for previews, ended the subscription")
	}
	contains(t, f.send(t, "POST", "/unsubscribe?id=s&key=key", url.Values{"List-Unsubscribe": {"One-Click"}}, http.StatusOK), "No more mails")
	if stored() {
		t.Error("the subscription goes on")
	}
	add("mail")
	f.send(t, "POST", "/unsubscribe", url.Values{"id": {"s"}, "key": {"key"}}, http.StatusOK)
	if stored() {
		t.Error("the subscription goes on after the form")
	}
	add("webhook")
	f.send(t, "POST", "/unsubscribe?id=s&key=key", nil, http.StatusNotFound)
}

func TestPages_DaysOfAView(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.send(t, "POST", "/views/edit", url.Values{"definition": {`view all "All <v>" = from all`}, "do": {"save"}}, http.StatusSeeOther)
	v, err := storage.Views(f.Store).Get(t.Context(), "all")
	if err != nil {
		t.Fatal(err)
	}
	members := []storage.Member{{View: v.Number, ItemID: "a", Entered: noon, Published: noon}, {View: v.Number, ItemID: "b", Entered: noon, Published: noon.Add(-time.Hour)}}
	if err := f.Store.ChangeMembers(t.Context(), storage.Fence{}, members, nil); err != nil {
		t.Fatal(err)
	}
	page := f.send(t, "GET", "/views/days/all", nil, http.StatusOK)
	contains(t, page, "All &lt;v&gt;", "<svg", "/api/views/all/series.csv?days=90",
		`2026-09-29</time></th><td class="number">2</td><td class="number">2</td><td class="number">1</td>`, `2026-08-31</time></th><td class="number">0</td>`)
	f.send(t, "GET", "/views/days/none", nil, http.StatusNotFound)
}
