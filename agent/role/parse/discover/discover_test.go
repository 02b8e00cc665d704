package discover

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"feedmesh/tests/corpus"
)

const home = "https://a.example/blog/post.html"

// urls returns the addresses of candidates.
func urls(found []Candidate) []string {
	var list []string
	for _, c := range found {
		list = append(list, c.URL)
	}
	return list
}

func TestFeeds_LinkTags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"plain":                  {`<link rel="alternate" type="application/rss+xml" href="/feed">`, []string{"https://a.example/feed"}},
		"any case, no quotes":    {`<LINK REL=Alternate TYPE=Application/Atom+XML HREF=atom.xml>`, []string{"https://a.example/blog/atom.xml"}},
		"several words in rel":   {`<link rel="home alternate" type="application/rss+xml; charset=utf-8" href="f">`, []string{"https://a.example/blog/f"}},
		"odd types":              {`<link rel=alternate type="application/rss" href="1"><link rel=alternate type="text/xml" href="2"><link rel=alternate type="application/x-atom+xml" href="3"><link rel=alternate type=application/feed+json href=4>`, []string{"https://a.example/blog/1", "https://a.example/blog/2", "https://a.example/blog/3", "https://a.example/blog/4"}},
		"rel feed without type":  {`<link rel=feed href="f">`, []string{"https://a.example/blog/f"}},
		"with a base":            {`<link rel=alternate type="application/rss+xml" href="f"><base href="https://b.example/x/">`, []string{"https://b.example/x/f"}},
		"entities and no end":    {`<div <link rel=alternate><link rel=alternate type="application/rss+xml" href="/f?a=1&amp;b=2" title="A &amp; B"`, nil},
		"escaped address":        {`<link rel=alternate type="application/rss+xml" href=" /f?a=1&amp;b=2 ">`, []string{"https://a.example/f?a=1&b=2"}},
		"each once":              {`<link rel=feed href="f"><link rel=feed href="f#2"><a href="f">feed</a>`, []string{"https://a.example/blog/f"}},
		"feed scheme":            {`<link rel=feed href="feed://b.example/f"><link rel=feed href="feed:https://c.example/f">`, []string{"http://b.example/f", "https://c.example/f"}},
		"style sheets and JSON":  {`<link rel="alternate stylesheet" type="text/xml" href="a.xsl"><link rel=alternate type="application/json" href="/wp-json/wp/v2/posts/1"><link rel=alternate hreflang=de href="/de">`, nil},
		"no web address":         {`<link rel=feed href="javascript:alert(1)"><link rel=feed href="ftp://x.example/f"><link rel=feed href="http://%zz">`, nil},
		"in comments and script": {`<!-- <link rel=feed href=1> --><script>"<link rel=feed href=2>"</script>`, nil},
		"in the body":            {`</head><body><p><link rel=feed href="f">`, []string{"https://a.example/blog/f"}},
	} {
		if got := urls(Candidates([]byte(c.page), "text/html", home)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestFeeds_AnchorsComeLast(t *testing.T) {
	t.Parallel()
	page := `<a href="/about">About</a><a href="/rss.xml">  Our
		<b>news</b> </a><a href="/feedback">x</a><a href="https://feeds.feedburner.com/a" title="T">y</a><a href="/?feed=rss2">z</a><link rel=feed href="/main">`
	got := Candidates([]byte(page), "", home)
	want := []Candidate{
		{"https://a.example/main", "", Linked}, {"https://a.example/rss.xml", "Our news", Anchor},
		{"https://feeds.feedburner.com/a", "T", Anchor}, {"https://a.example/?feed=rss2", "z", Anchor},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFeeds_Platforms(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://www.youtube.com/channel/UCabc":         "https://www.youtube.com/feeds/videos.xml?channel_id=UCabc",
		"https://www.youtube.com/playlist?list=PL1":     "https://www.youtube.com/feeds/videos.xml?playlist_id=PL1",
		"https://github.com/golang/go":                  "https://github.com/golang/go/releases.atom",
		"https://github.com/golang/go/issues":           "https://github.com/golang/go/releases.atom",
		"https://github.com/golang":                     "https://github.com/golang.atom",
		"https://www.reddit.com/r/golang/":              "https://www.reddit.com/r/golang/.rss",
		"https://medium.com/@someone":                   "https://medium.com/feed/@someone",
		"https://someone.medium.com/a-post":             "https://someone.medium.com/feed",
		"https://mastodon.example/@someone":             "https://mastodon.example/@someone.rss",
		"https://someone.wordpress.com/2026/01/a-post/": "https://someone.wordpress.com/feed/",
		"https://someone.substack.com/":                 "https://someone.substack.com/feed",
		"https://someone.blogspot.com/":                 "https://someone.blogspot.com/feeds/posts/default",
	} {
		got := Candidates(nil, "", address)
		if len(got) == 0 || got[0].URL != want || got[0].Source != Platform {
			t.Errorf("%s: got %v, want %s", address, got, want)
		}
	}
	handle := []byte(`<link rel="canonical" href="https://www.youtube.com/channel/UCxyz">`)
	if got := urls(Candidates(handle, "", "https://www.youtube.com/@x")); !slices.Equal(got, []string{"https://www.youtube.com/feeds/videos.xml?channel_id=UCxyz"}) {
		t.Errorf("a channel by its name: got %v", got)
	}
	press := []byte(`<meta name="Generator" content="WordPress 6.5">`)
	if got := urls(Candidates(press, "", home)); !slices.Equal(got, []string{"https://a.example/feed/"}) {
		t.Errorf("WordPress: got %v", got)
	}
}

func TestWellKnown_DistinctAndFew(t *testing.T) {
	t.Parallel()
	for address, first := range map[string]string{
		"https://a.example":                "https://a.example/feed",
		"https://a.example/blog/":          "https://a.example/blog/feed",
		"https://a.example/blog/post.html": "https://a.example/blog/feed",
		"https://a.example/index.html":     "https://a.example/feed",
	} {
		got := WellKnown(address)
		if n := len(slices.Compact(slices.Sorted(slices.Values(got)))); n != len(got) || n > 12 || got[0] != first {
			t.Errorf("%s: got %v, want at most 12 that differ, %s first", address, got, first)
		}
	}
	if got := WellKnown("nonsense"); got != nil {
		t.Errorf("got %v for no address", got)
	}
}

func TestFormat_Detection(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		` <?xml version="1.0"?><rss version="2.0"><channel><description>&lt;feed></description>`: "RSS",
		`<!-- x --><feed xmlns="http://www.w3.org/2005/Atom">`:                                   "Atom",
		`<rdf:RDF xmlns:rdf="x">`:                "RDF",
		"\xEF\xBB\xBF{\"version\": \"https://\"": "JSON Feed",
	} {
		if got := Format([]byte(document)); got != want {
			t.Errorf("%s: got %s, want %s", document, got, want)
		}
	}
}

func TestFeeds_CostIsBounded(t *testing.T) {
	t.Parallel()
	page := []byte(strings.Repeat(`<link rel=feed href="/a`+strings.Repeat("x", 30)+`"><a href="/rss">`, 100_000))
	for i := range page {
		if page[i] == 'x' {
			page[i] = byte('a' + i%23) // all differ
		}
	}
	if got := Candidates(page, "text/html; charset=none", home); len(got) > maxCandidates {
		t.Errorf("got %d candidates, want at most %d", len(got), maxCandidates)
	}
}

// TestCorpus finds every feed that the captured pages of real sites name.
func TestCorpus(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	index, err := os.ReadFile(filepath.Join(root, "discovery.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	pages, feeds := 0, 0
	for line := range bytes.Lines(index) {
		var gold struct {
			File    string
			Charset string
			Page    string `json:"page_url_assumed"`
			Feeds   []struct{ Href, URL, Title string }
		}
		if err := json.Unmarshal(line, &gold); err != nil {
			t.Fatal(err)
		}
		if gold.Page == "" {
			gold.Page = "https://page.example/"
		}
		found := Candidates(readCorpus(t, filepath.Join(root, gold.File)), "text/html", gold.Page)
		pages++
		for _, want := range gold.Feeds {
			feeds++
			is := func(c Candidate) bool {
				return c.URL == want.URL && c.Source == Linked || want.URL == "" && strings.HasSuffix(c.URL, want.Href)
			}
			if i := slices.IndexFunc(found, is); i < 0 {
				t.Errorf("%s: %s was not found, but %v", gold.File, want.URL, urls(found))
			} else if got := found[i].Title; got != strings.Join(strings.Fields(want.Title), " ") {
				t.Errorf("%s: got the title %q, want %q", gold.File, got, want.Title)
			}
		}
	}
	t.Logf("%d pages with %d feeds", pages, feeds)
}

func readCorpus(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = bufio.NewReader(file)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	page, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func FuzzFeeds(f *testing.F) {
	f.Add([]byte(`<base href="//b/"><link rel=feed href=a><a href="/rss">x</a>`), "text/html", home)
	f.Fuzz(func(t *testing.T, page []byte, contentType, address string) {
		for _, c := range Candidates(page, contentType, address) {
			if !strings.HasPrefix(c.URL, "http") || len(c.URL) > maxURL || len(c.Title) > maxTitle {
				t.Errorf("bad candidate %+v", c)
			}
		}
	})
}
