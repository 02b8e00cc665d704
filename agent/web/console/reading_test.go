package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service/imageproxy"
	"feedmesh/agent/web/console/offline"
	"feedmesh/agent/web/locale"
	"feedmesh/storage"
)

// newReading returns a site with three items of the feed f in the folder News: i2 is the newest.
func newReading(t *testing.T) *site {
	s := newSite(t)
	s.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/", Title: "Feed <f>", Tags: []string{"News"}, Added: noon})
	for n := range 3 {
		seen := noon.Add(time.Duration(n-3) * time.Hour)
		s.items(t, "f", storage.Item{ID: fmt.Sprint("i", n), Title: fmt.Sprint("Title ", n), HTML: fmt.Sprintf("<p>Text %d.</p>", n), URL: fmt.Sprintf("https://f.example/%d", n), Published: seen, FirstSeen: seen})
	}
	return s
}

// rowsOf returns the classes and titles of the rows of a reading page.
func rowsOf(page string) string {
	var rows []string
	for _, row := range strings.Split(page, "<li id=")[1:] {
		class, title := between(row, `class="`, `"`), between(row, `<a class="title"`, "</a>")
		rows = append(rows, class+" "+title[strings.LastIndex(title, ">")+1:])
	}
	return strings.Join(rows, ", ")
}

// between returns the text between two others, or the whole text.
func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}

func TestReading_PrefetchedItemIsThatWhichIsOpened(t *testing.T) {
	s := newReading(t)
	article := func(header ...string) string {
		r := httptest.NewRequest("GET", "/read?open=i1", nil)
		r.Header.Set(partHeader, articlePart)
		for _, name := range header {
			r.Header.Set(name, "1")
		}
		return body(t, s.answer(r))
	}
	prefetched := article(prefetchHeader)
	if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), "unread Title 2, unread Title 1, unread Title 0"; got != want {
		t.Errorf("after a prefetch: got %s, want %s", got, want)
	}
	if opened := article(); opened != prefetched {
		t.Errorf("got %s, want what was prefetched: %s", opened, prefetched)
	}
	if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), "unread Title 2, unread Title 0"; got != want {
		t.Errorf("after it was opened: got %s, want %s", got, want)
	}
}

func TestReading_OpeningMarksAsRead(t *testing.T) {
	s := newReading(t)
	if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), "unread Title 2, unread Title 1, unread Title 0"; got != want {
		t.Errorf("unread: got %s, want %s", got, want)
	}
	for name, value := range map[string]string{"Sec-Purpose": "prefetch;prerender", partHeader: foldersPart} { // these do not open it
		r := httptest.NewRequest("GET", "/read?open=i1", nil)
		r.Header.Set(name, value)
		s.answer(r)
		if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), "unread Title 2, unread Title 1, unread Title 0"; got != want {
			t.Errorf("after a request with %s: got %s, want %s", name, got, want)
		}
	}
	opened := body(t, serve(s, "GET", "/read?open=i1"))
	// The item stays in the list in its place until another list is opened.
	if got, want := rowsOf(opened), "unread Title 2, read Title 1, unread Title 0"; got != want {
		t.Errorf("opened: got %s, want %s", got, want)
	}
	for _, text := range []string{"<p>Text 1.</p>", "Feed &lt;f&gt;", `href="https://f.example/1" rel="noopener noreferrer"`, "Mark as unread", "1 min to read", `aria-current="true"`} {
		if !strings.Contains(opened, text) {
			t.Errorf("the page of an open item lacks %s", text)
		}
	}
	if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), "unread Title 2, unread Title 0"; got != want {
		t.Errorf("afterwards: got %s, want %s", got, want)
	}
	if got, want := rowsOf(body(t, serve(s, "GET", "/read?show=all&sort=oldest&tag=News&feed=f"))), "unread Title 0, read Title 1, unread Title 2"; got != want {
		t.Errorf("all: got %s, want %s", got, want)
	}
}

