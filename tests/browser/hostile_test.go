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

// payload is the text of every field of a hostile feed: each of its parts would execute in some context if it
// were not escaped.
const payload = `pwn"'><script>window.pwned=1</script><img src=x onerror=window.pwned=1><svg onload=window.pwned=1>]]>{{.}}</title></textarea></style>`

// openHostile serves a feed with the payload in every field, and a second feed with the same items, so that
// they form a story.
func openHostile() *publishedFeeds {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(payload)) // to memory
	bad := escaped.String()
	n := &publishedFeeds{feeds: map[string][][2]string{"hostile": {{}}, "hostile-too": {{}}}, stories: 1}
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

// TestPages_HostileContentDoesNotRun opens every page and output with hostile feeds, tags, and a name.
func TestPages_HostileContentDoesNotRun(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	w, err := newTestbed(openHostile(), payload)
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, w.address)
	b.lost = "responded with a status of 502"
	// The last ones are rejected, as too long or not a name, with an error page that shows them.
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
			if evaluate[bool](b, expression) {
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
			t.Errorf("%s: %s, %v, %d bytes; want the hostile content as text", path, response.Status, err, len(document))
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
