package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// FromRequest returns the secret of a request: a bearer token, the password of any user, or a Google Reader
// login. A malformed header yields an empty secret and true.
func FromRequest(r *http.Request) (secret string, is bool) {
	header := r.Header.Get("Authorization")
	scheme, rest, _ := strings.Cut(header, " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return rest, true
	case strings.EqualFold(scheme, "GoogleLogin"):
		secret, is := strings.CutPrefix(strings.TrimSpace(rest), "auth=")
		if !is {
			return "", true
		}
		return secret, true
	}
	_, secret, _ = r.BasicAuth()
	return secret, header != ""
}

// Address returns the address of a request for rate limits. For IPv6 it is the 64-bit prefix, since one
// subscriber owns all addresses in it.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Unmap().Is4() {
		return host
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
