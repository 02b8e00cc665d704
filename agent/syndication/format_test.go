package syndication

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"feedmesh/agent/role/parse/feed"
	"feedmesh/storage"
)

var day = time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC)

// controls are all characters below a space, and others that XML forbids.
var controls = func() string {
	var all strings.Builder
	for c := range rune(0x20) {
		all.WriteRune(c)
	}
	return all.String() + "\uFFFE\uFFFF\xff"
}()

// payloads would run as script, or break a document, if they were not escaped.
var payloads = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `]]>`, `<![CDATA[x]]>`, `-->`, `</title></item>`, `&lt;script&gt;`, `&#60;b&#62;`,
	`javascript:alert(1)`, `' onmouseover='x`, controls, "a\u2028b", "<?xml?>", "&nbsp;&x;", "",
}

// aDocument returns a document with two entries: one with a text in every field, one empty.
func aDocument(text string) Document {
	d := Document{Title: "T" + text, Description: text, Home: "https://feedmesh.example/?q=" + url.QueryEscape(text), Self: "https://feedmesh.example/outputs/search.rss?q=" + url.QueryEscape(text), Hub: "https://feedmesh.example/hub?a&b"}
	d.Add(EntryOf(storage.Item{
		ID: "item-1", URL: "https://example.org/?a=1&b=" + url.QueryEscape(text), Title: "Title " + text, Author: "Ann " + text, Excerpt: text,
		HTML: "<p>Text ]]> &amp; <b>more</b></p>", Published: day, FirstSeen: day, Updated: day.Add(time.Hour), Tags: []string{text, "go"}, Categories: []string{"software"},
		Enclosures: []storage.Enclosure{{URL: "https://example.org/1.mp3?a&b", Type: "audio/mpeg" + text, Length: 5 << 30}, {URL: "https://example.org/2"}, {URL: "javascript:alert(1)"}, {URL: "https://example.org/page", Type: "video", Player: "Vimeo"}},
	}, "A feed"))
	d.Add(EntryOf(storage.Item{ID: "item-2", URL: text, Published: day.Add(-time.Hour), FirstSeen: day.Add(-time.Hour)}, ""))
	return d
}

// write formats a document, and fails if it is not well-formed.
func write(t *testing.T, ending string, d Document) string {
	t.Helper()
	body, err := Formats[ending].Write(d)
	if err != nil {
		t.Fatal(err)
	}
	if ending == "json" {
		if !json.Valid(body) {
			t.Fatalf("no JSON: %s", body)
		}
		return string(body)
	}
	for decoder := xml.NewDecoder(strings.NewReader(string(body))); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return string(body)
		} else if err != nil {
			t.Fatalf("not well-formed: %v in %s", err, body)
		}
	}
}

func TestFormats_ReadByOtherParser(t *testing.T) {
	for ending := range Formats {
		for _, text := range payloads {
			d := aDocument(text)
			body := write(t, ending, d)
			got, err := gofeed.NewParser().ParseString(body)
			if err != nil || len(got.Items) != 2 {
				t.Fatalf("%s with %q: gofeed reads %v, %v", ending, text, got, err)
			}
			one, two := got.Items[0], got.Items[1]
			want := d.clean().Entries[0]
			if one.GUID != want.ID || two.GUID == "" || two.GUID == one.GUID || one.Link != want.URL || !one.PublishedParsed.Equal(day) {
				t.Errorf("%s with %q: gofeed reads %q %q %v", ending, text, one.GUID, one.Link, one.PublishedParsed)
			}
			if one.Content != want.HTML {
				t.Errorf("%s with %q: the text is %q, want %q", ending, text, one.Content, want.HTML)
			}
			if wantTitle := want.Title; ending != "rss" && strings.Join(strings.Fields(one.Title), " ") != strings.Join(strings.Fields(wantTitle), " ") {
				t.Errorf("%s: the title is %q, want %q", ending, one.Title, wantTitle)
			}
			if ending == "rss" && strings.ContainsAny(one.Title, "<>") {
				t.Errorf("the title in RSS has a tag: %q", one.Title)
			}
			for _, address := range []string{one.Link, two.Link, got.Link, got.FeedLink} {
				if strings.HasPrefix(address, "javascript:") {
					t.Errorf("%s with %q: an address is %q", ending, text, address)
				}
			}
			for _, file := range one.Enclosures {
				if !strings.HasPrefix(file.URL, "https://example.org/") {
					t.Errorf("%s with %q: a file is at %q", ending, text, file.URL)
				}
			}
			if len(one.Authors) != 1 {
				t.Errorf("%s with %q: the author is %v", ending, text, one.Authors)
			}
			if !slices.Contains(one.Categories, "go") || !slices.Contains(one.Categories, "software") {
				t.Errorf("%s with %q: the categories are %q", ending, text, one.Categories)
			}
		}
	}
}

