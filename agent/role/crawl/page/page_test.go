package page

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"feedmesh/tests/corpus"
)

// address is the address of the pages in these tests.
var address = must(url.Parse("https://blog.example/2026/09/post.html"))

func must(u *url.URL, err error) *url.URL {
	if err != nil {
		panic(err)
	}
	return u
}

// paragraph is the text of the articles in these tests.
const paragraph = "The scheduler of the new kernel knows, for each task, how long it has waited, and prefers, among those that may run, the one that waited longest. "

// around returns a page with an article and the usual elements around it.
func around(article string) string {
	return `<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8"><title>A fair scheduler for the new kernel | The Blog</title>
<meta property="og:image" content="/img/cover.jpg"><meta name="author" content="Ann Author">
<meta property="article:published_time" content="2026-09-01T10:00:00+02:00"></head><body>
<header><nav><ul><li><a href="/">Home</a></li><li><a href="/about">About us</a></li><li><a href="/jobs">Jobs</a></li></ul></nav></header>
<aside class="sidebar"><h3>Most read</h3><ul><li><a href="/1">Ten tricks with loops</a></li><li><a href="/2">Why tests fail at night</a></li></ul></aside>
<main><article><h1>A fair scheduler for the new kernel</h1>` + article + `</article></main>
<div class="comments"><h2>Comments</h2><p>First!</p></div>
<div class="cookie-banner"><p>We value your privacy. Accept all cookies?</p></div>
<footer><p>Copyright 2026 The Blog. All rights reserved. <a href="/imprint">Imprint</a></p></footer></body></html>`
}

const article = `<p>` + paragraph + `</p><p>` + paragraph + `</p><h2>Figures</h2><p><img src="../figure.png" alt="Waiting times">` + paragraph +
	`</p><pre><code>while (task) { run(task); }</code></pre><table><tr><th>Tasks</th><th>Wait</th></tr><tr><td>100</td><td>3 ms</td></tr></table><p>` + paragraph + `See <a href="/more">more</a>.</p>`

func TestExtract_ExcludesMenusAndComments(t *testing.T) {
	t.Parallel()
	found, err := Extract([]byte(around(article)), "text/html", address)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"knows, for each task", "<h2", "while (task) { run(task); }", "<td>3 ms</td>",
		`src="https://blog.example/2026/figure.png"`, `href="https://blog.example/more"`} {
		if !strings.Contains(found.HTML, want) {
			t.Errorf("%q is not in the article", want)
		}
	}
	for _, other := range []string{"About us", "Ten tricks", "Accept all cookies", "All rights reserved"} {
		if strings.Contains(found.Text, other) {
			t.Errorf("%q is in the article", other)
		}
	}
	if n := strings.Count(found.Text, "The scheduler of the new kernel"); n != 4 {
		t.Errorf("got %d paragraphs in the text, want 4", n)
	}
	found.HTML, found.Text = "", ""
	want := Article{Title: "A fair scheduler for the new kernel", Image: "https://blog.example/img/cover.jpg", Byline: "Ann Author", Language: "en-GB",
		Published: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)}
	if found != want {
		t.Errorf("got %+v, want %+v", found, want)
	}
}

func TestExtract_OnlyUnambiguousDatesAreAccepted(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for meta, want := range map[string]time.Time{
		`<meta property="article:published_time" content="2026-03-04T05:06:07Z">`:       want,
		`<meta itemprop="datePublished" content=" 2026-03-04T07:06:07+0200 ">`:          want,
		`<meta name="article:published_time" content="2026-03-04 05:06:07+00:00">`:      want,
		`<meta property="article:published_time" content="2026-03-04T05:06:07">`:        {}, // unknown zone
		`<meta property="article:published_time" content="03/04/2026 05:06">`:           {},
		`<meta property="article:modified_time" content="2026-03-04T05:06:07Z">`:        {},
		`<meta property="article:published_time" content="2026-02-30T05:06:07Z">`:       {},
		`<meta property="article:published_time"><meta content="2026-03-04T05:06:07Z">`: {},
	} {
		found, err := Extract([]byte("<html><head>"+meta+"</head><body>"+article+"</body></html>"), "text/html", address)
		if err != nil || !found.Published.Equal(want) {
			t.Errorf("%s: got %v, %v; want %v", meta, found.Published, err, want)
		}
	}
}

