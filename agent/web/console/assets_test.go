package console

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/web/locale"
)

func TestAssets_AreImmutable(t *testing.T) {
	s := newSite(t)
	all := map[string]string{sheet.Path: "text/css; charset=utf-8"}
	for _, script := range scripts() {
		all[script.Path] = "text/javascript; charset=utf-8"
	}
	for path, kind := range all {
		r := serve(s, "GET", path)
		if got, want := r.Header.Get("Cache-Control"), "public, max-age=31536000, immutable"; r.StatusCode != 200 || got != want {
			t.Errorf("%s: status %d, Cache-Control %q, want 200 and %q", path, r.StatusCode, got, want)
		}
		if got := r.Header.Get("Content-Type"); got != kind {
			t.Errorf("%s: Content-Type %q, want %q", path, got, kind)
		}
		again := httptest.NewRequest("GET", path, nil)
		again.Header.Set("If-None-Match", r.Header.Get("ETag"))
		w := httptest.NewRecorder()
		asLocal(Handler(s.Service)).ServeHTTP(w, again)
		if w.Code != http.StatusNotModified {
			t.Errorf("%s asked again: status %d, want 304", path, w.Code)
		}
	}
}

func TestAssets_IconPath(t *testing.T) {
	if r := serve(newSite(t), "GET", "/favicon.ico"); r.StatusCode != 200 || r.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("status %d, type %q", r.StatusCode, r.Header.Get("Content-Type"))
	}
}

func TestAssets_NoExternalResources(t *testing.T) {
	for _, foreign := range []string{"@import", "url(", "//fonts"} {
		if strings.Contains(string(sheet.content), foreign) {
			t.Errorf("the style sheet has %q", foreign)
		}
	}
	for name, script := range scripts() {
		for _, foreign := range []string{"https:", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", `"./`} {
			if strings.Contains(string(script.content), foreign) {
				t.Errorf("%s has %q", name, foreign)
			}
		}
	}
}

func TestAssets_ScriptsImportHashedBase(t *testing.T) {
	for name, script := range scripts() {
		if name == "search.js" && !strings.Contains(string(script.content), `from "`+scripts()[baseScript].Path+`"`) {
			t.Errorf("%s does not import %s", name, scripts()[baseScript].Path)
		}
	}
	if _, err := scriptPath("none.js"); err == nil {
		t.Error("a script that is not there has a path")
	}
}

func TestAssets_ScriptSizeLimit(t *testing.T) {
	bytes := 0
	for _, name := range names(scriptFiles, "script") {
		bytes += len(scripts()[name].content)
	}
	if bytes > 58_000 {
		t.Errorf("the scripts have %d bytes", bytes)
	}
}

func TestAssets_TextsOfScripts(t *testing.T) {
	const text = "This item is not kept for reading offline."
	if path := textsPath(locale.English); path != "" {
		t.Errorf("English texts have the path %s", path)
	}
	path := textsPath(locale.Russian)
	if !slices.Contains(Assets(), path) {
		t.Errorf("%s is not public", path)
	}
	s := newSite(t)
	if script := body(t, serve(s, "GET", path)); !strings.HasPrefix(script, "globalThis.texts = {") || !strings.Contains(script, `"`+text+`":"`) {
		t.Errorf("got %.100s", script)
	}
	for _, language := range locale.Languages {
		r := httptest.NewRequest("GET", "/help", nil)
		r.Header.Set("Accept-Language", language.Code)
		w := httptest.NewRecorder()
		asLocal(Handler(s.Service)).ServeHTTP(w, r)
		if got := strings.Contains(w.Body.String(), `<script src="`+path+`"></script>`); got != (language == locale.Russian) {
			t.Errorf("%s: the page has the Russian texts: %t", language.Name, got)
		}
	}
}