func TestFormats_ReadByOwnParser(t *testing.T) {
	for ending, f := range Formats {
		for _, text := range payloads {
			d := aDocument(text)
			got, err := feed.Parse([]byte(write(t, ending, d)), f.Kind, d.Self)
			if err != nil || len(got.Entries) != 2 || got.Entries[0].HTML != d.Entries[0].HTML || !got.Entries[0].Published.Equal(day) || got.Hints.Hub != d.Hub || got.Hints.Self != d.Self {
				t.Fatalf("%s with %q: %+v, %v", ending, text, got, err)
			}
		}
	}
}

// Source: RSS 2.0 Specification and Best Practices Profile; RFC 4287; JSON Feed 1.1.
func TestFormats_RequiredElements(t *testing.T) {
	for ending, wants := range map[string][]string{
		"rss": {
			`^<\?xml version="1.0" encoding="UTF-8"\?>\n<rss version="2.0" `, `<channel><title>`, `<link>https://feedmesh.example/\?q=x</link>`, `<description>x</description>`,
			`<lastBuildDate>Sun, 01 Mar 2026 13:30:15 \+0000</lastBuildDate>`,
			`<atom:link href="https://feedmesh.example/outputs/search.rss\?q=x" rel="self" type="application/rss\+xml"></atom:link>`,
			`<guid isPermaLink="false">urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}</guid>`, `<pubDate>Sun, 01 Mar 2026 12:30:15 \+0000</pubDate>`,
			`<dc:creator>Ann x</dc:creator>`, `<category>software</category><category>x</category><category>go</category>`,
			`<enclosure url="https://example.org/1.mp3\?a&amp;b" length="5368709120" type="audio/mpegx"></enclosure>`, `<content:encoded><!\[CDATA\[`,
		},
		"atom": {
			`<feed xmlns="http://www.w3.org/2005/Atom">`, `<id>urn:uuid:[0-9a-f-]{36}</id>`, `<updated>2026-03-01T13:30:15Z</updated>`, `<author><name>feedmesh</name></author>`,
			`<link href="https://feedmesh.example/outputs/search.rss\?q=x" rel="self"`, `<link href="https://feedmesh.example/\?q=x" rel="alternate"`,
			`<published>2026-03-01T12:30:15Z</published>`, `<category term="go">`, `<content type="html">&lt;p&gt;`,
			`<link href="https://example.org/2" rel="enclosure" type="application/octet-stream">`,
		},
		"json": {
			`"version":"https://jsonfeed.org/version/1.1"`, `"feed_url":"https://feedmesh.example/outputs/search.rss\?q=x"`, `"home_page_url":"https://feedmesh.example/\?q=x"`,
			`"date_published":"2026-03-01T12:30:15Z"`, `"authors":\[\{"name":"Ann x"\}\]`, `"content_text":"`, `"mime_type":"audio/mpegx"`,
		},
	} {
		body := write(t, ending, aDocument("x"))
		for _, want := range wants {
			if !regexp.MustCompile(want).MatchString(body) {
				t.Errorf("%s has no %s:\n%s", ending, want, body)
			}
		}
		for _, bad := range []string{"<author>A", `href=""`, "<link></link>", "0001-01-01", "01 Jan 0001", `"author":`, "javascript:"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %s:\n%s", ending, bad, body)
			}
		}
	}
}

func TestFormats_EmptyDocument(t *testing.T) {
	for ending, want := range map[string]string{"rss": "<title>T</title>", "atom": "<updated>1970-01-01T00:00:00Z</updated>", "json": `"items":[]`} {
		body := write(t, ending, Document{Title: "T", Description: "A", Home: "https://x.example/", Self: "https://x.example/outputs/search.rss"})
		if !strings.Contains(body, want) {
			t.Errorf("%s has no %s: %s", ending, want, body)
		}
	}
}

func TestURN_IsStable(t *testing.T) {
	// Readers identify entries by their URN: a change would show all entries as new.
	if got := URN("item", "item-1"); got != "urn:uuid:b6af6844-73ac-82ac-afd1-66cae1902313" {
		t.Errorf("an item is called %s now", got)
	}
	if URN("item", "x") == URN("story", "x") || fmt.Sprint(len(URN("a", "b"))) != "45" {
		t.Error("a story is called as an item is")
	}
}
