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
	"feedmesh/subjects"
)

// connect connects to the NATS servers of the settings, or to an embedded one that it starts and returns.
func (p *process) connect() (*nats.Conn, *embedded.Server, error) {
	log := p.options.Log
	opts := []nats.Option{
		nats.Name("feedmesh agent " + p.self.ID),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(time.Second),
		// Detect a hanging server within half a minute and use another.
		nats.PingInterval(10 * time.Second),
		nats.MaxPingsOutstanding(3),
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
	if len(p.config.NATS) > 0 {
		conn, err := ConnectNATS(p.config.NATS, p.config.NATSLogin, opts...)
		return conn, nil, err
	}
	o := embedded.Options{
		Dir: p.path("nats"), MaxFile: subjects.MaxBytes() * 5 / 4, MaxMessage: subjects.MaxMessage, Log: log,
	}
	if s := p.config.Servers; s.Listen != "" {
		o.Cluster = &embedded.Cluster{Listen: s.Listen, Peers: s.Peers, Secret: string(s.Secret)}
	}
	server, err := embedded.Start(o)
	if err != nil {
		return nil, nil, err
	}
	p.closeLater(server)
	conn, err := server.Connect(opts...)
	return conn, server, err
}

// ConnectNATS connects to one of the servers that --nats names.
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
	return nil, fmt.Errorf("connect to the NATS server of --nats: %w: check that it runs and that the address is correct", err)
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
