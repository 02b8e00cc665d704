package rest

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/web/output"
)

// A guard authenticates and authorizes every request: a token must have the needed scope. Without a token in the
// settings, requests from this machine are allowed: see [access.CheckLocal].
type guard struct {
	server *Server
	mux    *http.ServeMux
	scopes map[string]access.Scope // of operations, by mux pattern
	next   http.Handler
}

// guarded returns the mux behind a guard. scopes are the scopes of its operations.
func (s *Server) guarded(mux *http.ServeMux, scopes map[string]access.Scope) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(otherSite)
	return &guard{server: s, mux: mux, scopes: scopes, next: cross.Handler(compressed(idempotent(s.Idempotency, withETag(mux))))}
}

// Paths that need no token: the liveness check, and the login of readers, whose password is a token.
const (
	livePath  = "/livez"
	loginPath = "/accounts/ClientLogin"
)

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	g.server.secureHeaders(header)
	_, pattern := g.mux.Handler(r)
	if r.URL.Path == livePath && pathOf(pattern) == livePath {
		g.next.ServeHTTP(w, r)
		return
	}
	r, err := g.server.TrustedProxies.Resolve(r)
	if err != nil {
		untrusted(err).ServeHTTP(w, r)
		return
	}
	if g.allowOrigin(w, r, pattern) {
		return
	}
	if g.server.isOpen() && header.Get("Access-Control-Allow-Origin") == "" && isCrossSite(r) {
		otherSite.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == loginPath && pathOf(pattern) != "/" { // otherwise the console's pages serve the path
		boundBody(w, r, loginPath)
		g.next.ServeHTTP(w, r)
		return
	}
	needed := g.requiredScope(r, pattern)
	client, r, denied := g.clientOf(r, pattern)
	if denied == nil || denied.status/100 == 4 { // rejected requests cost time too
		if wait := g.limit(header, client, r); wait > 0 {
			denied = tooManyRequests("this client sends too many requests", wait)
		}
	}
	if denied == nil && !client.May(needed) {
		denied = &denial{status: http.StatusForbidden, detail: fmt.Sprintf("the token %q lacks the scope %s", client.Name, needed)}
	}
	if denied != nil {
		denied.ServeHTTP(w, r)
		return
	}
	boundBody(w, r, pattern)
	g.next.ServeHTTP(w, r.WithContext(access.With(r.Context(), client)))
}

// secureHeaders sets the headers of all answers.
func (s *Server) secureHeaders(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")                           // requests of allowed origins use CORS, which it does not concern
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'") // pages replace this
	if s.HSTS {
		header.Set("Strict-Transport-Security", hsts)
	}
}

// clientOf returns the client of a request, and the request without the token in its address, where outputs
// accept one.
func (g *guard) clientOf(r *http.Request, pattern string) (access.Client, *http.Request, *denial) {
	secret, shown := access.FromRequest(r)
	inAddress := false
	if !shown && strings.HasPrefix(pathOf(pattern), output.Path) {
		secret, r = tokenOf(r)
		shown, inAddress = secret != "", secret != ""
	}
	client, decided, err := g.server.localClient(r, secret)
	switch {
	case err != nil:
		return client, r, &denial{status: http.StatusForbidden, detail: err.Error()}
	case decided:
		return client, r, nil
	case !shown:
		return client, r, unauthorized(r)
	}
	client, denied := g.checkToken(r, secret)
	if denied == nil && inAddress && client.May(access.Read) {
		denied = &denial{status: http.StatusForbidden, detail: "a token in an address leaks easily: it must have the scope search only"}
	}
	return client, r, denied
}

// checkToken returns the client of a secret.
func (g *guard) checkToken(r *http.Request, secret string) (access.Client, *denial) {
	client, err := g.server.authenticate(r, secret)
	var guess *access.GuessError
	switch {
	case errors.As(err, &guess):
		return client, tooManyRequests("too many wrong tokens came from this address", guess.Wait)
	case errors.Is(err, access.ErrInvalidToken):
		return client, unauthorized(r)
	case err != nil:
		return client, &denial{status: http.StatusServiceUnavailable, detail: "the tokens can't be read: " + err.Error()}
	}
	return client, nil
}

