package feed

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkInvariants reports what may never be, whatever the document.
func checkInvariants(t *testing.T, name string, doc Document, err error) {
	t.Helper()
	var kind *Error
	if err != nil && (!errors.As(err, &kind) || kind.Kind == "" || kind.Err == nil) {
		t.Errorf("%s: error without a kind: %v", name, err)
	}
	h := doc.Hints
	if h.TTL < 0 || h.TTL > maxWait || h.Period < 0 || h.Period > maxWait || h.Zone < -12*60 || h.Zone > 14*60 || h.SkipHours >= 1<<24-1 || h.SkipDays >= 1<<7-1 {
		t.Errorf("%s: hints out of bounds: %+v", name, h)
	}
	for _, s := range []string{h.Hub, h.Self} {
		if u, err := url.Parse(s); err != nil || len(s) > maxAddress || s != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			t.Errorf("%s: %q is no web address", name, s)
		}
	}
	keys := make(map[string]bool)
	for _, e := range doc.Entries {
		if e.Key == "" || keys[e.Key] || len(e.Key) > maxKey+len("guid:") {
			t.Errorf("%s: key %q is empty, too long or there twice", name, e.Key)
		}
		keys[e.Key] = true
		all := append([]string{e.Key, e.Hash, e.GUID, e.Link, e.Title, e.HTML, e.Author, e.Dated, e.Image}, e.Tags...)
		for _, s := range all {
			if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
				t.Errorf("%s: %q is not clean UTF-8", name, s)
			}
		}
		if len(e.Title) > maxTitle || len(e.HTML) > maxHTML || len(e.GUID) > maxAddress || len(e.Link) > maxAddress || len(e.Author) > maxAuthor || len(e.Tags) > maxTags {
			t.Errorf("%s: entry %q is larger than allowed", name, e.Key)
		}
	}
}

// TestErrors gives up in words, and with the kind that says why.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       Kind
		says       string
	}{
		{"nothing", "", Empty, "the document is empty"},
		{"white space after a byte order mark", "\xEF\xBB\xBF \r\n", Empty, "the document is empty"},
		{"web page", "<!DOCTYPE html><html><head><title>Hello</title></head></html>", WebPage, "this is a web page, not a feed"},
		{"web page in capitals", "<HTML><BODY></BODY></HTML>", WebPage, "this is a web page, not a feed"},
		{"web page that shows a feed", "<html><body><pre><rss></pre></body></html>", WebPage, "this is a web page, not a feed"},
		{"login", "<html><form><input type=\"password\"></form></html>", Challenge, "this is a web page that asks for a login or a proof of being human, not a feed"},
		{"bot check", "<!DOCTYPE html><html><title>Just a moment...</title></html>", Challenge, "this is a web page that asks for a login or a proof of being human, not a feed"},
		{"JSON object", `{"error": "not found"}`, OtherJSON, "this is JSON but not a feed"},
		{"JSON array", `[{"id": 1}]`, OtherJSON, "this is JSON but not a feed"},
		{"JSON that ends early", `{"version": "https://jsonfeed.org/version/1", "items": [{"id": 1`, Broken, "the document is broken: unexpected end of JSON input"},
		{"OPML", "<?xml version='1.0'?><opml><body/></opml>", OtherXML, "this is a list of feeds (OPML), not a feed: import it instead"},
		{"site map", "<urlset><url/></urlset>", OtherXML, "this is XML but not a feed: its root is <urlset>"},
		{"declaration only", "<?xml version='1.0'?>", OtherXML, "this is XML but not a feed: it has no elements"},
		{"text", "404 page not found", Other, "this is not a feed: neither XML nor JSON"},
		{"feed that ends early", "<rss><channel><title>T</title>", Broken, "the document ends before its first item"},
		{"broken name", "\n<rss>\n<channel>\n<a:b:c></a:b:c></channel></rss>", Broken, "the document is broken at line 4: expected element name after <"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Parse([]byte(c.body), "", "")
			checkInvariants(t, c.name, doc, err)
			var got *Error
			if !errors.As(err, &got) || got.Kind != c.kind || got.Error() != c.says {
				t.Errorf("got %#v, want %s: %s", err, c.kind, c.says)
			}
		})
	}
}

