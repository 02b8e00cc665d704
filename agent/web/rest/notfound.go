package rest

import (
	"net/http"
	"strings"
)

// notFound answers for paths without an operation: 405 if the path supports other methods, else 404.
func notFound(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			deny(http.StatusNotFound, "this path does not exist; /openapi.json lists all paths").ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		deny(http.StatusMethodNotAllowed, "this path supports "+strings.Join(allowed, ", ")).ServeHTTP(w, r)
	})
}
