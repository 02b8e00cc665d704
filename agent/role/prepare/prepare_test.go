package prepare

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// prepared returns the classify task for entries of a document.
func prepared(t *testing.T, d subjects.Document, entries ...subjects.Entry) subjects.Classify {
	t.Helper()
	out := &worktest.Outbox{}
	if err := (&preparer{out: out}).Receive(t.Context(), subjects.Prepare{Document: d, Entries: entries}); err != nil {
		t.Fatal(err)
	}
	got := worktest.Only(t, out, subjects.ClassifyQueue)
	if len(got.Items) != len(entries) {
		t.Fatalf("got %d items, want one for each of %d entries", len(got.Items), len(entries))
	}
	return got
}

// blogDocument is a document of the worktest.Blog as parse passes it on.
func blogDocument() subjects.Document {
	return subjects.Document{Receipt: worktest.ReceiptOf(storage.FeedID(worktest.Blog)), URL: worktest.Blog, Title: "Blog", Site: "https://www.blog.example/sub/", Language: "en-US"}
}

func TestPrepare_Dates(t *testing.T) {
	day := func(d int) time.Time { return worktest.Noon.AddDate(0, 0, d) }
	zone := time.FixedZone("", -7*3600)
	for _, test := range []struct {
		name    string
		entry   subjects.Entry
		at      time.Time
		assumed string
		updated time.Time
	}{
		{"sound", subjects.Entry{Published: day(-3), Updated: day(-1)}, day(-3), "", day(-1)},
		{"elsewhere", subjects.Entry{Published: day(-3).In(zone)}, day(-3), "", time.Time{}},
		{"nanoseconds", subjects.Entry{Published: day(-3).Add(999)}, day(-3), "", time.Time{}},
		{"missing", subjects.Entry{}, worktest.Noon, "missing", time.Time{}},
		{"unreadable", subjects.Entry{Dated: "last Tuesday"}, worktest.Noon, "unreadable", time.Time{}},
		{"updated only", subjects.Entry{Updated: day(-2)}, day(-2), "", day(-2)},
		{"unreadable, but updated", subjects.Entry{Dated: "last Tuesday", Updated: day(-2)}, day(-2), "", day(-2)},
		{"slightly in the future", subjects.Entry{Published: day(1)}, day(1), "", time.Time{}},
		{"too far in the future", subjects.Entry{Published: day(1).Add(time.Second)}, worktest.Noon, "future", time.Time{}},
		{"both too far in the future", subjects.Entry{Published: day(30), Updated: day(40)}, worktest.Noon, "future", time.Time{}},
		{"before the web", subjects.Entry{Published: time.Date(1989, 12, 31, 0, 0, 0, 0, time.UTC), Dated: "1989"}, worktest.Noon, "unreadable", time.Time{}},
		{"Unix zero", subjects.Entry{Published: time.Unix(0, 0), Updated: time.Unix(0, 0)}, worktest.Noon, "unreadable", time.Time{}},
		{"early web", subjects.Entry{Published: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)}, time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), "", time.Time{}},
	} {
		got := prepared(t, blogDocument(), test.entry).Items[0]
		if !got.Published.Equal(test.at) || got.Assumed != test.assumed || !got.Updated.Equal(test.updated) || !got.FirstSeen.Equal(worktest.Noon) {
			t.Errorf("%s: got %v (%s), updated %v, first seen %v; want %v (%s), updated %v, first seen %v",
				test.name, got.Published, got.Assumed, got.Updated, got.FirstSeen, test.at, test.assumed, test.updated, worktest.Noon)
		}
	}
}

func TestPrepare_EntriesWithoutDateInTheFirstDocument(t *testing.T) {
	d, lastYear := blogDocument(), worktest.Noon.AddDate(-1, 0, 0)
	d.Undated = lastYear
	dated := subjects.Entry{Key: "c", Published: worktest.Noon.AddDate(0, 0, -3)}
	items := prepared(t, d, subjects.Entry{Key: "a"}, subjects.Entry{Key: "b", Dated: "0001-01-01"}, dated).Items
	for i, want := range []struct {
		at      time.Time
		assumed string
	}{{lastYear, "missing"}, {lastYear, "unreadable"}, {dated.Published, ""}} {
		if got := items[i]; !got.Published.Equal(want.at) || got.Assumed != want.assumed || !got.FirstSeen.Equal(worktest.Noon) {
			t.Errorf("entry %d: got %v (%s), first seen %v; want %v (%s)", i, got.Published, got.Assumed, got.FirstSeen, want.at, want.assumed)
		}
	}
	d.Undated = worktest.Noon.Add(time.Hour)
	if got := prepared(t, d, subjects.Entry{}).Items[0]; !got.Published.Equal(worktest.Noon) {
		t.Errorf("got %v with a time of undated entries after the fetch, want the fetch", got.Published)
	}
}

