package feed

import (
	"strings"
	"testing"
)

const (
	rssHead = "<rss version='2.0'><channel><title>T</title>"
	rssTail = "</channel></rss>"
)

// A repairCase is a document with one defect and its expected entries: title, link and HTML of each, as in
// "a|http://a/|text; b||".
type repairCase struct{ name, body, want, malformed string }

// item returns a feed with one item.
func item(fields string) string { return rssHead + "<item>" + fields + "</item>" + rssTail }

func entryOf(fields string) string {
	return "<feed xmlns='http://www.w3.org/2005/Atom'><title>T</title><entry>" + fields + "</entry></feed>"
}

func testRepairs(t *testing.T, cases []repairCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Parse([]byte(c.body), "", "")
			checkInvariants(t, c.name, doc, err)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range doc.Entries {
				got = append(got, e.Title+"|"+e.Link+"|"+e.HTML)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got  %q\nwant %q", s, c.want)
			}
			if doc.Malformed != c.malformed {
				t.Errorf("got  malformed %q\nwant %q", doc.Malformed, c.malformed)
			}
		})
	}
}

// TestParse_JunkBeforeAndAfterTheFeed: text before and after the feed does not affect it.
func TestParse_JunkBeforeAndAfterTheFeed(t *testing.T) {
	a := item("<title>a</title>")
	const before, after, both = "something else precedes it", "something else follows it", "something else precedes it, something else follows it"
	testRepairs(t, []repairCase{
		{"nothing", "<?xml version='1.0'?>\n<?xml-stylesheet href='a'?><!-- b --><!DOCTYPE rss>" + a + "\n<!-- c -->", "a||", ""},
		{"PHP warning", "PHP Notice: x < y\n<br />" + a, "a||", before},
		{"byte order marks", "\uFEFF\uFEFF" + a, "a||", before},
		{"a byte order mark encoded twice", "ï»¿" + a, "a||", before},
		{"blank lines before the declaration", "\n\n<?xml version='1.0'?>" + a, "a||", ""},
		{"junk and end tags", a + "</p><b>x", "a||", after},
		{"a second root", a + item("<title>b</title>"), "a||", after},
		{"an empty root before it", rssHead + rssTail + a, "a||", after},
		{"60 KB of comment", "<!--" + strings.Repeat(" <rss> ", 8700) + "-->" + a, "a||", ""},
		{"60 KB of document type", "<!DOCTYPE rss [" + strings.Repeat("<!ENTITY x '<rss>'>", 3200) + "]>" + a, "a||", ""},
		{"web page around it", "<html><body>" + a + "</body></html>", "a||", both},
		{"XML 1.1", "<?xml version='1.1'?>" + a, "a||", ""},
		{"declaration without its end", "<?xml version='1.0' encoding='utf-8'>" + a, "a||", ""},
		{"root without attributes, with prefix", "<x:rss><channel><item><title>a</title></item></channel></x:rss>", "a||", ""},
		{"attributes of the root", "<rss version=2.0 version='2.0' xmlns xmlns:='' version 'x'><channel><item><title>a</title></item></channel></rss>", "a||", "damaged attributes"},
		{"no root", "<channel><title>T</title><item><title>a</title></item></channel>", "a||", "no root that a feed has"},
		{"an unknown root", "<xml><channel><title>T</title><item><title>a</title></item></channel></xml>", "a||", after + ", no root that a feed has"},
		{"a root in a root", "<rss>" + a + "</rss>", "a||", ""},
		{"all of it escaped", escape(a), "a||", "all of it is escaped"},
		{"the mark of another encoding", "\xFF\xFE" + a, "a||", ""},
		{"upper case", strings.ToUpper(a), "A||", ""},
		{"mixed case", "<Rss><Channel><ITEM><Title>a</tItLe></Item></channel></RSS>", "a||", ""},
		{"JSON Feed with a mark", "\uFEFF" + `{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"a"}]}`, "a||", ""},
		{"JSON Feed behind a warning", `Warning: x in y on line 3` + "\n" + `{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"a"}]}` + "\n<!-- z -->", "a||", both},
	})
}

