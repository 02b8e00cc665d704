package storage_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"feedmesh/storage"
)

func TestCanonicalURL_NormalizesSpellings(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"http://example.org/": {
			"http://example.org", "http://example.org/", "HTTP://EXAMPLE.ORG/", "  http://example.org\n", "http://example.org:80/", "http://example.org:/",
			"http://example.org:0080/", "http://example.org./", "http://example.org/#top", "http://me:secret@example.org/", "feed://example.org", "feed:http://example.org/",
			"FEED:HTTP://example.org", "http://ＥＸＡＭＰＬＥ.org/", "http://example。org/", "http://exam\u00adple.org/",
		},
		"https://example.org/": {
			"https://example.org:443", "example.org", "Example.org", "example.org:443", "feed:https://example.org/", "example.org#top", "https://example.org:443/#",
		},
		"https://example.org/feed?b=2&a=1":          {"example.org/feed?b=2&a=1", "https://example.org/feed?b=2&a=1#x"},
		"https://example.org/?to=a@b.example":       {"example.org?to=a@b.example", "https://example.org/?to=a@b.example"},
		"https://example.org:8443/":                 {"example.org:8443", "https://example.org:8443/", "https://EXAMPLE.org.:08443"},
		"http://example.org:443/":                   {"http://example.org:443/"},
		"https://example.org:80/":                   {"https://example.org:80"},
		"https://xn--e1afmkfd.xn--p1ai/":            {"пример.рф", "https://ПРИМЕР.РФ/", "https://xn--e1afmkfd.xn--p1ai", "https://XN--E1AFMKFD.xn--p1ai./"},
		"https://xn--bcher-kva.example/":            {"bücher.example", "BÜCHER.example", "bu\u0308cher.example"},
		"http://feeds_2.example.org/":               {"http://feeds_2.example.org", "http://FEEDS_2.example.org./"},
		"http://localhost:8080/":                    {"http://localhost:8080", "http://LOCALHOST:8080/"},
		"http://127.0.0.1/":                         {"http://127.0.0.1:80", "http://１２７.0.0.1/"},
		"http://[::1]/":                             {"http://[::1]", "http://[::1]:80/", "http://[0:0:0:0:0:0:0:1]/", "http://[0000::0001]/"},
		"https://[2001:db8::a]:8443/":               {"https://[2001:DB8::A]:8443", "https://[2001:db8:0:0::a]:8443/"},
		"http://example.org/%D1%84?q=%D1%84":        {"http://example.org/ф?q=ф", "http://example.org/%D1%84?q=%D1%84"},
		"http://example.org/a%20b?q=a%20b":          {"http://example.org/a b?q=a b", "http://example.org/a%20b?q=a b#c d"},
		"http://example.org/?q=":                    {"http://example.org?q= ", "http://example.org/?q=#x"},
		"http://example.org/?q=%22%3Cb%3E%C2%A0":    {"http://example.org?q=\"<b>\u00a0#x"},
		"http://example.org/Path/../Case?Query=Yes": {"http://example.org/Path/../Case?Query=Yes"},
		"http://example.org/a%2Fb":                  {"http://example.org/a%2Fb"},
	} {
		for _, raw := range spellings {
			if got, err := storage.CanonicalURL(raw); err != nil || got != want {
				t.Errorf("CanonicalURL(%q) = %q, %v; want %q", raw, got, err, want)
			}
		}
		if got, err := storage.CanonicalURL(want); err != nil || got != want {
			t.Errorf("CanonicalURL(%q) = %q, %v; want it as it is", want, got, err)
		}
	}
}

