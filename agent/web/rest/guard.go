package rest

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/mcp"
	"feedmesh/agent/web/output"
)

// A guard authenticates and authorizes every request: a token must have the needed scope. Without a token in the
// settings and without people, requests from this machine are allowed: see [access.CheckLocal].
type guard struct {
	server *Server
	mux    *http.ServeMux
	scopes map[string]access.Scope // of operations, by mux pattern
	next   http.Handler
}

// guarded returns the mux behind a guard. scopes are the scopes of its operations.
func (s *Server) guarded(mux *http.ServeMux, scopes map[string]access.Scope) http.Handler {
	g := &guard{server: s, mux: mux, scopes: scopes}
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		g.deny(w, r, pattern, access.Client{}, otherSite)
	}))
	g.next = cross.Handler(compressed(idempotent(s.Idempotency, withETag(mux))))
	return g
}

// Paths that need no token: the liveness check, the login of readers, whose password is a token, and the Fever API, whose key
// is in the body.
const (
	livePath  = "/livez"
	loginPath = "/accounts/ClientLogin"
	feverPath = "/fever"
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
		g.deny(w, r, pattern, access.Client{}, untrusted(err))
		return
	}
	if g.allowOrigin(w, r, pattern) {
		return
	}
	if g.server.isOpen() && header.Get("Access-Control-Allow-Origin") == "" && isCrossSite(r) {
		g.deny(w, r, pattern, access.Client{}, otherSite)
		return
	}
	isFever := strings.HasPrefix(pathOf(pattern), feverPath)
	if isFever {
		if wait := g.limit(header, access.Client{}, r); wait > 0 {
			tooManyRequests("this address sends too many requests", wait).ServeHTTP(w, r)
			return
		}
	}
	readerLogin := isFever || r.URL.Path == loginPath && pathOf(pattern) != "/" // otherwise the console's pages serve the path
	if readerLogin || slices.Contains(g.server.Public, r.URL.Path) && slices.Contains(publicMethods, r.Method) {
		r.Header.Del("Idempotency-Key") // the answer belongs to this request alone
		boundBody(w, r, r.URL.Path)
		g.next.ServeHTTP(w, r)
		return
	}
	needed := g.requiredScope(r, pattern)
	client, r, denied := g.clientOf(r, pattern)
	if denied == nil || denied.status/100 != 5 { // rejected requests cost time too
		if wait := g.limit(header, client, r); wait > 0 {
			denied = tooManyRequests("this client sends too many requests", wait)
		}
	}
	if denied == nil && !client.May(needed) {
		denied = lacks(client, needed)
	}
	if denied != nil {
		g.deny(w, r, pattern, client, denied)
		return
	}
	boundBody(w, r, pattern)
	g.next.ServeHTTP(w, r.WithContext(access.With(r.Context(), client)))
}

// publicMethods are the methods of pages that need no login; other methods are answered with the state of the mesh.
var publicMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost}

// nameOf returns how an answer names a client.
func nameOf(c access.Client) string {
	switch {
	case c.Person:
		return fmt.Sprintf("the role of %s", c.Name)
	case c.Token != "":
		return fmt.Sprintf("the token %q of %s", c.Token, c.Name)
	}
	return fmt.Sprintf("the token %q", c.Name)
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
	if client, denied := g.personOf(r); client.Person || denied != nil {
		return client, r, denied
	}
	secret, shown := access.FromRequest(r)
	inAddress := false
	if !shown && strings.HasPrefix(pathOf(pattern), output.Path) {
		secret, r = tokenOf(r)
		shown, inAddress = secret != "", secret != ""
	}
	client, decided, err := g.server.localClient(r, secret)
	switch {
	case errors.As(err, new(notLocal)):
		return client, r, &denial{status: http.StatusForbidden, detail: err.Error()}
	case err != nil:
		return client, r, unreadable(err)
	case decided:
		return client, r, nil
	case !shown:
		return client, r, g.unauthorized(r, pattern)
	}
	client, denied := g.checkToken(r, pattern, secret)
	if denied == nil && inAddress && client.May(access.Read) {
		denied = &denial{status: http.StatusForbidden, detail: "a token in an address leaks easily: it must have the scope search only"}
	}
	return client, r, denied
}

// personOf returns the person whom a trusted proxy names, or whose session the request has; a client that is no person
// if there is none.
func (g *guard) personOf(r *http.Request) (access.Client, *denial) {
	people := g.server.People.Access
	if g.server.PersonHeader != "" && access.IsForwarded(r) {
		names := r.Header.Values(g.server.PersonHeader)
		if any, _ := people.Any(r.Context()); any && len(names) > 0 && names[0] != "" {
			return g.namedPerson(r, names)
		}
	}
	secret := access.SessionCookie(r)
	if secret == "" {
		return access.Client{}, nil
	}
	client, err := people.Session(r.Context(), secret)
	if err != nil && !errors.Is(err, access.ErrInvalidToken) {
		return client, unreadable(err)
	}
	return client, nil
}

// namedPerson returns the person whom a trusted proxy names.
func (g *guard) namedPerson(r *http.Request, names []string) (access.Client, *denial) {
	if len(names) > 1 {
		return access.Client{}, &denial{status: http.StatusBadRequest, detail: "the request has more than one header " + g.server.PersonHeader + ": let the proxy replace it"}
	}
	client, err := g.server.People.Access.Named(r.Context(), names[0])
	switch {
	case errors.Is(err, access.ErrInvalidToken):
		return client, &denial{status: http.StatusForbidden, detail: fmt.Sprintf("the proxy names %q, and there is no such person: add it with: agent people add", names[0])}
	case err != nil:
		return client, unreadable(err)
	}
	return client, nil
}

