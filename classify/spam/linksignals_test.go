package spam

import (
	"slices"
	"strings"
	"testing"
)

// has reports whether a verdict has evidence of a kind.
func has(v Verdict, kind string) bool {
	return slices.ContainsFunc(v.Reasons(), func(why string) bool { return strings.HasPrefix(why, "spam: "+kind+" ") })
}

func TestClassify_LinkFarm(t *testing.T) {
	link := func(host, text string) string { return `<a href="https://` + host + `/x">` + text + `</a> ` }
	for _, test := range []struct {
		name, html string
		want       bool
	}{
		{"one external link", strings.Repeat(link("shop.example", "the best shoes of the town"), 4), true},
		{"many", link("a.example", "the best shoes") + link("b.example", "the best shoes") + link("c.example", "the best shoes") + link("d.example", "the best shoes"), false},
		{"links to the same site", strings.Repeat(link("www.blog.org", "the best shoes of the town"), 4), false},
		{"links of one word each", strings.Repeat(link("shop.example", "a"), 4), false},
	} {
		d := Document{Title: "Shoes", Text: strings.Repeat("the best shoes of the town ", 6), HTML: test.html, URL: "https://blog.org/1"}
		if v := Default().Classify(d, History{}); has(v, "link-farm") != test.want {
			t.Errorf("%s: got %q, want link-farm %v", test.name, v.Reasons(), test.want)
		}
	}
}

func TestClassify_MessageLinks(t *testing.T) {
	for text, want := range map[string]string{
		"look http://shop.example/x":             "message-link",
		"look at WWW.SHOP-EXAMPLE.COM":           "message-link",
		"look at shop-example.com":               "message-domain",
		"look https://github.com/golang/go":      "",
		"I read the file main.go and then ended": "",
	} {
		v := Default().Classify(Document{Text: text}, History{})
		got := ""
		for _, kind := range []string{"message-link", "message-domain"} {
			if has(v, kind) {
				got = kind
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q: %q", text, got, want, v.Reasons())
		}
		if v := Default().Classify(Document{Text: text, FeedTitle: "Statuses"}, History{}); has(v, "message-link") || has(v, "message-domain") {
			t.Errorf("%q: got %q of an item of a feed", text, v.Reasons())
		}
	}
}

func TestClassify_TitleMismatch(t *testing.T) {
	text := strings.Repeat("Shoes, boots, sandals, slippers and socks. ", 20)
	for title, want := range map[string]bool{
		"Quarterly report about databases, servers, networks": true,
		"Quarterly report about boots, servers, networks":     false,
		"Short title": false,
	} {
		if v := Default().Classify(Document{Title: title, Text: text}, History{}); has(v, "mismatch") != want {
			t.Errorf("%q: got %q, want mismatch %v", title, v.Reasons(), want)
		}
	}
}
