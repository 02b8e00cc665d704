package opml

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, list string
		want       []Feed
	}{
		{"nested folders become tags", `<opml version="2.0"><body>
<outline text="News"><outline title="Local"><outline text="A" xmlUrl="http://a.test/f" htmlUrl="http://a.test/"/></outline>
<outline text="B" title="Bee" xmlUrl="http://b.test/f"/></outline>
<outline xmlUrl="http://c.test/f" text="http://c.test/f"/></body></opml>`, []Feed{
			{URL: "http://a.test/f", Title: "A", Site: "http://a.test/", Tags: []string{"News", "Local"}, Line: 2},
			{URL: "http://b.test/f", Title: "Bee", Tags: []string{"News"}, Line: 3},
			{URL: "http://c.test/f", Line: 4},
		}},
		{"names in any case", `<OPML><BODY><OUTLINE TEXT="A" XMLURL="http://a.test/f"/></BODY></OPML>`,
			[]Feed{{URL: "http://a.test/f", Title: "A", Line: 1}}},
		{"bare ampersands", `<opml><body><outline text="Q & A &amp; more" xmlUrl="http://a.test/f?x=1&y=2"/></body></opml>`,
			[]Feed{{URL: "http://a.test/f?x=1&y=2", Title: "Q & A & more", Line: 1}}},
		{"quotes and markup in values", `<opml><body><outline text="The "A" list" description="<p>see <a href="http://x.test/">x</a> & "y"" xmlUrl="http://a.test/f"/>
<outline text="B" xmlUrl="http://b.test/f"></outline></body></opml>`,
			[]Feed{{URL: "http://a.test/f", Title: `The "A" list`, Line: 1}, {URL: "http://b.test/f", Title: "B", Line: 2}}},
		{"control characters", "<opml><body><outline text='A\x01B' xmlUrl='http://a.test/f'/>\x02</body></opml>",
			[]Feed{{URL: "http://a.test/f", Title: "AB", Line: 1}}},
		{"windows-1251", "<?xml version='1.0' encoding='windows-1251'?><opml><body><outline text='\xcd\xee\xe2\xee\xf1\xf2\xe8' xmlUrl='http://a.test/f'/></body></opml>",
			[]Feed{{URL: "http://a.test/f", Title: "Новости", Line: 1}}},
		{"windows-1251 that needs mending", "<?xml version='1.0' encoding='windows-1251'?><opml><body><outline text='\xcd & \xcd' xmlUrl='http://a.test/f'/></body></opml>",
			[]Feed{{URL: "http://a.test/f", Title: "Н & Н", Line: 1}}},
		{"byte order mark", "\xEF\xBB\xBF<opml><body><outline xmlUrl='http://a.test/f'/></body></opml>",
			[]Feed{{URL: "http://a.test/f", Line: 1}}},
		{"UTF-16", utf16("<?xml version='1.0' encoding='utf-16'?><opml><outline xmlUrl='http://a.test/f'/></opml>"),
			[]Feed{{URL: "http://a.test/f", Line: 1}}},
		{"plain text", "\xEF\xBB\xBF# mine\r\n\r\nhttp://a.test/f\r\n  b.test/f # the other\n#http://c.test/f",
			[]Feed{{URL: "http://a.test/f", Line: 3}, {URL: "b.test/f", Line: 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(c.list))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestRead_NamesOtherFormats checks the errors for other formats.
func TestRead_NamesOtherFormats(t *testing.T) {
	for list, want := range map[string]string{
		"":     "the list is empty",
		" \n ": "the list is empty",
		"<!DOCTYPE html>\n<html><body></body></html>":   "this is a web page, not OPML",
		"<?xml version='1.0'?><!-- <opml> --><rss/>":    "this is a feed, not a list of feeds: add its URL instead",
		"<feed xmlns='http://www.w3.org/2005/Atom'/>":   "this is a feed, not a list of feeds: add its URL instead",
		`{"version": "https://jsonfeed.org/version/1"}`: "this is a feed, not a list of feeds: add its URL instead",
		`[1]`:                    "this is JSON, not OPML",
		"<urlset/>":              "this is not OPML: its root element is <urlset>",
		"<opml><body/></opml>":   "the list has no feed URLs",
		"# nothing\n":            "the list has no feed URLs",
		"http://a.test/f\nhello": `line 2 is not a feed URL: "hello"`,
		"a.test/f my feed":       `line 1 is not a feed URL: "a.test/f my feed"`,
		"\xff\xfa\x00":           "this is neither OPML nor a list of URLs",
		"<opml>\n<body><outline xmlUrl='http://a.test/f'/>": "parse the list at line 2: unexpected EOF",
	} {
		if _, err := Read(strings.NewReader(list)); err == nil || err.Error() != want {
			t.Errorf("Read(%q): %v, want %s", list, err, want)
		}
	}
}

func TestRead_SizeLimit(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("<opml>"), &zeros{})
	if _, err := Read(endless); err == nil || err.Error() != "the list is larger than 64 MB" {
		t.Errorf("endless list: %v", err)
	}
}

type zeros struct{}

func (*zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// awkward contains characters that need escaping.
var awkward = []Feed{
	{URL: "http://a.test/f?a=1&b=\"2\"", Title: "A ]]> <b> \"q\" 'q' &amp; \n\t z", Site: "http://a.test/#<x>", Tags: []string{"<Tag> & \"co\"", "inner"}},
	{URL: "http://b.test/f", Tags: []string{"<Tag> & \"co\""}},
	{URL: "http://c.test/f", Title: "http://c.test/f"},
	{URL: "http://d.test/f", Title: "Ёлки 🎄", Tags: []string{"xmlUrl"}},
}

func TestWrite_RoundTrips(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "mine & yours", awkward); err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	for i := range got {
		got[i].Line = 0
	}
	if !reflect.DeepEqual(got, awkward) {
		t.Errorf("got  %+v\nwant %+v\nfrom %s", got, awkward, b.String())
	}
}

func TestWrite_RemovesControlCharacters(t *testing.T) {
	var all strings.Builder
	for c := range rune(0x21) {
		all.WriteRune(c)
	}
	var b bytes.Buffer
	if err := Write(&b, all.String(), []Feed{{URL: "http://a.test/f", Title: "a" + all.String() + "b\uFFFF\xff"}}); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a\t\n\r b\uFFFD"; got[0].Title != want {
		t.Errorf("title %q, want %q", got[0].Title, want)
	}
}

// TestWrite_GroupsFolders checks folders in any order of their feeds.
func TestWrite_GroupsFolders(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, "", []Feed{{URL: "http://a.test", Tags: []string{"x"}}, {URL: "http://b.test", Tags: []string{"y"}}, {URL: "http://c.test", Tags: []string{"x"}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `text="x"`); n != 1 {
		t.Errorf("%d folders x in\n%s", n, b.String())
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`<opml><body><outline text="A"><outline text="The "B" & <c>" xmlUrl="http://b.test/"/></outline></body></opml>`,
		"http://a.test/f\n# no\n", "<html>", "<opml><outline></Outline></outline>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		feeds, err := Read(bytes.NewReader(list))
		if (err == nil) == (len(feeds) == 0) {
			t.Errorf("%d feeds and error %v", len(feeds), err)
		}
		for _, feed := range feeds {
			if feed.URL == "" || feed.Line < 1 || !utf8.ValidString(feed.URL+feed.Title+feed.Site+strings.Join(feed.Tags, "")) {
				t.Errorf("bad feed %+v", feed)
			}
		}
	})
}

// utf16 encodes ASCII.
func utf16(s string) string {
	var b strings.Builder
	b.WriteString("\xFF\xFE")
	for _, c := range []byte(s) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}
