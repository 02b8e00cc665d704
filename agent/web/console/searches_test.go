package console

import (
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/service"
	"feedmesh/storage"
)

func pagesOfSaved() map[string]shown {
	return map[string]shown{
		"saved":      {"/searches", 200, hostile()},
		"none saved": {"/searches", 200, &fake{}},
		"saved down": {"/searches", 503, broken()},
	}
}

func TestSearchesPage_SaveAndRemove(t *testing.T) {
	source := &fake{}
	submitAll(t, source, []submission{
		{"/searches", "title=Go+%26+Rust%21&query=q%3Dgo", 303, "/searches"},
		{"/searches", "title=%D1%8F%D0%B4%D1%80%D0%BE&query=q%3D%25D1", 303, "/searches"},
		{"/searches", "title=&query=q%3Dgo", 409, ""},
		{"/searches", "title=" + strings.Repeat("a", 201), 409, ""},
		{"/searches/go-rust/remove", "", 303, "/searches"},
	})
	want := []string{"save go-rust {Title:Go & Rust! Query:q=go}", "save search-d4d21277 {Title:ядро Query:q=%D1}", "unsave go-rust"}
	if !slices.Equal(source.done, want) {
		t.Errorf("done is %q, want %q", source.done, want)
	}
	source.editErr = storage.ErrNotFound
	if got := submit(source, "/searches/go/remove", ""); got.StatusCode != 303 {
		t.Errorf("to remove what has gone: status %d, want 303", got.StatusCode)
	}
	source.editErr = &service.Error{Kind: service.KindConflict, Message: "there are too many"}
	if got := body(t, submit(source, "/searches", "title=a")); !strings.Contains(got, "There are too many.") {
		t.Errorf("a refusal is not told: %s", got)
	}
}

func TestFollow_MatchesSearch(t *testing.T) {
	for address, want := range map[string][2]string{ // parameters for feed readers, and those to save the search with
		"/":                                  {"", ""},
		"/?q=go&time=week":                   {"once=true&q=%28go%29+age%3A%3C7d", "once=true&q=%28go%29+age%3A%3C7d"},
		"/?time=day&sort=newest":             {"q=age%3A%3C1d&sort=newest", "q=age%3A%3C1d&sort=newest"},
		"/?q=go&typing=word&cursor=c&page=2": {"once=true&q=go", "once=true&q=go"},
		"/?q=go&stories=all&feed=f":          {"feed=f&q=go", "feed=f&q=go&stories=all"},
		"/?show=starred&category=a":          {"category=a&duplicates=true&flag=starred", "category=a&duplicates=true&flag=starred&show=starred"},
		"/?day=2026-09-01": {"after=2026-09-01T00%3A00%3A00Z&before=2026-09-02T00%3A00%3A00Z",
			"after=2026-09-01T00%3A00%3A00Z&before=2026-09-02T00%3A00%3A00Z&day=2026-09-01"},
	} {
		doc := parse(t, body(t, serve(hostile(), "GET", address)))
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