// TestMends reads documents with one thing wrong and compares title and HTML
// of the first entry.
func TestMends(t *testing.T) {
	item := func(s string) string {
		return "<rss version='2.0'><channel><item>" + s + "</item></channel></rss>"
	}
	for _, c := range []struct{ name, body, title, html string }{
		{"junk before the root", "PHP Notice: x < y\n<br />" + item("<title>a</title>"), "a", ""},
		{"junk after the root", item("<title>a</title>") + "</p>\x00<rss>", "a", ""},
		{"root behind a long comment", "<!--" + strings.Repeat(" <rss> ", 5000) + "-->" + item("<title>a</title>"), "a", ""},
		{"feed in a web page", "<html><body>" + item("<title>a</title>") + "</body></html>", "a", ""},
		{"XML 1.1", "<?xml version='1.1'?>" + item("<title>a</title>"), "a", ""},
		{"second declaration", item("<?xml version='1.0' encoding='windows-1251'?><title>ä</title>"), "ä", ""},
		{"bad comment", item("<!-- a -- b ---><title>a</title>"), "a", ""},
		{"comment that ends at once", item("<!--><title>a</title>-->") + "-->", "", ""},
		{"document type inside", item("<!DOCTYPE x><title>a</title>"), "a", ""},
		{"character that XML forbids", item("<title>a\x0bb\uFFFEc</title>"), "ab\uFFFDc", ""},
		{"reference to one", item("<title>a&#11;b&#x1F;c&#9;d&#65;</title>"), "abc\tdA", ""},
		{"reference to one in an attribute", item("<title x='&#1;'>a</title>"), "a", ""},
		{"less-than sign", item("<title>a < b <3 <— c</title>"), "a < b <3 <— c", ""},
		{"less-than sign in an attribute", item("<title x='<'>a</title>"), "a", ""},
		{"end of a CDATA section that never began", item("<title>a ]]> b</title>"), "a ]]> b", ""},
		{"attributes", item("<title a=http://x/?y&z b c='d'e=\"f\"\"1>a</title>"), "a", ""},
		{"tag without end", item("<title>a</title><description>b <i c<b>d</b></description>"), "a", "b <i c><b>d</b></i>"},
		{"stray end tag", item("<title>a</title></p></b>"), "a", ""},
		{"end tag in other case", item("<Title>a</TITLE>"), "a", ""},
		{"elements never closed", item("<title>a</title><description>b<br>c<img src='d'><i>e</description>"), "a", "b<br/>c<img src='d'/><i>e</i>"},
		{"item never closed", "<rss><channel><item><title>a</title><item><title>b</title></item></channel></rss>", "a", ""},
		{"item in another element", "<rss><channel><x><item><title>a</title></item></channel></rss>", "a", ""},
		{"item in an item", item("<title>a</title><item /><description>b</description>"), "a", "b"},
		{"entity of HTML", item("<title>a&nbsp;b&mdash;c&unknown;</title>"), "a\u00a0b—c&unknown;", ""},
		{"cut off in the second item", "<rss><channel><item><title>a</title></item><item><title>b</tit", "a", ""},
		{"cut off in the first item", "<rss><channel><item><title>a</title><description>b", "a", ""},
		{"cut off in CDATA", "<rss><channel><item><title>a</title><description><![CDATA[b", "a", ""},
		{"cut off behind the items", item("<title>a</title>")[:60], "a", ""},
		{"upper case", strings.ToUpper(item("<title>a</title>")), "A", ""},
		{"null for an item", `{"items": [null, {"title": "a"}]}`, "a", ""},
		{"null for an author", `{"items": [{"title": "a", "Authors": [null]}], "authors": [null]}`, "a", ""},
		{"commas at ends", `{"items": [{"title": "a",},],}`, "a", ""},
		{"control characters in JSON", "{\"items\": [{\"title\": \"a\nb\x01\", \"content_html\": \"c\\\"\td\"}]}", "a b", `c" d`},
		{"fields of the wrong type", `{"version": 1, "items": [{"title": "a", "url": 7, "content_html": "b", "tags": "c"}, 3]}`, "a", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Parse([]byte(c.body), "", "")
			checkInvariants(t, c.name, doc, err)
			if c.title == "" {
				return
			}
			if err != nil || len(doc.Entries) == 0 {
				t.Fatalf("%d entries, error %v", len(doc.Entries), err)
			}
			if e := doc.Entries[0]; e.Title != c.title || e.HTML != c.html {
				t.Errorf("got %q and %q, want %q and %q", e.Title, e.HTML, c.title, c.html)
			}
		})
	}
}

func TestFieldsAreBounded(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	var b strings.Builder
	for i := range 100 {
		b.WriteString("<category>" + strings.Repeat(string(rune('A'+i)), 200) + "</category>")
	}
	body := "<rss><channel><item><title>" + long + "</title><link>" + long + "</link><guid>" + long + "</guid><author>" + long[:1000] +
		"</author><description>" + long + "</description>" + b.String() + "</item></channel></rss>"
	doc, err := Parse([]byte(body), "", "")
	checkInvariants(t, "long fields", doc, err)
	e := doc.Entries[0]
	if len(e.Title) != maxTitle || len(e.HTML) != maxHTML || e.Link != "" || e.GUID != "" || len(e.Author) != maxAuthor || len(e.Tags) != maxTags {
		t.Errorf("title %d, HTML %d, link %d, GUID %d, author %d bytes, %d tags", len(e.Title), len(e.HTML), len(e.Link), len(e.GUID), len(e.Author), len(e.Tags))
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"<rss xmlns:a='http://www.w3.org/2005/Atom' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel><ttl>60</ttl><sy:updatePeriod>daily</sy:updatePeriod><skipHours><hour>24</hour></skipHours><a:link rel='hub' href='//h'/><item><pubDate>Tue, 03 Mar 2026 09:00:00 -0500</pubDate></item></channel></rss>",
		"<rss version='2.0'><channel><title>T</title><item><title>a &lt; b</title><guid>1</guid><link>http://a/</link></item><item/></channel></rss>",
		"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a/'><entry><id>1</id><content type='xhtml'><div>x</div></content></entry></feed>",
		"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><item><title><![CDATA[a]]></title></item></rdf:RDF>",
		`{"version":"https://jsonfeed.org/version/1","items":[null,{"id":1,"authors":[null],"tags":["a",]}]}`,
		"<br><rss><channel><item><description>a<br>b</description></Item><item><title x=1 \"<",
		"\xff\xfe<\x00r\x00s\x00s\x00>\x00", "<html>", "<?xml encoding='gbk'?><rss>\xc4\xe3</rss>",
	} {
		f.Add([]byte(seed), "text/xml; charset=koi8-r")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := string(body)
		doc, err := Parse(body, contentType, "http://a.test/feed")
		if err != nil && strings.Contains(err.Error(), "broke the parser") {
			t.Error(err)
		}
		checkInvariants(t, "fuzz", doc, err)
		if string(body) != before {
			t.Error("the caller's bytes were changed")
		}
	})
}
