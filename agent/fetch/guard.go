package fetch

import (
	"errors"
	"fmt"
	"net"
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
	denied  []netip.AddrPort
	remedy  string // what would allow a private address, with %s for its network
}

// newGuard returns the guard of feeds.
func newGuard(o Options) *guard {
	return &guard{
		public:  ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azure)),
		allowed: o.Allow,
		denied:  o.Deny,
		remedy:  "--allow-net %s would allow it",
	}
}

// newProxyGuard returns the guard of the proxies themselves: a person set
// them, but through the API, so they are not believed either.
func newProxyGuard(o Options) *guard {
	g := newGuard(o)
	g.allowed = slices.Concat(o.Allow, o.ProxyAllow)
	g.remedy = "a proxy there needs %s among the networks that are allowed for proxies"
	return g
}

// control is a [net.Dialer]'s Control.
func (g *guard) control(network, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrBlocked, address)
	}
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s is not the web's network", ErrBlocked, network)
	}
	return g.check(addr)
}

// check says why an address must not be dialled; nil means that it may.
func (g *guard) check(addr netip.AddrPort) error {
	plain := addr.Addr().Unmap().WithZone("")
	if g.ours(netip.AddrPortFrom(plain, addr.Port())) {
		return fmt.Errorf("%w: this program itself listens at %s", ErrBlocked, addr)
	}
	if slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(plain) }) {
		return nil
	}
	if slices.Contains(noWeb, addr.Port()) {
		return fmt.Errorf("%w: port %d is not one for the web", ErrBlocked, addr.Port())
	}
	if err := g.public.SafeAddr(addr.Addr()); err != nil {
		network := netip.PrefixFrom(plain, plain.BitLen())
		return fmt.Errorf("%w: %s is private; "+g.remedy, ErrBlocked, addr.Addr(), network)
	}
	return nil
}

// ours reports whether this program listens there.
func (g *guard) ours(addr netip.AddrPort) bool {
	return slices.ContainsFunc(g.denied, func(own netip.AddrPort) bool {
		if own.Port() != addr.Port() {
			return false
		}
		at := own.Addr().Unmap()
		return at == addr.Addr() || addr.Addr().IsUnspecified() || at.IsUnspecified() && isOfThisMachine(addr.Addr())
	})
}

// isOfThisMachine asks the system each time, as addresses come and go; it is
// asked only about the ports that we listen at.
func isOfThisMachine(a netip.Addr) bool {
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	interfaces, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(interfaces, func(i net.Addr) bool {
		n, ok := i.(*net.IPNet)
		return ok && n.IP.Equal(a.AsSlice())
	})
}
