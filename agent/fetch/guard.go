package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrBlocked says that an address must not be fetched from: it is private, or
// its port is not one that feeds are served at.
var ErrBlocked = errors.New("blocked: not a public web address")

// azure is the address of every Azure machine's host agent. It is a public
// one, so no list of special ranges has it.
var azure = netip.MustParsePrefix("168.63.129.16/32")

// noWeb are ports where something else than the web listens; a feed there is
// somebody's attempt to have us talk to it.
var noWeb = []uint16{1, 7, 9, 13, 19, 21, 22, 23, 25, 53, 110, 111, 119, 123, 135, 139, 143, 161, 389, 445,
	465, 514, 587, 636, 993, 995, 2049, 2375, 2379, 3306, 4222, 5060, 5432, 5672, 6222, 6379, 6660, 6667, 7700,
	8222, 9042, 9200, 11211, 27017}

// guard decides about an address at the time of dialling, when names are
// resolved: whatever a name or a redirect says, no other address is reached.
type guard struct {
	public  *ssrf.Guardian
	allowed []netip.Prefix
}

func newGuard(allowed []netip.Prefix) *guard {
	return &guard{
		public:  ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azure)),
		allowed: allowed,
	}
}

// control is a [net.Dialer]'s Control.
func (g *guard) control(network, address string, c syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrBlocked, address)
	}
	inside := func(p netip.Prefix) bool { return p.Contains(addr.Addr().Unmap().WithZone("")) }
	if slices.ContainsFunc(g.allowed, inside) {
		return nil
	}
	if slices.Contains(noWeb, addr.Port()) {
		return fmt.Errorf("%w: port %d is not one for the web", ErrBlocked, addr.Port())
	}
	if err := g.public.Safe(network, address, c); err != nil {
		return fmt.Errorf("%w: %s is private; --allow-net %s would allow it", ErrBlocked, addr.Addr(), prefixOf(addr.Addr()))
	}
	return nil
}

// prefixOf returns the address as the smallest network.
func prefixOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	return netip.PrefixFrom(a, a.BitLen())
}
