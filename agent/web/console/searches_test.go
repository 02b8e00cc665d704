package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedmesh/storage"
)

func pagesOfSaved(_ *testing.T, all sites) map[string]shown {
	return map[string]shown{
		"saved":      {"/searches", 200, all.hostile},
		"none saved": {"/searches", 200, all.empty},
		"saved down": {"/searches", 503, all.broken},
	}
}

func TestSearchesPage_SaveAndRemove(t *testing.T) {
	source := newSite(t)
	saved := func() (list []string) {
		all, err := storage.SavedSearches(source.Store).List(t.Context())
		must(t, err)
		for _, s := range all {
			list = append(list, fmt.Sprintf("%s {Title:%s Query:%s}", s.Name, s.Title, s.Query))
		}
		return list
	}
	submitAll(t, source, []submission{
		{"/searches", "title=Go+%26+Rust%21&query=q%3Dgo", 303, "/searches"},
		{"/searches", "title=%D1%8F%D0%B4%D1%80%D0%BE&query=q%3D%25D1", 303, "/searches"},
		{"/searches", "title=&query=q%3Dgo", 409, ""},
		{"/searches", "title=" + strings.Repeat("a", 201), 409, ""},
	})
	if got, want := saved(), []string{"go-rust {Title:Go & Rust! Query:q=go}", "search-d4d21277 {Title:ядро Query:q=%D1}"}; !slices.Equal(got, want) {
		t.Errorf("saved are %q, want %q", got, want)
	}
	for range 2 { // it has gone the second time
		submitAll(t, source, []submission{{"/searches/go-rust/remove", "", 303, "/searches"}})
	}
	if got, want := saved(), []string{"search-d4d21277 {Title:ядро Query:q=%D1}"}; !slices.Equal(got, want) {
		t.Errorf("saved are %q, want %q", got, want)
	}
	for n := range storage.MaxSearches - 1 {
		must(t, storage.SavedSearches(source.Store).Put(t.Context(), storage.SavedSearch{Name: fmt.Sprint(n), Added: noon}))
	}
	got := submit(source, "/searches", "title=a&query=q%3Dgo")
	if page := words(parse(t, body(t, got))); got.StatusCode != 409 || !strings.Contains(page, "This cannot be done There are ") {
		t.Errorf("a refusal is not told: %d, %s", got.StatusCode, page)
	}
}

func TestFollow_MatchesSearch(t *testing.T) {
	source := hostile(t)
	for address, want := range map[string][2]string{ // parameters for feed readers, and those to save the search with
		"/":                         {"", ""},
		"/?q=go&time=week":          {"once=true&q=%28go%29+age%3A%3C7d", "once=true&q=%28go%29+age%3A%3C7d"},
		"/?time=day&sort=newest":    {"q=age%3A%3C1d&sort=newest", "q=age%3A%3C1d&sort=newest"},
		"/?q=go&typing=word&page=2": {"once=true&q=go", "once=true&q=go"},
		"/?q=go&stories=all&feed=f": {"feed=f&q=go", "feed=f&q=go&stories=all"},
		"/?show=starred&category=a": {"category=a&duplicates=true&flag=starred", "category=a&duplicates=true&flag=starred&show=starred"},
		"/?day=2026-09-01": {"after=2026-09-01T00%3A00%3A00Z&before=2026-09-02T00%3A00%3A00Z",
			"after=2026-09-01T00%3A00%3A00Z&before=2026-09-02T00%3A00%3A00Z&day=2026-09-01"},
	} {
		doc := parse(t, body(t, serve(source, "GET", address)))
		if got := link(doc, "RSS"); got != strings.TrimSuffix("/outputs/search.rss?"+want[0], "?") {
			t.Errorf("%s is followed at %s, want the parameters %s", address, got, want[0])
		}
		for _, in := range elements(doc, "input") {
			if attr(in, "name") == "query" && attr(in, "value") != want[1] {
				t.Errorf("%s is saved as %s, want %s", address, attr(in, "value"), want[1])
			}
		}
	}
}
