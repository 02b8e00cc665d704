package console

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service/imageproxy"
	"feedmesh/agent/web/locale"
	"feedmesh/storage"
)

// hostileItems stores an item whose texts are hostile, its original in a story with a duplicate, and items enough for
// a second page of results.
func (s *site) hostileItems(t *testing.T) {
	t.Helper()
	item := storage.Item{
		ID: "evil", URL: "javascript:alert(1)", Title: evil, Author: evil, Hash: "1",
		HTML:    `<h1>Big</h1><p>Kept <b>bold</b></div></main><img src="https://a.example/i.png" alt="">`,
		Excerpt: evil, Language: `en"><script>`, Categories: []string{evil, "databases"}, Topics: []string{evil},
		Tags: []string{evil}, Reasons: []string{evil}, Published: noon.Add(-time.Hour), FirstSeen: noon, Updated: noon,
		Assumed: "missing", DuplicateOf: "../status", DuplicateBy: "url", Spam: true, Partition: "en", EventID: "e1", StoryID: "evil", StoryReason: evil,
	}
	s.items(t, "evil", item)
	item.Hash = "2" // the next revision
	s.items(t, "evil", item)
	items := make([]storage.Item, 45)
	for n := range items {
		items[n] = storage.Item{
			ID: fmt.Sprint("i", n), Title: fmt.Sprint(evil, n), Excerpt: evil, URL: "javascript:alert(1)", Language: []string{"en", `en"><script>`}[n%2],
			Categories: []string{fmt.Sprint(evil, n%12)}, Topics: []string{fmt.Sprint(evil, n%12)}, Published: noon.Add(-time.Duration(n+2) * 3 * time.Hour),
		}
	}
	s.items(t, "many", append(items, storage.Item{ID: "marked", Title: "<b>" + evil + "&amp; sort", Language: "en", HTML: "<p>" + html.EscapeString(evil) + "</p>", Published: noon.Add(-time.Hour)})...)
}

func pagesOfItems(t *testing.T, all sites) map[string]shown {
	polite := newSite(t)
	polite.item(t, "f", storage.Item{ID: "evil", URL: "https://www.a.example/x?a=1&b=2", Title: "Plain"})
	return map[string]shown{
		"item":       {"/items/evil", 200, all.hostile},
		"original":   {"/items/evil2", 200, all.hostile},
		"plain item": {"/items/evil", 200, polite},
		"no item":    {"/items/none", 404, all.hostile},
		"long ID":    {"/items/" + strings.Repeat("a", 100), 404, all.hostile},
		"store down": {"/items/evil", 503, all.broken},
	}
}

func TestItemPage_LinksToWebOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example/x?a=1&b=2": true, "http://a.example": true,
		"javascript:alert(1)": false, "JaVaScRiPt://a.example/%0aalert(1)": false, "data:text/html,x": false,
		"//a.example/": false, "/status": false, "": false, "https:": false, "ftp://a.example/": false,
	} {
		source := newSite(t)
		source.item(t, "f", storage.Item{ID: "i", URL: address})
		doc := parse(t, body(t, serve(source, "GET", "/items/i")))
		got := false
		for _, a := range elements(doc, "a") {
			if strings.HasPrefix(words(a), "Read the original") {
				got = true
				if attr(a, "href") != address || attr(a, "rel") != "noopener noreferrer" || attr(a, "target") != "" {
					t.Errorf("%q: link %+v", address, a.Attr)
				}
			}
		}
		if got != want {
			t.Errorf("%q: link is there: %v, want %v", address, got, want)
		}
	}
}