func TestCanonicalURL_DescribesFault(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", storage.MaxURL)
	for want, bad := range map[string][]string{
		"the address is empty":                  {"", " \n\t"},
		"the address is longer than 2048 bytes": {"http://example.org/" + long, "http://example.org/" + strings.Repeat("ф", 1000)},
		"must start with http:// or https://":   {"ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "gopher://example.org", "//example.org/feed", "/feed.xml", "feed", "localhost:8080", "me@example.org", "mailto:me@example.org", "?", "#", "feed:"},
		"the host name is missing":              {"http://", "http:///feed", "https://:443/", "http://./", "http:/example.org", "http:", "feed://"},
		"the host name is invalid":              {"http://exa_mple\u200b\u2028.org/", "http://\xff/", "http://a..b/", "http://.example.org/", "http://example.org../", "http://<b>/", "http://a,b/", "http://[fe80::1%25lo]/", "http://" + long[:254] + ".org/"},
		"the port is not between 1 and 65535":   {"http://example.org:0/", "http://example.org:65536/", "http://example.org:99999999999999999999/"},
		"invalid port":                          {"http://example.org:port/", "http://1:2:3:4/", "1:2.3", "example.org:feed", "http:example.org/feed"},
		"invalid character":                     {"http://exam ple.org/", "http://exam^ple.org/"},
		"invalid control character":             {"http://example.org/\x00", "http://example.org/a\nb", "http://exam\tple.org"},
		"invalid URL escape":                    {"http://example.org/%zz", "http://%zz/"},
		"missing ']'":                           {"http://[::1/"},
	} {
		for _, raw := range bad {
			got, err := storage.CanonicalURL(raw)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("CanonicalURL(%.60q) = %q, %v; want an error with %q", raw, got, err, want)
			}
		}
	}
}

func FuzzCanonicalURL(f *testing.F) {
	for _, s := range []string{
		"http://example.org/", "example.org/feed?a=b#c", "feed://EXAMPLE.org:80", "https://пример.рф./ф?ф", "http://[::1%25lo]:8080/", "http://a:b@c:443",
		"mailto:me@example.org", "http://1.2.3.4:65535/%2F", "http://\xff/", "http://a..b", "//x", "http://a/?q= #f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := storage.CanonicalURL(raw)
		if err != nil {
			return
		}
		if repeated, err := storage.CanonicalURL(got); err != nil || repeated != got {
			t.Errorf("%q becomes %q, and that %q, %v", raw, got, repeated, err)
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Path == "" {
			t.Errorf("%q becomes %q: %+v, %v; want http or https, a host, a path and no user or fragment", raw, got, u, err)
		}
		if _, err := netip.ParseAddr(u.Hostname()); err != nil && strings.Trim(u.Hostname(), "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			t.Errorf("%q becomes %q: want the host an address or a name", raw, got)
		}
		if len(got) > storage.MaxURL || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q becomes %q: want at most %d visible ASCII characters", raw, got, storage.MaxURL)
		}
	})
}

// Stored records refer to each other by these IDs, so they must never change.
func TestIDs_AreStable(t *testing.T) {
	t.Parallel()
	feed := storage.FeedID("https://example.org/feed")
	item := storage.ItemID(feed, "guid 1")
	event := storage.EventID(item)
	for got, want := range map[string]string{
		feed: "c6zfqcrfhnxm7xeubyd6jffuvy", item: "isamhsjvpvqulj5fbuicouiop4", event: "yu3vzggzfiw2udser5fut4rave", storage.StoryID(event): "dejhlbgc6zmbazdof4jwmgkb6u", storage.ItemID(feed, "ключ"): "ardozuixkbi7fohmol36m2ypte", storage.FeedID(""): "ahnlfnq5cjmdana45pm4jgh4r4",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestIDs_AreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for what, id := range map[string]string{
		"feed": storage.FeedID("x"), "item of nothing": storage.ItemID("x", ""), "item under nothing": storage.ItemID("", "x"),
		"event": storage.EventID("x"), "story": storage.StoryID("x"), "item ab c": storage.ItemID("ab", "c"), "item a bc": storage.ItemID("a", "bc"),
		"other feed": storage.FeedID("y"),
	} {
		if before, is := seen[id]; is {
			t.Errorf("%s and %s have equal IDs", what, before)
		}
		seen[id] = what
		if len(id) != 26 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
			t.Errorf("%s: got %q, want 26 characters of a-z and 2-7", what, id)
		}
	}
}
