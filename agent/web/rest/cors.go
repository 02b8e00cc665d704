package rest

import (
	"net/http"
	"slices"
	"strings"

	"feedmesh/agent/access"
	"feedmesh/agent/web/output"
	"feedmesh/agent/web/widget"
)

// allowOrigin lets pages of the configured origins read public operations: those that a client of scope
// search may call. It answers CORS preflight requests and then returns true. Credentials are never allowed,
// so browsers send only the token that the page sets.
//
// Source: the Fetch standard, CORS protocol.
func (g *guard) allowOrigin(w http.ResponseWriter, r *http.Request, pattern string) (answered bool) {
	if len(g.server.CORSOrigins) == 0 {
		return false
	}
	header, origin := w.Header(), r.Header.Get("Origin")
	header.Add("Vary", "Origin")
	if !allows(g.server.CORSOrigins, origin) {
		return false
	}
	method := r.Header.Get("Access-Control-Request-Method")
	preflight := r.Method == http.MethodOptions && method != ""
	if preflight {
		actual := r.Clone(r.Context())
		actual.Method = method
		_, pattern = g.mux.Handler(actual)
	} else {
		method = r.Method
	}
	if method != http.MethodGet && method != http.MethodHead || !g.isPublic(pattern) {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	if !preflight {
		header.Set("Access-Control-Expose-Headers", "ETag, RateLimit, RateLimit-Policy, Retry-After")
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, HEAD")
	header.Set("Access-Control-Allow-Headers", "Authorization, If-None-Match")
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// isPublic reports whether a client of scope search may call the operation, read the output or run the script of a pattern.
func (g *guard) isPublic(pattern string) bool {
	path := pathOf(pattern)
	return g.scopes[pattern] == access.Search || strings.HasPrefix(path, output.Path) || path == widget.ScriptPath
}

// allows reports whether the configured origins include an origin.
func allows(origins []string, origin string) bool {
	return origin != "" && (slices.Contains(origins, "*") || slices.Contains(origins, origin))
}

// isCrossSite reports whether a page of another site made the request and did not navigate to it. A link to a page
// of ours is no such request; an image, script or frame of another site is. Browsers without Sec-Fetch-Site send
// Origin with the requests of scripts. Another port of this machine is another site.
//
// Source: W3C Fetch Metadata Request Headers.
func isCrossSite(r *http.Request) bool {
	mode, to := r.Header.Get("Sec-Fetch-Mode"), r.Header.Get("Sec-Fetch-Dest")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "":
		origin := r.Header.Get("Origin")
		_, host, _ := strings.Cut(origin, "://")
		return origin != "" && host != r.Host
	case "none", "same-origin":
		return false
	}
	return mode != "" && mode != "navigate" || to != "" && to != "document"
}