func TestItemPage_ShowsEnclosuresAndComments(t *testing.T) {
	source := newSite(t)
	source.item(t, "f", storage.Item{
		ID: "i", Comments: "https://a.example/talk?a=1&b=2", Source: evil,
		Enclosures: []storage.Enclosure{{URL: "https://a.example/1.mp3", Type: evil}, {URL: "javascript:alert(1)"}, {URL: "https://a.example/2", Type: "video", Player: "Vimeo", Title: "The talk"}},
	})
	doc := parse(t, body(t, serve(source, "GET", "/items/i")))
	var links []string
	for _, a := range elements(doc, "a") {
		if strings.HasPrefix(attr(a, "href"), "http") || strings.HasPrefix(attr(a, "href"), "javascript") {
			links = append(links, attr(a, "href"))
		}
	}
	if want := []string{"https://a.example/talk?a=1&b=2", "https://a.example/1.mp3", "https://a.example/2"}; !slices.Equal(links, want) {
		t.Errorf("got links to %q, want %q", links, want)
	}
	if page := words(doc); strings.Count(page, evil) != 2 {
		t.Errorf("got %s, want the source and the type of a file as they are", page)
	} else if !strings.Contains(page, "The talk (Vimeo video)") {
		t.Errorf("got %s, want the title and the player of the video", page)
	}
}

func TestContent_StaysInContainer(t *testing.T) {
	doc := parse(t, body(t, serve(hostile(t), "GET", "/items/evil")))
	if got := words(elements(doc, "h1")[0]); got != evil {
		t.Errorf("the first heading is %q, not the title", got)
	}
	for _, in := range []string{"h2", "b"} {
		n := elements(doc, in)[0]
		for n != nil && attr(n, "class") != "content" {
			n = n.Parent
		}
		if n == nil {
			t.Errorf("%s of the content is outside of it", in)
		}
	}
}

func TestContent_LoadsNoResources(t *testing.T) {
	known := func(address string) (string, bool) {
		if address != "https://a.example/i.png" {
			return "", false
		}
		return "/here", false
	}
	const rel = `rel="noopener noreferrer nofollow"`
	for clean, want := range map[string]string{
		`<p>a <img src="https://a.example/i.png" alt="A &quot;cat&quot;"> b</p>`: `<p>a <a href="https://a.example/i.png" ` + rel + ` class="picture" data-picture="/here" data-alt="A &#34;cat&#34;">Picture: A &#34;cat&#34;</a> b</p>`,
		`<img src="https://a.example/other.png">`:                                `<a href="https://a.example/other.png" ` + rel + ` class="picture">Picture: a.example</a>`,
		`<a href="https://b.example/x"><b><img src="https://a.example/i.png" alt="i"></b></a>.`: `<a href="https://b.example/x"><b></b>b.example</a>` +
			`<a href="https://a.example/i.png" ` + rel + ` class="picture" data-picture="/here" data-alt="i">Picture: i</a>.`,
		`<a href="https://b.example/x">b<img src="data:image/png;base64,AA"></a>`: `<a href="https://b.example/x">b</a>`,
		`<img src="javascript:alert(1)" srcset="https://a.example/2.png 2x">`:     ``,
		`<video src="https://a.example/v.mp4" autoplay></video>`:                  `<a href="https://a.example/v.mp4" ` + rel + `>a.example</a>`,
		`<picture><source srcset="https://a.example/2.png"><img src="https://a.example/i.png" alt=""></picture>`: `<picture>` +
			`<a href="https://a.example/i.png" ` + rel + ` class="picture" data-picture="/here" data-alt="">Picture: a.example</a></picture>`,
		`<iframe src="https://video.example/1"></iframe>`: `<a href="https://video.example/1" ` + rel + `>video.example</a>`,
	} {
		if got := string(content(locale.English, storage.Item{HTML: clean}, known)); got != want {
			t.Errorf("%s became\n%s, want\n%s", clean, got, want)
		}
	}
}

// Images of the item load from this server, without what the publisher added to them.
func TestContent_ShowsPicturesFromHere(t *testing.T) {
	item := storage.Item{ID: "x", Images: []string{"https://a.example/i.png"}}
	item.HTML = `<a href="https://b.example/"><img src="https://a.example/i.png" srcset="https://a.example/2.png 2x" width="9000" alt="A" title="T"></a><img src="https://a.example/other.png">`
	path := imageproxy.Path("x", item.Images[0], imageproxy.Small)
	want := `<a href="https://b.example/"><img src="` + path + `" alt="A" title="T" loading="lazy" decoding="async"/></a>` +
		`<a href="https://a.example/other.png" rel="noopener noreferrer nofollow" class="picture">Picture: a.example</a>`
	if got := string(content(locale.English, item, picturesOf(item, smallPictures))); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if got := string(content(locale.English, item, picturesOf(item, noPictures))); strings.Contains(got, "<img") || !strings.Contains(got, `data-picture="`+imageproxy.Path("x", item.Images[0], imageproxy.Large)) {
		t.Errorf("without pictures: got\n%s, want links", got)
	}
}

