package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Browsers get a page with its style, and others the answer of the next handler.
func TestUnavailable_PageForBrowsersOnly(t *testing.T) {
	h := Unavailable("feedmesh is starting: waits for <PostgreSQL>", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	const browser = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	for _, test := range []struct {
		method, path, accept string
		status               int
		want                 string
	}{
		{"GET", "/", browser, 503, "feedmesh is starting: waits for &lt;PostgreSQL&gt;."},
		{"GET", "/feeds", browser, 503, `<meta http-equiv="refresh" content="5">`},
		{"GET", sheet.Path, "text/css", 200, "body"},
		{"GET", "/api/status", "application/json", http.StatusTeapot, ""},
		{"GET", "/", "", http.StatusTeapot, ""},
		{"POST", "/feeds", browser, http.StatusTeapot, ""},
	} {
		r := httptest.NewRequest(test.method, test.path, nil)
		r.Header.Set("Accept", test.accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s: got %d %s, want %d with %q", test.method, test.path, w.Code, w.Body, test.status, test.want)
		}
		if w.Code == 503 && (w.Header().Get("Content-Security-Policy") != unavailablePolicy || strings.Contains(w.Body.String(), "<script")) {
			t.Errorf("%s: got headers %v and %s, want a page without scripts", test.path, w.Header(), w.Body)
		}
	}
}
