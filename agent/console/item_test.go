package console

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

func TestItemLinksToTheWebOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example/x?a=1&b=2": true, "http://a.example": true,
		"javascript:alert(1)": false, "JaVaScRiPt://a.example/%0aalert(1)": false, "data:text/html,x": false,
		"//a.example/": false, "/status": false, "": false, "https:": false, "ftp://a.example/": false,
	} {
		source := &fake{items: map[string]api.ItemView{"i": {Item: storage.Item{URL: address}}}}
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

func TestItemTellsOfItsFilesAndWhereItIsDiscussed(t *testing.T) {
	source := &fake{items: map[string]api.ItemView{"i": {Item: storage.Item{
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

func TestContentStaysInItsPlace(t *testing.T) {
	doc := parse(t, body(t, serve(hostile(), "GET", "/items/evil")))
	if got := words(elements(doc, "h1")[0]); got != evil {
		t.Errorf("the first heading is %q, not the title", got)
	}
	for _, in := range []string{"h2", "b", "img"} {
		n := elements(doc, in)[0]
		for n != nil && attr(n, "class") != "content" {
			n = n.Parent
		}
		if n == nil {
			t.Errorf("%s of the content is outside of it", in)
		}
	}
	if img := elements(doc, "img")[0]; attr(img, "loading") != "lazy" {
		t.Errorf("image %+v, want it to load when seen", img.Attr)
	}
}

func TestContentTooDeepToReadIsShownAsSource(t *testing.T) {
	got := string(content(strings.Repeat("<div>", 2000) + "deep"))
	if !strings.HasPrefix(got, "<pre>&lt;div&gt;") || !strings.HasSuffix(got, "deep</pre>") {
		t.Errorf("got %.40q", got)
	}
}

func TestItemSaysHowItCameToBe(t *testing.T) {
	page := words(parse(t, body(t, serve(hostile(), "GET", "/items/evil"))))
	for _, want := range []string{
		"first seen 1 hour ago", "assumed: the feed gives no date", "29 Sep 2026, 11:00 UTC",
		"duplicate of an earlier item. It leads to the same address", "held to be spam",
		"2: the publisher changed it", "databases", "Publisher's tags",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestAPersonCallsAnItemSpamOrReleasesIt(t *testing.T) {
	source := &fake{items: map[string]api.ItemView{"evil": {}}}
	for _, c := range []struct {
		target, form string
		status       int
		location     string
	}{
		{"/items/evil/spam", "spam=yes", 303, "/items/evil"},
		{"/items/evil/spam", "spam=no", 303, "/items/evil"},
		{"/items/evil/spam", "spam=perhaps", 404, ""},
		{"/items/none/spam", "spam=no", 404, ""},
	} {
		request := httptest.NewRequest(http.MethodPost, c.target, strings.NewReader(c.form))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		Handler(source).ServeHTTP(answer, request)
		if got := answer.Result(); got.StatusCode != c.status || got.Header.Get("Location") != c.location {
			t.Errorf("%s %s: status %d to %q, want %d to %q", c.target, c.form, got.StatusCode, got.Header.Get("Location"), c.status, c.location)
		}
	}
	if want := []string{"spam evil true", "spam evil false", "spam none false"}; !slices.Equal(source.done, want) {
		t.Errorf("done is %q, want %q", source.done, want)
	}
}
