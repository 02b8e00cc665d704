package text

import (
	"slices"
	"testing"
)

// TestClean_LinksEmbeddedMedia: embedded documents, video and audio leave a link, known players also media.
func TestClean_LinksEmbeddedMedia(t *testing.T) {
	link := func(address, text string) string {
		return `<a href="` + address + `" rel="nofollow noopener noreferrer">` + text + `</a>`
	}
	youtube := link("https://www.youtube.com/watch?v=dQw4w9WgXcQ", "Video: YouTube")
	youtubeMedia := Media{URL: "https://www.youtube.com/watch?v=dQw4w9WgXcQ", Type: "video", Player: "YouTube", Picture: "https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"}
	for _, test := range []struct {
		name, in, want string
		media          []Media
	}{
		{"YouTube", `<p>a</p><iframe src="//www.youtube-nocookie.com/embed/dQw4w9WgXcQ?rel=0" title="The &lt;b&gt; talk"></iframe><p>b</p>`,
			`<p>a</p>` + link("https://www.youtube.com/watch?v=dQw4w9WgXcQ", "Video: The &lt;b&gt; talk") + ` <p>b</p>`, []Media{{URL: "https://www.youtube.com/watch?v=dQw4w9WgXcQ", Type: "video", Player: "YouTube", Title: "The <b> talk", Picture: "https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"}}},
		{"title of all players", `<iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ" title="YouTube video player"></iframe>`, youtube, []Media{youtubeMedia}},
		{"playlist", `<iframe src="https://youtube.com/embed/videoseries?list=PL1"></iframe>`, link("https://www.youtube.com/playlist?list=PL1", "Video: YouTube"), []Media{{URL: "https://www.youtube.com/playlist?list=PL1", Type: "video", Player: "YouTube"}}},
		{"Vimeo", `<iframe src="https://player.vimeo.com/video/123?h=ab1&amp;x=y" />b`, link("https://vimeo.com/123/ab1", "Video: Vimeo") + ` b`, []Media{{URL: "https://vimeo.com/123/ab1", Type: "video", Player: "Vimeo"}}},
		{"Spotify", `<iframe src="https://open.spotify.com/embed/episode/4x?t=1"></iframe>`, link("https://open.spotify.com/episode/4x", "Audio: Spotify"), []Media{{URL: "https://open.spotify.com/episode/4x", Type: "audio", Player: "Spotify"}}},
		{"sources", `<video controls title=T poster=/t.png><source type="video/webm" src="/a.webm"><source src="/a.mp4"/><p>No video? <a href=/x>Load it</a></p></video>b`,
			link("https://example.org/a.webm", "Video: T") + ` b`, []Media{{URL: "https://example.org/a.webm", Type: "video/webm", Title: "T", Picture: "https://example.org/t.png"}}},
		{"audio", `a <b>c</b><audio src="a.mp3"></audio>`, `a <b>c</b><br>` + link("https://example.org/blog/a.mp3", "Audio: example.org"), []Media{{URL: "https://example.org/blog/a.mp3", Type: "audio/mpeg"}}},
		{"object", `<object data="javascript:x"><param name="movie" value="http://www.youtube.com/v/dQw4w9WgXcQ"><embed src="http://www.youtube.com/v/x"></object>`, youtube, []Media{youtubeMedia}},
		{"embed", `<embed src="https://a.example/m" type="audio/mpeg">`, link("https://a.example/m", "Audio: a.example"), []Media{{URL: "https://a.example/m", Type: "audio/mpeg"}}},
		{"a page", `<iframe src="https://a.example/map"></iframe>`, link("https://a.example/map", "Embedded content: a.example"), nil},
		{"lazily loaded, with noscript", `<iframe src="about:blank" data-src="https://www.youtube.com/embed/dQw4w9WgXcQ"></iframe><noscript><iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ"></iframe></noscript>`,
			youtube, []Media{youtubeMedia}},
		{"without an end tag", `<video src="/a.mp4"><p>b</p>`, link("https://example.org/a.mp4", "Video: example.org") + ` <p>b</p>`, []Media{{URL: "https://example.org/a.mp4", Type: "video/mp4"}}},
		{"in a link", `<a href="/x">c<video src="/a.mp4"></video>d</a>`, link("https://example.org/x", "c") + "<br>" + link("https://example.org/a.mp4", "Video: example.org") + " d", []Media{{URL: "https://example.org/a.mp4", Type: "video/mp4"}}},
		{"invisible", `a<iframe src="https://a.example/" width=1 height=1></iframe><iframe src="https://a.example/x" style="display: none"></iframe>`, `a`, nil},
		{"tracking", `a<iframe src="https://ad.doubleclick.net/x"></iframe>`, `a`, nil},
		{"hostile", `a<iframe src="javascript:alert(1)"></iframe><video src="data:video/mp4;base64,AA"></video><embed src="file:///etc/passwd"><object data="vbscript:x"></object><iframe srcdoc="<script>"></iframe>`, `a`, nil},
	} {
		got := clean(test.in, page(t))
		if got.HTML != test.want || !slices.Equal(got.Media, test.media) {
			t.Errorf("%s: got %s\nwith %q, want %s\nwith %q", test.name, got.HTML, got.Media, test.want, test.media)
		}
		checkClean(t, Default(), test.in)
		checkClean(t, generous(t), test.in)
	}
}