// TestParse_References: invalid references are kept, and those valid in XML or HTML are resolved.
func TestParse_References(t *testing.T) {
	const bare, unknown, forbidden = "bare ampersands", "entities that XML does not have", "characters that XML forbids"
	testRepairs(t, []repairCase{
		{"of XML", item("<title>a &amp; &lt;b&gt; &quot;c&apos; &#65;&#x42;</title>"), `a & <b> "c' AB||`, ""},
		{"bare ampersand", item("<title>AT&T & co &; R&D;</title>"), "AT&T & co &; R&D;||", bare + ", " + unknown},
		{"in addresses", item("<title>a</title><link>http://a/?x=1&copy=2&lt=3&amp;y=4</link>"), "a|http://a/?x=1&copy=2&lt=3&y=4|", bare},
		{"of HTML", item("<title>a&nbsp;b&mdash;c&Eacute;</title>"), "a\u00a0b—cÉ||", unknown},
		{"of HTML, in capitals", item("<title>a&NBSP;b</title>"), "a\u00a0b||", unknown},
		{"of an undeclared prefix", item("<title>a&unknown;b&copying;</title>"), "a&unknown;b&copying;||", unknown},
		{"characters that XML forbids", item("<title>a&#11;b&#x1F;c&#0;d&#xFFFE;e&#9;f&#x110000;g</title>"), "abcde\tfg||", forbidden},
		{"without semicolon", item("<title>a&#38 b&#x41g</title>"), "a& bAg||", bare},
		{"halves of a character", item("<title>a&#55357;&#56832;b&#xD83D;c</title>"), "a😀bc||", forbidden},
		{"windows-1252", item("<title>a&#150;b&#146;c</title>"), "a–b’c||", ""},
		{"in attributes", item("<title>a</title><link href='http://a/?x=1&y=2&nbsp;'/>"), "a|http://a/?x=1&y=2|", bare + ", " + unknown},
		{"escaped twice", item("<title>a &amp;amp; b</title>"), "a &amp; b||", ""},
		{"defined by the document type", "<!DOCTYPE rss [<!ENTITY co 'ACME'><!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY y '&co;&co;'>]>" + item("<title>&co; &x;&y;</title>"), "ACME &x;&y;||", unknown},
		{"control characters", item("<title>a\x0bb\x00c\x1f</title>"), "abc||", forbidden},
		{"neither sign nor number", item("<title>&# &#x; &#xyz; &</title>"), "&# &#x; &#xyz; &||", bare},
	})
}

