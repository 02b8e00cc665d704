package rest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"
)

// Health returns the operational endpoints of any process, whatever its roles: /livez, /readyz and /metrics,
// behind the same guard as the API. With profiles it also serves /debug/pprof/; use that only on a private
// address. Of [service.Deps] it needs no store, index or mesh.
func (s *Server) Health(profiles bool) http.Handler {
	mux := http.NewServeMux()
	s.healthRoutes(mux)
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	mux.Handle("/", deny(http.StatusNotFound, "there is nothing at this path: there are /livez, /readyz and /metrics"))
	return s.guarded(mux, nil)
}

func (s *Server) healthRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", s.Metrics)
}

// readyz answers 200 if all checks pass or only warn, else 503, with all checks.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	checks, status := s.Status.Readiness(ctx), http.StatusOK
	for _, c := range checks {
		if !c.OK && !c.Warning {
			status = http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"ready": status == http.StatusOK, "checks": checks})
}

// retryUnavailable is the delay before a retry of a request that [Server.Unavailable] answered.
const retryUnavailable = 5 * time.Second

// Unavailable returns the handler of a process whose API does not run yet, or no longer: /livez, /readyz and /metrics
// as [Server.Health], and status 503 with Retry-After for all other requests. reason returns the sentence of these
// answers; it is called with details only for clients that may read /readyz. pages answers browsers, and passes other
// requests to next.
func (s *Server) Unavailable(reason func(details bool) string, pages func(reason string, next http.Handler) http.Handler) http.Handler {
	mux := http.NewServeMux()
	s.healthRoutes(mux)
	operational := &guard{server: s, mux: mux, next: mux}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			operational.ServeHTTP(w, r)
			return
		}
		s.secureHeaders(w.Header())
		r, err := s.TrustedProxies.Resolve(r)
		if err != nil {
			untrusted(err).ServeHTTP(w, r)
			return
		}
		_, _, denied := operational.clientOf(r, "")
		w.Header().Set("Retry-After", strconv.Itoa(seconds(retryUnavailable)))
		text := reason(denied == nil)
		pages(text, deny(http.StatusServiceUnavailable, text)).ServeHTTP(w, r)
	})
}

// Serve serves h on l until ctx ends. Then it waits up to ten seconds for running requests.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	web := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      10 * time.Minute, // streams set their own deadlines
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := web.Shutdown(ctx)
	if err != nil {
		err = web.Close()
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
