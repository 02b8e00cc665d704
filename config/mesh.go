package config

import (
	"fmt"
	"net"
	"strings"
)

// validateNATS returns the errors of the settings for external NATS servers.
func (c Config) validateNATS() (errs []error) {
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, address := range c.NATS {
		if !isURL(address, "nats", "tls", "ws", "wss") {
			addError("nats: %q is not a NATS URL; write nats://HOST:4222", address.String())
		}
	}
	l := c.NATSLogin
	if len(c.NATS) == 0 && l != (NATSLogin{}) {
		addError("nats: is not set, but nats- settings are; set it, or remove them")
	}
	logins := 0
	for _, login := range []string{l.NATSUser, l.NATSCreds, l.NATSNKey} {
		if login != "" {
			logins++
		}
	}
	if logins > 1 {
		addError("nats-user, nats-creds, nats-nkey: set only one of them")
	}
	if (l.NATSUser == "") != (l.NATSPassword == "") {
		addError("nats-user, nats-password: must be set together")
	}
	if (l.NATSCert == "") != (l.NATSKey == "") {
		addError("nats-cert, nats-key: must be set together")
	}
	return errs
}

// validateCluster returns the errors of the settings for the embedded NATS server in a cluster.
func (c Config) validateCluster() (errs []error) {
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s := c.Servers; s.Listen == "" && (len(s.Peers) > 0 || s.Secret+Secret(s.TLSCert+s.TLSKey+s.TLSCA) != "") {
		addError("cluster.listen: is not set; set the cluster address of this agent's NATS server, such as 10.0.0.1:6222")
	}
	if c.Servers.Listen == "" {
		return errs
	}
	if len(c.NATS) > 0 {
		addError("cluster.listen: cannot be combined with nats: use either embedded or external NATS servers")
	}
	if _, _, err := net.SplitHostPort(c.Servers.Listen); err != nil {
		addError("cluster.listen: %q is not an address; write HOST:PORT, such as 10.0.0.1:6222", c.Servers.Listen)
	}
	if c.Servers.Secret == "" { // also on this machine: other users of it could join
		addError("cluster.secret: is not set; set it, the same for all agents")
	}
	if s := c.Servers; s.TLSCert+s.TLSKey+s.TLSCA != "" && (s.TLSCert == "" || s.TLSKey == "" || s.TLSCA == "") {
		addError("cluster.tls-cert, cluster.tls-key, cluster.tls-ca: must be set together")
	}
	if len(c.Servers.Peers) == 0 {
		addError("cluster.peers: is not set; set the cluster addresses of the other agents, such as 10.0.0.2:6222,10.0.0.3:6222")
	}
	for _, peer := range c.Servers.Peers {
		if host, _, err := net.SplitHostPort(peer); err != nil || host == "" {
			addError("cluster.peers: %q is not an address; write HOST:PORT, such as 10.0.0.2:6222", peer)
		}
	}
	return errs
}

// OwnMeilisearch is the search setting of an agent that runs Meilisearch itself, with its files in the data folder.
const OwnMeilisearch Address = "meilisearch:"

// validateEngines returns the errors of the settings for store and index.
func (c Config) validateEngines() (errs []error) {
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	// The driver parses the text after the scheme: several hosts, a socket's folder.
	if scheme, _, _ := strings.Cut(string(c.Store), "://"); c.Store != "" && scheme != "postgres" && scheme != "postgresql" {
		addError("store: %q is not a PostgreSQL URL; write postgres://USER:PASSWORD@HOST/DATABASE", c.Store.String())
	}
	if c.Search != "" && c.Search != OwnMeilisearch && !isURL(c.Search, "meilisearch", "meilisearchs") {
		addError("search: %q is not a Meilisearch URL; write meilisearch://HOST:7700, or meilisearch: for a server that the agent starts", c.Search.String())
	}
	if c.Search == OwnMeilisearch && c.SearchKey != "" {
		addError("search-key: cannot be combined with search meilisearch: the agent makes its own key; remove search-key")
	}
	if c.Search == "" && c.SearchKey != "" {
		addError("search-key: requires search; set the Meilisearch URL")
	}
	if c.Search == "" && c.SearchEmbedder != "" {
		addError("search-embedder: requires search; the embedded index has no semantic search")
	}
	return errs
}
