package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/agent/web/output"
)

// A guard authenticates and authorizes every request: a token must have the needed scope. Without a token in
// the settings, requests from this machine are allowed, if they use its own name as the host: otherwise a web
// page could let its own name resolve to this machine and read everything (DNS rebinding).
type guard struct {
	server *Server
	mux    *http.ServeMux
	scopes map[string]access.Scope // of operations, by mux pattern
	next   http.Handler
}

// guarded returns the mux behind a guard. scopes are the scopes of its operations.
func (s *Server) guarded(mux *http.ServeMux, scopes map[string]access.Scope) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(deny(http.StatusForbidden, "the request comes from a page of another site"))
	return &guard{server: s, mux: mux, scopes: scopes, next: cross.Handler(idempotent(s.Idempotency, withETag(mux)))}
}

// Paths that need no token: the liveness check, and the login of readers, whose password is a token.
const (
	livePath  = "/livez"
	loginPath = "/accounts/ClientLogin"
)

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'") // pages replace this
	_, pattern := g.mux.Handler(r)
	switch {
	case r.URL.Path == livePath && pathOf(pattern) == livePath:
		g.next.ServeHTTP(w, r)
		return
	case r.URL.Path == loginPath && pathOf(pattern) != "/": // otherwise the console's pages serve the path
		g.login(w, r)
		return
	}
	if g.allowOrigin(w, r, pattern) {
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
		return client, r, &denial{status: http.StatusForbidden, detail: "without a configured token, requests are accepted only from this machine, under the name localhost"}
	case decided:
		return client, r, nil
	case !shown:
		return client, r, unauthorized()
	}
	client, denied := g.checkToken(r, secret)
	if denied == nil && inAddress && client.May(access.Read) {
		denied = &denial{status: http.StatusForbidden, detail: "a token in an address leaks easily: it must have the scope search only"}
	}
	return client, r, denied
}

// checkToken returns the client of a secret. After too many wrong secrets of an address, guessable secrets
// from it are rejected without a check.
func (g *guard) checkToken(r *http.Request, secret string) (access.Client, *denial) {
	s := g.server
	address := access.Address(r)
	if q := s.failedLogins.Peek(address); !q.OK && access.IsGuessable(secret) {
		return access.Client{}, tooManyRequests("too many wrong tokens came from this address", q.Wait)
	}
	client, err := s.Tokens.TokenStore.Check(r.Context(), secret)
	switch {
	case errors.Is(err, access.ErrInvalidToken):
		if q := s.failedLogins.Take(address); !q.OK {
			return client, tooManyRequests("too many wrong tokens came from this address", q.Wait)
		}
		return client, unauthorized()
	case err != nil:
		s.Log.Warn("token read failed", "err", err)
		return client, &denial{status: http.StatusServiceUnavailable, detail: "the tokens can't be read: " + err.Error()}
	}
	return client, nil
}

// localClient decides a request to a node without a configured token, unless its secret is a generated token:
// it returns the local client, or [access.ErrInvalidToken] if the request is not from this machine. The secret
// is not checked: a proxy in front may require its own password and pass it on.
func (s *Server) localClient(r *http.Request, secret string) (client access.Client, decided bool, err error) {
	switch {
	case s.Token != "" || access.IsGenerated(secret):
		return access.Client{}, false, nil
	case isLocal(r.Host):
		return access.Local(), true, nil
	}
	return access.Client{}, true, access.ErrInvalidToken
}

// Login returns the client that logs in with a password, which is a token, or [access.ErrInvalidToken]. The
// guard limits the attempts.
func (s *Server) Login(r *http.Request, password string) (access.Client, error) {
	if client, decided, err := s.localClient(r, password); decided {
		return client, err
	}
	return s.Tokens.TokenStore.Check(r.Context(), password)
}

// login serves the login of readers, unless its address sent too many wrong passwords. The handler's status
// shows which are wrong.
func (g *guard) login(w http.ResponseWriter, r *http.Request) {
	address := access.Address(r)
	if q := g.server.failedLogins.Peek(address); !q.OK {
		tooManyRequests("too many wrong passwords came from this address", q.Wait).ServeHTTP(w, r)
		return
	}
	seen := &statusWriter{ResponseWriter: w}
	boundBody(w, r, loginPath)
	g.next.ServeHTTP(seen, r)
	if seen.status == http.StatusUnauthorized || seen.status == http.StatusForbidden {
		g.server.failedLogins.Take(address)
	}
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

func isLocal(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// A denial is the response to a rejected request.
type denial struct {
	status int
	detail string
	header http.Header
}

func (d *denial) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), d.header)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store") // the next request may be allowed
	w.WriteHeader(d.status)
	json.NewEncoder(w).Encode(huma.ErrorModel{Title: http.StatusText(d.status), Status: d.status, Detail: d.detail})
}

func deny(status int, why string) http.Handler { return &denial{status: status, detail: why} }

// unauthorized rejects a missing or wrong token.
func unauthorized() *denial {
	return &denial{status: http.StatusUnauthorized, detail: "a token is required: send Authorization: Bearer TOKEN, or the token as the password of any user",
		header: http.Header{"Www-Authenticate": {`Basic realm="feedmesh", charset="UTF-8"`}}}
}

// tooManyRequests rejects a request over a limit, with Retry-After.
func tooManyRequests(why string, wait time.Duration) *denial {
	n := seconds(wait)
	return &denial{status: http.StatusTooManyRequests, detail: fmt.Sprintf("%s: wait %d s", why, n), header: http.Header{"Retry-After": {strconv.Itoa(n)}}}
}

// A statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