// TestParse_DamagedTags: damage in a tag affects that tag at most.
func TestParse_DamagedTags(t *testing.T) {
	const less, attributes, unclosed = "bare less-than signs", "damaged attributes", "elements that nobody closed"
	testRepairs(t, []repairCase{
		{"less-than signs", item("<title>a < b <3 <— c <</title>"), "a < b <3 <— c <||", less},
		{"less-than sign before a letter", item("<title>if x <y then</title><link>http://a/</link>"), "if x <y then|http://a/|", less},
		{"a type in a title", item("<title>Vector<String> in Java</title><link>http://a/</link>"), "Vector&lt;String&gt; in Java|http://a/|", unclosed},
		{"markup in a title", item("<title>a <b>b</b> <i>c</title>"), "a <b>b</b> <i>c</i>||", unclosed},
		{"a field's tag in a title", item("<title>The <link> element</title><guid>http://a/</guid>"), "The <link/> element|http://a/|", unclosed},
		{"less-than sign in an attribute", item("<title x='<'>a</title>"), "a||", less},
		{"greater-than sign in an attribute", item("<title x='>'>a</title>"), "a||", ""},
		{"attributes without quotes", item("<title>a</title><link href=http://a/?b&c rel=alternate />"), "a|http://a/?b&c|", attributes},
		{"attribute without value", item("<title>a</title><guid ispermalink>http://a/</guid>"), "a|http://a/|", attributes},
		{"attributes twice", item("<title>a</title><link href='http://a/' href='http://b/'/>"), "a|http://a/|", attributes},
		{"no space between", item("<title>a</title><link rel='alternate'href='http://a/'/>"), "a|http://a/|", ""},
		{"quote missing before another attribute", item(`<title>a</title><link href="http://a/ rel="alternate"/>`), "a|http://a/|", attributes},
		{"quote missing at the end of a tag", item(`<title>a</title><link href="http://a/><category term="b"/>`), "a|http://a/|", attributes + ", " + unclosed},
		{"quote that never ends", item(`<title>a</title><link href="http://a/></link>`), "a|http://a/|", attributes},
		{"quotes of printers", item("<title>a</title><link href=“http://a/”/>"), "a|http://a/|", attributes},
		{"spaces in end tags", item("<title>a</ title><link>http://a/</ link >"), "a|http://a/|", ""},
		{"quotes in a row", item(`<title a=""b"" c='d''>a</title>`), "a||", attributes},
		{"tag without end", item("<title>a</title><description>b <i c<b>d</b></description>"), "a||b <i c><b>d</b></i>", attributes + ", " + unclosed},
		{"end tag without end", item("<title>a</title<link>http://a/</link>"), "a|http://a/|", attributes},
		{"end tag with attributes", item("<title>a</title x='y'><link>http://a/</link >"), "a|http://a/|", ""},
		{"prefix of the end tag missing", item("<title>a</title><content:encoded>b</encoded><link>http://a/</link>"), "a|http://a/|b", ""},
		{"misspelt end tag", item("<title>a</titel><link>http://a/</link>"), "a|http://a/|", unclosed + ", end tags of nothing"},
		{"second declaration", item("<?xml version='1.0' encoding='windows-1251'?><title>ä</title>"), "ä||", ""},
		{"document type inside", item("<!DOCTYPE x><title>a</title>"), "a||", ""},
	})
}

// TestParse_CDATAAndComments: CDATA and comments end where intended.
func TestParse_CDATAAndComments(t *testing.T) {
	const cdata, comments = "damaged CDATA sections", "damaged comments"
	two := rssHead + "<item><title>a</title><description>%</description></item><item><title>b</title><description><![CDATA[c]]></description></item>" + rssTail
	with := func(s string) string { return strings.Replace(two, "%", s, 1) }
	testRepairs(t, []repairCase{
		{"sound", with("<![CDATA[ <p>x & y</p> ]]>"), "a||<p>x & y</p>; b||c", ""},
		{"two in one", with("<![CDATA[x]]> &amp; <![CDATA[]]]]><![CDATA[>y]]>"), "a||x & ]]>y; b||c", ""},
		{"in lower case", with("<![cdata[x]]>"), "a||x; b||c", ""},
		{"never closed, another follows", with("<![CDATA[x<br>"), "a||x<br>; b||c", cdata},
		{"never closed", strings.Replace(with("<![CDATA[x"), "<![CDATA[c]]>", "c", 1), "a||x; b||c", cdata},
		{"within one another", with("<![CDATA[x <![CDATA[y]]> z]]>"), "a||x y z; b||c", cdata},
		{"within one another, ended once", with("<![CDATA[x <![CDATA[y]]>"), "a||x y; b||c", cdata},
		{"end without start", with("x ]]> y"), "a||x ]]> y; b||c", ""},
		{"with spaces", with("<! [ CDATA [x]]>"), "a||x; b||c", ""},
		{"without its first character", with("<[CDATA[x]]>"), "a||x; b||c", "bare less-than signs"},
		{"nearly closed", with("<![CDATA[x]]&gt;"), "a||x; b||c", cdata},
		{"escaped", with("&lt;![CDATA[x]]&gt;"), "a||x; b||c", ""},
		{"comment", with("x<!-- y -->z"), "a||xz; b||c", ""},
		{"comment with dashes", with("x<!-- y -- y --->z"), "a||xz; b||c", comments},
		{"comment that ends at once", with("x<!-->z"), "a||xz; b||c", comments},
		{"comment never closed", with("x<!-- y"), "a||x; b||c", comments},
		{"comment never closed, another follows", with("x<!-- y") + "<!-- z -->", "a||x; b||c", comments},
		{"items in a comment", strings.Replace(with("x"), "<item>", "<!-- <item><title>z</title></item> --><item>", 1), "a||x; b||c", ""},
	})
}

