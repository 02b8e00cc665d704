package console

import (
	"testing"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/classify/language"
)

func TestFormat_Numbers(t *testing.T) {
	for _, c := range []struct {
		got  locale.Text
		want string
	}{
		{locale.Count(0), "0"}, {locale.Count(999), "999"}, {locale.Count(1000), "1,000"}, {locale.Count(1234567), "1,234,567"},
		{locale.Plural(1, "feed"), "1 feed"}, {locale.Plural(0, "feed"), "0 feeds"}, {locale.Plural(2000, "feed"), "2,000 feeds"},
		{locale.Bytes(0), "0 B"}, {locale.Bytes(999), "999 B"}, {locale.Bytes(1500), "1.5 KB"}, {locale.Bytes(1e6), "1 MB"}, {locale.Bytes(327e6), "327 MB"},
		{locale.Percent(0), "0 %"}, {locale.Percent(.0001), "<1 %"}, {locale.Percent(.5), "50 %"},
		{locale.Span(0), "0 seconds"}, {locale.Span(59.9), "59 seconds"}, {locale.Span(60), "1 minute"}, {locale.Span(7300), "2 hours"},
		{locale.Span(40 * 86400), "1 month"},
		{locale.Ago(30 * time.Second), "just now"}, {locale.Ago(-30 * time.Second), "just now"}, {locale.Ago(time.Hour), "1 hour ago"},
		{locale.Ago(-3 * time.Hour), "in 3 hours"},
		{locale.Data(host("https://www.a.example:8080/x")), "a.example"}, {locale.Data(host("javascript:alert(1)")), ""},
		{locale.Data(language.Name("ru")), "Russian"}, {locale.Data(language.Name("xx")), "xx"}, {locale.Data(language.Name("")), ""},
	} {
		if got := c.got.In(locale.English); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
