// Package web composes what is served over HTTP beside the REST interface.
package web

import (
	"net/http"

	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/web/output"
)

// Mounts returns the console, the feeds of results and the Google Reader API by their paths. login checks the
// passwords of readers.
func Mounts(s *service.Service, login greader.Login) map[string]http.Handler {
	reader := greader.Handler(s, login)
	return map[string]http.Handler{
		"/":          console.Handler(s),
		output.Path:  output.Handler(s),
		"/reader/":   reader,
		"/accounts/": reader,
	}
}
