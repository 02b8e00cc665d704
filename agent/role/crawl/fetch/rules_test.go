package fetch

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// allows reports whether a file allows an address at example.com.
func allows(t *testing.T, robots, path string) bool {
	t.Helper()
	u, err := url.Parse("http://example.com" + path)
	if err != nil {
		t.Fatal(err)
	}
	return parseRules([]byte(robots), Product).Allow(u)
}

func TestParseRules_AllowAndDisallow(t *testing.T) {
	t.Parallel()
	const all = "User-agent: *\n"
	for _, c := range []struct {
		name, robots    string
		allowed, denied string // paths
	}{
		{"empty", "", "/ /a", ""},
		{"a file that is a web page", "<!DOCTYPE html><p>Disallow: /", "/ /a", ""},
		{"all forbidden", all + "Disallow: /", "", "/ /a /a?b=c"},
		{"nothing forbidden", all + "Disallow:", "/ /a", ""},
		{"an empty allow", all + "Allow:\nDisallow: /a", "/ /b", "/a"},
		{"a folder", all + "Disallow: /a/", "/a /b/a/", "/a/ /a/b /a/b?c"},
		{"a beginning", all + "Disallow: /fish", "/Fish /catfish /?id=fish", "/fish /fish.html /fish/salmon /fishheads /fish.php?id=1"},
		{"without a slash", all + "Disallow: fish", "/catfish", "/fish /fish/a"},
		{"the query", all + "Disallow: /a?b", "/a /a?c", "/a?b /a?b=1"},

		{"the longest wins", all + "Allow: /a/b\nDisallow: /a", "/a/b /a/bc", "/a /a/c"},
		{"the longest wins, in whatever order", all + "Disallow: /a\nAllow: /a/b", "/a/b /a/bc", "/a /a/c"},
		{"of equal ones the kinder", all + "Disallow: /a\nAllow: /a", "/a /a/b", ""},
		{"RFC 9309, 5.2", all + "Allow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/ /example/page/a.gif", "/example/page/disallowed.gif"},

		{"an asterisk", all + "Disallow: /*.php", "/ /php /windows.PHP", "/a.php /folder/a.php /a.php?b /a.php/"},
		{"an asterisk begins at the beginning", all + "Disallow: /a*b", "/x/a1b /c", "/ab /a1b /a/1/b/c"},
		{"an asterisk alone", all + "Disallow: *", "", "/ /a"},
		{"an asterisk at the end", all + "Disallow: /fish*", "/catfish", "/fish /fishheads"},
		{"two of them", all + "Disallow: /a*b*c", "/acb /ab", "/abc /a1b2c3"},
		{"the end", all + "Disallow: /*.php$", "/a.php?b /a.php/ /a.php5", "/a.php /b/a.php /a.php.php"},
		{"the end without an asterisk", all + "Disallow: /a$", "/ab /a/", "/a"},
		{"a dollar sign elsewhere", all + "Disallow: /a$b", "/ab", "/a$b /a%24b /a$bc"},
		{"RFC 9309, 2.2.3", all + "Disallow: /path/file-with-a-%2A.html\nDisallow: /path/foo-%24", "/path/file-with-a-x.html /path/foo-", "/path/file-with-a-*.html /path/foo-$ /path/foo-%24"},

		{"octets", all + "Disallow: /foo/bar/\u30C4", "/foo/bar/", "/foo/bar/\u30C4 /foo/bar/%E3%83%84 /foo/bar/%e3%83%84"},
		{"octets in hexadecimal", all + "Disallow: /foo/bar/%e3%83%84", "", "/foo/bar/\u30C4 /foo/bar/%E3%83%84"},
		{"letters in hexadecimal", all + "Disallow: /foo/bar/%62%61%7A", "", "/foo/bar/baz /foo/bar/%62az"},
		{"an escaped slash is not a slash", all + "Disallow: /a%2fb", "/a/b", "/a%2Fb"},

		{"for us", "User-agent: FeedMesh\nDisallow: /a\n\n" + all + "Disallow: /", "/ /b", "/a"},
		{"for us, after others", all + "Disallow: /\n\nUser-agent: feedmesh\nDisallow: /a", "/ /b", "/a"},
		{"for us, with a version", "User-agent: feedmesh/2.0\nDisallow: /a", "/b", "/a"},
		{"for us twice", "User-agent: feedmesh\nDisallow: /a\n\n" + all + "Disallow: /c\nUser-agent: feedmesh\nDisallow: /b", "/c", "/a /b"},
		{"for us, and all is ours", all + "Disallow: /\nUser-agent: feedmesh\nDisallow:", "/ /a", ""},
		{"for several at once", "User-agent: other\nUser-agent: feedmesh\nDisallow: /a", "/b", "/a"},
		{"for others", "User-agent: feed\nDisallow: /\nUser-agent: feedmeshbot\nDisallow: /\nUser-agent: feed-mesh\nDisallow: /", "/ /a", ""},
		{"for all twice", all + "Disallow: /a\n" + all + "Disallow: /b", "/c", "/a /b"},
		{"before any group", "Disallow: /\n" + all + "Disallow: /a", "/ /b", "/a"},
		{"a map between", "User-agent: feedmesh\nSitemap: http://example.com/map\nUser-agent: other\nDisallow: /a", "/b", "/a"},
		{"a delay is a group's own", all + "Crawl-delay: 5\n\nUser-agent: other\nDisallow: /", "/ /a", ""},

		{"lines as they come", "\uFEFFUSER-AGENT : *\t# all\r\n\r\n   disallow:/a # not this\r\nDisallow: /b\rAllow: /a/c", "/ /a/c", "/a /b"},
		{"nonsense between", all + "Disallow /x\nCrawl-delay: soon\n: /\nNoindex: /y\nDisallow: /a", "/x /y /", "/a"},
	} {
		for path := range strings.FieldsSeq(c.allowed) {
			if !allows(t, c.robots, path) {
				t.Errorf("%s: %s is forbidden, want it allowed", c.name, path)
			}
		}
		for path := range strings.FieldsSeq(c.denied) {
			if allows(t, c.robots, path) {
				t.Errorf("%s: %s is allowed, want it forbidden", c.name, path)
			}
		}
	}
	if !allows(t, all+"Disallow: /a", "") {
		t.Error("the home page without a slash is forbidden, want it allowed")
	}
}

