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

// ErrBlocked means that an address must not be fetched from because it is private or its port does not serve
// web content.
var ErrBlocked = errors.New("blocked: not a public web address")

// azureHostAgent is the address of the host agent of every Azure machine. It is a public address, so that
// lists of special ranges do not contain it.
var azureHostAgent = netip.MustParsePrefix("168.63.129.16/32")

// blockedPorts are ports of protocols other than HTTP. A feed URL with such a port is an attempt to attack
// that service through this client.
var blockedPorts = []uint16{1, 7, 9, 13, 19, 21, 22, 23, 25, 53, 110, 111, 119, 123, 135, 139, 143, 161, 389, 445,
	465, 514, 587, 636, 993, 995, 2049, 2375, 2379, 3306, 4222, 5060, 5432, 5672, 6222, 6379, 6660, 6667, 7700,
	8222, 9042, 9200, 11211, 27017}

// guard checks each address when it is dialed, after name resolution, so that neither a host name nor a
// redirect can lead to another address.
type guard struct {
	public  *ssrf.Guardian
	allowed []netip.Prefix
	ports   []netip.AddrPort
	denied  []netip.AddrPort
	hint    string // setting that would allow a private address, with %s for its network
}

// newGuard returns the guard of direct connections to feeds.
func newGuard(o Options) *guard {
	return &guard{
		public:  ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azureHostAgent)),
		allowed: o.Allow,
		ports:   o.AllowPorts,
		denied:  o.Deny,
		hint:    "allow it with --allow-net %s",
	}
}

// newProxyGuard returns the guard of connections to proxies. Their addresses come through the API, so they
// are checked too.
func newProxyGuard(o Options) *guard {
	g := newGuard(o)
	g.allowed = slices.Concat(o.Allow, o.ProxyAllow)
	g.hint = "add %s to the networks allowed for proxies"
	return g
}

// control is a [net.Dialer]'s Control.
func (g *guard) control(network, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrBlocked, address)
	}
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: the network %s is not supported", ErrBlocked, network)
	}
	return g.check(addr)
}

// check returns an error if the address must not be dialed.
func (g *guard) check(addr netip.AddrPort) error {
	plain := addr.Addr().Unmap().WithZone("")
	if g.isOwnListener(netip.AddrPortFrom(plain, addr.Port())) {
		return fmt.Errorf("%w: this program listens at %s", ErrBlocked, addr)
	}
	if slices.Contains(g.ports, netip.AddrPortFrom(plain, addr.Port())) {
		return nil
	}
	private := slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(plain) })
	if slices.Contains(blockedPorts, addr.Port()) {
		if private {
			return fmt.Errorf("%w: port %d is not allowed; allow it with --allow-net %s", ErrBlocked, addr.Port(), netip.AddrPortFrom(plain, addr.Port()))
		}
		return fmt.Errorf("%w: port %d is not allowed", ErrBlocked, addr.Port())
	}
	if private {
		return nil
	}
	if err := g.public.SafeAddr(addr.Addr()); err != nil {
		network := netip.PrefixFrom(plain, plain.BitLen())
		return fmt.Errorf("%w: %s is a private address; "+g.hint, ErrBlocked, addr.Addr(), network)
	}
	return nil
}

// isOwnListener reports whether this program listens at the address.
func (g *guard) isOwnListener(addr netip.AddrPort) bool {
	return slices.ContainsFunc(g.denied, func(own netip.AddrPort) bool {
		if own.Port() != addr.Port() {
			return false
		}
		at := own.Addr().Unmap()
		return at == addr.Addr() || addr.Addr().IsUnspecified() || at.IsUnspecified() && isLocalAddr(addr.Addr())
	})
}

// isLocalAddr reports whether the address is one of this machine. It queries the system each time because
// addresses change; callers limit this to the ports of our own listeners.
func isLocalAddr(a netip.Addr) bool {
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	interfaces, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(interfaces, func(i net.Addr) bool {
		n, ok := i.(*net.IPNet)
		return ok && n.IP.Equal(a.AsSlice())
	})
}
