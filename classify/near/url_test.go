package near

import (
	"strings"
	"testing"
)

func TestURLKey(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"https://example.org/a/b", "example.org/a/b"},
		{"http://www.Example.org:80/a/b/", "example.org/a/b"},
		{" https://m.example.org/a/b#c ", "example.org/a/b"},
		{"https://user:pw@example.org/a/b", "example.org/a/b"},
		{"https://example.org:8443/a", "example.org:8443/a"},
		{"https://example.org/a?utm_source=rss&utm_medium=feed", "example.org/a"},
		{"https://example.org/a?b=2&a=1&fbclid=x", "example.org/a?a=1&b=2"},
		{"https://example.org/a?GCLID=1&yclid=2&mc_cid=3&ref=hn&_openstat=x", "example.org/a"},
		{"https://example.org/?p=12", "example.org?p=12"},
		{"https://example.org/index.php?id=3", "example.org?id=3"},
		{"https://example.org/A/%7Eb/%D1%8F", "example.org/A/~b/%D1%8F"},
		{"https://example.org/A/~b/я", "example.org/A/~b/%D1%8F"},
		{"https://amp.example.org/a", "example.org/a"},
		{"https://www.amp.example.org/a", "example.org/a"},
		{"https://example.org/a/amp/", "example.org/a"},
		{"https://example.org/a.amp.html", "example.org/a.html"},
		{"https://example.org/a?amp=1", "example.org/a"},
		{"https://example.org/a?outputType=amp", "example.org/a"},
		{"https://www.google.com/amp/s/www.example.org/a/amp/", "example.org/a"},
		{"https://example-org.cdn.ampproject.org/c/s/example.org/a", "example.org/a"},
		{"https://example.org/a?b=c=d&&", "example.org/a?b=c=d"},
		{"https://m.com/a", "m.com/a"},
		{"https://[2001:db8::1]/a", "[2001:db8::1]/a"},
		{"https://example.org/", ""},
		{"https://example.org", ""},
		{"https://example.org/?utm_source=x", ""},
		{"https://example.org/#/post/1", ""},
		{"mailto:a@example.org", ""},
		{"ftp://example.org/a", ""},
		{"/a/b", ""},
		{"http://%zz/", ""},
		{"", ""},
	} {
		got := URLKey(test.in)
		if got != test.want {
			t.Errorf("URLKey(%q) = %q, want %q", test.in, got, test.want)
		}
		if got != "" && URLKey("https://"+got) != got {
			t.Errorf("the key %q of %q is not stable: got %q", got, test.in, URLKey("https://"+got))
		}
	}
}

func FuzzURLKey(f *testing.F) {
	f.Add("https://www.google.com/amp/s/m.example.org/a%2Fb/amp/?b&a=%20#c")
	f.Fuzz(func(t *testing.T, s string) {
		key := URLKey(s)
		if strings.Contains(key, "#") || strings.HasSuffix(key, "/") && !strings.Contains(key, "?") {
			t.Errorf("URLKey(%q) = %q, want neither fragment nor trailing slash", s, key)
		}
	})
}
