package widget

import (
	"net/url"
	"testing"
)

func TestSettingsOf(t *testing.T) {
	t.Parallel()
	const newest = "/outputs/search.json"
	for form, want := range map[string]settings{
		"": {newest, 10, ""},
		"output=/outputs/stories.json&entries=3&theme=dark":       {"/outputs/stories.json", 3, "dark"},
		"output=" + url.QueryEscape("/outputs/search.json?q=a&b"): {"/outputs/search.json?q=a&b", 10, ""},
		"output=/outputs/search.rss&entries=0&theme=blue":         {newest, 1, ""},
		"output=/api/tokens.json&entries=1000":                    {newest, 50, ""},
		"output=https://evil.example/outputs/a.json&entries=many": {newest, 10, ""},
		"output=//evil.example/outputs/a.json":                    {newest, 10, ""},
		"output=/outputs/../api/x.json":                           {newest, 10, ""},
	} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		if got := settingsOf(values); got != want {
			t.Errorf("%s: got %v, want %v", form, got, want)
		}
	}
}

func TestTag_IsEscaped(t *testing.T) {
	t.Parallel()
	s := settings{Output: `/outputs/search.json?q="><script>&x`, Entries: 5, Theme: "light"}
	const want = `<script async crossorigin src="https://news.example/widget.js" data-output="/outputs/search.json?q=&#34;&gt;&lt;script&gt;&amp;x" data-entries="5" data-theme="light" data-token="t"></script>`
	if got := s.tag("https://news.example/widget.js", "t"); got != want {
		t.Errorf("got %s", got)
	}
}
