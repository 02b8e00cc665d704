package rest

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/agent/web/front"
	"feedmesh/agent/web/mcp"
	"feedmesh/agent/web/output"
	"feedmesh/agent/web/reference"
)

// prefixScopes is the required scope of paths that are not operations, by prefix. All other paths are pages.
var prefixScopes = []struct {
	path  string
	scope access.Scope
}{
	{"/api/", access.Search}, // answers 404
	{"/openapi", access.Search},
	{"/schemas/", access.Search},
	{reference.Path, access.Search},
	{output.Path, access.Search},
	{mcp.Path, access.Search}, // tools check further scopes
	{"/reader/", access.Read}, // read and starred marks belong to the reader's token
	{"/readyz", access.Metrics},
	{"/metrics", access.Metrics},
	{"/debug/", access.Admin},
}

// formScopes are the scopes that forms of pages require, by path prefix. Others require write.
var formScopes = map[string]access.Scope{"/rules": access.Rules, "/mesh": access.Admin}

// ownerPages are the path prefixes of pages that require admin.
var ownerPages = []string{"/people", "/tokens"}

// readerPages are the path prefixes of pages whose forms change only what belongs to the client, or nothing.
var readerPages = []string{"/read/", "/news/", "/for-you/", "/account/", "/logout", front.BriefingPath}

// isPage reports whether a pattern is that of pages.
func (g *guard) isPage(pattern string) bool {
	if _, is := g.scopes[pattern]; is {
		return false
	}
	for _, b := range prefixScopes {
		if strings.HasPrefix(pathOf(pattern), b.path) {
			return false
		}
	}
	return true
}

// requiredScope returns the required scope of a request to the given mux pattern.
func (g *guard) requiredScope(r *http.Request, pattern string) access.Scope {
	if scope, is := g.scopes[pattern]; is {
		return scope
	}
	path := pathOf(pattern)
	for _, b := range prefixScopes {
		if strings.HasPrefix(path, b.path) {
			return b.scope
		}
	}
	for _, page := range ownerPages {
		if strings.HasPrefix(r.URL.Path, page) {
			return access.Admin
		}
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return access.Read
	}
	for page, scope := range formScopes {
		if strings.HasPrefix(r.URL.Path, page) {
			return scope
		}
	}
	for _, page := range readerPages {
		if strings.HasPrefix(r.URL.Path, page) {
			return access.Read
		}
	}
	return access.Write
}

// pathOf returns the path of a mux's pattern.
func pathOf(pattern string) string {
	if i := strings.IndexByte(pattern, '/'); i >= 0 {
		return pattern[i:]
	}
	return ""
}

// scopeTable returns the required scope of each operation.
func scopeTable(routes []route) map[string]access.Scope {
	all := map[string]access.Scope{}
	for _, r := range routes {
		all[r.id] = r.scope
	}
	return all
}

// scopesOf returns the scope of each operation, by the pattern it has in the mux.
func scopesOf(api huma.API, table map[string]access.Scope) map[string]access.Scope {
	all := map[string]access.Scope{}
	for path, item := range api.OpenAPI().Paths {
		for method, o := range map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
		} {
			if o != nil {
				all[method+" "+path] = table[o.OperationID]
			}
		}
	}
	return all
}

// schemes are the authentication schemes in the OpenAPI description.
var schemes = map[string]*huma.SecurityScheme{
	"bearer": {Type: "http", Scheme: "bearer", Description: "A token."},
	"basic":  {Type: "http", Scheme: "basic", Description: "A token as the password of any user."},
}

// securityFor returns the authentication schemes of an operation with a scope.
func securityFor(s access.Scope) []map[string][]string {
	scope := []string{string(s)}
	return []map[string][]string{{"bearer": scope}, {"basic": scope}}
}
