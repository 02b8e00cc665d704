package api

import (
	"net/http"
	"slices"
	"strings"

	"feedmesh/agent/access"
)

// embed has pages of other sites that the settings name read what is there for
// everybody: what a client who may only search may read. It reports whether the
// request was a question about that, and is answered. Browsers are never told to
// send what they know of us by themselves, only the token that a page has.
//
// Source: the Fetch standard, CORS protocol.
func (g *guard) embed(w http.ResponseWriter, r *http.Request, pattern string) (answered bool) {
	if len(g.server.CORS) == 0 {
		return false
	}
	header, origin := w.Header(), r.Header.Get("Origin")
	header.Add("Vary", "Origin")
	if !allows(g.server.CORS, origin) {
		return false
	}
	method := r.Header.Get("Access-Control-Request-Method")
	asks := r.Method == http.MethodOptions && method != ""
	if asks {
		asked := r.Clone(r.Context())
		asked.Method = method
		_, pattern = g.mux.Handler(asked)
	} else {
		method = r.Method
	}
	if method != http.MethodGet && method != http.MethodHead || !g.isPublic(pattern) {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	if !asks {
		header.Set("Access-Control-Expose-Headers", "ETag, RateLimit, RateLimit-Policy, Retry-After")
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, HEAD")
	header.Set("Access-Control-Allow-Headers", "Authorization, If-None-Match")
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// isPublic reports whether what has a pattern is there for everybody.
func (g *guard) isPublic(pattern string) bool {
	return g.scopes[pattern] == access.Search || strings.HasPrefix(pathOf(pattern), outputsPath)
}

// allows reports whether pages of an origin may read, by the settings.
func allows(origins []string, origin string) bool {
	return origin != "" && (slices.Contains(origins, "*") || slices.Contains(origins, origin))
}
