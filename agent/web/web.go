// Package web composes what is served over HTTP beside the REST interface.
package web

import (
	"net/http"
	"slices"

	"feedmesh/agent/role/deliver"
	"feedmesh/agent/service"
	"feedmesh/agent/web/account"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/fever"
	"feedmesh/agent/web/foryou"
	"feedmesh/agent/web/front"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/web/mcp"
	"feedmesh/agent/web/output"
	"feedmesh/agent/web/views"
	"feedmesh/agent/web/widget"
)

// Logins check the passwords of readers.
type Logins struct {
	Reader greader.Login
	Fever  fever.Login
}

// Mounts returns the console, the front page, suggestions, views, the pages of people, the feeds of results, the widget, the Google Reader and
// Fever APIs, and the MCP server by their paths. origins are those that CORS allows.
func Mounts(s *service.Service, logins Logins, origins []string) map[string]http.Handler {
	reader, old := greader.Handler(s, logins.Reader), fever.Handler(s, logins.Fever)
	people, news, suggested, widgets := account.Handler(s), front.Handler(s), foryou.Handler(s), widget.Handler(s, origins)
	viewPages, resource := views.Handler(s), mcp.Metadata()
	return map[string]http.Handler{
		"/":      console.Handler(s),
		"/news":  news,
		"/news/": news,

		front.BriefingPath: news,

		widget.Path: widgets,
		"/login":    people,
		"/login/":   people,
		"/logout":   people,
		"/language": people,
		"/account":  people,
		"/account/": people,
		"/people":   people,
		"/people/":  people,
		"/tokens":   people,
		"/tokens/":  people,
		"/for-you":  suggested,
		"/for-you/": suggested,
		views.Path:  viewPages,

		deliver.UnsubscribePath: viewPages,
		views.Path + "/":        viewPages,
		output.Path:             output.Handler(s),
		"/reader/":              reader,
		"/accounts/":            reader,

		widget.ScriptPath: widgets,
		"/fever":          old,
		"/fever/":         old,

		mcp.Path:                    mcp.Handler(s),
		mcp.MetadataPath:            resource,
		mcp.MetadataPath + mcp.Path: resource,
	}
}

// Public returns the paths of pages that need no token and no login: the login itself, and files without data.
func Public() []string {
	return append(append(console.Assets(), widget.ScriptPath, mcp.MetadataPath, mcp.MetadataPath+mcp.Path), slices.Concat(account.Public(), views.Public())...)
}
