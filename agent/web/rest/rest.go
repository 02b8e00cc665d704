// Package rest serves the requests of package wire over HTTP: [Server] registers each operation with the method
// of [service.Service] that answers it, behind a guard that checks tokens, scopes and limits. The OpenAPI
// description at /openapi.json and the reference made from it are generated from the same table. Errors are answered as
// application/problem+json; what exceeds a bound gets status 413 or 429.
package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/web/reference"
)

// Options configure a [Server].
type Options struct {
	Metrics     http.Handler
	CORSOrigins []string         // origins whose pages may search here; "*" allows all
	Idempotency IdempotencyStore // responses for repeated requests; nil: requests with an Idempotency-Key are refused

	RequestsPerClient int // a second; 0: unlimited

	TrustedProxies access.Proxies // reverse proxies that state the address of the client
	TokensOnly     bool           // requests from this machine need a token too
	PersonHeader   string         // header by which trusted proxies name the person who is logged in; empty: none
	Public         []string       // paths of pages that need no token and no login
	HSTS           bool           // browsers use TLS only for this host from now on
}

// hsts is the value of Strict-Transport-Security: for 30 days, without subdomains, which may be other servers.
const hsts = "max-age=2592000"

// A Server serves the requests of a service over HTTP. Its methods may be called concurrently.
type Server struct {
	*service.Service
	Options

	requestLimiter *access.Limiter // by client
	pages          *console.Layout
}

// New returns a server of a service.
func New(s *service.Service, o Options) *Server {
	return &Server{
		Service: s, Options: o,
		requestLimiter: access.NewLimiter(float64(o.RequestsPerClient), burst*o.RequestsPerClient),
		pages:          console.NewLayout(s),
	}
}

// Handler returns the API and the other handlers, which are mounted at their paths. The same guard protects all.
func (s *Server) Handler(mounts map[string]http.Handler) http.Handler {
	mux := http.NewServeMux()
	api := humago.New(mux, apiConfig(s.Version))

	for _, r := range s.routes() {
		r.register(api, s)
	}
	problem.DescribePosition(api)

	reference.Register(mux, api.OpenAPI())
	s.healthRoutes(mux)
	mux.Handle("/api/", notFound(mux))
	for path, h := range mounts {
		mux.Handle(path, h)
	}
	return s.guarded(mux, scopesOf(api, scopeTable(s.routes())))
}
