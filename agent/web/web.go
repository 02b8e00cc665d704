// Package web composes what is served over HTTP beside the REST interface.
package web

import (
	"net/http"

	"feedmesh/agent/service"
	"feedmesh/agent/web/account"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/front"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/web/output"
	"feedmesh/agent/web/widget"
)

// Mounts returns the console, the front page, the pages of people, the feeds of results, the widget and the Google Reader API
// by their paths. login checks the passwords of readers; origins are those that CORS allows.
func Mounts(s *service.Service, login greader.Login, origins []string) map[string]http.Handler {
	reader, people, news, widgets := greader.Handler(s, login), account.Handler(s), front.Handler(s), widget.Handler(s, origins)
	return map[string]http.Handler{
		"/":          console.Handler(s),
		"/news":      news,
		"/news/":     news,
		widget.Path:  widgets,
		"/login":     people,
		"/login/":    people,
		"/logout":    people,
		"/account":   people,
		"/account/":  people,
		"/people":    people,
		"/people/":   people,
		"/tokens":    people,
		"/tokens/":   people,
		output.Path:  output.Handler(s),
		"/reader/":   reader,
		"/accounts/": reader,

		widget.ScriptPath: widgets,
	}
}

// Public returns the paths of pages that need no token and no login: the login itself, and files without data.
func Public() []string {
	return append(console.Assets(), account.LoginPath, service.LinkPath, widget.ScriptPath)
}