// TestClean_EmbedsYouTubeFromItsPrivateHost: rules that embed only this host do so for all of YouTube's players.
func TestClean_EmbedsYouTubeFromItsPrivateHost(t *testing.T) {
	r, err := Parse([]byte(`{"embeds": ["www.youtube-nocookie.com"]}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `<iframe src="https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ" sandbox="allow-same-origin allow-scripts"></iframe>`
	if got := r.Clean(`<iframe src="//www.youtube.com/embed/dQw4w9WgXcQ"></iframe>`, page(t), ""); got.HTML != want {
		t.Errorf("got %s, want %s", got.HTML, want)
	}
}

// TestClean_AvatarsAndEmojiAreNoPictures: emoji become their text; portraits stay, but are no picture of the item.
func TestClean_AvatarsAndEmojiAreNoPictures(t *testing.T) {
	for _, test := range []struct {
		in, html string
		images   []string
	}{
		{`a <img class="wp-smiley" src="https://s.w.org/images/core/emoji/14.0.0/72x72/1f600.png" alt="😀">b`, `a 😀b`, nil},
		{`<img class="emoji x" src="/e.png" alt="&lt;3">`, `&lt;3`, nil},
		{`<img class="emoji" src="/e.png">`, `<img src="https://example.org/e.png">`, nil},
		{`<img src="https://secure.gravatar.com/avatar/1?s=48" alt="Ann">`, `<img src="https://secure.gravatar.com/avatar/1?s=48" alt="Ann">`, nil},
		{`<img class="avatar photo" src="/ann.png"><img src="/b.png">`, `<img src="https://example.org/ann.png"><img src="https://example.org/b.png">`, []string{"https://example.org/b.png"}},
	} {
		got := clean(test.in, page(t))
		if got.HTML != test.html || !slices.Equal(got.Images, test.images) {
			t.Errorf("%s: got %s and %q, want %s and %q", test.in, got.HTML, got.Images, test.html, test.images)
		}
		checkClean(t, Default(), test.in)
	}
	if got := Default().ImageURL("https://1.gravatar.com/avatar/1", nil); got != "" {
		t.Errorf("got %s as the picture that a feed names", got)
	}
}

// TestClean_FormulasKeepTheirText: the alternative text, else the displayed text, else the annotation.
func TestClean_FormulasKeepTheirText(t *testing.T) {
	const displayed = `<mrow><msup><mi>x</mi><mn>2</mn></msup><mo>&lt;</mo><mtext> y </mtext></mrow>`
	for in, want := range map[string]string{
		`a <math alttext="x^2&lt;y">` + displayed + `</math>.`:                                                               `a x^2&lt;y.`,
		`a <math><semantics>` + displayed + `<annotation encoding="application/x-tex">x^2</annotation></semantics></math> b`: `a x 2 &lt; y b`,
		`<math><annotation-xml><ci>q</ci></annotation-xml><annotation>\frac{1}{2}</annotation></math>`:                       `\frac{1}{2}`,
		`<math><annotation>z</annotation><mi>y</mi></math>`:                                                                  `y`,
		`<math><script>alert(1)</script><mi>y</mi><img src=x onerror=alert(1)></math>`:                                       `y`,
		`<math alttext="<img src=x onerror=alert(1)>"></math>`:                                                               `&lt;img src=x onerror=alert(1)&gt;`,
		`<math><mi>x</mi><p>a`: `x<p>a</p>`,
		`<span class="katex"><span class="katex-mathml"><math><mi>x</mi></math></span><span class="katex-html">x</span></span>`: `x`,
		`<math></math>b`: `b`,
	} {
		if got := clean(in, nil); got.HTML != want {
			t.Errorf("%s: got %s, want %s", in, got.HTML, want)
		}
		checkClean(t, Default(), in)
	}
}

// TestClean_HostsArePunycode: hosts outside of ASCII are written in punycode, not in percent signs.
func TestClean_HostsArePunycode(t *testing.T) {
	for in, want := range map[string]string{
		"https://пример.рф/путь?q=я":    "https://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C?q=я",
		"http://%D0%BF%D1%80.рф:8080/x": "http://xn--o1ac.xn--p1ai:8080/x",
		"//Bücher.example":              "https://xn--bcher-kva.example",
		"https://a_b.example/":          "https://a_b.example/",
		"https://[::1]:80/":             "https://[::1]:80/",
	} {
		got := cleanedLink(Default(), in, page(t), true)
		if got != want || cleanedLink(Default(), got, nil, true) != got {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := clean(`<a href="https://пример.рф/">https://пример.рф/</a>`, nil).Text; got != "https://пример.рф/" {
		t.Errorf("got the text %s", got)
	}
}
