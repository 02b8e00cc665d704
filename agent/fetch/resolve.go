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
	maxNames   = 16 << 10  // answers that are remembered, two for a name
	maxNameAge = time.Hour // whatever an answer says of itself
)

// cached returns a resolver that remembers answers for as long as they say, at
// most maxNameAge. A shorter memory would be none: what is asked again within
// seconds finds its connection open. That there is no such name is not
// remembered, so that who mends it sees it mended. Rebinding gains nothing by
// all this: the guard decides about the address dialled, wherever it came from.
func cached(names *net.Resolver) *net.Resolver {
	return dns.NewCachingResolver(names, dns.MaxCacheEntries(maxNames), dns.MaxCacheTTL(maxNameAge), dns.NegativeCache(false))
}

// private are the last labels of names that only mean something in a network
// of somebody's own (RFC 6761, 6762, 8375, and ICANN's reservation of internal).
var private = []string{"local", "localdomain", "internal", "arpa"}

// behindProxy says why a URL must not be asked of a proxy, which would resolve
// and dial it unseen by [guard.control]; nil means that it may. Names are
// resolved here too, where they can be; others are for the proxy alone to know.
// A name that a proxy resolves to something else than we do is out of reach.
func (g *guard) behindProxy(ctx context.Context, names *net.Resolver, u *url.URL) error {
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return fmt.Errorf("%w: its name is none", ErrBlocked)
	}
	port, err := strconv.ParseUint(portOf(u), 10, 16)
	if err != nil {
		return fmt.Errorf("%w: its port is none", ErrBlocked)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.check(netip.AddrPortFrom(ip, uint16(port)))
	}
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	last := labels[len(labels)-1]
	if last == "localhost" || isNumber(last) {
		return fmt.Errorf("%w: no proxy is asked for what may be this machine or its own", ErrBlocked)
	}
	ips, err := names.LookupNetIP(ctx, "ip", host)
	if err != nil && (len(labels) == 1 || slices.Contains(private, last)) {
		return fmt.Errorf("%w: no proxy is asked for a name of its own network", ErrBlocked)
	}
	for _, ip := range ips {
		if err := g.check(netip.AddrPortFrom(ip, uint16(port))); err != nil {
			return err
		}
	}
	return nil
}

// asciiHost returns the host as net/http makes it for the wire, where
// full-width digits are digits.
func asciiHost(host string) (string, error) {
	if ascii := strings.IndexFunc(host, func(r rune) bool { return r > 127 }) < 0; ascii {
		return host, nil
	}
	return idna.Lookup.ToASCII(host)
}

// isNumber reports whether a host that ends in the label is an IPv4 address to
// some program, as 127.1, 0177.0.0.1 and 0x7f000001 are: WHATWG URL, "ends in
// a number checker".
func isNumber(label string) bool {
	hex, isHex := strings.CutPrefix(label, "0x")
	if isHex {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
