package browser

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// payload is what a hostile publisher writes into every field: each of its parts
// would run somewhere, if what holds it did not write it as text.
const payload = `pwn"'><script>window.pwned=1</script><img src=x onerror=window.pwned=1><svg onload=window.pwned=1>]]>{{.}}</title></textarea></style>`

// openHostile serves a feed whose every field is the payload, and another that
// tells the same, so that there is a story.
func openHostile() *newsroom {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(payload)) // to memory
	bad := escaped.String()
	n := &newsroom{feeds: map[string][][2]string{"hostile": {{}}, "hostile-too": {{}}}, told: 1}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/hostile") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		at := time.Now().Add(-time.Hour).UTC().Format(time.RFC1123Z)
		fmt.Fprintf(w, `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>%[1]s</title><link>https://x.example/?%[1]s</link><description>%[1]s</description><language>en</language>
			<item><title>A hostile title of this publisher %[1]s</title><link>https://%[2]s.example/?%[1]s</link><guid isPermaLink="false">%[1]s</guid><dc:creator>%[1]s</dc:creator><category>%[1]s</category><comments>javascript:%[1]s</comments>
			<source url="javascript:alert(1)">%[1]s</source><enclosure url="https://x.example/%[1]s" type="%[1]s" length="1"/><pubDate>%[3]s</pubDate>
			<description>%[1]s and words of this hostile publisher that both of them have in common</description></item></channel></rss>`, bad, strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".xml"), at)
	}))
	return n
}

// TestNothingHostileRunsOnAnyPage opens every page and output of a world where
// feeds, tags, a search and a name are hostile.
func TestNothingHostileRunsOnAnyPage(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	w, err := makeWorld(openHostile(), payload)
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, w.address)
	// The last are refused, for what is long and no name, on a page that says so.
	for _, p := range append(places(t, w, "hostile"), place{"mistake", "/?q=hostile&category=" + query(payload) + "&feed=" + query(payload) + "&topic=" + query(payload)},
		place{"mistake", "/feeds?tag=" + query(payload) + "&q=" + query(payload)}, place{"mistake", "/stories?topic=" + query(payload)}) {
		b.visitRefused(p.path, p.status())
		for what, expression := range map[string]string{
			"ran something":       `window.pwned === 1`,
			"has a foreign image": `document.querySelector('main img[src="x"], main svg[onload]') !== null`,
			"has a handler":       `[...document.querySelectorAll("*")].some(e => e.getAttributeNames().some(n => n.startsWith("on")))`,
			"has a script in it":  `document.querySelector("script:not([src])") !== null`,
			"links to a script":   `[...document.querySelectorAll("a[href], form[action]")].some(e => /^(javascript|data|vbscript):/i.test(e.href || e.action))`,
		} {
			if ask[bool](b, expression) {
				t.Errorf("%s %s", p.path, what)
			}
		}
	}
	for _, path := range []string{
		"/outputs/search.rss", "/outputs/search.atom", "/outputs/stories.rss", "/outputs/stories.atom", "/outputs/tag.rss?tag=" + query(payload), "/api/feeds/export",
	} {
		response, err := http.Get(w.address + path)
		if err != nil {
			t.Fatal(err)
		}
		document, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(document), "pwn") {
			t.Errorf("%s: %s, %v, %d bytes; want what is hostile, as text", path, response.Status, err, len(document))
			continue
		}
		for to := xml.NewDecoder(strings.NewReader(string(document))); ; {
			token, err := to.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%s is not well-formed: %v", path, err)
				break
			}
			if element, ok := token.(xml.StartElement); ok && (element.Name.Local == "script" || element.Name.Local == "img" || element.Name.Local == "svg") {
				t.Errorf("%s has an element %s of the publisher's", path, element.Name.Local)
			}
		}
	}
}