func TestPrepare_Links(t *testing.T) {
	long := "http://x.example/" + strings.Repeat("a", storage.MaxURL)
	for _, test := range []struct{ link, guid, want string }{
		{"https://a.example/1", "", "https://a.example/1"},
		{" https://a.example/1\n", "", "https://a.example/1"},
		{"/1", "", "https://www.blog.example/1"},
		{"1?x=y#z", "", "https://www.blog.example/sub/1?x=y#z"},
		{"//b.example/1", "", "https://b.example/1"},
		{"https://user:word@a.example/1", "", "https://a.example/1"},
		{"", "https://a.example/guid", "https://a.example/guid"},
		{"javascript:alert(1)", "http://a.example/guid", "http://a.example/guid"},
		{"", "not an address", ""},
		{"", "tag:a.example,2026:1", ""},
		{"", "/guid", ""},
		{"javascript:alert(1)", "", ""},
		{"JavaScript:alert(1)", "javascript:alert(1)", ""},
		{" javascript:alert(1)", "", ""},
		{"data:text/html,x", "", ""},
		{"file:///etc/passwd", "", ""},
		{"mailto:a@b.example", "", ""},
		{"ftp://a.example/", "", ""},
		{"http://", "", ""},
		{"http:///path", "", ""},
		{"http://[::1", "", ""},
		{"%zz", "", ""},
		{long, "", ""},
		{"", "", ""},
	} {
		if got := prepared(t, blogDocument(), subjects.Entry{Link: test.link, GUID: test.guid}).Items[0].URL; got != test.want {
			t.Errorf("link %q, GUID %q: got %q, want %q", test.link, test.guid, got, test.want)
		}
	}
}

func TestPrepare_BaseOfLinks(t *testing.T) {
	for _, test := range []struct{ url, site, wantSite, want string }{
		{"http://blog.example/feeds/all.xml", "http://site.example/", "http://site.example/", "http://site.example/1"},
		{"http://blog.example/feeds/all.xml", "/home/", "http://blog.example/home/", "http://blog.example/home/1"},
		{"http://blog.example/feeds/all.xml", "", "", "http://blog.example/feeds/1"},
		{"http://blog.example/feeds/all.xml", "javascript:alert(1)", "", "http://blog.example/feeds/1"},
		{"http://blog.example/feeds/all.xml", "%zz", "", "http://blog.example/feeds/1"},
		{"%zz", "http://site.example/", "", ""},
	} {
		d := blogDocument()
		d.URL, d.Site = test.url, test.site
		got := prepared(t, d, subjects.Entry{Link: "1"})
		if got.Site != test.wantSite || got.Items[0].URL != test.want {
			t.Errorf("%s with site %q: got site %q, link %q; want %q, %q", test.url, test.site, got.Site, got.Items[0].URL, test.wantSite, test.want)
		}
	}
}

func TestPrepare_TitlesFromText(t *testing.T) {
	for _, test := range []struct{ title, html, want string }{
		{"A &amp; <b>B</b>", "<p>text</p>", "A & B"},
		{"", "<p>Just <i>tooted</i> this.</p><p>And more.</p>", "Just tooted this."},
		{" \n", "<p>Just this</p>", "Just this"},
		{"<img src=x>", "<p>Just this</p>", "Just this"},
		{"", "<p>" + strings.Repeat("word ", 100) + "</p>", ""}, // see below
		{"", "<img src='http://a.example/i.png'>", ""},
		{"", "", ""},
		{strings.Repeat("title ", 1000), "", ""},
	} {
		got := prepared(t, blogDocument(), subjects.Entry{Title: test.title, HTML: test.html}).Items[0].Title
		if n := utf8.RuneCountInString(got); test.want != "" && got != test.want || n > work.MaxTitle || test.title == "" && n > 101 {
			t.Errorf("%.20q, %.20q: got %q, want %q or a shortened title", test.title, test.html, got, test.want)
		}
	}
}