func TestExtract_DecodesTheCharset(t *testing.T) {
	t.Parallel()
	const russian = "Планировщик нового ядра знает, сколько ждала каждая задача, и выбирает ту, которая ждала дольше всех. "
	const japan = "新しいカーネルのスケジューラは、各タスクがどれだけ待ったかを知っています。長く待ったものを優先します。"
	const german = "Der Planer kennt für jede Aufgabe die Wartezeit und wählt die älteste. Größe, Übung und Straße bleiben lesbar. "
	for _, c := range []struct {
		name, text, header, meta string
		in                       encoding.Encoding
	}{
		{"UTF-8, undeclared", russian, "text/html", "", unicode.UTF8},
		{"UTF-8, undeclared, late", strings.Repeat("<!-- -->", 400) + russian, "text/html", "", unicode.UTF8},
		{"UTF-8 with a byte order mark", russian, "text/html", "", unicode.UTF8BOM},
		{"UTF-8, declared as another charset", russian, "text/html; charset=iso-8859-1", "", unicode.UTF8},
		{"by the header", russian, "text/html; charset=windows-1251", "", charmap.Windows1251},
		{"by the header, against the page", russian, "text/html; charset=windows-1251", `<meta charset="utf-8">`, charmap.Windows1251},
		{"by the page", russian, "text/html", `<meta charset="windows-1251">`, charmap.Windows1251},
		{"by the page, in the old form", russian, "", `<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">`, charmap.KOI8R},
		{"Shift_JIS", japan, "text/html; charset=Shift_JIS", "", japanese.ShiftJIS},
		{"ISO-2022-JP, all ASCII", japan, "text/html", `<meta charset="iso-2022-jp">`, japanese.ISO2022JP},
		{"UTF-16 with a byte order mark", russian, "text/html", "", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{"Latin 1, undeclared", german, "text/html", "", charmap.Windows1252},
	} {
		body, err := c.in.NewEncoder().Bytes([]byte("<!DOCTYPE html><html><head>" + c.meta + "</head><body><p>" + strings.Repeat(c.text, 5) + "</p></body></html>"))
		if err != nil {
			t.Fatal(c.name, err)
		}
		found, err := Extract(body, c.header, address)
		want := strings.TrimSpace(c.text[strings.LastIndex(c.text, ">")+1:])
		if err != nil || strings.Count(found.Text, want) != 5 {
			t.Errorf("%s: got %.100q, %v; want %.60q five times", c.name, found.Text, err, want)
		}
	}
}

func TestExtract_Errors(t *testing.T) {
	t.Parallel()
	page := "<!DOCTYPE html><html><body>" + article + "</body></html>"
	for _, c := range []struct {
		name, body, contentType string
		want                    error
	}{
		{"a page", page, "text/html", nil},
		{"a page, with parameters", page, `TEXT/HTML; charset="utf-8"; x`, nil},
		{"XHTML", page, "application/xhtml+xml", nil},
		{"a page by its content", page, "", nil},
		{"an image", "\x89PNG\r\n\x1a\n", "image/png", ErrNotHTML},
		{"a document", "%PDF-1.7", "application/pdf", ErrNotHTML},
		{"a document by its content", "%PDF-1.7", "", ErrNotHTML},
		{"plain text", paragraph, "text/plain", ErrNotHTML},
		{"empty", "", "text/html", ErrNoArticle},
		{"no visible text", "<html><head><script>var a = 'text'</script></head><body><div id=root></div></body></html>", "text/html", ErrNoArticle},
		{"too many bytes", "<p>" + strings.Repeat("x", MaxPage), "text/html", ErrTooLarge},
		{"too many elements", strings.Repeat("<p>x", maxTokens/2+1), "text/html", ErrTooLarge},
		{"elements that a browser opens again and again", strings.Repeat("<b><i>", 200) + strings.Repeat("<p>x", 10_000), "text/html", ErrTooLarge},
	} {
		if _, err := Extract([]byte(c.body), c.contentType, address); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := Extract([]byte(strings.Repeat("<div>", 600)), "text/html", address); err == nil {
		t.Error("got no error for elements 600 deep, want one")
	}
}

// bombs are pages at the bounds that are expensive to parse.
var bombs = map[string]string{
	"paragraphs":      strings.Repeat("<p>a, b", maxTokens/2-1),
	"divisions":       strings.Repeat("<div>a, b</div>", maxTokens/3-1),
	"empty divisions": strings.Repeat("<div></div>", maxTokens/2-1),
	"deep":            strings.Repeat(strings.Repeat("<div>", 400)+"a, b"+strings.Repeat("</div>", 400), maxTokens/801),
	"deep paragraphs": strings.Repeat("<div>", 400) + strings.Repeat("<p>a, b</p>", maxTokens/3-400),
	"breaks":          "<div>" + strings.Repeat("a<br>", maxTokens/2-10) + "</div>",
	"breaks only":     "<div>" + strings.Repeat("<br>", maxTokens-10) + "</div>",
	"links":           strings.Repeat("<a href=x>a</a>", maxTokens/3-1),
	"images":          strings.Repeat("<img src=x data-src=y.jpg>", maxTokens-1),
	"noscript":        strings.Repeat("<img><noscript><img src=a.jpg></noscript>", maxTokens/4-1),
	"tables":          strings.Repeat("<table><tr><td>a, b</td></tr></table>", maxTokens/7-1),
	"a table":         "<table>" + strings.Repeat("<tr><td>a", maxTokens/3-1),
	"lists":           strings.Repeat("<ul><li>a, b", 100) + strings.Repeat("<li>a, b", maxTokens/2-200),
	"headings":        strings.Repeat("<h1>a</h1><h2>a</h2>", maxTokens/6-1),
	"one long text":   "<p>" + strings.Repeat("a, ", MaxPage/3-10),
	"many attributes": strings.Repeat("<p "+strings.Repeat("a ", 25)+">a", maxTokens/2-1),
	"long attributes": strings.Repeat(`<p class="`+strings.Repeat("a ", 20)+`" id="comment">a, b`, maxTokens/2-1),
	"a long class":    `<p class="` + strings.Repeat("a ", MaxPage/2-100) + `">a`,
	"a long title":    "<title>" + strings.Repeat("a | b - ", MaxPage/8-10) + "</title>",
	"spaces":          "<p>a" + strings.Repeat(" \n", MaxPage/2-10) + "b",
	"structured data": `<script type="application/ld+json">` + strings.Repeat("[", 1<<20) + "</script>" + article,
	"descriptions":    strings.Repeat(`<meta property="og:title" content="a">`, maxTokens-10),
	"spans":           "<p>" + strings.Repeat("<span>a", 300) + strings.Repeat("<i>a</i>", maxTokens/3-400),
	"custom elements": strings.Repeat("<x-y>a</x-y>", maxTokens/3-1),
	"comments":        strings.Repeat("<!--a-->", maxTokens-1),
	"quoted":          strings.Repeat("<blockquote>a, b", 400) + strings.Repeat("<p>a, b", maxTokens/2-600),
	"frames":          strings.Repeat("<iframe src=x></iframe>", maxTokens/2-1),
	"style":           strings.Repeat("<p style=display:none>a", maxTokens/2-1),
}

func TestExtract_PagesAtTheBoundsAreFast(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it takes some seconds")
	}
	for name, body := range bombs {
		began := time.Now()
		_, err := Extract([]byte(body), "text/html", address)
		took := time.Since(began)
		t.Logf("%s: %d bytes, %v, %v", name, len(body), took.Round(time.Millisecond), err)
		if errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: it is rejected", name)
		}
		if took > 10*time.Second { // for a busy machine and the race detector
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func checkArticle(t *testing.T, found Article) {
	t.Helper()
	for _, s := range []string{found.Title, found.HTML, found.Text, found.Image, found.Byline, found.Language} {
		if !utf8.ValidString(s) {
			t.Errorf("got %.100q, want UTF-8", s)
		}
	}
	if found.Image != "" && !strings.HasPrefix(found.Image, "http://") && !strings.HasPrefix(found.Image, "https://") {
		t.Errorf("got the image %.100q, want it absolute", found.Image)
	}
}

// FuzzArticle searches for a page that causes a panic or takes long.
func FuzzArticle(f *testing.F) {
	f.Add([]byte(around(article)), "text/html")
	f.Add([]byte(strings.Repeat("<b><i>", 50)+strings.Repeat("<p>x", 100)), "")
	f.Add([]byte("<table><a>x<table><a>y<svg><p><math><mi><b></table>"), "text/html; charset=utf-16")
	f.Add([]byte(`<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","author":[null,{"name":1}],"name":{}}</script><p>a`), "text/html")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		began := time.Now()
		found, err := Extract(body, contentType, address)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if err != nil && found != (Article{}) {
			t.Errorf("got %+v beside the error %v", found, err)
		}
		if err != nil && strings.Contains(err.Error(), "the parser failed") {
			t.Errorf("it panics: %v", err)
		}
		checkArticle(t, found)
	})
}

// TestCorpus parses real pages. Most are home pages, whose result is of no use. The test checks that each is
// accepted, and that the text of those with much text is found.
func TestCorpus(t *testing.T) {
	root := corpus.Folder(t, "feeds", "discovery")
	files, err := filepath.Glob(filepath.Join(root, "*.html*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages in %s: %v", root, err)
	}
	long := 0
	for _, file := range files {
		found, err := Extract(corpus.Bytes(t, file), "text/html", address)
		if err != nil && !errors.Is(err, ErrNoArticle) {
			t.Errorf("%s: got %v, want it accepted", filepath.Base(file), err)
		}
		checkArticle(t, found)
		if n := utf8.RuneCountInString(found.Text); n > 900 {
			long++
			t.Logf("%s: %d characters, titled %q", filepath.Base(file), n, found.Title)
		}
	}
	if long < len(files)/2 {
		t.Errorf("got %d texts of %d pages, want half as many", long, len(files))
	}
}
