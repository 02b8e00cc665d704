package node

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"feedmesh/config"
	"feedmesh/embedded"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A connection to a server that did not answer the last maxPings pings is lost at the next one.
const (
	pingInterval = 2 * time.Second
	maxPings     = 2

	alonePing = time.Minute // to a server in this process, which is the only one
)

// natsOptions are the options of connections to NATS.
func (p *process) natsOptions() []nats.Option {
	log := p.options.Log
	return []nats.Option{
		nats.Name("feedmesh agent " + p.self.ID),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(time.Second),
		// A server that hangs is left for another after 6 to 8 s.
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(maxPings),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("NATS connection lost, reconnecting", "err", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) {
			log.Info("NATS connection restored", "server", c.ConnectedServerName())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("NATS error", "err", err)
		}),
	}
}

// startNATS starts the embedded NATS server.
func (p *process) startNATS() (*embedded.Server, error) {
	partitions := 1
	if p.config.Servers.Listen != "" { // the mesh may have been created with more than the setting
		partitions = config.MaxPartitions
	}
	o := embedded.Options{
		Dir: p.path("nats"), MaxFile: subjects.MaxBytes(partitions) * 5 / 4, MaxMessage: subjects.MaxMessage, Log: p.options.Log,
	}
	if s := p.config.Servers; s.Listen != "" {
		o.Cluster = &embedded.Cluster{Listen: s.Listen, Peers: s.Peers, Secret: string(s.Secret)}
		if s.TLSCert != "" {
			c, err := p.certificates.open(s.TLSCert, s.TLSKey, p.options.Log)
			if err != nil {
				return nil, err
			}
			if o.Cluster.TLS, err = c.peerConfig(s.TLSCA); err != nil {
				return nil, err
			}
		}
	}
	return embedded.Start(o)
}

// ConnectNATS connects to one of the servers that --nats names. The error is [storage.ErrUnavailable] if none answers.
func ConnectNATS(servers []config.Address, login config.NATSLogin, opts ...nats.Option) (*nats.Conn, error) {
	as, err := natsLogin(login)
	if err != nil {
		return nil, err
	}
	urls := make([]string, len(servers))
	for i, address := range servers {
		urls[i] = string(address)
	}
	conn, err := nats.Connect(strings.Join(urls, ","), append(opts, as...)...)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return nil, fmt.Errorf("the NATS server of --nats rejects the login: %w: set --nats-user, --nats-creds or --nats-nkey", err)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return nil, fmt.Errorf("the certificate of the NATS server of --nats is not trusted: %w: set its CA with --nats-ca", err)
	}
	return nil, fmt.Errorf("connect to the NATS server of --nats: %w: %w: check that it runs and that the address is correct", storage.ErrUnavailable, err)
}

// natsLogin returns the options for authentication and TLS.
func natsLogin(c config.NATSLogin) (opts []nats.Option, err error) {
	if c.NATSUser != "" {
		// A per-user inbox prefix lets the servers deny a user the responses of others.
		opts = append(opts, nats.UserInfo(c.NATSUser, string(c.NATSPassword)), nats.CustomInboxPrefix("_INBOX."+c.NATSUser))
	}
	if c.NATSCreds != "" {
		opts = append(opts, nats.UserCredentials(c.NATSCreds))
	}
	if c.NATSNKey != "" {
		seed, err := nats.NkeyOptionFromSeed(c.NATSNKey)
		if err != nil {
			return nil, fmt.Errorf("read the NKey of --nats-nkey: %w", err)
		}
		opts = append(opts, seed)
	}
	if c.NATSCA != "" {
		opts = append(opts, nats.RootCAs(c.NATSCA))
	}
	if c.NATSCert != "" {
		opts = append(opts, nats.ClientCert(c.NATSCert, c.NATSKey))
	}
	return opts, nil
}