func TestParseRules_CrawlDelay(t *testing.T) {
	t.Parallel()
	for robots, want := range map[string]time.Duration{
		"User-agent: *\nDisallow: /a":                                          0,
		"User-agent: *\nCrawl-delay: 5":                                        5 * time.Second,
		"User-agent: *\nCrawl-delay: 0.5":                                      500 * time.Millisecond,
		"User-agent: *\nCrawl-delay: 86400":                                    time.Minute,
		"User-agent: *\nCrawl-delay: +Inf":                                     time.Minute,
		"User-agent: *\nCrawl-delay: -5":                                       0,
		"User-agent: *\nCrawl-delay: NaN":                                      0,
		"User-agent: *\nCrawl-delay: 5s":                                       0,
		"User-agent: *\nCrawl-delay: 9\nUser-agent: feedmesh\nCrawl-delay: 2":  2 * time.Second,
		"User-agent: feedmesh\nCrawl-delay: 2\nUser-agent: x\nCrawl-delay: 30": 2 * time.Second,
	} {
		if got := parseRules([]byte(robots), Product).Delay; got != want {
			t.Errorf("%q: got a delay of %v, want %v", robots, got, want)
		}
	}
}

// FuzzRules searches for a file and an address that cause a panic or take long.
func FuzzRules(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*a*b$\nAllow: /%2A\nCrawl-delay: 1", "/a%zz?b=*#c")
	f.Add("user-agent:feedmesh\rdisallow:*\r\n", "//x/$")
	f.Fuzz(func(t *testing.T, robots, path string) {
		u, err := url.Parse("http://example.com/" + path)
		if err != nil {
			return
		}
		rules := parseRules([]byte(robots), Product)
		if rules.Delay < 0 || rules.Delay > maxDelay {
			t.Errorf("got a delay of %v, want at most a minute", rules.Delay)
		}
		if len(rules.rules) == 0 && !rules.Allow(u) {
			t.Errorf("no rule forbids %s, yet it is forbidden", u)
		}
		for _, r := range rules.rules {
			if normalizePath(r.path) != r.path {
				t.Errorf("the rule %q is not in its normal form %q", r.path, normalizePath(r.path))
			}
			rules.Allow(u)
		}
	})
}
