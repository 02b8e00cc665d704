package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Shown returns the secret that a request shows: as a bearer's token, as the
// password of any user, or as clients of Google Reader do. There may be none, or
// one that no header can have, which is then empty.
func Shown(r *http.Request) (secret string, is bool) {
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

// Address returns where a request comes from, as limits go by it: of IPv6 the
// first 64 bits, since a single subscriber has all others to choose from.
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