func TestReading_CardsWithPictures(t *testing.T) {
	s := newReading(t)
	const address = "https://f.example/i.png"
	s.items(t, "f", storage.Item{ID: "i9", Title: "Title 9", HTML: `<p><img src="` + address + `"></p>`, Excerpt: "Excerpt 9", Images: []string{address}, Published: noon, FirstSeen: noon})
	small := `<img src="` + imageproxy.Path("i9", address, imageproxy.Small) + `" alt="" loading="lazy"`
	page := func(path, pictures string) string {
		r := httptest.NewRequest("GET", path, nil)
		if pictures != "" {
			r.AddCookie(&http.Cookie{Name: pictureCookie, Value: pictures})
		}
		return body(t, s.answer(r))
	}
	if list := page("/read", ""); strings.Contains(list, small) || strings.Contains(list, "Excerpt 9") {
		t.Error("the list has pictures or excerpts")
	}
	for pictures, want := range map[string]bool{"": true, "all": true, "small": true, "none": false, "unknown": true} {
		cards := page("/read?layout=cards&show=all", pictures)
		if !strings.Contains(cards, "Excerpt 9") || strings.Contains(cards, small) != want {
			t.Errorf("cards with pictures %q: want pictures: %v, and excerpts", pictures, want)
		}
		if got := strings.Contains(page("/read?open=i9", pictures), "<img src=\"/items/i9/pictures/"); got != want {
			t.Errorf("an item with pictures %q shows them: %v, want %v", pictures, got, want)
		}
	}
	submitAll(t, s, []submission{
		{"/read/pictures", "pictures=none&back=/read%3Flayout%3Dcards", 303, "/read?layout=cards"},
		{"/read/pictures", "pictures=wrong&back=https://evil.example/", 303, "/read"},
	})
}

// A script that has the rows gets them again only if a mark of theirs changed.
func TestReading_VersionOfRows(t *testing.T) {
	s := newReading(t)
	rows := func(version string) *http.Response {
		r := httptest.NewRequest("GET", "/read?show=all", nil)
		r.Header.Set(partHeader, rowsPart)
		r.Header.Set(versionHeader, version)
		return s.answer(r)
	}
	_, rest, _ := strings.Cut(body(t, rows("")), ` data-version="`)
	version, _, _ := strings.Cut(rest, `"`)
	if version == "" {
		t.Fatal("the rows have no version")
	}
	if w := rows(version); w.StatusCode != http.StatusNoContent {
		t.Errorf("the same version: got %d, want 204", w.StatusCode)
	}
	submitAll(t, s, []submission{{"/read/marks", "id=i1&starred=yes&back=/read", 303, "/read"}})
	if w := rows(version); w.StatusCode != http.StatusOK || !strings.Contains(body(t, w), "starred") {
		t.Errorf("after a mark: got %d, want the rows", w.StatusCode)
	}
}

// Without a cache the icon of a feed is a letter. Pages have none for readers who chose to see no pictures.
func TestIcon_OfFeeds(t *testing.T) {
	s := newReading(t)
	w := serve(s, "GET", "/feeds/f/icon")
	if w.StatusCode != 200 || w.Header.Get("Content-Type") != "image/svg+xml" || w.Header.Get("Content-Security-Policy") != picturePolicy || w.Header.Get("Cache-Control") != iconAge {
		t.Errorf("got %d %v, want an icon", w.StatusCode, w.Header)
	}
	if text := body(t, w); !strings.Contains(text, ">F</text>") {
		t.Errorf("got %s, want the letter F", text)
	}
	if w := serve(s, "GET", "/feeds/missing/icon"); w.StatusCode != 404 {
		t.Errorf("a missing feed: got %d, want 404", w.StatusCode)
	}
	for _, path := range []string{"/read", "/read?open=i1", "/feeds"} {
		for _, pictures := range []string{allPictures, noPictures} {
			r := httptest.NewRequest("GET", path, nil)
			r.AddCookie(&http.Cookie{Name: pictureCookie, Value: pictures})
			if got, want := strings.Contains(body(t, s.answer(r)), `<img class="icon" src="/feeds/f/icon"`), pictures != noPictures; got != want {
				t.Errorf("%s with pictures %q has icons: %v, want %v", path, pictures, got, want)
			}
		}
	}
}

