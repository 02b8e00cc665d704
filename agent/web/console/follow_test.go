package console

import (
	"net/url"
	"strings"
	"testing"
)

func TestFollow_MatchesSearch(t *testing.T) {
	source := hostile(t)
	for address, want := range map[string][2]string{ // parameters for feed readers, and the condition of the view
		"/":                         {"", ""},
		"/?q=go&time=week":          {"once=true&q=%28go%29+age%3A%3C7d", "where (go) age:<7d once story"},
		"/?time=day&sort=newest":    {"q=age%3A%3C1d&sort=newest", "where age:<1d"},
		"/?q=go&typing=word&page=2": {"once=true&q=go", "where go once story"},
		"/?q=go&stories=all&feed=f": {"feed=f&q=go", "where (go ) feed:f"},
		"/?show=starred&category=a": {"category=a&duplicates=true&flag=starred", "where cat:a is:starred (is:duplicate OR -is:duplicate)"},
		"/?day=2026-09-01": {"after=2026-09-01T00%3A00%3A00Z&before=2026-09-02T00%3A00%3A00Z",
			"where after:2026-09-01T00:00:00Z before:2026-09-02T00:00:00Z"},
	} {
		doc := parse(t, body(t, serve(source, "GET", address)))
		if got := link(doc, "RSS"); got != strings.TrimSuffix("/outputs/search.rss?"+want[0], "?") {
			t.Errorf("%s is followed at %s, want the parameters %s", address, got, want[0])
		}
		view, err := url.Parse(link(doc, "Make a view of this search"))
		must(t, err)
		definition := strings.TrimSpace("= from all " + want[1])
		if got := view.Query().Get("definition"); view.Path != "/views/edit" || !strings.HasSuffix(got, definition) {
			t.Errorf("%s makes the view %s, want %s", address, got, definition)
		}
	}
}
