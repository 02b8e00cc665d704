package feed

import (
	"reflect"
	"strings"
	"testing"
)

// only returns the only entry of a document with the given address.
func only(t *testing.T, body, address string) Entry {
	t.Helper()
	doc, err := Parse([]byte(body), "", address)
	checkInvariants(t, body, doc, err)
	if err != nil || len(doc.Entries) != 1 {
		t.Fatalf("%s: %d entries, error %v", body, len(doc.Entries), err)
	}
	return doc.Entries[0]
}

// TestParse_LinksAreAbsolute: an entry's address is absolute or empty.
func TestParse_LinksAreAbsolute(t *testing.T) {
	rssAt := func(site, fields string) string {
		return "<rss><channel><link>" + site + "</link><item><title>a</title>" + fields + "</item></channel></rss>"
	}
	atomAt := func(attributes, fields string) string {
		return "<feed " + attributes + "><entry><title>a</title>" + fields + "</entry></feed>"
	}
	for _, c := range []struct{ name, body, want string }{
		{"absolute", rssAt("https://a.test/", "<link>https://b.test/1</link>"), "https://b.test/1"},
		{"as written", rssAt("", "<link>HTTP://B.test:80/ü?utm_source=x</link>"), "HTTP://B.test:80/ü?utm_source=x"},
		{"relative to the channel", rssAt("https://a.test/blog/", "<link>1</link>"), "https://a.test/blog/1"},
		{"relative to a relative channel", rssAt("/blog/", "<link>1</link>"), "https://f.test/blog/1"},
		{"relative to the document", rssAt("", "<link>1</link>"), "https://f.test/feeds/1"},
		{"without scheme", rssAt("", "<link>//b.test/1</link>"), "https://b.test/1"},
		{"a host's name", rssAt("", "<link>www.b.test/1</link>"), "http://www.b.test/1"},
		{"the name of the feed's host", rssAt("", "<link>f.test/1</link>"), "https://f.test/1"},
		{"white space in CDATA", rssAt("", "<link><![CDATA[\n  https://b.test/\n 1 ]]></link>"), "https://b.test/%201"},
		{"a percent sign", rssAt("", "<link>https://b.test/100%</link>"), "https://b.test/100%25"},
		{"a mail address", rssAt("", "<link>mailto:a@b.test</link>"), ""},
		{"a script", rssAt("", "<link>javascript:alert(1)</link>"), ""},
		{"a tag", rssAt("", "<link>tag:b.test,2026:1</link><guid isPermaLink='false'>1</guid>"), ""},
		{"nowhere", rssAt("", "<link>https://</link>"), ""},
		{"permalink", rssAt("", "<guid>https://b.test/1</guid>"), "https://b.test/1"},
		{"relative permalink", rssAt("", "<guid isPermaLink='true'>/1</guid>"), "https://f.test/1"},
		{"relative GUID", rssAt("", "<guid>1</guid>"), ""},
		{"GUID declared as no permalink, without a link", rssAt("", "<guid isPermaLink='false'>https://b.test/1</guid>"), "https://b.test/1"},
		{"behind FeedBurner", rssAt("", "<link>https://proxy.test/1</link><feedburner:origLink>https://b.test/1</feedburner:origLink>"), "https://b.test/1"},
		{"link of Atom in RSS", rssAt("", "<atom:link rel='self' href='https://b.test/0'/><atom:link href='https://b.test/1'/>"), "https://b.test/1"},
		{"link and link of Atom", rssAt("", "<atom:link href='https://b.test/2' type='application/json'/><link>https://b.test/1</link>"), "https://b.test/1"},
		{"rdf:about", "<rdf:RDF><channel/><item rdf:about='https://b.test/1'><title>a</title></item></rdf:RDF>", "https://b.test/1"},
		{"page rather than another format", atomAt("", "<link href='/1.json' type='application/json'/><link href='/1' type='text/html'/>"), "https://f.test/1"},
		{"self where there is no page", atomAt("", "<link rel='edit' href='/0'/><link rel='self' href='/1'/>"), "https://f.test/1"},
		{"ID", atomAt("", "<id>https://b.test/1</id>"), "https://b.test/1"},
		{"xml:base", atomAt("xml:base='https://b.test/x/'", "<link href='1'/>"), "https://b.test/x/1"},
		{"xml:base within xml:base", atomAt("xml:base='https://b.test/x/'", "<link xml:base='y/' href='1'/>"), "https://b.test/x/y/1"},
		{"relative xml:base", atomAt("xml:base='/x/'", "<link href='1'/>"), "https://f.test/x/1"},
		{"invalid xml:base", atomAt("xml:base='urn:x'", "<link href='1'/>"), "https://f.test/feeds/1"},
		{"JSON", `{"home_page_url":"/blog/","items":[{"id":"1","url":"1"}]}`, "https://f.test/blog/1"},
		{"JSON, elsewhere", `{"items":[{"id":"1","url":"x:y","external_url":"//b.test/1"}]}`, "https://b.test/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := only(t, c.body, "https://f.test/feeds/1.xml").Link; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := only(t, rssAt("", "<link>posts/1</link>"), "").Link; got != "posts/1" {
		t.Errorf("got %q without a base address", got)
	}
}

// TestParse_AddressesInHTMLBecomeAbsolute: addresses become absolute if xml:base states the base; the rest of
// the HTML is unchanged.
func TestParse_AddressesInHTMLBecomeAbsolute(t *testing.T) {
	const content = `<p class=x>a<a href="1?b&amp;c">d</a><img src='/i.png' alt=""><a href="#e">f</a><a href="https://c.test/">g</a></P><!-- h -->`
	body := "<feed xml:base='https://b.test/x/'><entry><content type='html'><![CDATA[" + content + "]]></content></entry></feed>"
	want := `<p class=x>a<a href="https://b.test/x/1?b&amp;c">d</a><img src="https://b.test/i.png" alt=""><a href="#e">f</a><a href="https://c.test/">g</a></P><!-- h -->`
	if got := only(t, body, "").HTML; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := only(t, strings.Replace(body, "xml:base", "x", 1), "https://f.test/").HTML; got != content {
		t.Errorf("without xml:base: got %s", got)
	}
}

// TestParse_FieldsOfEachFormat: each field is found in all elements that the formats have for it.
func TestParse_FieldsOfEachFormat(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       Entry // compared where set
	}{
		{"content and summary", item("<description>s</description><content:encoded>c</content:encoded>"), Entry{HTML: "c", Summary: "s"}},
		{"summary that is the content", item("<description>c</description><content:encoded>c</content:encoded>"), Entry{HTML: "c"}},
		{"summary alone", entryOf("<summary>s</summary>"), Entry{HTML: "s"}},
		{"both in Atom", entryOf("<summary>s</summary><content>c</content>"), Entry{HTML: "c", Summary: "s"}},
		{"both in JSON", `{"items":[{"content_text":"c","summary":"s < t"}]}`, Entry{HTML: "c", Summary: "s &lt; t"}},
		{"a podcast's summary", item("<itunes:summary>s</itunes:summary>"), Entry{HTML: "s"}},
		{"a video's description", item("<media:group><media:description>a\nb</media:description></media:group>"), Entry{HTML: "a<br>\nb"}},

		{"author's address and name", item("<author>a@b.test (Ann)</author>"), Entry{Author: "Ann"}},
		{"name and address", item("<author>Ann (a@b.test)</author>"), Entry{Author: "Ann"}},
		{"address alone", item("<author>a@b.test</author>"), Entry{Author: "a@b.test"}},
		{"two creators", item("<dc:creator>Ann</dc:creator><dc:creator>Ben</dc:creator><dc:creator>Ann</dc:creator>"), Entry{Author: "Ann, Ben"}},
		{"author of Atom in RSS", item("<atom:author><atom:name>Ann</atom:name></atom:author>"), Entry{Author: "Ann"}},
		{"markup in an author", item("<author><b>Ann</b></author>"), Entry{Author: "<b>Ann</b>"}},
		{"author's pages", entryOf("<title>a</title><author><uri>http://a/</uri></author>"), Entry{}},
		{"author of the feed", "<feed><author><name>Ann</name></author><entry><title>a</title></entry></feed>", Entry{Author: "Ann"}},
		{"author of the source", "<feed><author><name>Ann</name></author><entry><title>a</title><source><title>S</title><author><name>Ben</name></author></source></entry></feed>", Entry{Author: "Ben", Source: "S"}},
		{"authors in JSON", `{"authors":[{"name":"Zoe"}],"items":[{"title":"a","authors":[{"name":"Ann"},"Ben"]}]}`, Entry{Author: "Ann, Ben"}},

		{"enclosure", item("<enclosure url='http://a/1.mp3' type='audio/mpeg' length='7'/><enclosure url='http://a/1.mp3'/>"), Entry{Enclosures: []Enclosure{{"http://a/1.mp3", "audio/mpeg", 7}}}},
		{"enclosure of Atom", entryOf("<link rel='enclosure' href='http://a/1.mp3' length='no'/>"), Entry{Enclosures: []Enclosure{{URL: "http://a/1.mp3"}}}},
		{"a video's HTML", item("<media:description type='html'>&lt;b&gt;a&lt;/b&gt;</media:description>"), Entry{HTML: "<b>a</b>"}},
		{"media", item("<media:group><media:content url='http://a/1.mp4' medium='video' fileSize='9'/></media:group>"), Entry{Enclosures: []Enclosure{{"http://a/1.mp4", "video", 9}}}},
		{"attachment", `{"items":[{"title":"a","attachments":{"url":"http://a/1","mime_type":"x/y","size_in_bytes":"8"}}]}`, Entry{Enclosures: []Enclosure{{"http://a/1", "x/y", 8}}}},
		{"an invalid file", item("<title>a</title><enclosure url='file:///etc/passwd'/>"), Entry{}},

		{"thumbnail", item("<media:content url='http://a/1.mp4'><media:thumbnail url='http://a/1.png'/></media:content>"), Entry{Image: "http://a/1.png"}},
		{"a podcast's image", item("<itunes:image href='http://a/1.png'/><media:thumbnail url='http://a/2.png'/>"), Entry{Image: "http://a/1.png"}},
		{"a picture among the files", item("<media:thumbnail url='http://a/2.png'/><enclosure url='http://a/1.png' type='image/png'/>"), Entry{Image: "http://a/1.png"}},

		{"comments", item("<comments>http://a/c</comments><slash:comments>7</slash:comments>"), Entry{Comments: "http://a/c"}},
		{"replies", entryOf("<link rel='replies' type='text/html' href='http://a/c'/>"), Entry{Comments: "http://a/c"}},
		{"source", item("<source url='http://s/'>S</source>"), Entry{Source: "S"}},
		{"language", item("<title>a</title><dc:language>fr</dc:language>"), Entry{Language: "fr"}},
		{"language of the element", "<feed xml:lang='de'><entry xml:lang='fr'><title>a</title></entry></feed>", Entry{Language: "fr"}},
		{"tags", item("<category>a</category><category domain='x'> b </category><dc:subject>c</dc:subject><itunes:keywords>d, e</itunes:keywords>"), Entry{Tags: []string{"a", "b", "c", "d", "e"}}},
		{"tags of Atom", entryOf("<category term='a'/><category term='x' label='b'/>"), Entry{Tags: []string{"a", "b"}}},
		{"one string for tags", `{"items":[{"title":"a","tags":"b"}]}`, Entry{Tags: []string{"b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := only(t, c.body, "")
			got, want := reflect.ValueOf(e), reflect.ValueOf(c.want)
			for i := range want.NumField() {
				if name := want.Type().Field(i).Name; !want.Field(i).IsZero() && !reflect.DeepEqual(got.Field(i).Interface(), want.Field(i).Interface()) {
					t.Errorf("%s: got %v, want %v", name, got.Field(i), want.Field(i))
				}
			}
			if c.want.Summary != e.Summary || c.want.Enclosures == nil && c.want.Image == "" && e.Enclosures != nil {
				t.Errorf("summary %q, files %v", e.Summary, e.Enclosures)
			}
		})
	}
}

// TestParse_FirstReadableDateCounts: of several elements with a date the first readable one counts.
func TestParse_FirstReadableDateCounts(t *testing.T) {
	for _, c := range []struct{ name, body, published, updated, dated string }{
		{"RSS", item("<pubDate>Tue, 03 Mar 2026 09:00:00 GMT</pubDate>"), "2026-03-03T09:00:00Z", "", "Tue, 03 Mar 2026 09:00:00 GMT"},
		{"unreadable, then readable", item("<pubDate>soon</pubDate><dc:date>2026-03-03T09:00:00Z</dc:date>"), "2026-03-03T09:00:00Z", "2026-03-03T09:00:00Z", "soon"},
		{"unreadable", item("<pubDate>soon</pubDate>"), "", "", "soon"},
		{"Dublin Core's terms", item("<dcterms:created>2026-03-03</dcterms:created><dcterms:modified>2026-03-04</dcterms:modified>"), "2026-03-03T00:00:00Z", "2026-03-04T00:00:00Z", "2026-03-03"},
		{"updated in RSS", item("<title>a</title><atom:updated>2026-03-03T09:00:00+02:00</atom:updated>"), "", "2026-03-03T07:00:00Z", ""},
		{"Atom", entryOf("<published>2026-03-03T09:00:00Z</published><updated>2026-03-04T09:00:00Z</updated>"), "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z", "2026-03-03T09:00:00Z"},
		{"Atom 0.3", entryOf("<issued>2026-03-03T09:00:00Z</issued><modified>2026-03-04T09:00:00Z</modified>"), "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z", "2026-03-03T09:00:00Z"},
		{"seconds in JSON", `{"items":[{"title":"a","date_published":1772528400}]}`, "2026-03-03T09:00:00Z", "", "1772528400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := only(t, c.body, "")
			got := [3]string{"", "", e.Dated}
			if !e.Published.IsZero() {
				got[0] = e.Published.Format("2006-01-02T15:04:05Z07:00")
			}
			if !e.Updated.IsZero() {
				got[1] = e.Updated.Format("2006-01-02T15:04:05Z07:00")
			}
			if want := [3]string{c.published, c.updated, c.dated}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestParse_ContentEscapedTwice: HTML that is escaped once too often becomes HTML; text about HTML stays.
func TestParse_ContentEscapedTwice(t *testing.T) {
	item := func(description string) string {
		return "<rss><channel><item><title>a</title><description>" + description + "</description></item></channel></rss>"
	}
	for _, c := range []struct{ body, want string }{
		{item("&amp;lt;p&amp;gt;A &amp;amp;amp; B&amp;lt;/p&amp;gt;"), "<p>A &amp; B</p>"},
		{item("<![CDATA[ &lt;div class=&quot;x&quot;&gt;A&lt;/div&gt; B]]>"), `<div class="x">A</div> B`},
		{item("A &amp;lt;a href=&amp;quot;https://a.test/&amp;quot;&amp;gt;link&amp;lt;/a&amp;gt;"), `A <a href="https://a.test/">link</a>`},
		{item("&amp;lt;img src=&amp;quot;https://a.test/i.png&amp;quot;&amp;gt; A"), `<img src="https://a.test/i.png"> A`},
		{item("&lt;p&gt;Use &amp;lt;b&amp;gt; and &amp;lt;/b&amp;gt;&lt;/p&gt;"), "<p>Use &lt;b&gt; and &lt;/b&gt;</p>"},
		{item("Use &amp;lt;b&amp;gt; and &amp;lt;/b&amp;gt; for bold"), "Use &lt;b&gt; and &lt;/b&gt; for bold"},
		{item("1 &amp;lt; 2"), "1 &lt; 2"},
		{"<feed><entry><title>a</title><summary type='text'>&lt;p&gt;tag&lt;/p&gt;</summary></entry></feed>", "&lt;p&gt;tag&lt;/p&gt;"},
		{`{"items":[{"id":"1","content_html":"&lt;p&gt;A&lt;/p&gt;"}]}`, "<p>A</p>"},
	} {
		if got := only(t, c.body, "").HTML; got != c.want {
			t.Errorf("%s: got %s, want %s", c.body, got, c.want)
		}
	}
}

// TestParse_FieldsOfModulesWhereOthersAreMissing: categories and descriptions of Media RSS and iTunes fill gaps only.
func TestParse_FieldsOfModulesWhereOthersAreMissing(t *testing.T) {
	item := func(fields string) Entry {
		return only(t, "<rss><channel><item><title>a</title>"+fields+"</item></channel></rss>", "https://f.test/")
	}
	const media = "<media:group><media:category label='Films'>x/y</media:category><media:category>art</media:category></media:group><media:keywords>one, two</media:keywords>"
	if got, want := item(media).Tags, []string{"Films", "art", "one", "two"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := item("<category>own</category>"+media).Tags, []string{"own"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := item("<itunes:subtitle>short</itunes:subtitle>").HTML; got != "short" {
		t.Errorf("got %q, want the subtitle", got)
	}
	if got := item("<description>long</description><itunes:subtitle>short</itunes:subtitle>"); got.HTML != "long" || got.Summary != "" {
		t.Errorf("got %q and %q, want the description only", got.HTML, got.Summary)
	}
	got := item("<media:content url='https://1.gravatar.com/avatar/x' medium='image'><media:title>ann</media:title></media:content>" +
		"<media:content url='https://a.test/i.png' medium='image'/><media:thumbnail url='https://secure.gravatar.com/avatar/x'/>")
	if got.Image != "https://a.test/i.png" || len(got.Enclosures) != 1 {
		t.Errorf("got the picture %q and %d files, want neither of the author", got.Image, len(got.Enclosures))
	}
}

// TestParse_OneEntryWithoutAFeed: an Atom entry document is a feed of one entry.
func TestParse_OneEntryWithoutAFeed(t *testing.T) {
	const body = `<?xml version="1.0"?><entry xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><id>urn:1</id><title>Ein</title><link href="/1"/><updated>2026-03-04T05:06:07Z</updated></entry>`
	got := only(t, body, "https://f.test/x")
	if got.GUID != "urn:1" || got.Title != "Ein" || got.Link != "https://f.test/1" || got.Updated.IsZero() || got.Language != "de" {
		t.Errorf("got %+v", got)
	}
	if doc, _ := Parse([]byte(body), "", ""); doc.Malformed != "" {
		t.Errorf("a sound document is reported as: %s", doc.Malformed)
	}
	if _, err := Parse([]byte(`<entry><title>a</title></entry>`), "", ""); err == nil {
		t.Error("an entry of another format is read as a feed")
	}
}

// TestParse_RSSInJSON: a channel in JSON has the fields of RSS.
func TestParse_RSSInJSON(t *testing.T) {
	const body = `{"rss":{"version":"2.0","channel":{"title":"Blog","link":"https://a.test/","language":"en-us","item":[
		{"title":"One","link":"/1","description":"<p>Text</p>","pubDate":"Wed, 04 Mar 2026 05:06:07 GMT","guid":{"isPermaLink":"true","#value":"https://a.test/1"},
		 "author":"ann@a.test (Ann)","category":["x",{"#value":"y"}],"enclosure":{"url":"/1.mp3","type":"audio/mpeg","length":"7"}},
		{"description":"Second","guid":"2"}]}}}`
	doc, err := Parse([]byte(body), "", "https://f.test/")
	checkInvariants(t, body, doc, err)
	if err != nil || doc.Title != "Blog" || doc.Site != "https://a.test/" || doc.Language != "en-us" || len(doc.Entries) != 2 {
		t.Fatalf("got %+v, error %v", doc, err)
	}
	e := doc.Entries[0]
	if e.GUID != "https://a.test/1" || e.Title != "One" || e.Link != "https://a.test/1" || e.HTML != "<p>Text</p>" || e.Author != "Ann" ||
		e.Published.Unix() != 1772600767 || !reflect.DeepEqual(e.Tags, []string{"x", "y"}) || !reflect.DeepEqual(e.Enclosures, []Enclosure{{"https://a.test/1.mp3", "audio/mpeg", 7}}) {
		t.Errorf("got %+v", e)
	}
	if _, err := Parse([]byte(`{"rss":{"channel":{"title":"Empty"}}}`), "", ""); err != nil {
		t.Errorf("a channel without items: %v", err)
	}
}