// A picture that can't be fetched is an error, and never something else of its publisher.
func TestPicture_OfItemsOnly(t *testing.T) {
	s := newReading(t)
	s.items(t, "f", storage.Item{ID: "i9", Title: "Title 9", Images: []string{"http://10.0.0.1/i.png"}, Published: noon, FirstSeen: noon})
	for path, status := range map[string]int{
		imageproxy.Path("i9", "http://10.0.0.1/i.png", imageproxy.Small): 502, // a private address
		imageproxy.Path("i9", "http://10.0.0.2/i.png", imageproxy.Small): 404,
		imageproxy.Path("missing", "http://10.0.0.1/i.png", "small"):     404,
		imageproxy.Path("i9", "http://10.0.0.1/i.png", "huge"):           404,
	} {
		if w := serve(s, "GET", path); w.StatusCode != status || w.Header.Get("Content-Security-Policy") != picturePolicy {
			t.Errorf("%s: got %d %v, want %d", path, w.StatusCode, w.Header, status)
		}
	}
}

// Everything works by forms, without scripts.
func TestReading_MarksByForms(t *testing.T) {
	s := newReading(t)
	submitAll(t, s, []submission{
		{"/read/marks", "id=i1&starred=yes&back=/read%3Fshow%3Dall", 303, "/read?show=all"},
		{"/read/marks", "id=i2&read=yes&back=https://evil.example/read", 303, "/read"},
		{"/read/marks", "id=i2&read=yes&back=//evil.example/read", 303, "/read"},
		{"/read/marks", "read=yes", 400, ""},
		{"/read/marks", "id=missing&read=yes", 303, "/read"},
	})
	if got, want := rowsOf(body(t, serve(s, "GET", "/read?show=all"))), "read Title 2, unread starred Title 1, unread Title 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := rowsOf(body(t, serve(s, "GET", "/read?show=starred"))), "unread starred Title 1"; got != want {
		t.Errorf("starred: got %s, want %s", got, want)
	}
	older := body(t, submit(s, "/read/all", "older="+noon.Add(-3*time.Hour).Format(time.RFC3339)))
	if got, want := rowsOf(older), "unread starred Title 1"; got != want {
		t.Errorf("older ones marked as read: got %s, want %s", got, want)
	}
	submitAll(t, s, []submission{{"/read/marks", "id=i0&read=no&back=/read", 303, "/read"}})
	marked := body(t, submit(s, "/read/all", "until="+noon.Add(-2*time.Hour).Format(time.RFC3339)))
	if !strings.Contains(marked, "2 items marked as read") || strings.Count(marked, `name="id"`) != 2 {
		t.Errorf("got %s", marked)
	}
	if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), ""; got != want {
		t.Errorf("after all: got %s, want %s", got, want)
	}
	submitAll(t, s, []submission{{"/read/marks", "id=i0&id=i1&read=no&back=/read", 303, "/read"}})
	if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), "unread starred Title 1, unread Title 0"; got != want {
		t.Errorf("after undo: got %s, want %s", got, want)
	}
}

func TestReading_Errors(t *testing.T) {
	s := newReading(t)
	for target, status := range map[string]int{
		"/read?show=no": 400, "/read?cursor=x": 400, "/read?open=missing": 404, "/read?feed=missing": 404, "/read?tag=missing": 200, "/read?feed=" + strings.Repeat("x", 65): 400,
	} {
		if got := serve(s, "GET", target).StatusCode; got != status {
			t.Errorf("%s: got status %d, want %d", target, got, status)
		}
	}
	if page := body(t, serve(s, "GET", "/read?tag=missing")); !strings.Contains(page, "Nothing unread.") {
		t.Error("an empty list is not explained")
	}
	if page := body(t, serve(newSite(t), "GET", "/read")); !strings.Contains(page, "No feeds yet.") {
		t.Error("a node without feeds is not explained")
	}
	s.breakAll(t)
	for _, target := range []string{"/read", "/read?open=i1"} {
		if got := serve(s, "GET", target).StatusCode; got != 503 {
			t.Errorf("%s: got status %d without a store, want 503", target, got)
		}
	}
}