func TestPrepare_BaseOfContent(t *testing.T) {
	for _, test := range []struct {
		html, image string
		want        []string
	}{
		{"<img src='i.png'><img src='/j.png'><img src='i.png'>", "", []string{"https://a.example/p/i.png", "https://a.example/j.png"}},
		{"<img src='i.png'>", "/enclosure.png", []string{"https://a.example/p/i.png"}},
		{"no picture", "/enclosure.png", []string{"https://a.example/enclosure.png"}},
		{"<img src='javascript:x'><img src='data:image/png;base64,AAAA'>", "javascript:x", nil},
	} {
		got := prepared(t, blogDocument(), subjects.Entry{Link: "https://a.example/p/1", HTML: test.html, Image: test.image}).Items[0]
		if !reflect.DeepEqual(got.Images, test.want) {
			t.Errorf("%s with image %q: got %v, want %v", test.html, test.image, got.Images, test.want)
		}
	}
	got := prepared(t, blogDocument(), subjects.Entry{Link: "https://a.example/p/1", HTML: "<a href='2'>next</a>"}).Items[0].HTML
	if !strings.Contains(got, `href="https://a.example/p/2"`) {
		t.Errorf("got %s, want an absolute link", got)
	}
}

func TestPrepare_FeedLanguageIsAHint(t *testing.T) {
	for _, test := range []struct{ feed, text, want string }{
		{"en-US", "The quick brown fox jumps over the lazy dog, and then it goes home to sleep for the rest of the day.", "en"},
		{"en", "Съешь ещё этих мягких французских булок, да выпей же чаю. Потом пойдём гулять по городу вместе.", "ru"},
		{"ru-RU", "Ok!", "ru"},
		{"", "", ""},
	} {
		d := blogDocument()
		d.Language = test.feed
		got := prepared(t, d, subjects.Entry{HTML: "<p>" + test.text + "</p>"})
		if got.Items[0].Language != test.want || len(got.Document.Language) > 2 {
			t.Errorf("feed in %q: got %q for %q, feed in %q; want %q", test.feed, got.Items[0].Language, test.text, got.Document.Language, test.want)
		}
	}
}

func TestPrepare_LanguageOfUndeclaredFeedIsThatOfItsItems(t *testing.T) {
	d := blogDocument()
	d.Language = ""
	long := "<p>Wir haben die Datenbank auf neue Server umgezogen, und das ging ohne eine einzige Unterbrechung.</p>"
	got := prepared(t, d, subjects.Entry{Title: "Umzug", HTML: long}, subjects.Entry{Title: "Kubernetes 1.30"},
		subjects.Entry{Title: "Rust 1.80", Language: "fr"})
	for i, want := range []string{"de", "de", "fr"} {
		if got.Items[i].Language != want {
			t.Errorf("%q: got %q, want %q", got.Items[i].Title, got.Items[i].Language, want)
		}
	}
	if got.Document.Language != "" {
		t.Errorf("got document in %q, want undeclared", got.Document.Language)
	}
}