// unauthorized rejects a request without a valid credential: where people log in, browsers are sent to the login.
func (g *guard) unauthorized(r *http.Request, pattern string) *denial {
	d := unauthorized(r)
	if pathOf(pattern) == mcp.Path {
		d.header = http.Header{"Www-Authenticate": {mcp.Challenge(r)}}
		return d
	}
	if any, _ := g.server.People.Access.Any(r.Context()); !any {
		return d
	}
	if g.isPage(pattern) && strings.Contains(r.Header.Get("Accept"), "text/html") {
		next := ""
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next = "?" + url.Values{"next": {r.URL.RequestURI()}}.Encode()
		}
		return &denial{status: http.StatusSeeOther, detail: "log in first", header: http.Header{"Location": {personLoginPath + next}}}
	}
	if r.Header.Get("Sec-Fetch-Mode") != "" { // a browser, which would prompt for Basic
		d.header = http.Header{"Www-Authenticate": {noPrompt}}
	}
	return d
}

// personLoginPath is the path of the page where people log in.
const personLoginPath = "/login"

// unreadable rejects a request while the store can't be read.
func unreadable(err error) *denial {
	return &denial{status: http.StatusServiceUnavailable, detail: "the tokens and people can't be read: " + err.Error(),
		text: locale.T("The store cannot be reached at the moment. Retry in a minute")}
}

// checkToken returns the client of a secret.
func (g *guard) checkToken(r *http.Request, pattern, secret string) (access.Client, *denial) {
	client, err := g.server.authenticate(r, secret)
	var guess *access.GuessError
	switch {
	case errors.As(err, &guess):
		return client, tooManyRequests("too many wrong tokens came from this address", guess.Wait)
	case errors.Is(err, access.ErrInvalidToken):
		return client, g.unauthorized(r, pattern)
	case err != nil:
		return client, unreadable(err)
	}
	return client, nil
}

// authenticate returns the client of a secret. Its errors are those of [access.TokenStore.Authenticate].
func (s *Server) authenticate(r *http.Request, secret string) (access.Client, error) {
	client, limited, err := s.Tokens.TokenStore.Authenticate(r.Context(), secret, access.Address(r))
	s.logLimited(r, limited)
	if err != nil && !errors.Is(err, access.ErrInvalidToken) && !errors.As(err, new(*access.GuessError)) && r.Context().Err() == nil {
		s.Log.Warn("token read failed", "err", err)
	}
	return client, err
}

// logLimited logs that an address has reached its limit of wrong secrets.
func (s *Server) logLimited(r *http.Request, limited bool) {
	if limited {
		s.Log.Warn("too many wrong tokens from one address", "address", access.Address(r))
	}
}

// isOpen reports whether clients on this machine need no token.
func (s *Server) isOpen() bool { return s.Token == "" && !s.TokensOnly }

// localClient decides a request to a node without a configured token, unless its secret is a generated token:
// it returns the local client, or the reason why the request needs a token, wrapping [access.ErrInvalidToken]. The
// secret is not checked: a client may send a password that is meant for others. Where people log in, it decides nothing.
// Any other error reports that the people can't be read.
func (s *Server) localClient(r *http.Request, secret string) (client access.Client, decided bool, err error) {
	if !s.isOpen() || access.IsGenerated(secret) {
		return access.Client{}, false, nil
	}
	if any, err := s.People.Access.Any(r.Context()); any || err != nil {
		return access.Client{}, err != nil, err
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

// Login returns the client that logs in to a reader, and the secret of its further requests: a password that is a token
// itself, or that of a new session of a person. Its errors are those of [access.TokenStore.Authenticate] and
// [access.People.Login].
func (s *Server) Login(r *http.Request, name, password string) (client access.Client, secret string, err error) {
	client, decided, err := s.localClient(r, password)
	switch {
	case decided && err == nil:
		return client, access.LocalID, nil // clients on this machine may have entered any password
	case decided:
		return client, "", err
	}
	if any, err := s.People.Access.Any(r.Context()); any && err == nil && !access.IsGenerated(password) {
		if client, err = s.Tokens.TokenStore.Check(r.Context(), password); err != nil {
			var limited bool
			client, password, limited, err = s.People.Access.Login(r.Context(), name, password, access.Address(r), r.UserAgent())
			s.logLimited(r, limited)
		}
		return client, password, err
	}
	client, err = s.authenticate(r, password)
	return client, password, err
}

// FeverLogin returns the client of a key of the Fever API. On a node that requires neither a token nor a login, apps on this
// machine may send any. Its errors are those of [access.TokenStore.Authenticate].
func (s *Server) FeverLogin(r *http.Request, key string) (access.Client, error) {
	client, decided, err := s.localClient(r, "")
	if decided {
		return client, err
	}
	client, limited, err := s.Tokens.TokenStore.AuthenticateFever(r.Context(), key, access.Address(r))
	s.logLimited(r, limited)
	return client, err
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
	without = r.Clone(access.WithAddressToken(r.Context(), token))
	without.URL.RawQuery = query.Encode()
	without.RequestURI = without.URL.RequestURI()
	return token, without
}