// TestParse_MissingAndWrongEndTags covers missing and wrong end tags.
func TestParse_MissingAndWrongEndTags(t *testing.T) {
	const unclosed, strays, outside, cut = "elements that nobody closed", "end tags of nothing", "items outside the channel", "it is cut off"
	testRepairs(t, []repairCase{
		{"stray end tags", item("<title>a</title></p></b><link>http://a/</link>"), "a|http://a/|", strays},
		{"HTML never closed", item("<title>a</title><description>b<br>c<img src='d'><i>e</description>"), `a||b<br/>c<img src="d"/><i>e</i>`, unclosed},
		{"item never closed", rssHead + "<item><title>a</title><item><title>b</title></item>" + rssTail, "a||; b||", unclosed},
		{"item in another element", rssHead + "<x><item><title>a</title></item>" + rssTail, "a||", unclosed},
		{"empty items", rssHead + "<item/><item><title>a</title></item><item></item>" + rssTail, "a||", ""},
		{"item in an item", item("<title>a</title><item /><description>b</description>"), "a||b", ""},
		{"items of another vocabulary", item("<title>a</title><x:versions><item><title>b</title></item></x:versions><link>http://a/</link>"), "a|http://a/|", ""},
		{"items outside the channel", "<rss><channel><title>T</title></channel><item><title>a</title></item><item><title>b</title></item></rss>", "a||; b||", ""},
		{"items behind the root", rssHead + rssTail + "<item><title>a</title></item><item><title>b</title></item></rss>", "a||; b||", outside},
		{"no channel", "<rss><title>T</title><item><title>a</title></item></rss>", "a||", ""},
		{"no end of the channel", rssHead + "<item><title>a</title></item></rss>", "a||", unclosed},
		{"no end of channel and root", rssHead + "<item><title>a</title></item>", "a||", cut},
		{"no end of anything", rssHead + "<item><title>a</title><link>http://a/</link>", "a|http://a/|", cut},
		{"no end of the last item, which ends as others do", rssHead + "<item><title>a</title><guid>1</guid></item><item><title>b</title><guid>2</guid>\n", "a||; b||", cut},
		{"no end of the last item, of which a field is missing", rssHead + "<item><title>a</title><guid>1</guid></item><item><title>b</title>", "a||", cut},
		{"ends in the wrong order", rssHead + "<item><title>a</title></channel></item></rss>", "a||", unclosed + ", " + strays},
		{"title never closed", item("<title>a<link>http://a/</link><description>b</description>"), "a|http://a/|b", unclosed},
		{"link never closed", item("<title>a</title><link>http://a/<guid>1</guid><description>b</description>"), "a|http://a/|b", unclosed},
		{"description never closed", item("<title>a</title><description>b <b>c</b><pubDate>Tue, 03 Mar 2026 09:00:00 GMT</pubDate><guid>1</guid>"), "a||b <b>c</b>", unclosed},
		{"link that ends at once", item("<title>a</title><link/>http://a/\n<guid>1</guid>"), "a|http://a/|", unclosed},
		{"link of Atom never closed", entryOf("<title>a</title><link href='http://a/'><content>b</content>"), "a|http://a/|b", unclosed},
		{"title of the channel never closed", "<rss><channel><title>T<item><title>a</title></item></channel></rss>", "a||", unclosed},
		{"image of the channel never closed", "<rss><channel><image><title>x</title><item><title>a</title></item></channel></rss>", "a||", unclosed},
		{"entries in RSS", rssHead + "<entry><title>a</title><link href='http://a/'/><content>b</content></entry>" + rssTail, "a|http://a/|b", ""},
		{"items in Atom", "<feed><item><title>a</title><link>http://a/</link><description>b</description></item></feed>", "a|http://a/|b", ""},
		{"cut off in the second item", rssHead + "<item><title>a</title></item><item><title>b</tit", "a||", cut},
		{"cut off in a tag of the second item", rssHead + "<item><title>a</title></item><item><title>b</title><link hr", "a||", cut},
		{"cut off in the first item", rssHead + "<item><title>a</title><description>b", "a||", cut},
		{"cut off in the third field", rssHead + "<item><title>a</title><link>http://a/</link><description>b", "a|http://a/|", cut},
		{"cut off in CDATA", rssHead + "<item><title>a</title><description><![CDATA[b", "a||", cut},
		{"cut off behind the items", item("<title>a</title>")[:len(item("<title>a</title>"))-9], "a||", cut},
	})
}

