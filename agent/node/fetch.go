package node

import (
	"net"
	"net/netip"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/subjects"
)

func (n *node) openFetch() *fetch.Client {
	agent := fetch.Product + "/" + n.options.Version
	if n.config.Contact != "" {
		agent += " (+" + n.config.Contact + ")"
	}
	client := fetch.New(fetch.Options{
		UserAgent:     agent,
		Timeout:       n.config.Crawl.Timeout,
		MaxBody:       int64(n.config.Crawl.MaxBody),
		MaxCompressed: subjects.MaxMessage*3/4 - 64<<10, // JSON encodes it as base64
		Parallel:      n.config.Crawl.Parallel,
		Allow:         n.allowed(),
		ProxyAllow:    n.config.ProxyNet,
		Deny:          ownListeners(n.config.Listen, n.config.Health, n.config.Servers.Listen),
	})
	n.closeLater(closer(func() error { client.Close(); return nil }))
	return client
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
