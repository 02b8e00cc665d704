package text

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

func page(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse("https://example.org/blog/post?x=1")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// clean cleans by the default rules.
func clean(markup string, base *url.URL) Cleaned { return Default().Clean(markup, base, "") }

func TestClean_KeepsFormatting(t *testing.T) {
	const link = `" rel="nofollow noopener noreferrer">`
	for _, test := range []struct{ name, in, want string }{
		{"a table", `<table border=1><tr><th scope=col>a<td colspan=2 style=x>b</table>`,
			`<table><tr><th scope="col">a</th><td colspan="2">b</td></tr></table>`},
		{"code", "<pre class=go><code>if a &lt; b {\n\tx()\n}</code></pre>", "<pre><code>if a &lt; b {\n\tx()\n}</code></pre>"},
		{"a figure", `<figure id=f><img src=a.png alt="A &amp; B"><figcaption>c</figcaption></figure>`,
			`<figure><img src="https://example.org/blog/a.png" alt="A &amp; B"><figcaption>c</figcaption></figure>`},
		{"omitted end tags", `<p>a<p>b<ul><li>c<li>d</ul>`, `<p>a</p><p>b</p><ul><li>c</li><li>d</li></ul>`},
		{"end tags out of order", `<b>a<i>b</b>c</i>d`, `<b>a<i>b</i></b>cd`},
		{"end tags without elements", `a</div></td>b`, `ab`},
		{"end tags that close other elements", `a</p>b</br>c`, `a<p></p>b<br>c`},
		{"an unclosed tag", `<blockquote><p>a`, `<blockquote><p>a</p></blockquote>`},
		{"relative links", `<a href="../x y">a</a>`, `<a href="https://example.org/x%20y` + link + `a</a>`},
		{"mail", `<a href="mailto:a@b.c">a</a>`, `<a href="mailto:a@b.c` + link + `a</a>`},
		{"links without a target", `<a href="ftp://x/">a</a><a name=n>b</a>`, `ab`},
		{"links with user info", `<a href="https://bank.com@evil.org/">a</a>`, `<a href="https://evil.org/` + link + `a</a>`},
		{"unsupported elements", `<font color=red>a</font><center>b</center><o:p>c</o:p>`, `a<div>b</div>c`},
		{"images loaded by scripts", `<img src="data:image/gif;base64,R0" data-src="/i.png"><noscript><img src="/i.png"></noscript>`,
			`<img src="https://example.org/i.png">`},
		{"pixels", `a<img src=p.gif width=1 height=1><img src=q.gif height="1" width="1"/><img src=r.gif style="width: 1px">`, `a`},
		{"marks of CDATA", `<![CDATA[<p>a</p>]]>`, `<p>a</p>`},
		{"comments", `a<!-- <b> -->b<!--[if IE]>c<![endif]-->d`, `abd`},
		{"elements without an end", `<svg><p>a</p><textarea>b`, `<p>a</p>b`},
		{"direction", `<p dir=rtl lang=he>ש</p>`, `<p dir="rtl">ש</p>`},
		{"control characters", "a\x00b\x07c&#7;d\r\ne\xff", "abcd\ne\uFFFD"},
		{"white space only", " \n ", ""},
		{"plain text", `AT&T < "you"`, `AT&amp;T &lt; &#34;you&#34;`},
	} {
		if got := clean(test.in, page(t)).HTML; got != test.want {
			t.Errorf("%s: Clean(%q).HTML =\n%s, want\n%s", test.name, test.in, got, test.want)
		}
	}
}

func TestClean_ReturnsText(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"<p>one\n two</p><p>three", "one two\nthree"},
		{"<style>b{}</style>a<script>x()</script>b<noscript>c</noscript>", "abc"},
		{"<table><tr><td>a<td>b<tr><td>c</table>d", "a b\nc\nd"},
		{"<pre>a\n  b</pre>", "a\nb"},
		{"a<br>b<hr>c", "a\nb\nc"},
		{"Unter&shy;nehmen &amp;lt;&nbsp;&#x2014;", "Unternehmen &lt; —"},
		{"<b>a</b>b <span>c</span>", "ab c"},
		{"<header>a</header>b", "a\nb"},
		{"<title>no</title>yes", "yes"},
		{"a<script/>b<p>c", "ab\nc"},
		{"a<script src='x.js' async/>b<p>c<script>x()</script>d", "ab\ncd"},
		{"a<script src=x.js>b<p>c", "ab\nc"},
		{"a<SCRIPT src=x.js>b<p>c<Script>x()</script>d", "ab\ncd"},
		{"a<script src=x.js></script>b<script/>x()</script>c", "abc"},
		{"a<style/>b<style>b{}</style>c", "abc"},
		{"a<svg><style/></svg>b", "ab"},
		{"a<script>x('<p>'+`<div>\n<p>`) // don't\n<p>b", "a\nb"},
		{"a<script>x(); /* <p> */ <!-- <p> -->if(i<p.n)y()</p>b<script>z()<div>c<style>p{}", "a\nb\nc"},
		{"a<script>x(`<p>b", "a"},
		{"a<script>x()", "a"},
		{"", ""},
	} {
		if got := clean(test.in, nil).Text; got != test.want {
			t.Errorf("Clean(%q).Text = %q, want %q", test.in, got, test.want)
		}
		if got := PlainText(test.in); got != test.want {
			t.Errorf("Plain(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestClean_ListsImagesOnce(t *testing.T) {
	got := clean(`<img src="/a.png"><img src="//cdn.org/b.png"><img src="/a.png"><img src="data:x"><img src="p" width=1 height=1>`, page(t)).Images
	want := []string{"https://example.org/a.png", "https://cdn.org/b.png"}
	if !slices.Equal(got, want) {
		t.Errorf("got images %q, want %q", got, want)
	}
	many := clean(strings.Repeat(`<img src="a"><img src="b">`, 10)+`<img src="c`+strings.Repeat(`"><img src="c`, 3)+`">`, page(t)).Images
	if len(many) != 3 {
		t.Errorf("got %d images, want each once: 3", len(many))
	}
}

func TestClean_WithoutBaseDropsRelativeURLs(t *testing.T) {
	got := clean(`<a href="/x">a</a><img src="b.png"><a href="https://c.org">c</a>`, nil)
	if want := `a<a href="https://c.org" rel="nofollow noopener noreferrer">c</a>`; got.HTML != want || got.Images != nil {
		t.Errorf("got %q and images %q, want %q and none", got.HTML, got.Images, want)
	}
}

func TestClean_CutsLongMarkup(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("<p>ж\"", maxMarkup/4), strings.Repeat("\"", 2*maxMarkup), strings.Repeat("<b>", maxMarkup),
	} {
		got := clean(in, nil)
		if len(got.HTML) > maxMarkup {
			t.Errorf("got %d bytes of %.10q..., want at most %d", len(got.HTML), in, maxMarkup)
		}
		if repeated := clean(got.HTML, nil); repeated.HTML != got.HTML {
			t.Errorf("cleaning %.10q... again changed it", in)
		}
		checkSafe(t, got)
	}
}

func TestClean_FlattensDeepMarkup(t *testing.T) {
	for _, tag := range []string{"div", "b", "blockquote", "table><tr><td", "svg", "ul><li", "font"} {
		in := strings.Repeat("<"+tag+">", 2000) + "kept" + strings.Repeat("</div>", 50)
		got := clean(in, nil)
		if got.Text != "kept" {
			t.Errorf("2000 <%s>: got text %q, want %q", tag, got.Text, "kept")
		}
		checkSafe(t, got)
	}
}

// BenchmarkPrepare runs the functions of this package that the prepare role calls on an item of 3 KB.
func BenchmarkPrepare(b *testing.B) {
	in := strings.Repeat(`<p class="x">A <a href="/post/1?a=1&amp;utm_source=rss" onclick="x()">sentence with a link</a> and <b>bold</b>, `+
		`<code>code</code> &amp; an image: <img src="i.png" width="640" height="480" alt="An image"> and some more words to read.</p>`+"\n", 12) +
		`<p>The post <a href="/1">A title</a> appeared first on <a href="/">A blog</a>.</p>`
	r, base := Default(), page(b)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		got := r.Clean(in, base, "https://example.org/feed")
		Excerpt(got.Text, 300)
		r.Title("A title &amp;amp; more - A blog", "A blog", 300)
		r.CleanLink("https://example.org/post/1?a=1&utm_source=rss")
	}
}

