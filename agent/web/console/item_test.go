package console

import (
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func pagesOfItems() map[string]shown {
	polite := hostile()
	polite.items["evil"] = wire.ItemView{Item: storage.Item{URL: "https://www.a.example/x?a=1&b=2", Title: "Plain"}}
	return map[string]shown{
		"item":       {"/items/evil", 200, hostile()},
		"plain item": {"/items/evil", 200, polite},
		"no item":    {"/items/none", 404, hostile()},
		"long ID":    {"/items/" + strings.Repeat("a", 100), 404, hostile()},
		"store down": {"/items/evil", 503, broken()},
	}
}

func TestItemPage_LinksToWebOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example/x?a=1&b=2": true, "http://a.example": true,
		"javascript:alert(1)": false, "JaVaScRiPt://a.example/%0aalert(1)": false, "data:text/html,x": false,
		"//a.example/": false, "/status": false, "": false, "https:": false, "ftp://a.example/": false,
	} {
		source := &fake{items: map[string]wire.ItemView{"i": {Item: storage.Item{URL: address}}}}
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
	source := &fake{items: map[string]wire.ItemView{"i": {Item: storage.Item{
		Comments: "https://a.example/talk?a=1&b=2", Source: evil,
		Enclosures: []storage.Enclosure{{URL: "https://a.example/1.mp3", Type: evil}, {URL: "javascript:alert(1)"}, {URL: "https://a.example/2"}},
	}}}}
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
	}
}

func TestContent_StaysInContainer(t *testing.T) {
	doc := parse(t, body(t, serve(hostile(), "GET", "/items/evil")))
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
	for clean, want := range map[string]string{
		`<p>a <img src="https://a.example/i.png" alt="A &quot;cat&quot;"> b</p>`: `<p>a <a href="https://a.example/i.png" rel="noopener noreferrer nofollow" class="picture" data-picture="A &#34;cat&#34;">Picture: A &#34;cat&#34;</a> b</p>`,
		`<img src="https://a.example/i.png">`:                                    `<a href="https://a.example/i.png" rel="noopener noreferrer nofollow" class="picture" data-picture="">Picture: a.example</a>`,
		`<a href="https://b.example/x"><b><img src="https://a.example/i.png" alt="i"></b></a>.`: `<a href="https://b.example/x"><b></b>b.example</a>` +
			`<a href="https://a.example/i.png" rel="noopener noreferrer nofollow" class="picture" data-picture="i">Picture: i</a>.`,
		`<a href="https://b.example/x">b<img src="data:image/png;base64,AA"></a>`: `<a href="https://b.example/x">b</a>`,
		`<img src="javascript:alert(1)" srcset="https://a.example/2.png 2x">`:     ``,
		`<video src="https://a.example/v.mp4" autoplay></video>`:                  `<a href="https://a.example/v.mp4" rel="noopener noreferrer nofollow">a.example</a>`,
		`<picture><source srcset="https://a.example/2.png"><img src="https://a.example/i.png" alt=""></picture>`: `<picture>` +
			`<a href="https://a.example/i.png" rel="noopener noreferrer nofollow" class="picture" data-picture="">Picture: a.example</a></picture>`,
		`<iframe src="https://video.example/1"></iframe>`: `<a href="https://video.example/1" rel="noopener noreferrer nofollow">video.example</a>`,
	} {
		if got := string(content(clean)); got != want {
			t.Errorf("%s became\n%s, want\n%s", clean, got, want)
		}
	}
}

func TestContent_DeepNestingShownAsSource(t *testing.T) {
	got := string(content(strings.Repeat("<div>", 2000) + "deep"))
	if !strings.HasPrefix(got, "<pre>&lt;div&gt;") || !strings.HasSuffix(got, "deep</pre>") {
		t.Errorf("got %.40q", got)
	}
}

func TestItemPage_ShowsProvenance(t *testing.T) {
	page := words(parse(t, body(t, serve(hostile(), "GET", "/items/evil"))))
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
	source := &fake{items: map[string]wire.ItemView{"evil": {}}}
	submitAll(t, source, []submission{
		{"/items/evil/spam", "spam=yes", 303, "/items/evil"},
		{"/items/evil/spam", "spam=no", 303, "/items/evil"},
		{"/items/evil/spam", "spam=perhaps", 404, ""},
		{"/items/none/spam", "spam=no", 404, ""},
	})
	if want := []string{"spam evil true", "spam evil false", "spam none false"}; !slices.Equal(source.done, want) {
		t.Errorf("done is %q, want %q", source.done, want)
	}
}

func TestItemPage_CorrectLabels(t *testing.T) {
	source := &fake{items: map[string]wire.ItemView{"i": {}}}
	submitAll(t, source, []submission{
		{"/items/i/labels", "categories=databases++ai-ml&topics=", 303, "/items/i"},
		{"/items/none/labels", "topics=kernel", 404, ""},
		{"/items/" + strings.Repeat("a", 65) + "/labels", "", 404, ""},
		{"/items/i/labels", "categories=databases&topics=" + strings.Repeat("a", maxForm), 409, ""},
	})
	if want := []string{`label i ["databases" "ai-ml"] []`, `label none [] ["kernel"]`}; !slices.Equal(source.done, want) {
		t.Errorf("done is %q, want %q", source.done, want)
	}
	source.editErr = &service.Error{Kind: service.KindConflict, Message: "there are more than 3 categories"}
	if got := submit(source, "/items/i/labels", "categories=a+b+c+d"); got.StatusCode != 409 || !strings.Contains(body(t, got), "There are more than 3 categories.") {
		t.Error("why labels are refused is not told")
	}
}

func TestItemPage_SimilarItemsListedOnce(t *testing.T) {
	source := &fake{
		items:      map[string]wire.ItemView{"i": {Item: storage.Item{ID: "i", DuplicateOf: "first"}}},
		duplicates: wire.Duplicates{Items: []wire.ItemBrief{{ID: "d", Title: "Same"}}},
		related:    wire.Related{Story: storage.Story{ID: "s", Items: 3}, Items: []wire.ItemBrief{{ID: "r", Title: "Related"}}},
	}
	for _, id := range []string{"i", "first", "d", "r", "other"} {
		source.similar = append(source.similar, wire.FoundItem{Item: storage.Item{ID: id, Title: "Like " + id, URL: "https://www.b.example/"}})
	}
	doc := parse(t, body(t, serve(source, "GET", "/items/i")))
	if got := link(doc, "Like other"); got != "/items/other" || strings.Count(words(doc), "Like ") != 1 {
		t.Errorf("what is like it is at %q, in %s", got, words(doc))
	}
}
