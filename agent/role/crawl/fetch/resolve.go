package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-dns"
	"golang.org/x/net/idna"
)

const (
	maxCachedNames = 16 << 10  // cached answers, two for each name
	maxNameAge     = time.Hour // upper bound of an answer's TTL in the cache
)

// cachingResolver returns a resolver that caches answers for their TTL, at most maxNameAge. A shorter cache
// would have no effect because requests to a host within seconds share a connection. Negative answers are not
// cached, so that a repaired name works immediately. DNS rebinding gains nothing: the guard checks the dialed
// address, cached or not.
func cachingResolver(names *net.Resolver) *net.Resolver {
	return dns.NewCachingResolver(names, dns.MaxCacheEntries(maxCachedNames), dns.MaxCacheTTL(maxNameAge), dns.NegativeCache(false))
}

// privateDomains are top-level labels of names that have a meaning in private networks only (RFC 6761, 6762,
// 8375, and ICANN's reservation of internal).
var privateDomains = []string{"local", "localdomain", "internal", "arpa"}

// checkProxied returns an error if a URL must not be requested by a proxy, which would resolve and dial it
// without [guard.control]. It resolves names here too; a name that does not resolve here is left to the
// proxy. A name that the proxy resolves to a different address can't be checked.
func (g *guard) checkProxied(ctx context.Context, names *net.Resolver, u *url.URL) error {
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return fmt.Errorf("%w: invalid host name", ErrBlocked)
	}
	port, err := strconv.ParseUint(portOf(u), 10, 16)
	if err != nil {
		return fmt.Errorf("%w: invalid port", ErrBlocked)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.check(netip.AddrPortFrom(ip, uint16(port)))
	}
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	last := labels[len(labels)-1]
	if last == "localhost" || isNumericLabel(last) {
		return fmt.Errorf("%w: the host may be this machine or the proxy's own", ErrBlocked)
	}
	ips, err := names.LookupNetIP(ctx, "ip", host)
	if err != nil && (len(labels) == 1 || slices.Contains(privateDomains, last)) {
		return fmt.Errorf("%w: the host may belong to the proxy's private network", ErrBlocked)
	}
	for _, ip := range ips {
		if err := g.check(netip.AddrPortFrom(ip, uint16(port))); err != nil {
			return err
		}
	}
	return nil
}

// asciiHost returns the host in the form in which net/http sends it, with full-width digits as ASCII digits.
func asciiHost(host string) (string, error) {
	if ascii := strings.IndexFunc(host, func(r rune) bool { return r > 127 }) < 0; ascii {
		return host, nil
	}
	return idna.Lookup.ToASCII(host)
}

// isNumericLabel reports whether some programs parse a host with this last label as an IPv4 address, as in
// 127.1, 0177.0.0.1 and 0x7f000001: WHATWG URL, "ends in a number checker".
func isNumericLabel(label string) bool {
	hex, isHex := strings.CutPrefix(label, "0x")
	if isHex {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
