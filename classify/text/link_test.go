package text

import (
	"net/url"
	"strings"
	"testing"
)

func TestCleanLink_RemovesTracking(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"https://a.example/1?utm_source=rss", "https://a.example/1"},
		{"https://a.example/1?id=7&utm_source=rss&utm_medium=feed", "https://a.example/1?id=7"},
		{"https://a.example/1?utm_source=rss&id=7", "https://a.example/1?id=7"},
		{"https://a.example/1?utm_source=rss#top", "https://a.example/1#top"},
		{"https://a.example/1#top?utm_source=rss", "https://a.example/1#top?utm_source=rss"},
		{"https://a.example/1?b=%20+%2F&fbclid=x&&a=", "https://a.example/1?b=%20+%2F&&a="},
		{"https://a.example/1?UTM_Source=rss&Fbclid=1", "https://a.example/1"},
		{"https://a.example/1?id=7&amp;utm_source=rss", "https://a.example/1?id=7"},
		{"https://a.example/1?utm_source=rss&amp;id=7", "https://a.example/1?id=7"},
		{"https://a.example/1?source=rss----abc---4", "https://a.example/1"},
		{"https://a.example/1?source=paper", "https://a.example/1?source=paper"},
		{"https://a.example/1?ref=rss&ref=main", "https://a.example/1?ref=main"},
		{"https://a.example/1?gclid=1&mc_eid=2&yclid=3&_openstat=4&at_medium=RSS", "https://a.example/1"},
		{"https://a.example/?p=1&id=2&v=3&tag=4&q=5&page=6", "https://a.example/?p=1&id=2&v=3&tag=4&q=5&page=6"},
		{"https://a.example/utm_source=rss", "https://a.example/utm_source=rss"},
		{"https://a.example/1?", "https://a.example/1?"},
		{"", ""},
	} {
		if got := Default().CleanLink(test.in); got != test.want {
			t.Errorf("Link(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// FuzzLink checks that a URL without tracking parameters has the same target, and that cleaning it again
// changes nothing.
func FuzzLink(f *testing.F) {
	f.Add("https://a.example/1?utm_source=rss&id=7&amp;amp;utm_x&b=%zz#c?d")
	f.Add("HTTP://a.example?&&fbclid#")
	f.Add("//a.example/ \t\n?gclid=1&\u00e4=\xff")
	f.Add("?\u008e")
	f.Add("mAilto:?utm_0")
	f.Add("mailto:x@a.example?utm_source=1")
	f.Fuzz(func(t *testing.T, address string) {
		r := Default()
		got := r.CleanLink(address)
		if repeated := r.CleanLink(got); repeated != got {
			t.Errorf("Link(%q) = %q, and again %q", address, got, repeated)
		}
		before, fragment, _ := strings.Cut(address, "#")
		after, kept, _ := strings.Cut(got, "#")
		if kept != fragment || len(got) > len(address) {
			t.Errorf("Link(%q) = %q, want the fragment as it was", address, got)
		}
		path, _, _ := strings.Cut(before, "?")
		if same, _, _ := strings.Cut(after, "?"); same != path {
			t.Errorf("Link(%q) = %q, want the same path", address, got)
		}
		absolute := cleanedLink(r, sanitizeUTF8(address), page(t), true)
		if absolute == "" {
			return
		}
		u, err := url.Parse(absolute)
		if err != nil || unsafeAddress("a", absolute) != "" || u.User != nil && u.Scheme != "mailto" {
			t.Errorf("link(%q) = %q, want a safe link: %v", address, absolute, err)
		}
		if repeated := cleanedLink(r, absolute, page(t), true); repeated != absolute {
			t.Errorf("link(%q) = %q, and again %q", address, absolute, repeated)
		}
	})
}
