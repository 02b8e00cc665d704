package api

import (
	"encoding/json"
	"errors"
	"fmt"
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
)

// A guard lets only those in who may: whoever shows a token whose scope will do,
// or, where the settings have none, whoever asks from this machine under its own
// name. The name matters: without it a web page could have its own name point
// here and read everything.
type guard struct {
	server *Server
	mux    *http.ServeMux
	scopes map[string]access.Scope // of operations, by pattern
	next   http.Handler
}

// guarded guards a mux, of whose patterns some are operations.
func (s *Server) guarded(mux *http.ServeMux, scopes map[string]access.Scope) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(deny(http.StatusForbidden, "the request comes from a page of another site"))
	return &guard{server: s, mux: mux, scopes: scopes, next: cross.Handler(s.once(tagged(mux)))}
}

// What is served to whoever asks: whether this process lives, and the way in for
// readers that log in with a password, which is a token.
const (
	livePath  = "/livez"
	loginPath = "/accounts/ClientLogin"
)

// ServeHTTP implements [http.Handler].
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'") // pages say what they need
	_, pattern := g.mux.Handler(r)
	switch {
	case r.URL.Path == livePath && pathOf(pattern) == livePath:
		g.next.ServeHTTP(w, r)
		return
	case r.URL.Path == loginPath && pathOf(pattern) != "/": // else nothing is there but a page
		g.login(w, r)
		return
	}
	if g.embed(w, r, pattern) {
		return
	}
	needed := g.needs(r, pattern)
	client, r, refusal := g.clientOf(r, pattern)
	if refusal == nil || refusal.status/100 == 4 { // who is kept out costs time too
		if wait := g.limit(header, client, r); wait > 0 {
			refusal = tooMany("this client asks too often", wait)
		}
	}
	if refusal == nil && !client.May(needed) {
		refusal = &denial{status: http.StatusForbidden, why: fmt.Sprintf("the token %q may not do this: it takes one of scope %s", client.Name, needed)}
	}
	if refusal != nil {
		refusal.ServeHTTP(w, r)
		return
	}
	boundBody(w, r, pattern)
	g.next.ServeHTTP(w, r.WithContext(access.With(r.Context(), client)))
}

// clientOf returns who asks, and the request without the token in its address,
// if it is one that may have it there.
func (g *guard) clientOf(r *http.Request, pattern string) (access.Client, *http.Request, *denial) {
	s := g.server
	secret, shown := access.Shown(r)
	inAddress := false
	if !shown && strings.HasPrefix(pathOf(pattern), outputsPath) {
		secret, r = tokenOf(r)
		shown, inAddress = secret != "", secret != ""
	}
	// Something in front of us may have its own password, and pass it on.
	if s.Token == "" && !access.IsMade(secret) {
		if isLocal(r.Host) {
			return access.Local(), r, nil
		}
		return access.Client{}, r, &denial{status: http.StatusForbidden, why: "without a token only this machine is served, under the name localhost"}
	}
	if !shown {
		return access.Client{}, r, unknown()
	}
	client, refusal := s.check(r, secret)
	if refusal == nil && inAddress && client.May(access.Read) {
		refusal = &denial{status: http.StatusForbidden, why: "a token in an address is soon known to others: it must be one that may only search"}
	}
	return client, r, refusal
}

// check returns who shows a secret. An address that showed too many wrong ones is
// not told any more whether one is right, if it is of a kind that can be guessed.
func (s *Server) check(r *http.Request, secret string) (access.Client, *denial) {
	address := access.Address(r)
	if q := s.wrong.Look(address); !q.OK && access.IsGuessable(secret) {
		return access.Client{}, tooMany("too many wrong tokens came from this address", q.Wait)
	}
	client, err := s.keeper.Check(r.Context(), secret)
	switch {
	case errors.Is(err, access.ErrWrong):
		if q := s.wrong.Take(address); !q.OK {
			return client, tooMany("too many wrong tokens came from this address", q.Wait)
		}
		return client, unknown()
	case err != nil:
		s.Log.Warn("tokens can't be read", "err", err)
		return client, &denial{status: http.StatusServiceUnavailable, why: "the tokens can't be read: " + err.Error()}
	}
	return client, nil
}

// login serves the way in, to those whose address did not show too many wrong
// passwords. Whoever answers there says which are wrong, by its status.
func (g *guard) login(w http.ResponseWriter, r *http.Request) {
	address := access.Address(r)
	if q := g.server.wrong.Look(address); !q.OK {
		tooMany("too many wrong passwords came from this address", q.Wait).ServeHTTP(w, r)
		return
	}
	seen := &statusWriter{ResponseWriter: w}
	boundBody(w, r, loginPath)
	g.next.ServeHTTP(seen, r)
	if seen.status == http.StatusUnauthorized || seen.status == http.StatusForbidden {
		g.server.wrong.Take(address)
	}
}

// limit counts a request, and returns how long its client must wait. Who is on
// this machine, where no token is needed, need not.
//
// Source: draft-ietf-httpapi-ratelimit-headers-10.
func (g *guard) limit(header http.Header, client access.Client, r *http.Request) time.Duration {
	perSecond := g.server.RequestsPerClient
	if perSecond <= 0 || client.ID == access.LocalID {
		return 0
	}
	q := g.server.requests.Take(client.Key(access.Address(r)))
	header.Set("RateLimit-Policy", fmt.Sprintf(`"client";q=%d;w=%d`, burst*perSecond, burst))
	header.Set("RateLimit", fmt.Sprintf(`"client";r=%d;t=%d`, q.Left, seconds(q.Wait)))
	if q.OK {
		return 0
	}
	return q.Wait
}

// burst is how many seconds' requests a client may make at once.
const burst = 4

// seconds returns a time in seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// boundBody bounds how long a page may wait for what it is sent. Operations see
// to that themselves.
func boundBody(w http.ResponseWriter, r *http.Request, pattern string) {
	if r.ContentLength != 0 && !strings.HasPrefix(pathOf(pattern), "/api/") {
		// Some writers, of tests, can't; then there is nothing to bound.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
	}
}

// tokenOf returns the token in a request's address, and the request without it:
// then it is in no log, and in no address that is made of this one.
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

// A denial answers that a request is refused.
type denial struct {
	status int
	why    string
	header http.Header
}

// ServeHTTP implements [http.Handler].
func (d *denial) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, values := range d.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store") // what is refused now may be allowed next
	w.WriteHeader(d.status)
	json.NewEncoder(w).Encode(huma.ErrorModel{Title: http.StatusText(d.status), Status: d.status, Detail: d.why})
}

func deny(status int, why string) http.Handler { return &denial{status: status, why: why} }

// unknown refuses one who shows no token, or a wrong one.
func unknown() *denial {
	return &denial{status: http.StatusUnauthorized, why: "show the token: Authorization: Bearer TOKEN, or as the password of any user",
		header: http.Header{"Www-Authenticate": {`Basic realm="feedmesh", charset="UTF-8"`}}}
}

// tooMany refuses one who is to wait.
func tooMany(why string, wait time.Duration) *denial {
	n := seconds(wait)
	return &denial{status: http.StatusTooManyRequests, why: fmt.Sprintf("%s: wait %d s", why, n), header: http.Header{"Retry-After": {strconv.Itoa(n)}}}
}

// A statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