// hostile are strings of hostile feeds.
var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", `"><svg onload=alert(1)>`, "<a href='java\tscript:alert(1)'>x</a>",
	"<style>@import 'http://evil.example'</style>", "<iframe src='http://evil.example'></iframe>", "<form action=http://evil.example><input>",
	"<p style='background:url(javascript:x)'>x", "<!--<script>-->", "<<<>>>", strings.Repeat("<b>", 5000), "&lt;script&gt;alert(1)&lt;/script&gt;",
	"\xff\xfe\xfd", "a\x00b\x07c", "\u202egnp.exe", "http://[::1", "http://user@\xff.example/?q=\xff#\xff", "http://h.example/\r\nSet-Cookie: x",
	"// ", strings.Repeat("\u0300", 3000), strings.Repeat("ж", 5000),
}

// eachString calls do with all strings in a value.
func eachString(v reflect.Value, do func(string)) {
	switch v.Kind() {
	case reflect.String:
		do(v.String())
	case reflect.Slice:
		for i := range v.Len() {
			eachString(v.Index(i), do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachString(v.Field(i), do)
			}
		}
	}
}

func TestPrepare_HostileEntries(t *testing.T) {
	for i, s := range hostile {
		e := subjects.Entry{
			Key: fmt.Sprint(i), Hash: "h", GUID: s, Link: s, Title: s, HTML: "<p>" + s + "</p>", Author: s, Dated: s, Image: s, Tags: []string{s, "fine"},
		}
		d := blogDocument()
		d.Title, d.Site, d.Language = s, s, s
		got := prepared(t, d, e)
		item := got.Items[0]
		eachString(reflect.ValueOf(got), func(out string) {
			if !utf8.ValidString(out) || strings.Contains(out, "\x00") {
				t.Errorf("%.30q: got %.60q, want valid UTF-8 without NUL", s, out)
			}
		})
		for _, bad := range []string{"<script", "onerror", "onload", "<svg", "<style", "<iframe", "<form", "<input", "href=\"java", "style="} {
			if strings.Contains(strings.ToLower(item.HTML), bad) && !strings.Contains(item.HTML, "&lt;") {
				t.Errorf("%.30q: got %q, want no %s in it", s, item.HTML, bad)
			}
		}
		for _, url := range append([]string{item.URL, got.Site}, item.Images...) {
			if url != "" && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") || strings.ContainsAny(url, "\r\n\"<>") {
				t.Errorf("%.30q: got address %q, want http, https or none", s, url)
			}
		}
		for name, limit := range map[string]struct {
			got string
			max int
		}{"title": {item.Title, work.MaxTitle}, "excerpt": {item.Excerpt, maxExcerpt}, "author": {item.Author, maxAuthor}} {
			if n := utf8.RuneCountInString(limit.got); n > limit.max {
				t.Errorf("%.30q: got a %s of %d characters, want at most %d", s, name, n, limit.max)
			}
		}
	}
}

func TestPrepare_IsIdempotent(t *testing.T) {
	var entries []subjects.Entry
	for i, s := range hostile {
		entries = append(entries, subjects.Entry{Key: fmt.Sprint(i), Hash: "h", Title: s, HTML: s, Link: fmt.Sprint("/", i)})
	}
	first, second := prepared(t, blogDocument(), entries...), prepared(t, blogDocument(), entries...)
	if !reflect.DeepEqual(first, second) || first.ID() != second.ID() {
		t.Error("got another task for the same document, want an equal one")
	}
	seen := map[string]bool{}
	for i, d := range first.Items {
		if d.ID != storage.ItemID(d.FeedID, entries[i].Key) || seen[d.ID] || d.Key != entries[i].Key || d.Hash != "h" {
			t.Errorf("got item %s of key %q, want an ID derived from feed and key", d.ID, d.Key)
		}
		seen[d.ID] = true
		// Cleaned content that another feed repeats stays unchanged.
		again := prepared(t, blogDocument(), subjects.Entry{Key: d.Key, Title: d.Title, HTML: d.HTML}).Items[0]
		if again.HTML != d.HTML {
			t.Errorf("got %.80q from the cleaned %.80q, want them equal", again.HTML, d.HTML)
		}
	}
	if first.Receipt != blogDocument().Receipt {
		t.Errorf("got receipt %+v, want the receipt of the document", first.Receipt)
	}
}

// Links of an entry are for all readers: the user and the query of the document's address are not.
func TestPrepare_LinksHideTheAddressOfTheFeed(t *testing.T) {
	d := subjects.Document{}
	d.URL = "https://user:PrivateKey1@host.example/feed?key=PrivateKey1"
	for _, link := range []string{"/post", "post", "?id=1", "#c1", "https://host.example/feed?key=PrivateKey1#c1", "https://user:PrivateKey1@host.example/feed?key=PrivateKey1"} {
		item, _ := prepare(text.Default(), d, subjects.Entry{Key: "1", Link: link, HTML: `<a href="#note">1</a> <img src="/i.png" width="90" height="90">`})
		if all := fmt.Sprintf("%+v", item); strings.Contains(all, "PrivateKey1") {
			t.Errorf("%s: got %s", link, all)
		}
	}
}

// TestPrepare_EmbeddedMediaAreEnclosures: files of the feed precede the media of the content; the player is known
// for both, and a still of the video is the picture of an item without one.
func TestPrepare_EmbeddedMediaAreEnclosures(t *testing.T) {
	got := prepared(t, blogDocument(), subjects.Entry{
		HTML:       `<p>a</p><iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ" title="A talk"></iframe><audio src="/b.mp3"></audio><video src="/c.mp4"></video>`,
		Enclosures: []subjects.Enclosure{{URL: "https://www.blog.example/b.mp3", Type: "audio/mpeg", Length: 7}, {URL: "https://www.youtube.com/v/abc-123?version=3", Type: "application/x-shockwave-flash"}},
	}, subjects.Entry{HTML: `<img src="/i.png"><iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ"></iframe>`}).Items
	want := []storage.Enclosure{
		{URL: "https://www.blog.example/b.mp3", Type: "audio/mpeg", Length: 7},
		{URL: "https://www.youtube.com/watch?v=abc-123", Type: "application/x-shockwave-flash", Player: "YouTube"},
		{URL: "https://www.youtube.com/watch?v=dQw4w9WgXcQ", Type: "video", Player: "YouTube", Title: "A talk"},
		{URL: "https://www.blog.example/c.mp4", Type: "video/mp4"},
	}
	if !reflect.DeepEqual(got[0].Enclosures, want) {
		t.Errorf("got %+v, want %+v", got[0].Enclosures, want)
	}
	for i, picture := range []string{"https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg", "https://www.blog.example/i.png"} {
		if !reflect.DeepEqual(got[i].Images, []string{picture}) {
			t.Errorf("item %d: got pictures %q, want %q", i, got[i].Images, picture)
		}
	}
}
