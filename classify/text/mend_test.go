package text

import (
	"slices"
	"strings"
	"testing"
)

// mends are what publishers' tools do to items, and what we make of it.
var mends = []struct{ name, in, want string }{
	{"a tail", `<p>Words.</p><p>The post <a href="/1">One &amp; two</a> appeared first on <a href="/">A Blog</a>.</p>`, `<p>Words.</p>`},
	{"a tail in another element", `<div><p>Words.</p><div class="x"><hr><p>The post One appeared first on A Blog.</p></div></div>`, `<div><p>Words.</p></div>`},
	{"a Russian tail", `<p>Слова.</p>
<p>Запись <a href="/1">Раз</a> впервые появилась <a href="/">Блог</a>.</p>`, `<p>Слова.</p>
<p>Запись <a href="https://example.org/1"` + follow + `>Раз</a> впервые появилась <a href="https://example.org/"` + follow + `>Блог</a>.</p>`},
	{"a Russian tail that says where", `<p>Слова.</p><p>Запись <a href="/1">Раз</a> впервые появилась на <a href="/">Блог</a>.</p>`, `<p>Слова.</p>`},
	{"a source", `<p>Words.</p><p>Source: <a href="/s">Reuters</a></p>`, `<p>Words.</p>`},
	{"a Russian source", `<p>Слова.</p>Источник: ТАСС`, `<p>Слова.</p>`},
	{"a link to more", `<p>Words &#8230; <a href="/1">Continue reading <span>&rarr;</span></a></p>`, `<p>Words … </p>`},
	{"a link to more with points", `<p>Words. <a href="/1">Continue reading...</a></p>`, `<p>Words. </p>`},
	{"a Russian link to more", `Слова. <a href="/1">Читать далее</a>`, `Слова.`},
	{"two tails", `<p>Words. <a href="/1">Read more</a></p><p>The post One first appeared on A Blog.</p>`, `<p>Words. </p>`},
	{"a tail with what else there is to it", `<p>Words.</p><p>The post One appeared first on A Blog.</p><div><a href="http://feeds.feedburner.com/~ff/x"><img src="http://feeds.feedburner.com/~ff/y"></a></div><img src="http://feeds.feedburner.com/~r/x/~4/y" width="1" height="1">`, `<p>Words.</p>`},
	{"more in the middle of a line", `<p>To read more books is good.</p>`, `<p>To read more books is good.</p>`},
	{"more that is no link", `<p>Words. Read more</p>`, `<p>Words. Read more</p>`},
	{"a tail in front", `<p>Source: Reuters</p><p>Words.</p>`, `<p>Source: Reuters</p><p>Words.</p>`},
	{"nothing but a tail", `<p><a href="/1">Read more</a></p>`, `<p><a href="https://example.org/1"` + follow + `>Read more</a></p>`},
	{"an image behind a tail", `<p>Words.</p><p>Read more</p><img src="/i.png">`, `<p>Words.</p><p>Read more</p><img src="https://example.org/i.png">`},
	{"an image before a tail", `<img src="/i.png"><p>Read more</p>`, `<img src="https://example.org/i.png">`},

	{"an image that waits", `<img src="data:image/gif;base64,R0" data-src="/i.png">`, `<img src="https://example.org/i.png">`},
	{"an image behind a stand-in", `<img src="/blank.gif" data-lazy-src="/i.png" alt="i">`, `<img src="https://example.org/i.png" alt="i">`},
	{"an image of WordPress", `<img src="/blank.gif" data-original="/i.png">`, `<img src="https://example.org/i.png">`},
	{"the best of a set", `<img src="/s.jpg" srcset="/s.jpg 300w, /l.jpg 1200w, /m.jpg 600w, /xl.jpg 4000w">`, `<img src="https://example.org/l.jpg">`},
	{"a set with commas in its addresses", `<img srcset="https://a.example/w_400,c_limit/i.png 400w, https://a.example/w_800,c_limit/i.png 800w">`, `<img src="https://a.example/w_800,c_limit/i.png">`},
	{"a set by density", `<img src="/1.png" srcset="/1.png, /2.png 2x">`, `<img src="https://example.org/2.png">`},
	{"a set that is too wide", `<img srcset="/a.png 5000w, /b.png 3000w">`, `<img src="https://example.org/b.png">`},
	{"a set of nonsense", `<img src="/i.png" srcset=", ,, x y z, a 1q, b -1x, javascript:x 3x">`, `<img src="https://example.org/i.png">`},
	{"a set that waits", `<img src="data:image/gif;base64,R0" data-srcset="/s.png 300w, /l.png 900w" data-src="/m.png">`, `<img src="https://example.org/l.png">`},
	{"a twin", `<img src="/blank.gif" data-src="/i.png?w=300"><noscript><img src="/i.png"></noscript>`, `<img src="https://example.org/i.png?w=300">`},
	{"a twin in front", `<noscript><img src="/i.png"></noscript><img src="data:image/gif;base64,R0" data-src="/i.png">`, `<img src="https://example.org/i.png">`},
	{"an image only without scripts", `<img src="data:image/gif;base64,R0"><noscript><img src="/i.png"></noscript>`, `<img src="https://example.org/i.png">`},
	{"two images", `<img src="/i.png"> <img src="/j.png">`, `<img src="https://example.org/i.png"> <img src="https://example.org/j.png">`},
	{"the same image later", `<img src="/i.png"><p>and</p><img src="/i.png">`, `<img src="https://example.org/i.png"><p>and</p><img src="https://example.org/i.png">`},

	{"a pixel by its place", `a<img src="http://stats.wordpress.com/b.gif?host=x"><img src="//pixel.wp.com/b.gif?x"><img src="http://rss.feedsportal.com/c/1/mf.gif">`, `a`},
	{"a pixel by its path", `a<img src="http://feeds.example.com/~r/Blog/~4/xyz">`, `a`},
	{"a pixel by its size", `a<img src="p.png" width="1px" height="1px"><img src="p.png" height=0 width=0><img src=p.png style="height: 1px">`, `a`},
	{"an image that is not one", `a<img src="/~r.png" width="100" height="1000">`, `a<img src="https://example.org/~r.png" width="100" height="1000">`},
	{"an image in a link that goes", `a<a href="/x"><img src="http://feeds.feedburner.com/~r/x"></a>b`, `ab`},
	{"what is no image", `a<img src="/film.mp4"><img src="/page.html"><img src="/noextension"><img src="/v1.2">`,
		`a<img src="https://example.org/noextension"><img src="https://example.org/v1.2">`},

	{"parameters that track", `<a href="/1?utm_source=rss&amp;id=7&amp;utm_medium=feed#utm_x">a</a>`, `<a href="https://example.org/1?id=7#utm_x"` + follow + `>a</a>`},

	{"tables, code and figures", "<h2>T</h2><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table><pre><code>if a {\n\treturn\n}\n</code></pre><figure><img src=\"/i.png\"><figcaption>c</figcaption></figure><ol><li>d</li></ol>",
		"<h2>T</h2><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table><pre><code>if a {\n\treturn\n}\n</code></pre><figure><img src=\"https://example.org/i.png\"><figcaption>c</figcaption></figure><ol><li>d</li></ol>"},
}

