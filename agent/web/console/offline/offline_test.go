package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/web/locale"
)

var testShell = Shell{Page: []byte("<!DOCTYPE html>"), Help: "/help", Assets: []string{"/style-1.css", "/base-2.js"}}

// newMux returns the handler of a source with one item; err is the error of the source.
func newMux(err error) *http.ServeMux {
	mux := http.NewServeMux()
	Register(mux, func(*locale.Language) Shell { return testShell }, Source{
		List: func(*http.Request) ([]Row, error) { return []Row{{ID: "i", HTML: "<li>"}}, err },
		Texts: func(_ *http.Request, ids []string) ([]Text, error) {
			return []Text{{ID: strings.Join(ids, "+"), HTML: "<article>"}}, err
		},
		Fail:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusServiceUnavailable) },
		Policy: "default-src 'none'",
	})
	return mux
}

func get(h http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", target, nil)
	r = r.WithContext(access.With(r.Context(), access.Client{ID: "secret-id"}))
	for n := 0; n < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The members that browsers require of an app that can be installed.
func TestManifest_IsInstallable(t *testing.T) {
	w := get(newMux(nil), ManifestPath)
	if got := w.Header().Get("Content-Type"); w.Code != 200 || got != "application/manifest+json" {
		t.Fatalf("status %d, type %q", w.Code, got)
	}
	var m struct {
		ID, Name, Display, Scope string
		Start                    string `json:"start_url"`
		Icons                    []struct{ Src, Sizes, Type, Purpose string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if m.ID != "/read" || m.Start != "/read" || m.Scope != "/" || m.Display != "standalone" || m.Name != "feedmesh" {
		t.Errorf("got %+v", m)
	}
	var sizes []string
	for _, i := range m.Icons {
		sizes = append(sizes, strings.TrimSpace(i.Sizes+" "+i.Purpose))
		picture := get(newMux(nil), i.Src)
		if got := picture.Header().Get("Content-Type"); picture.Code != 200 || got != i.Type {
			t.Errorf("%s: status %d, type %q", i.Src, picture.Code, got)
		}
	}
	if got, want := strings.Join(sizes, ", "), "192x192, 512x512, 512x512 maskable"; got != want {
		t.Errorf("icons: got %s, want %s", got, want)
	}
}

func TestIcons_HaveTheirSizeAndCorners(t *testing.T) {
	for _, i := range icons {
		picture, err := png.Decode(bytes.NewReader(i.content))
		if err != nil {
			t.Fatal(err)
		}
		if got := picture.Bounds(); got.Dx() != i.pixels || got.Dy() != i.pixels {
			t.Errorf("%s: got %v", i.path(), got)
		}
		if _, _, _, alpha := picture.At(0, 0).RGBA(); (alpha == 0xffff) != i.maskable {
			t.Errorf("%s: its corner has alpha %#x", i.path(), alpha)
		}
	}
}

func TestManifest_HasTheLanguageOfTheClient(t *testing.T) {
	for _, l := range locale.Languages {
		if got := get(newMux(nil), ManifestPath, "Cookie", locale.Cookie+"="+l.Code).Body.String(); !strings.Contains(got, `"lang": "`+l.Code+`"`) {
			t.Errorf("%s: got %s", l.Name, got)
		}
	}
}

// After an upgrade browsers find another worker at the same path at once.
func TestWorker_ChangesWithItsFiles(t *testing.T) {
	w := get(newMux(nil), WorkerPath)
	for name, want := range map[string]string{"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "no-cache"} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if again := get(newMux(nil), WorkerPath, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("the same worker: got status %d, want 304", again.Code)
	}
	seen := map[string]bool{w.Body.String(): true}
	for _, change := range []func(*Shell){
		func(s *Shell) { s.Page = []byte("<p>") },
		func(s *Shell) { s.Assets = []string{"/style-3.css"} },
		func(s *Shell) { s.Help = "/other" },
	} {
		s := testShell
		change(&s)
		seen[string(script(s))] = true
	}
	if len(seen) != 4 {
		t.Errorf("got %d workers of 4 shells", len(seen))
	}
}

func TestDocuments_NameTheClientByAHash(t *testing.T) {
	for _, path := range []string{shellPath, listPath, textsPath + "?id=i"} {
		w := get(newMux(nil), path)
		key := w.Header().Get(ClientHeader)
		if w.Code != 200 || key == "" || strings.Contains(key+w.Body.String(), "secret") {
			t.Errorf("%s: status %d, client %q", path, w.Code, key)
		}
		other := httptest.NewRequest("GET", path, nil)
		if ClientKey(other) == key {
			t.Errorf("%s: two clients have the key %s", path, key)
		}
	}
	if got, want := get(newMux(nil), listPath).Body.String(), `[{"id":"i","feed":"","feed_title":"","starred":false,"row":"\u003cli\u003e"}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDocuments_Errors(t *testing.T) {
	many := textsPath + "?" + url.Values{"id": make([]string, MaxBatch+1)}.Encode()
	if got := get(newMux(nil), many).Code; got != 400 {
		t.Errorf("%d texts: got status %d, want 400", MaxBatch+1, got)
	}
	for _, path := range []string{listPath, textsPath} {
		if got := get(newMux(errors.New("away")), path); got.Code != 503 || got.Header().Get(ClientHeader) != "" {
			t.Errorf("%s without a store: got status %d", path, got.Code)
		}
	}
}
