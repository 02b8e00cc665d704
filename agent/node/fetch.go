package node

import (
	"net"
	"net/netip"
	"slices"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/subjects"
)

// openFetch returns the client for feeds, pages and pushes.
func (p *process) openFetch() *fetch.Client {
	agent := fetch.Product + "/" + p.options.Version
	if p.config.Contact != "" {
		agent += " (+" + p.config.Contact + ")"
	}
	client := fetch.New(fetch.Options{
		UserAgent:     agent,
		Timeout:       p.config.Crawl.Timeout,
		MaxBody:       int64(p.config.Crawl.MaxBody),
		MaxCompressed: subjects.MaxMessage*3/4 - 64<<10, // JSON encodes it as base64
		Parallel:      p.config.Crawl.Parallel,
		Allow:         p.allowed(),
		ProxyAllow:    p.config.ProxyNet,
		Deny:          ownListeners(p.config.Listen, p.config.Health, p.config.Servers.Listen),
	})
	p.closeLater(closer(func() error { client.Close(); return nil }))
	return client
}

// loopback is the network of the simulated hosts.
var loopback = netip.MustParsePrefix("127.0.0.0/8")

// allowed returns the private networks that feeds may be fetched from.
func (p *process) allowed() []netip.Prefix {
	if p.config.Simulate == 0 {
		return p.config.AllowNet
	}
	return append(slices.Clone(p.config.AllowNet), loopback)
}

// ownListeners returns the addresses that this process listens on. Feeds are never fetched from them, even if
// private networks are allowed.
func ownListeners(addresses ...string) (listeners []netip.AddrPort) {
	for _, address := range addresses {
		listened, err := net.ResolveTCPAddr("tcp", address)
		if address == "" || err != nil || listened.Port == 0 {
			continue // not listening, or at a random port
		}
		ip, ok := netip.AddrFromSlice(listened.IP)
		if !ok {
			ip = netip.IPv6Unspecified() // no host, for example :8080
		}
		listeners = append(listeners, netip.AddrPortFrom(ip.Unmap(), uint16(listened.Port)))
	}
	return listeners
}