// TestParse_NamespacesAndCustomaryPrefixes: elements are identified by their namespace, or else by the
// customary prefix for it.
func TestParse_NamespacesAndCustomaryPrefixes(t *testing.T) {
	with := func(declarations, fields string) string {
		return "<rss " + declarations + "><channel><item><title>a</title>" + fields + "</item></channel></rss>"
	}
	testRepairs(t, []repairCase{
		{"declared", with("xmlns:c='http://purl.org/rss/1.0/modules/content/'", "<c:encoded>b</c:encoded>"), "a||b", ""},
		{"not declared", with("", "<content:encoded>b</content:encoded>"), "a||b", ""},
		{"declared as another", with("xmlns:content='http://example.com/'", "<content:encoded>b</content:encoded>"), "a||b", ""},
		{"in another spelling", with("xmlns:c='HTTPS://www.purl.org/rss/1.0/modules/content'", "<c:encoded>b</c:encoded>"), "a||b", ""},
		{"RSS in Atom's", with("xmlns='http://www.w3.org/2005/Atom'", "<link>http://a/</link>"), "a|http://a/|", ""},
		{"RSS in an unregistered namespace", with("xmlns='http://example.com/'", "<link>http://a/</link>"), "a|http://a/|", ""},
		{"Atom with a prefix", "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:title>a</a:title><a:link href='http://a/'/></a:entry></a:feed>", "a|http://a/|", ""},
		{"Atom in an unregistered namespace", "<feed xmlns='http://example.com/atom'><entry><title>a</title><link href='http://a/'/></entry></feed>", "a|http://a/|", ""},
		{"Atom 0.3", "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry><title mode='escaped'>a &amp;amp; b</title><link rel='alternate' href='http://a/'/><content mode='xml'><p>c</p></content></entry></feed>", "a &amp; b|http://a/|<p>c</p>", ""},
		{"XHTML with a prefix", entryOf("<title>a</title><content type='xhtml' xmlns:h='http://www.w3.org/1999/xhtml'><h:div>b<h:br/><h:i>c &lt; d</h:i></h:div></content>"), "a||b<br/><i>c &lt; d</i>", ""},
		{"titles of other vocabularies", with("", "<media:content url='http://m/'><media:title>m</media:title></media:content><x:link>no</x:link><link>http://a/</link>"), "a|http://a/|", ""},
	})
}

