package text

import (
	"slices"
	"strings"
	"testing"
)

// repairs are outputs of publishing tools, with the expected clean form.
var repairs = []struct{ name, in, want string }{
	{"a tail", `<p>Words.</p><p>The post <a href="/1">One &amp; two</a> appeared first on <a href="/">A Blog</a>.</p>`, `<p>Words.</p>`},
	{"a tail in another element", `<div><p>Words.</p><div class="x"><hr><p>The post One appeared first on A Blog.</p></div></div>`, `<div><p>Words.</p></div>`},
	{"a Russian tail", `<p>Слова.</p>
<p>Запись <a href="/1">Раз</a> впервые появилась <a href="/">Блог</a>.</p>`, `<p>Слова.</p>
<p>Запись <a href="https://example.org/1"` + follow + `>Раз</a> впервые появилась <a href="https://example.org/"` + follow + `>Блог</a>.</p>`},
	{"a Russian tail with the source", `<p>Слова.</p><p>Запись <a href="/1">Раз</a> впервые появилась на <a href="/">Блог</a>.</p>`, `<p>Слова.</p>`},
	{"a source", `<p>Words.</p><p>Source: <a href="/s">Reuters</a></p>`, `<p>Words.</p>`},
	{"a Russian source", `<p>Слова.</p>Источник: ТАСС`, `<p>Слова.</p>`},
	{"a link to more", `<p>Words &#8230; <a href="/1">Continue reading <span>&rarr;</span></a></p>`, `<p>Words … </p>`},
	{"a link to more with dots", `<p>Words. <a href="/1">Continue reading...</a></p>`, `<p>Words. </p>`},
	{"a Russian link to more", `Слова. <a href="/1">Читать далее</a>`, `Слова.`},
	{"two tails", `<p>Words. <a href="/1">Read more</a></p><p>The post One first appeared on A Blog.</p>`, `<p>Words. </p>`},
	{"a tail with extra text", `<p>Words.</p><p>The post One appeared first on A Blog.</p><div><a href="http://feeds.feedburner.com/~ff/x"><img src="http://feeds.feedburner.com/~ff/y"></a></div><img src="http://feeds.feedburner.com/~r/x/~4/y" width="1" height="1">`, `<p>Words.</p>`},
	{"more in the middle of a line", `<p>To read more books is good.</p>`, `<p>To read more books is good.</p>`},
	{"more without a link", `<p>Words. Read more</p>`, `<p>Words. Read more</p>`},
	{"a tail at the start", `<p>Source: Reuters</p><p>Words.</p>`, `<p>Source: Reuters</p><p>Words.</p>`},
	{"only a tail", `<p><a href="/1">Read more</a></p>`, `<p><a href="https://example.org/1"` + follow + `>Read more</a></p>`},
	{"an image after a tail", `<p>Words.</p><p>Read more</p><img src="/i.png">`, `<p>Words.</p><p>Read more</p><img src="https://example.org/i.png">`},
	{"an image before a tail", `<img src="/i.png"><p>Read more</p>`, `<img src="https://example.org/i.png">`},

	{"a lazy image", `<img src="data:image/gif;base64,R0" data-src="/i.png">`, `<img src="https://example.org/i.png">`},
	{"an image behind a stand-in", `<img src="/blank.gif" data-lazy-src="/i.png" alt="i">`, `<img src="https://example.org/i.png" alt="i">`},
	{"an image of WordPress", `<img src="/blank.gif" data-original="/i.png">`, `<img src="https://example.org/i.png">`},
	{"the best image of a srcset", `<img src="/s.jpg" srcset="/s.jpg 300w, /l.jpg 1200w, /m.jpg 600w, /xl.jpg 4000w">`, `<img src="https://example.org/l.jpg">`},
	{"a srcset with commas in addresses", `<img srcset="https://a.example/w_400,c_limit/i.png 400w, https://a.example/w_800,c_limit/i.png 800w">`, `<img src="https://a.example/w_800,c_limit/i.png">`},
	{"a srcset by density", `<img src="/1.png" srcset="/1.png, /2.png 2x">`, `<img src="https://example.org/2.png">`},
	{"a srcset with too wide images", `<img srcset="/a.png 5000w, /b.png 3000w">`, `<img src="https://example.org/b.png">`},
	{"an invalid srcset", `<img src="/i.png" srcset=", ,, x y z, a 1q, b -1x, javascript:x 3x">`, `<img src="https://example.org/i.png">`},
	{"a lazy srcset", `<img src="data:image/gif;base64,R0" data-srcset="/s.png 300w, /l.png 900w" data-src="/m.png">`, `<img src="https://example.org/l.png">`},
	{"a lazy image with noscript", `<img src="/blank.gif" data-src="/i.png?w=300"><noscript><img src="/i.png"></noscript>`, `<img src="https://example.org/i.png?w=300">`},
	{"a placeholder before noscript", `<noscript><img src="/i.png"></noscript><img src="data:image/gif;base64,R0" data-src="/i.png">`, `<img src="https://example.org/i.png">`},
	{"an image only without scripts", `<img src="data:image/gif;base64,R0"><noscript><img src="/i.png"></noscript>`, `<img src="https://example.org/i.png">`},
	{"two images", `<img src="/i.png"> <img src="/j.png">`, `<img src="https://example.org/i.png"> <img src="https://example.org/j.png">`},
	{"the same image later", `<img src="/i.png"><p>and</p><img src="/i.png">`, `<img src="https://example.org/i.png"><p>and</p><img src="https://example.org/i.png">`},

	{"a tracking pixel by its host", `a<img src="http://stats.wordpress.com/b.gif?host=x"><img src="//pixel.wp.com/b.gif?x"><img src="http://rss.feedsportal.com/c/1/mf.gif">`, `a`},
	{"a tracking pixel by its path", `a<img src="http://feeds.example.com/~r/Blog/~4/xyz">`, `a`},
	{"a tracking pixel by its size", `a<img src="p.png" width="1px" height="1px"><img src="p.png" height=0 width=0><img src=p.png style="height: 1px">`, `a`},
	{"a large image with a tracking path", `a<img src="/~r.png" width="100" height="1000">`, `a<img src="https://example.org/~r.png" width="100" height="1000">`},
	{"an image in a removed link", `a<a href="/x"><img src="http://feeds.feedburner.com/~r/x"></a>b`, `ab`},
	{"addresses of other files", `a<img src="/film.mp4"><img src="/page.html"><img src="/noextension"><img src="/v1.2">`,
		`a<img src="https://example.org/noextension"><img src="https://example.org/v1.2">`},

	{"tracking parameters", `<a href="/1?utm_source=rss&amp;id=7&amp;utm_medium=feed#utm_x">a</a>`, `<a href="https://example.org/1?id=7#utm_x"` + follow + `>a</a>`},

	{"tables, code and figures", "<h2>T</h2><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table><pre><code>if a {\n\treturn\n}\n</code></pre><figure><img src=\"/i.png\"><figcaption>c</figcaption></figure><ol><li>d</li></ol>",
		"<h2>T</h2><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table><pre><code>if a {\n\treturn\n}\n</code></pre><figure><img src=\"https://example.org/i.png\"><figcaption>c</figcaption></figure><ol><li>d</li></ol>"},
}

