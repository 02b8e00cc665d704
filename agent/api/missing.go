package api

import (
	"net/http"
	"strings"
)

// missing answers for what the API does not have: 405 where it has the path for
// other methods, else 404.
func missing(mux *http.ServeMux) http.Handler {
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
			deny(http.StatusNotFound, "there is nothing at this path; /openapi.json lists all there is").ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		deny(http.StatusMethodNotAllowed, "this path takes "+strings.Join(allowed, ", ")).ServeHTTP(w, r)
	})
}
