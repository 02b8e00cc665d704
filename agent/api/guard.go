package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// guarded lets only those in who may: whoever shows the token, or, where there
// is none, whoever asks from this machine under its own name. The name matters:
// without it a web page could have its own name point here and read everything.
func (s *Server) guarded(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(deny(http.StatusForbidden, "the request comes from a page of another site"))
	inner := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'") // pages say what they need
		switch {
		case r.URL.Path == "/livez":
		case s.Token == "" && !isLocal(r.Host):
			deny(http.StatusForbidden, "without a token only this machine is served, under the name localhost").ServeHTTP(w, r)
			return
		case s.Token != "" && !s.shows(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="feedmesh", charset="UTF-8"`)
			deny(http.StatusUnauthorized, "show the token: Authorization: Bearer TOKEN, or as the password of any user").ServeHTTP(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// shows reports whether the request shows the token.
func (s *Server) shows(r *http.Request) bool {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		_, shown, _ = r.BasicAuth()
	}
	// Hashes have one length, so the comparison tells nothing about the token.
	a, b := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(s.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
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

func deny(status int, why string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: why})
	})
}
