package console

import (
	"testing"
	"time"

	"feedmesh/classify/language"
)

func TestFormat_Numbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(1234567), "1,234,567"},
		{plural(1, "feed"), "1 feed"}, {plural(0, "feed"), "0 feeds"}, {plural(2000, "feed"), "2,000 feeds"},
		{size(0), "0 B"}, {size(999), "999 B"}, {size(1500), "1.5 KB"}, {size(1e6), "1 MB"}, {size(327e6), "327 MB"},
		{percent(0), "0 %"}, {percent(.0001), "<1 %"}, {percent(.5), "50 %"},
		{span(0), "0 seconds"}, {span(59.9), "59 seconds"}, {span(60), "1 minute"}, {span(7300), "2 hours"}, {span(40 * 86400), "1 month"},
		{ago(30 * time.Second), "just now"}, {ago(-30 * time.Second), "just now"}, {ago(time.Hour), "1 hour ago"}, {ago(-3 * time.Hour), "in 3 hours"},
		{host("https://www.a.example:8080/x"), "a.example"}, {host("javascript:alert(1)"), ""},
		{language.Name("ru"), "Russian"}, {language.Name("xx"), "xx"}, {language.Name(""), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