// What browsers keep for reading offline are the unread items, which stay unread.
func TestReading_KeptItems(t *testing.T) {
	s := newReading(t)
	s.items(t, "f", storage.Item{ID: "long", Title: "Long", HTML: "<p>" + strings.Repeat("word ", offline.MaxText/4) + "</p>", FirstSeen: noon.Add(-4 * time.Hour)})
	submitAll(t, s, []submission{{"/read/marks", "id=i1&read=yes", 303, "/read"}, {"/read/marks", "id=i2&starred=yes", 303, "/read"}})
	list := body(t, serve(s, "GET", "/read/offline/list"))
	for _, text := range []string{`"id":"i2","feed":"f","feed_title":"Feed \u003cf\u003e","starred":true`, `"id":"i0"`, `"id":"long"`, `data-time=\"2026-09-29T11:00:00Z\"`} {
		if !strings.Contains(list, text) {
			t.Errorf("the list lacks %s: %s", text, list)
		}
	}
	if strings.Contains(list, `"i1"`) {
		t.Error("a read item is kept")
	}
	response := serve(s, "GET", "/read/offline/texts?id=i0&id=missing&id=long")
	texts := body(t, response)
	for _, text := range []string{`"id":"i0"`, `Text 0.`, `data-read=\"false\"`, "too long to be kept"} {
		if !strings.Contains(texts, text) {
			t.Errorf("the texts lack %s: %s", text, texts)
		}
	}
	if strings.Contains(texts, "missing") || len(texts) > offline.MaxText {
		t.Errorf("got %d bytes of texts", len(texts))
	}
	if got, want := response.Header.Get("Cache-Control"), "no-store"; got != want {
		t.Errorf("Cache-Control: got %q, want %q", got, want)
	}
	if got, want := rowsOf(body(t, serve(s, "GET", "/read"))), "unread starred Title 2, unread Title 0, unread Long"; got != want {
		t.Errorf("afterwards: got %s, want %s", got, want)
	}
	s.breakAll(t)
	for _, path := range []string{"/read/offline/list", "/read/offline/texts?id=i0"} {
		if got := serve(s, "GET", path).StatusCode; got != 503 {
			t.Errorf("%s: got status %d without a store, want 503", path, got)
		}
	}
}

// The shell contains no item, number or name of a feed, and only files that the worker caches.
func TestReading_ShellHasNoData(t *testing.T) {
	s := newReading(t)
	response := serve(s, "GET", "/read/offline")
	page := body(t, response)
	for _, text := range []string{"Title 0", "Feed &lt;f&gt;", "tag=News"} {
		if strings.Contains(page, text) {
			t.Errorf("the shell has %q", text)
		}
	}
	worker := body(t, serve(s, "GET", offline.WorkerPath))
	doc := parse(t, page)
	for _, script := range elements(doc, "script") {
		if src := attr(script, "src"); !strings.Contains(worker, `"`+src+`"`) {
			t.Errorf("the worker does not cache %s", src)
		}
	}
	if !strings.Contains(worker, `"`+sheet.Path+`"`) {
		t.Error("the worker does not cache the style sheet")
	}
	for _, policy := range []string{response.Header.Get("Content-Security-Policy"), serve(s, "GET", "/read").Header.Get("Content-Security-Policy")} {
		if !strings.Contains(policy, "worker-src 'self'") || !strings.Contains(policy, "manifest-src 'self'") {
			t.Errorf("policy %s", policy)
		}
	}
}

func TestShortAge(t *testing.T) {
	for age, want := range map[time.Duration]string{
		-time.Hour: "now", 59 * time.Second: "now", time.Minute: "1 min", 59 * time.Minute: "59 min", 23 * time.Hour: "23 h", 24 * time.Hour: "1 d", 800 * 24 * time.Hour: "2 y",
	} {
		if got := shortAge(age).In(locale.English); got != want {
			t.Errorf("%v: got %s, want %s", age, got, want)
		}
	}
}