const follow = ` rel="nofollow noopener noreferrer"`

func TestCleanMendsWhatToolsDoToItems(t *testing.T) {
	for _, m := range mends {
		if got := clean(m.in, page(t)).HTML; got != m.want {
			t.Errorf("%s: %s became\n%s, want\n%s", m.name, m.in, got, m.want)
		}
		checkClean(t, Default(), m.in)
	}
}

func TestTextGoesWithItsTail(t *testing.T) {
	got := clean(`<p>Words.</p><img src="/i.png"><p>The post <a href="/1">One</a> appeared first on <a href="/">A Blog</a>.</p>`, page(t))
	if want := "Words."; got.Text != want || !slices.Equal(got.Images, []string{"https://example.org/i.png"}) {
		t.Errorf("got text %q and images %q, want %q and the one", got.Text, got.Images, want)
	}
}

func TestImagesThatFeedsNameAreImages(t *testing.T) {
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
		if got := Default().Image(test.in, page(t)); got != test.want {
			t.Errorf("Image(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestManyTailsAndMarksTakeNoTime(t *testing.T) {
	for _, unit := range []string{"<p>Read more</p>", `<a href="http://a.example/"><br></a>`, `<a href="http://a.example/">x</a>`, "<p>The post x</p>", `<noscript><img src="http://a.example/i.png"></noscript> `} {
		in := "<p>Words.</p>" + strings.Repeat(unit, maxMarkup/4/len(unit))
		checkClean(t, Default(), in)
	}
}