// Links to footnotes lead to ids that no other item has; links to other pages stay.
func TestContent_FootnotesStayWithinThePage(t *testing.T) {
	item := storage.Item{ID: "x", URL: "https://a.example/post", HTML: `<p><sup id="anchor-r"><a href="https://a.example/post#f" rel="nofollow">1</a></sup>` +
		`<a href="https://a.example/other#f" rel="nofollow">2</a><a href="https://a.example/post#comments" rel="nofollow">3</a></p>` +
		`<p><a id="anchor-f" href="https://a.example/post#r" rel="nofollow">back</a></p>`}
	want := `<p><sup id="anchor-x-r"><a href="#anchor-x-f">1</a></sup>` +
		`<a href="https://a.example/other#f" rel="nofollow">2</a><a href="https://a.example/post#comments" rel="nofollow">3</a></p>` +
		`<p><a href="#anchor-x-r" id="anchor-x-f">back</a></p>`
	if got := string(content(locale.English, item, picturesOf(item, allPictures))); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestContent_DeepNestingShownAsSource(t *testing.T) {
	got := string(content(locale.English, storage.Item{HTML: strings.Repeat("<div>", 2000) + "deep"}, picturesOf(storage.Item{}, allPictures)))
	if !strings.HasPrefix(got, "<pre>&lt;div&gt;") || !strings.HasSuffix(got, "deep</pre>") {
		t.Errorf("got %.40q", got)
	}
}

func TestItemPage_ShowsProvenance(t *testing.T) {
	page := words(parse(t, body(t, serve(hostile(t), "GET", "/items/evil"))))
	for _, want := range []string{
		"first seen 1 hour ago", "assumed: the feed gives no date", "29 Sep 2026, 11:00 UTC",
		"duplicate of an earlier item. Same URL", "marked as spam",
		"2: changed by the publisher", "databases", "Publisher's tags",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestItemPage_MarkSpam(t *testing.T) {
	source := newSite(t)
	source.item(t, "f", storage.Item{ID: "evil"})
	for _, c := range []struct {
		submission
		spam bool // afterwards
	}{
		{submission{"/items/evil/spam", "spam=yes", 303, "/items/evil"}, true},
		{submission{"/items/evil/spam", "spam=no", 303, "/items/evil"}, false},
		{submission{"/items/evil/spam", "spam=perhaps", 404, ""}, false},
		{submission{"/items/none/spam", "spam=no", 404, ""}, false},
	} {
		submitAll(t, source, []submission{c.submission})
		if got := source.stored(t, "evil"); got.Spam != c.spam || !got.Corrected {
			t.Errorf("%s: spam %v, corrected %v; want %v by a person", c.form, got.Spam, got.Corrected, c.spam)
		}
	}
	if got := source.corrections(t); len(got) != 1 || *got[0].Spam {
		t.Errorf("got %+v, want the last correction", got)
	}
}

// corrections returns the stored corrections.
func (s *site) corrections(t *testing.T) []storage.Correction {
	t.Helper()
	all, err := s.Store.Corrections(t.Context(), storage.Correction{}, 100)
	must(t, err)
	return all
}

func TestItemPage_CorrectLabels(t *testing.T) {
	source := newSite(t)
	source.item(t, "f", storage.Item{ID: "i", Topics: []string{"kernel"}})
	submitAll(t, source, []submission{
		{"/items/i/labels", "categories=databases++ai-ml&topics=", 303, "/items/i"},
		{"/items/none/labels", "topics=kernel", 404, ""},
		{"/items/" + strings.Repeat("a", 65) + "/labels", "", 404, ""},
		{"/items/i/labels", "categories=databases&topics=" + strings.Repeat("a", maxForm), 409, ""},
	})
	if got := source.stored(t, "i"); !slices.Equal(got.Categories, []string{"databases", "ai-ml"}) || len(got.Topics) != 0 || len(source.corrections(t)) != 1 {
		t.Errorf("got categories %q, topics %q and the corrections %+v", got.Categories, got.Topics, source.corrections(t))
	}
	got := submit(source, "/items/i/labels", "categories=a+b+c+d")
	if page := words(parse(t, body(t, got))); got.StatusCode != 409 || !strings.Contains(page, "The labels are invalid, nothing was changed: more than 3 categories are given.") {
		t.Errorf("status %d, %q: why labels are refused is not told", got.StatusCode, page)
	}
}

func TestItemPage_SimilarItemsListedOnce(t *testing.T) {
	source := newSite(t)
	like := func(id string, i storage.Item) storage.Item {
		i.ID, i.Title, i.HTML, i.Language, i.Partition, i.URL = id, "Like "+id, "<p>A new scheduler of the kernel for many cores is out.</p>", "en", "en", "https://www.b.example/"+id
		return i
	}
	source.items(t, "f", like("first", storage.Item{}), like("i", storage.Item{DuplicateOf: "first", EventID: "e", StoryID: "s"}), like("d", storage.Item{DuplicateOf: "first"}),
		like("r", storage.Item{EventID: "e", StoryID: "s"}), like("r2", storage.Item{EventID: "e", StoryID: "s"}), like("other", storage.Item{}))
	doc := parse(t, body(t, serve(source, "GET", "/items/i")))
	section := ""
	for _, part := range elements(doc, "section") {
		if strings.Contains(words(part), "Like other") {
			section = words(part)
		}
	}
	if got := link(doc, "Like other"); got != "/items/other" || strings.Count(section, "Like ") != 1 || strings.Count(words(doc), "Like d") != 1 || strings.Count(words(doc), "Like r ") != 1 {
		t.Errorf("what is like it is at %q, in %s", got, words(doc))
	}
}

// Media are played on a page of their own, whose policy allows the one host of the medium; other pages only link to it.
func TestPlayPage(t *testing.T) {
	s := newSite(t)
	s.item(t, "f", storage.Item{ID: "i", Title: "Episode", FirstSeen: noon, Enclosures: []storage.Enclosure{
		{URL: "https://cdn.example/1.mp3", Type: "audio/mpeg"},
		{URL: "https://www.youtube.com/watch?v=dQw4w9WgXcQ", Type: "video", Player: "YouTube", Title: "A <film>"},
		{URL: "https://cdn.example/1.pdf", Type: "application/pdf"},
		{URL: "https://evil.example;script-src*/1.mp3", Type: "audio/mpeg"},
	}})
	for _, path := range []string{"/items/i", "/read?open=i"} {
		got := serve(s, "GET", path)
		doc := body(t, got)
		if strings.Count(doc, ">Play</a>") != 2 || !strings.Contains(doc, `href="/items/i/play/0"`) || !strings.Contains(doc, `href="/items/i/play/1"`) {
			t.Errorf("%s: the links to the players are wrong", path)
		}
		if strings.Contains(got.Header.Get("Content-Security-Policy"), "example") {
			t.Errorf("%s: the policy allows another host", path)
		}
	}
	for n, want := range []struct{ element, policy string }{
		{`<audio controls preload="none" src="https://cdn.example/1.mp3">`, "; media-src https://cdn.example"},
		{`<iframe src="https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ" title="A &lt;film&gt;"`, "; frame-src https://www.youtube-nocookie.com"},
	} {
		got := serve(s, "GET", fmt.Sprintf("/items/i/play/%d", n))
		if policy := got.Header.Get("Content-Security-Policy"); policy != pagePolicy+want.policy {
			t.Errorf("player %d: got the policy %s", n, policy)
		}
		if doc := body(t, got); got.StatusCode != 200 || !strings.Contains(doc, want.element) {
			t.Errorf("player %d: got status %d %s", n, got.StatusCode, between(doc, "<main", "</main>"))
		}
	}
	for _, n := range []string{"2", "3", "4", "-1", "x"} {
		if got := serve(s, "GET", "/items/i/play/"+n); got.StatusCode != 404 || got.Header.Get("Content-Security-Policy") != pagePolicy {
			t.Errorf("enclosure %s: got status %d", n, got.StatusCode)
		}
	}
}
