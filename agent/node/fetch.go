package node

import (
	"net"
	"net/netip"
	"path/filepath"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/secret"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// fetchOptions returns the options of the client for feeds, pages and pushes.
func fetchOptions(c config.Config, version string) fetch.Options {
	agent := fetch.Product + "/" + version
	if c.Contact != "" {
		agent += " (+" + c.Contact + ")"
	}
	networks, services := allowed(c)
	return fetch.Options{
		UserAgent:     agent,
		Timeout:       c.Crawl.Timeout,
		MaxBody:       int64(c.Crawl.MaxBody),
		MaxCompressed: subjects.MaxMessage*3/4 - 64<<10, // JSON encodes it as base64
		Parallel:      c.Crawl.Parallel,
		Allow:         networks,
		AllowPorts:    services,
		ProxyAllow:    c.ProxyNet,
		Deny:          ownListeners(c.Listen, c.Health, c.Servers.Listen),
	}
}

// publicOptions returns the options of the client for addresses that publishers choose.
func publicOptions(c config.Config, version string) fetch.Options {
	o := fetchOptions(c, version)
	o.Allow, o.AllowPorts = nil, nil
	return o
}

// openSecrets opens the key file of passwords. One in the data folder is of this agent alone: agents that share a mesh
// share a file.
func openSecrets(c config.Config, store storage.Records) *secret.Keys {
	o := secret.Options{Path: c.SecretKeyFile, Store: store}
	if o.Path == "" && len(c.NATS) == 0 && c.Servers.Listen == "" {
		o.Path, o.Create = filepath.Join(c.Data, "secret.key"), true
	}
	return secret.Open(o)
}

// loopback is the network of the simulated hosts.
var loopback = netip.MustParsePrefix("127.0.0.0/8")

// allowed returns the private networks that feeds may be fetched from, and the single ports.
func allowed(c config.Config) (networks []netip.Prefix, services []netip.AddrPort) {
	for _, n := range c.AllowNet {
		if n.Port != 0 {
			services = append(services, netip.AddrPortFrom(n.Addr(), n.Port))
		} else {
			networks = append(networks, n.Prefix)
		}
	}
	if c.Simulate > 0 {
		networks = append(networks, loopback)
	}
	return networks, services
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
