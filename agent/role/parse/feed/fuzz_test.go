package feed

import (
	"strings"
	"testing"
	"unicode/utf8"

	"feedmesh/agent/role/parse/feed/encoding"
)

// seeds are documents that cover each part of the parser.
var seeds = []string{
	"<rss xmlns:a='http://www.w3.org/2005/Atom' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel><ttl>60</ttl><sy:updatePeriod>daily</sy:updatePeriod><skipHours><hour>24</hour></skipHours><a:link rel='hub' href='//h'/><item><pubDate>Tue, 03 Mar 2026 09:00:00 -0500</pubDate></item></channel></rss>",
	"<rss version='2.0'><channel><title>T</title><item><title>a &lt; b</title><guid>1</guid><link>http://a/</link></item><item/></channel></rss>",
	"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a/'><entry><id>1</id><content type='xhtml'><div>x<br/><a href='1'>y</a></div></content></entry></feed>",
	"<feed version='0.3'><entry><content mode='base64'>PHA+YjwvcD4=</content><source><title>s</title></source></entry></feed>",
	"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><item><title><![CDATA[a]]></title></item></rdf:RDF>",
	`{"version":"https://jsonfeed.org/version/1","items":[null,{"id":1,"authors":[null],"tags":["a",],"attachments":{"url":"//a"}}]}`,
	"<br><rss><channel><item><description>a<br>b</description></Item><item><title x=1 \"<",
	"<rss><item><media:group><media:content url='//a'><media:thumbnail url='b'/></media:content></media:group><itunes:image href='c'/></item></rss>",
	"<rss><channel><item><description><![CDATA[a<![CDATA[b]]>c]]></description><![CDATA[d</item><!-- e <!-- f --> <a b='c>d<e f=\"g\"",
	"<rss><channel><item><title>a<link>b<guid>c</guid>&#xD83D;&#56832;&#0;&nbsp;&x;&</item></channel></rss><item><title>z",
	"<!DOCTYPE rss [<!ENTITY a 'b'>]><rss><channel><item><title>&a;</title></item></channel></rss><rss>",
	"<feed><entry><x:y><entry/></x:y><title>a</titel></entry></feed>",
	"\xff\xfe<\x00r\x00s\x00s\x00>\x00", "<html>", "<?xml encoding='gbk'?><rss>\xc4\xe3</rss>", "<", "{", "[", "<rss", "<rss><", "<rss></", "<rss><!",
}

// FuzzParse: no document causes a panic, changes the caller's bytes or violates an invariant, and parsing is
// deterministic.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), "text/xml; charset=koi8-r", "http://a.test/feed")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType, address string) {
		before := string(body)
		doc, err := Parse(body, contentType, address)
		if err != nil && strings.Contains(err.Error(), "the parser failed") {
			t.Error(err)
		}
		checkInvariants(t, "fuzz", doc, err)
		if string(body) != before {
			t.Error("the caller's bytes were changed")
		}
		again, _ := Parse(body, contentType, address)
		if !same(doc, again) {
			t.Error("the second reading differs from the first")
		}
	})
}

// FuzzCharset: for all bytes and labels the decoded text is valid UTF-8 without control characters, and sound
// UTF-8 is unchanged.
func FuzzCharset(f *testing.F) {
	for _, seed := range append(seeds, "dÃ©jÃ  vu Ã  nouveau", "\xEF\xBB\xBF\xEF\xBB\xBF<rss>", "\x1b$B%G\x1b(B", "\x00\x00\xfe\xff\x00\x00\x00<", "\xcf\xf0\xe8\xe2\xe5\xf2") {
		f.Add([]byte(seed), "text/xml; charset=windows-1251")
		f.Add([]byte("<?xml version='1.0' encoding='iso-2022-jp'?>"+seed), "")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := string(body)
		got, name, wrong := encoding.Decode(body, contentType)
		if !utf8.Valid(got) || strings.ContainsFunc(string(got), func(r rune) bool { return r < 0x20 && r != '\t' && r != '\n' && r != '\r' }) {
			t.Errorf("%q is not clean UTF-8", got)
		}
		if name == "" {
			t.Error("no name for the encoding")
		}
		if name == "utf-8" && wrong == (encoding.Damage{}) && utf8.Valid(body) && string(got) != strings.TrimPrefix(before, encoding.ByteOrderMark) && !strings.ContainsAny(before, "\uFFFD\uFFFE\uFFFF") {
			t.Errorf("%q became %q", before, got)
		}
		if string(body) != before {
			t.Error("the caller's bytes were changed")
		}
	})
}

// FuzzJSON: text that looks like JSON causes no panic, and the result is within the limits.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"version":"https://jsonfeed.org/version/1","title":"T","items":[{"id":"1","title":"a","url":"http://a/","content_text":"b"}]}`,
		`{"items":[null,{"id":{},"authors":[null,"a",{"name":"b"}],"tags":"c","attachments":[{"size_in_bytes":1e3}]},]}`,
		`{"items":[{"title":"a"},{"title":"b\`, `{"items":{"title":"\ud83d"}}`, `[[[]]]`, `{"a":,}`, "{\"items\":[{\"title\":\"\x01\\q\"}]}", `{"items":[{"title":"a"}]}}{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 || body[0] != '{' && body[0] != '[' {
			return
		}
		before := string(body)
		doc, err := Parse(body, "application/feed+json", "https://a.test/feed")
		if err != nil && strings.Contains(err.Error(), "the parser failed") {
			t.Error(err)
		}
		checkInvariants(t, "fuzz", doc, err)
		if string(body) != before {
			t.Error("the caller's bytes were changed")
		}
	})
}
