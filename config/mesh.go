package config

import (
	"fmt"
	"net"
	"strings"
)

// faultsOfNATS returns what is wrong with the settings of joining NATS servers.
func (c Config) faultsOfNATS() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for _, address := range c.NATS {
		if !isURL(address, "nats", "tls", "ws", "wss") {
			fault("nats: %q is no NATS address; write nats://HOST:4222", address.String())
		}
	}
	l := c.NATSLogin
	if len(c.NATS) == 0 && l != (NATSLogin{}) {
		fault("nats: is not set, so there is no server to log in to; name it, or leave out the other nats- settings")
	}
	ways := 0
	for _, way := range []string{l.NATSUser, l.NATSCreds, l.NATSNKey} {
		if way != "" {
			ways++
		}
	}
	if ways > 1 {
		fault("nats-user, nats-creds, nats-nkey: choose one way to log in")
	}
	if (l.NATSUser == "") != (l.NATSPassword == "") {
		fault("nats-user, nats-password: neither is of use without the other")
	}
	if (l.NATSCert == "") != (l.NATSKey == "") {
		fault("nats-cert, nats-key: neither is of use without the other")
	}
	return faults
}

// faultsOfServers returns what is wrong with the settings of a NATS server of
// our own among others.
func (c Config) faultsOfServers() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if s := c.Servers; s.Listen == "" && (len(s.Peers) > 0 || s.Secret != "") {
		fault("cluster.listen: is not set; write on which address the other agents find this one's NATS server, as 10.0.0.1:6222")
	}
	if c.Servers.Listen == "" {
		return faults
	}
	if len(c.NATS) > 0 {
		fault("cluster.listen: has no use beside nats: either the agents' own NATS servers form a cluster, or the agent joins another's")
	}
	host, _, err := net.SplitHostPort(c.Servers.Listen)
	switch {
	case err != nil:
		fault("cluster.listen: %q is no address; write HOST:PORT, as 10.0.0.1:6222", c.Servers.Listen)
	case !isLoopback(host) && c.Servers.Secret == "":
		fault("cluster.listen: %s can be reached by others; set cluster.secret, the same for all agents", c.Servers.Listen)
	}
	if len(c.Servers.Peers) == 0 {
		fault("cluster.peers: is not set; write where the other agents' NATS servers are, as 10.0.0.2:6222,10.0.0.3:6222")
	}
	for _, peer := range c.Servers.Peers {
		if host, _, err := net.SplitHostPort(peer); err != nil || host == "" {
			fault("cluster.peers: %q is no address; write HOST:PORT, as 10.0.0.2:6222", peer)
		}
	}
	return faults
}

// faultsOfEngines returns what is wrong with the settings of store and index.
func (c Config) faultsOfEngines() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	// What follows the scheme is the driver's to read: several hosts, a socket's folder.
	if scheme, _, _ := strings.Cut(string(c.Store), "://"); c.Store != "" && scheme != "postgres" && scheme != "postgresql" {
		fault("store: %q is no PostgreSQL address; write postgres://USER:PASSWORD@HOST/DATABASE", c.Store.String())
	}
	if c.Search != "" && !isURL(c.Search, "meilisearch", "meilisearchs") {
		fault("search: %q is no Meilisearch address; write meilisearch://HOST:7700", c.Search.String())
	}
	if c.Search == "" && c.SearchKey != "" {
		fault("search-key: has no use without search; name the Meilisearch it is for")
	}
	return faults
}
