// Package web composes what is served over HTTP beside the REST interface.
package web

import (
	"net/http"

	"feedmesh/agent/service"
	"feedmesh/agent/web/account"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/web/output"
)

// Mounts returns the console, the pages of people, the feeds of results and the Google Reader API by their paths. login
// checks the passwords of readers.
func Mounts(s *service.Service, login greader.Login) map[string]http.Handler {
	reader, people := greader.Handler(s, login), account.Handler(s)
	return map[string]http.Handler{
		"/":          console.Handler(s),
		"/login":     people,
		"/login/":    people,
		"/logout":    people,
		"/account":   people,
		"/account/":  people,
		output.Path:  output.Handler(s),
		"/reader/":   reader,
		"/accounts/": reader,
	}
}

// Public returns the paths of pages that need no token and no login: the login itself, and the files of its pages.
func Public() []string { return append(console.Assets(), account.LoginPath, service.LinkPath) }
