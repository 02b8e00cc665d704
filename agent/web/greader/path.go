package greader

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// freshRSSPath is the path of FreshRSS's API, which clients offer as a choice.
const freshRSSPath = "/api/greader.php"

// NormalizePaths is a middleware that rewrites the paths of reader requests to those of [Handler] and of the Fever API, despite a
// trailing slash, double slashes, or FreshRSS's path before them. It must precede any routing by path, and a
// mux's redirect, which would turn a POST into a GET. Other requests pass unchanged.
func NormalizePaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tidy := normalizePath(r.URL.EscapedPath())
		if tidy == "" || tidy == r.URL.EscapedPath() {
			next.ServeHTTP(w, r)
			return
		}
		plain, err := url.PathUnescape(tidy)
		if err != nil {
			next.ServeHTTP(w, r)
			return
		}
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = plain, tidy
		next.ServeHTTP(w, r)
	})
}

// normalizePath returns an escaped path in the form that Handler registers, or "" if it does not belong to
// the API.
func normalizePath(escaped string) string {
	p := "/" + strings.TrimLeft(escaped, "/")
	if rest, ok := strings.CutPrefix(p, freshRSSPath); ok && (rest == "" || rest[0] == '/') {
		p = "/" + strings.TrimLeft(rest, "/")
		if p == "/" {
			return "/accounts/" // responds 404, which shows that the server exists
		}
	}
	if !strings.HasPrefix(p, "/reader/") && !strings.HasPrefix(p, "/accounts/") && p != "/fever" && !strings.HasPrefix(p, "/fever/") {
		return ""
	}
	// A stream's ID may be a URL, whose slashes must be escaped.
	for _, before := range []string{streamPath, atomPath} {
		if stream, ok := strings.CutPrefix(p, before); ok && stream != "" {
			if plain, err := url.PathUnescape(stream); err == nil {
				return before + url.PathEscape(plain)
			}
		}
	}
	return path.Clean(p)
}