const follow = ` rel="nofollow noopener noreferrer"`

func TestClean_RepairsToolOutput(t *testing.T) {
	for _, m := range repairs {
		if got := clean(m.in, page(t)).HTML; got != m.want {
			t.Errorf("%s: %s became\n%s, want\n%s", m.name, m.in, got, m.want)
		}
		checkClean(t, Default(), m.in)
	}
}

func TestClean_RemovesTailFromText(t *testing.T) {
	got := clean(`<p>Words.</p><img src="/i.png"><p>The post <a href="/1">One</a> appeared first on <a href="/">A Blog</a>.</p>`, page(t))
	if want := "Words."; got.Text != want || !slices.Equal(got.Images, []string{"https://example.org/i.png"}) {
		t.Errorf("got text %q and images %q, want %q and the one", got.Text, got.Images, want)
	}
}

func TestImageURL_AcceptsImagesOnly(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"/i.png", "https://example.org/i.png"},
		{"//cdn.example/i.jpg?w=1&utm_source=rss", "https://cdn.example/i.jpg?w=1"},
		{"https://a.example/photo", "https://a.example/photo"},
		{"https://a.example/film.mp4", ""},
		{"http://feeds.a.example/~r/x/~4/y", ""},
		{"data:image/png;base64,AAAA", ""},
		{"javascript:alert(1)", ""},
		{"mailto:a@a.example", ""},
		{"", ""},
	} {
		if got := Default().ImageURL(test.in, page(t)); got != test.want {
			t.Errorf("Image(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestClean_ManyTailsAreFast(t *testing.T) {
	for _, unit := range []string{"<p>Read more</p>", `<a href="http://a.example/"><br></a>`, `<a href="http://a.example/">x</a>`, "<p>The post x</p>", `<noscript><img src="http://a.example/i.png"></noscript> `} {
		in := "<p>Words.</p>" + strings.Repeat(unit, maxMarkup/4/len(unit))
		checkClean(t, Default(), in)
	}
}
