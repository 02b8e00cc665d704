package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerpt(t *testing.T) {
	for _, test := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 10, "short"},
		{"exactly so", 10, "exactly so"},
		{"one two three", 9, "one two…"},
		{"one two, three", 9, "one two…"},
		{"one\n two", 20, "one two"},
		{"Привет мир и все", 11, "Привет мир…"},
		{"unbreakableword", 8, "unbreak…"},
		{"東京タワーはとても高い", 5, "東京タワ…"},
		{strings.Repeat(" ", 1000) + "far", 10, "far"},
		{"x", 0, ""},
		{"", 5, ""},
	} {
		if got := Excerpt(test.in, test.max); got != test.want {
			t.Errorf("Excerpt(%q, %d) = %q, want %q", test.in, test.max, got, test.want)
		}
	}
}

func TestTitle(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"AT&amp;amp;T <b>x</b>", "AT&T x"},
		{"AT&amp;amp;amp;T", "AT&amp;T"},
		{"a < b and c > d", "a < b and c > d"},
		{"<T> in Go", "<T> in Go"},
		{"Vec<u8> and List<A>", "Vec<u8> and List<A>"},
		{"The <video> element", "The <video> element"},
		{"Using &lt;div&gt; well", "Using <div> well"},
		{"&lt;em&gt;Really&lt;/em&gt;", "Really"},
		{"<script>alert(1)</script>News", "News"},
		{"<img src=x onerror=alert(1)>News", "News"},
		{"&lt;img src=x onerror=alert(1)&gt;News", "News"},
		{"<svg onload=alert(1)>News", "News"},
		{"one<br>two<br/>three", "one two three"},
		{"cut <b>off", "cut off"},
		{"  many\n\t spaces&nbsp;here ", "many spaces here"},
		{"R&D &copy; ?a=1&lt=2", "R&D © ?a=1&lt=2"},
		{"a<!-- b -->c", "ac"},
		{"nul\x00 &#0; \xff", "nul \uFFFD \uFFFD"},
		{"", ""},
		{"<>", "<>"},
		{"5 &lt; 6 &amp;&amp; 7", "5 < 6 && 7"},
	} {
		if got := Title(test.in, 200); got != test.want {
			t.Errorf("Title(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestTitle_CutsBetweenCharacters(t *testing.T) {
	for max := range 12 {
		got := Title("<b>Привет мир</b>", max)
		if len(got) > max || !utf8.ValidString(got) || !strings.HasPrefix("Привет мир", got) {
			t.Errorf("cut to %d bytes: got %q", max, got)
		}
	}
	if got := Title(strings.Repeat("<", 1<<20), 100); len(got) > 100 {
		t.Errorf("got %d bytes, want at most 100", len(got))
	}
}

// show encloses hits in brackets.
func show(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Hit {
			fmt.Fprintf(&b, "[%s]", s.Text)
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestHighlight(t *testing.T) {
	const long = "Once there was a cat. Then nothing happened for a long while, and more nothing. Then cat met cat, and so on, and on."
	for _, test := range []struct {
		in   string
		max  int
		want string
	}{
		{"A cat, a Cat", 50, "A [cat], a [Cat]"},
		{"no hit in here at all", 10, "no hit in…"},
		{long, 24, "…Then [cat] met [cat], and…"},
		{"cat " + strings.Repeat("x ", 50), 12, "[cat] x x x…"},
		{strings.Repeat("x ", 50) + "cat", 12, "…x x x [cat]"},
		{"<b>cat</b>", 50, "<b>[cat]</b>"},
		{"", 10, ""},
		{"cat", 0, ""},
		{"cat and dog", 1, "…"},
		{"cat and dog", 4, "[ca]…"},
	} {
		got := show(Highlight(test.in, func(w Word) bool { return w.Text == "cat" }, test.max))
		if got != test.want {
			t.Errorf("Highlight(%.20q, %d) = %q, want %q", test.in, test.max, got, test.want)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	f.Add("A cat, a Cat and ещё 東京 cats", 12)
	f.Fuzz(func(t *testing.T, s string, max int) {
		max %= 200
		spans := Highlight(sanitizeUTF8(s), func(w Word) bool { return len(w.Text)%3 == 0 }, max)
		n := 0
		for _, span := range spans {
			n += utf8.RuneCountInString(span.Text)
			if !isSanitized(span.Text) {
				t.Errorf("got span %q, want it legible", span.Text)
			}
		}
		if n > max && max >= 0 {
			t.Errorf("got %d characters of %q, want at most %d", n, s, max)
		}
	})
}