// authenticate returns the client of a secret. Its errors are those of [access.TokenStore.Authenticate].
func (s *Server) authenticate(r *http.Request, secret string) (access.Client, error) {
	address := access.Address(r)
	client, limited, err := s.Tokens.TokenStore.Authenticate(r.Context(), secret, address)
	if limited {
		s.Log.Warn("too many wrong tokens from one address", "address", address)
	}
	if err != nil && !errors.Is(err, access.ErrInvalidToken) && !errors.As(err, new(*access.GuessError)) && r.Context().Err() == nil {
		s.Log.Warn("token read failed", "err", err)
	}
	return client, err
}

// isOpen reports whether clients on this machine need no token.
func (s *Server) isOpen() bool { return s.Token == "" && !s.TokensOnly }

// localClient decides a request to a node without a configured token, unless its secret is a generated token:
// it returns the local client, or the reason why the request needs a token, wrapping [access.ErrInvalidToken]. The
// secret is not checked: a client may send a password that is meant for others.
func (s *Server) localClient(r *http.Request, secret string) (client access.Client, decided bool, err error) {
	if !s.isOpen() || access.IsGenerated(secret) {
		return access.Client{}, false, nil
	}
	if err := access.CheckLocal(r); err != nil {
		return access.Client{}, true, notLocal{err}
	}
	return access.Local(), true, nil
}

// A notLocal is the reason why a request needs a token.
type notLocal struct{ reason error }

func (e notLocal) Error() string {
	return fmt.Sprintf("without a configured token, requests are accepted only from this machine, under the name localhost, without a proxy; this is not such a request: %v. Set --token, and --trusted-proxy for a proxy", e.reason)
}

func (notLocal) Unwrap() error { return access.ErrInvalidToken }

// Login returns the client that logs in with a password, which is a token. Its errors are those of
// [access.TokenStore.Authenticate].
func (s *Server) Login(r *http.Request, password string) (access.Client, error) {
	if client, decided, err := s.localClient(r, password); decided {
		return client, err
	}
	return s.authenticate(r, password)
}

// limit counts a request, and returns how long its client must wait. Local requests without a token are not
// limited.
//
// Source: draft-ietf-httpapi-ratelimit-headers-10.
func (g *guard) limit(header http.Header, client access.Client, r *http.Request) time.Duration {
	perSecond := g.server.RequestsPerClient
	if perSecond <= 0 || client.ID == access.LocalID {
		return 0
	}
	q := g.server.requestLimiter.Take(client.Key(access.Address(r)))
	header.Set("RateLimit-Policy", fmt.Sprintf(`"client";q=%d;w=%d`, burst*perSecond, burst))
	header.Set("RateLimit", fmt.Sprintf(`"client";r=%d;t=%d`, q.Left, seconds(q.Wait)))
	if q.OK {
		return 0
	}
	return q.Wait
}

// burst is how many seconds' worth of requests a client may send together.
const burst = 4

// seconds returns a duration in seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// boundBody sets the read deadline of a request to a page. Operations set their own.
func boundBody(w http.ResponseWriter, r *http.Request, pattern string) {
	if r.ContentLength != 0 && !strings.HasPrefix(pathOf(pattern), "/api/") {
		// Test writers do not support deadlines.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
	}
}

// tokenOf returns the token in a request's address, and the request without it, which keeps the token out of
// logs and links.
func tokenOf(r *http.Request) (token string, without *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !query.Has("token") {
		return "", r
	}
	token = query.Get("token")
	query.Del("token")
	without = r.Clone(r.Context())
	without.URL.RawQuery = query.Encode()
	without.RequestURI = without.URL.RequestURI()
	return token, without
}
