package access

import (
	"net/http"
	"strings"
)

// Names of the cookie that contains a session's secret; those of other cookies begin alike. Browsers accept the prefix __Host- only over TLS, from this
// host alone, so that neither another port nor a network without TLS can set it.
const (
	cookieName       = "feedmesh"
	secureCookieName = "__Host-feedmesh"
)

// cookieLifetime is the longest that browsers accept, in seconds; the session ends earlier.
const cookieLifetime = 400 * 24 * 60 * 60

// IsSecure reports whether the client uses TLS: to this process, or to the trusted proxy that forwarded the request.
func IsSecure(r *http.Request) bool {
	if r.TLS != nil || !IsForwarded(r) {
		return r.TLS != nil
	}
	if proto := r.Header.Get("X-Forwarded-Proto"); proto != "" {
		return strings.EqualFold(proto, "https")
	}
	return strings.Contains(strings.ToLower(r.Header.Get("Forwarded")), "proto=https")
}

// SessionCookie returns the secret of the session in the request's cookie, empty if there is none.
func SessionCookie(r *http.Request) string {
	c, err := r.Cookie(sessionCookie(r, "").Name)
	if err != nil {
		return ""
	}
	return c.Value
}

// SetSessionCookie stores the secret of a session in the browser; an empty one deletes it.
func SetSessionCookie(w http.ResponseWriter, r *http.Request, secret string) {
	http.SetCookie(w, sessionCookie(r, secret))
}

func sessionCookie(r *http.Request, secret string) *http.Cookie {
	return newCookie(r, "", secret, cookieLifetime)
}

// newCookie returns a cookie of this host whose name ends with a suffix, for a lifetime in seconds. One with an empty value
// deletes it.
func newCookie(r *http.Request, suffix, value string, lifetime int) *http.Cookie {
	c := &http.Cookie{Name: cookieName + suffix, Value: value, Path: "/", MaxAge: lifetime, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if IsSecure(r) {
		c.Name, c.Secure = secureCookieName+suffix, true
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// Origin returns the scheme and host under which the client reached this server.
func Origin(r *http.Request) string {
	if IsSecure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