// TestParse_HTMLAndPlainTexts distinguishes HTML from plain text.
func TestParse_HTMLAndPlainTexts(t *testing.T) {
	testRepairs(t, []repairCase{
		{"escaped HTML", item("<title>a</title><description>&lt;p&gt;b&lt;/p&gt;</description>"), "a||<p>b</p>", ""},
		{"declared text", entryOf("<title type='text'>1 &lt; 2 &lt;b&gt;</title><summary type='text'>x &lt;y&gt;</summary>"), "1 &lt; 2 &lt;b&gt;||x &lt;y&gt;", ""},
		{"declared HTML", entryOf("<title type='html'>&lt;b&gt;a&lt;/b&gt;</title><content type='html'>&lt;p&gt;b&lt;/p&gt;</content>"), "<b>a</b>||<p>b</p>", ""},
		{"HTML in base64", entryOf("<title>a</title><content type='text/html' mode='base64'>PHA+ YjwvcD4=</content>"), "a||<p>b</p>", ""},
		{"a picture in base64", entryOf("<title>a</title><content type='image/png'>iVBORw0KGgo=</content>"), "a||", ""},
		{"text declared as base64", entryOf("<title>a</title><content mode='base64'>b!</content>"), "a||b!", ""},
		{"XHTML in more than a div", entryOf("<title>a</title><content type='xhtml'>b <div>c</div></content>"), "a||b <div>c</div>", ""},
		{"XHTML of a body", item("<title>a</title><xhtml:body><xhtml:p>b</xhtml:p></xhtml:body>"), "a||<p>b</p>", ""},
		{"content elsewhere", entryOf("<title>a</title><content type='video/mp4' src='http://a/v.mp4'/>"), "a|http://a/v.mp4|", ""},
	})
}

// TestParse_WrongJSONTypeAffectsItsFieldOnly: a field of a wrong type affects that field only.
func TestParse_WrongJSONTypeAffectsItsFieldOnly(t *testing.T) {
	const damaged = "damaged JSON"
	feed := func(items string) string {
		return `{"version":"https://jsonfeed.org/version/1","items":[` + items + `]}`
	}
	testRepairs(t, []repairCase{
		{"sound", feed(`{"id":"1","title":"a","url":"http://a/","content_text":"b < c"}`), "a|http://a/|b &lt; c", ""},
		{"null for an item", feed(`null,{"title":"a"},null`), "a||", ""},
		{"null for other fields", feed(`{"title":"a","url":null,"tags":null,"authors":[null],"attachments":[null]}`), "a||", ""},
		{"commas at ends", `{"items":[{"title":"a",},],}`, "a||", damaged},
		{"control characters", "{\"items\":[{\"title\":\"a\nb\",\"content_html\":\"c\\\"\td\"}]}", "a b||c\" d", damaged},
		{"invalid escapes", feed(`{"title":"it\'s a \d"}`), "it's a d||", damaged},
		{"wrong types", `{"version":1,"items":[{"title":["a"],"id":{},"url":7,"content_html":"b","tags":"c"},3,"x",[],{"title":"d","content_text":true}]}`, "|7|b; d||true", ""},
		{"characters by number", feed(`{"title":"\u00e9\ud83d\ude00\ud83d\u0041\ude00 \"\/\\\t"}`), "é😀\uFFFDA\uFFFD \"/\\||", ""},
		{"keys without quotes", `{version: "https://jsonfeed.org/version/1", items: [{title: "a", url: undefined, tags: None}]}`, "a||", damaged},
		{"comma missing", feed(`{"title":"a"} {"title":"b"}`), "a||; b||", damaged},
		{"JSONP", `f(` + feed(`{"title":"a"}`) + `);`, "a||", "something else precedes it, something else follows it"},
		{"names in capitals", `{"Items":[{"Title":"a"}]}`, "a||", ""},
		{"cut off in the second item", feed(`{"title":"a"},{"title":"b"`)[:75], "a||", "it is cut off, " + damaged},
		{"cut off in the first item", `{"items":[{"title":"a","url":"http`, "a||", "it is cut off, " + damaged},
		{"cut off behind the items", strings.TrimSuffix(feed(`{"title":"a"},{"title":"b"}`), "]}"), "a||; b||", "it is cut off, " + damaged},
	})
}
