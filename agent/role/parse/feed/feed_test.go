package feed

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"feedmesh/agent/role/parse/feed/encoding"
)

// checkInvariants checks the guarantees that hold for every document.
func checkInvariants(t *testing.T, name string, doc Document, err error) {
	t.Helper()
	var kind *Error
	if err != nil && (!errors.As(err, &kind) || kind.Kind == "" || kind.Err == nil) {
		t.Errorf("%s: error without a kind: %v", name, err)
	}
	h := doc.Hints
	if h.TTL < 0 || h.TTL > maxHint || h.Period < 0 || h.Period > maxHint || h.Zone < -12*60 || h.Zone > 14*60 || h.SkipHours >= 1<<24-1 || h.SkipDays >= 1<<7-1 {
		t.Errorf("%s: hints out of bounds: %+v", name, h)
	}
	for _, s := range []string{h.Hub, h.Self} {
		if u, err := url.Parse(s); err != nil || len(s) > maxAddress || s != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			t.Errorf("%s: %q is no web address", name, s)
		}
	}
	if err == nil && doc.Charset == "" {
		t.Errorf("%s: no name of its encoding", name)
	}
	keys := make(map[string]bool)
	for _, e := range doc.Entries {
		for _, link := range []string{e.Link, e.Image, e.Comments} {
			if u, err := url.Parse(link); err != nil || u.Scheme != "" && !isWeb(u) {
				t.Errorf("%s: %q is no web address", name, link)
			}
		}
		if e.Key == "" || keys[e.Key] || len(e.Key) > maxKey+len("guid:") {
			t.Errorf("%s: key %q is empty, too long or there twice", name, e.Key)
		}
		keys[e.Key] = true
		all := append([]string{e.Key, e.Hash, e.GUID, e.Link, e.Title, e.HTML, e.Summary, e.Author, e.Dated, e.Image, e.Comments, e.Source, e.Language}, e.Tags...)
		for _, f := range e.Enclosures {
			all = append(all, f.URL, f.Type)
			if f.URL == "" || f.Length < 0 {
				t.Errorf("%s: %+v is no file", name, f)
			}
		}
		for _, s := range all {
			if !utf8.ValidString(s) || encoding.WithoutControls(s) != s {
				t.Errorf("%s: %q is not clean UTF-8", name, s)
			}
		}
		if len(e.Title) > maxTitle || len(e.HTML) > maxHTML || len(e.GUID) > maxAddress || len(e.Link) > maxAddress || len(e.Author) > maxAuthor || len(e.Tags) > maxTags ||
			len(e.Summary) > maxSummary || len(e.Enclosures) > maxEnclosures || len(e.Comments) > maxAddress || len(e.Image) > maxAddress {
			t.Errorf("%s: entry %q is larger than allowed", name, e.Key)
		}
	}
}

// TestParse_Errors checks kind and text of each error.
func TestParse_Errors(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       Kind
		text       string
	}{
		{"nothing", "", Empty, "the document is empty"},
		{"white space after a byte order mark", "\xEF\xBB\xBF \r\n", Empty, "the document is empty"},
		{"web page", "<!DOCTYPE html><html><head><title>Hello</title></head></html>", WebPage, "this is a web page, not a feed"},
		{"web page in capitals", "<HTML><BODY></BODY></HTML>", WebPage, "this is a web page, not a feed"},
		{"web page that shows a feed", "<html><body><pre><rss></pre></body></html>", WebPage, "this is a web page, not a feed"},
		{"login", "<html><form><input type=\"password\"></form></html>", Challenge, "this is a login page or a bot check, not a feed"},
		{"bot check", "<!DOCTYPE html><html><title>Just a moment...</title></html>", Challenge, "this is a login page or a bot check, not a feed"},
		{"JSON object", `{"error": "not found"}`, OtherJSON, "this is JSON, not a feed"},
		{"JSON array", `[{"id": 1}]`, OtherJSON, "this is JSON, not a feed"},
		{"JSON that ends early", `{"version": "https://jsonfeed.org/version/1", "items": [{"id": 1`, Broken, "the document ends before its first item"},
		{"OPML", "<?xml version='1.0'?><opml><body/></opml>", OtherXML, "this is a list of feeds (OPML), not a feed: import it instead"},
		{"OPML with a title", "<opml><head><title>T</title></head><body/></opml>", OtherXML, "this is a list of feeds (OPML), not a feed: import it instead"},
		{"site map", "<urlset><url/></urlset>", OtherXML, "this is XML, not a feed: its root element is <urlset>"},
		{"declaration only", "<?xml version='1.0'?>", OtherXML, "this is XML, not a feed: it has no elements"},
		{"text", "404 page not found", Other, "this is not a feed: neither XML nor JSON"},
		{"feed that ends early", "<rss><channel><title>T</title>", Broken, "the document ends before its first item"},
		{"feed that ends in its first field", "<rss><channel><item><title>T", Broken, "the document ends before its first item"},
		{"JSON with an error", `{"items" [{"id": 1}]}`, Broken, "the document is broken: invalid character '[' after object key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Parse([]byte(c.body), "", "")
			checkInvariants(t, c.name, doc, err)
			var got *Error
			if !errors.As(err, &got) || got.Kind != c.kind || got.Error() != c.text {
				t.Errorf("got %#v, want %s: %s", err, c.kind, c.text)
			}
		})
	}
}

func TestParse_FieldsAreBounded(t *testing.T) {
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
