package greader

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// freshPath is where FreshRSS has its API: a choice that clients offer.
const freshPath = "/api/greader.php"

// Tidy has a handler serve requests of readers under the paths that [Handler] knows,
// whatever their user typed: with a slash at its end, two within, or FreshRSS's path
// before it. It must come before whatever decides by paths, and before a mux would
// redirect, which makes a GET of a POST. Other requests pass as they are.
func Tidy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tidy := tidyPath(r.URL.EscapedPath())
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

// tidyPath returns an escaped path as Handler knows it, or "" for one that is no
// reader's.
func tidyPath(escaped string) string {
	p := "/" + strings.TrimLeft(escaped, "/")
	if rest, is := strings.CutPrefix(p, freshPath); is && (rest == "" || rest[0] == '/') {
		p = "/" + strings.TrimLeft(rest, "/")
		if p == "/" {
			return "/accounts/" // says that there is nothing, but that we are here
		}
	}
	if !strings.HasPrefix(p, "/reader/") && !strings.HasPrefix(p, "/accounts/") {
		return ""
	}
	// A stream may be an address, with slashes of its own: it is one name.
	for _, before := range []string{streamPath, atomPath} {
		if stream, is := strings.CutPrefix(p, before); is && stream != "" {
			if plain, err := url.PathUnescape(stream); err == nil {
				return before + url.PathEscape(plain)
			}
		}
	}
	return path.Clean(p)
}
