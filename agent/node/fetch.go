package node

import (
	"net"
	"net/netip"

	"feedmesh/agent/fetch"
	"feedmesh/subjects"
)

func (n *node) openFetch() *fetch.Client {
	agent := fetch.Product + "/" + n.options.Version
	if n.config.Contact != "" {
		agent += " (+" + n.config.Contact + ")"
	}
	client := fetch.New(fetch.Options{
		UserAgent:  agent,
		Timeout:    n.config.Crawl.Timeout,
		MaxBody:    int64(n.config.Crawl.MaxBody),
		MaxPacked:  subjects.MaxMessage*3/4 - 64<<10, // JSON writes it in base64
		Parallel:   n.config.Crawl.Parallel,
		Allow:      n.allowed(),
		ProxyAllow: n.config.ProxyNet,
		Deny:       ownListeners(n.config.Listen, n.config.Health, n.config.Servers.Listen),
	})
	n.opened(closer(func() error { client.Close(); return nil }))
	return client
}

// ownListeners returns where this process listens: no feed is there, whatever
// networks are allowed.
func ownListeners(addresses ...string) (own []netip.AddrPort) {
	for _, address := range addresses {
		listened, err := net.ResolveTCPAddr("tcp", address)
		if address == "" || err != nil || listened.Port == 0 {
			continue // not listened on, or at a port that nobody knows before
		}
		ip, ok := netip.AddrFromSlice(listened.IP)
		if !ok {
			ip = netip.IPv6Unspecified() // as in :8080
		}
		own = append(own, netip.AddrPortFrom(ip.Unmap(), uint16(listened.Port)))
	}
	return own
}
