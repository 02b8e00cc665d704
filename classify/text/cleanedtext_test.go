package text

import (
	"strings"
	"testing"
)

// readWhole returns the text of markup as read by a cleaner.
func readWhole(markup string) string {
	c := cleaner{rules: Default()}
	c.read(cut(sanitizeUTF8(markup), maxMarkup))
	return c.text.String()
}

func TestPlainText_CleanedMarkupEqualsCleaner(t *testing.T) {
	for _, markup := range []string{
		"<p>One</p><p>two <b>three</b><br>four</p>",
		"<p>a &amp; b &lt;c&gt; &#34;d&#39;</p>",
		`<p><a href="https://a.example/?x=1&amp;y=2" rel="nofollow noopener noreferrer">link</a> and <img src="https://a.example/i.png" alt="a &lt; b"> more</p>`,
		"<pre>one\n  two\n</pre> three\nfour",
		"<ul><li>one<ul><li>two</li></ul></li><li>three</li></ul>",
		"<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></tbody></table>",
		"<dl><dt>term</dt><dd>what</dd></dl><hr><h2>Next</h2>",
		"ein \u00ADlanges\u200B Wort, два  слова\u00A0три, 東京\u3000タワー",
		strings.Repeat("<div>", 90) + "deep" + strings.Repeat("</div>", 90) + "behind",
	} {
		got, ok := cleanedPlainText(markup)
		if want := readWhole(markup); !ok || got != want {
			t.Errorf("%.100s: got %q, %v, want %q", markup, got, ok, want)
		}
	}
}

func TestCleanedPlainText_RejectsOtherMarkup(t *testing.T) {
	for _, markup := range []string{
		"<p>one<p>two", "<p>one</b></p>", "</p>", "<p", "<", "<!-- x -->", "<script>x</script>", "<P>one</P>", "<br/>", "<p class=x>one</p>",
		`<p title="x>one</p>`, "<unknown>one</unknown>", "<a><a>one</a></a>", "<li><li>one</li></li>", "<p>one<hr></p>", "one ]]> <b>two</b>", "<noscript>one</noscript>",
		strings.Repeat("<div>", 100) + "deep" + strings.Repeat("</div>", 100), "<p>" + strings.Repeat("long ", maxMarkup/40) + "</p>",
	} {
		if got, ok := cleanedPlainText(markup); ok {
			t.Errorf("%.100s: got %q, want that a cleaner reads it", markup, got)
		}
		if got, want := PlainText(markup), readWhole(markup); got != want {
			t.Errorf("%.100s: got %q, want %q", markup, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("<p>One &amp; two<br>x <a href=\"x\">y</a></p><pre>a\nb</pre>\u00AD\u00A0\xff <td>")
	f.Add("<p>a<hr></p><div><p>b</p></div><ul><li>c</li></ul>&#1;&#13;\x00\x85\xc2\x85 ]]> <![CDATA[")
	f.Add("<p>an entity without its end &#0")
	f.Fuzz(func(t *testing.T, markup string) {
		for _, m := range []string{markup, Default().Clean(markup, nil, "").HTML} {
			if got, want := PlainText(m), readWhole(m); strings.ContainsAny(m, "<&") && got != want {
				t.Fatalf("got %q, want %q of %q", got, want, m)
			}
		}
	})
}

func BenchmarkPlain(b *testing.B) {
	ours := Default().Clean(strings.Repeat(`<p>The new version of the <b>container</b> orchestrator closes a <a href="https://a.example/x">vulnerability</a> &amp; more.</p>`, 20), nil, "").HTML
	for name, markup := range map[string]string{"ours": ours, "other": "<x>" + ours} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				PlainText(markup)
			}
		})
	}
}