func TestClean_ConcurrentUse(t *testing.T) {
	var done sync.WaitGroup
	sizes := 200
	if testing.Short() {
		sizes = 60
	}
	for i := range 8 {
		done.Go(func() {
			for j := range sizes {
				want := strings.TrimSpace(strings.Repeat(fmt.Sprintf("w%d-%d ", i, j), 1+j*j/2))
				got := clean("<div><p>"+want+"</p>", nil)
				if got.Text != want || got.HTML != "<div><p>"+want+"</p></div>" {
					t.Errorf("got %.40q and %.40q, want %.40q", got.HTML, got.Text, want)
				}
			}
		})
	}
	done.Wait()
}

// Ids are kept where links of the same text lead to them, and all others are removed.
func TestClean_Anchors(t *testing.T) {
	base, err := url.Parse("https://blog.example/post")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range [][2]string{
		{`<p id="top">One<sup id="r"><a href="#f">1</a></sup></p><ol><li id="f">Note <a href="#r">back</a></ol>`,
			`<p>One<sup id="anchor-r"><a href="https://blog.example/post#f" rel="nofollow noopener noreferrer">1</a></sup></p>` +
				`<ol><li id="anchor-f">Note <a href="https://blog.example/post#r" rel="nofollow noopener noreferrer">back</a></li></ol>`},
		{`<a name="f" title="t">Note</a><a href="#f">1</a>`, `<a id="anchor-f">Note</a><a href="https://blog.example/post#f" rel="nofollow noopener noreferrer">1</a>`},
		{`<a name="f" title="t">Note</a> #f" `, `Note #f&#34;`},
		{`<p id="f">a</p><p id="f">b</p><a href="/other#f">1</a>`, `<p id="anchor-f">a</p><p>b</p><a href="https://blog.example/other#f" rel="nofollow noopener noreferrer">1</a>`},
		{`<p id='f" onclick="x'>a</p><a href='#f" onclick="x'>1</a>`, `<p>a</p><a href="https://blog.example/post#f%22%20onclick=%22x" rel="nofollow noopener noreferrer">1</a>`},
	} {
		got := Default().Clean(test[0], base, "").HTML
		if got != test[1] {
			t.Errorf("%s\ngot  %s\nwant %s", test[0], got, test[1])
		}
		if again := Default().Clean(got, base, "").HTML; again != got {
			t.Errorf("cleaned again:\ngot  %s\nwant %s", again, got)
		}
	}
}