func TestReading_LabelsAndNotes(t *testing.T) {
	s := newReading(t)
	save := func(id, labels, note, back string) *http.Response {
		t.Helper()
		return submit(s, "/read/annotation", url.Values{"id": {id}, "labels": {labels}, "note": {note}, "back": {back}}.Encode())
	}
	for id, back := range map[string]string{"i1": "/read?open=i1", "i2": "/items/i2", "i0": "https://evil.example/"} {
		want := back
		if id == "i0" {
			want = "/read"
		}
		if r := save(id, " to read, <b>,, to read ", "A <note>.\r\nMore.", back); r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want {
			t.Errorf("%s: got %d to %s, want %s", id, r.StatusCode, r.Header.Get("Location"), want)
		}
	}
	for _, path := range []string{"/read?open=i1", "/items/i1"} {
		page := body(t, serve(s, "GET", path))
		for _, text := range []string{`value="&lt;b&gt;, to read"`, "A &lt;note&gt;.\nMore.</textarea>", `<option value="to read">`, `<details class="annotation" open>`} {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %s", path, text)
			}
		}
	}
	list := body(t, serve(s, "GET", "/read?label=to+read&show=all"))
	if got, want := rowsOf(list), "unread Title 2, read Title 1, unread Title 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, text := range []string{`<nav class="item-labels" aria-label="Labels">`, `name="label" value="to read"`, `id="list-title" dir="auto">to read</h1>`} {
		if !strings.Contains(list, text) {
			t.Errorf("the list of a label lacks %s", text)
		}
	}
	if r := save("i1", "", "", "/read"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("remove: got %d", r.StatusCode)
	}
	if got, want := rowsOf(body(t, serve(s, "GET", "/read?label=to+read&show=all"))), "unread Title 2, unread Title 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if page := body(t, submit(s, "/read/all", "label=to+read")); !strings.Contains(page, "2 items marked as read") {
		t.Errorf("mark all: got %s", page)
	}
	for status, r := range map[int]*http.Response{
		422: save("i1", strings.Repeat("x", 65), "", "/read"), 404: save("none", "a", "", "/read"), 413: save("i1", "a", strings.Repeat("x", 40<<10), "/read"),
	} {
		if r.StatusCode != status {
			t.Errorf("got %d, want %d", r.StatusCode, status)
		}
	}
}

// Without scripts, the menu of an item has links to the services that the browser keeps.
func TestReading_ShareMenu(t *testing.T) {
	s := newReading(t)
	saved := submit(s, "/read/share", url.Values{"services": {"Linkding|https://l.example/new?url={url}&title={title}"}}.Encode())
	if saved.StatusCode != http.StatusSeeOther || saved.Header.Get("Location") != "/read/share" {
		t.Fatalf("got status %d to %q", saved.StatusCode, saved.Header.Get("Location"))
	}
	for _, path := range []string{"/read?open=i1", "/items/i1"} {
		r := httptest.NewRequest("GET", path, nil)
		for _, c := range saved.Cookies() {
			r.AddCookie(c)
		}
		doc := parse(t, body(t, s.answer(r)))
		if got, want := link(doc, "Linkding"), "https://l.example/new?url=https%3A%2F%2Ff.example%2F1&title=Title%201"; got != want {
			t.Errorf("%s: got the link %s, want %s", path, got, want)
		}
		if got, want := link(doc, "Mail"), "mailto:?subject=Title%201&body=https%3A%2F%2Ff.example%2F1"; got != want {
			t.Errorf("%s: got the link %s, want %s", path, got, want)
		}
		for _, a := range elements(doc, "a") {
			if words(a) == "Linkding" && (attr(a, "rel") != "noopener noreferrer" || attr(a, "target") != "_blank") {
				t.Errorf("%s: the link has rel %q and target %q", path, attr(a, "rel"), attr(a, "target"))
			}
		}
	}
	refused := submit(s, "/read/share", url.Values{"services": {"Evil|javascript:alert('{url}')"}}.Encode())
	if text := body(t, refused); refused.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "line 1: the address must begin") || len(refused.Cookies()) > 0 {
		t.Errorf("an invalid line: got status %d %s", refused.StatusCode, between(text, "<main", "</main>"))
	}
}
