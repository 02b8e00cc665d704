package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"feedmesh/agent/mesh"
	"feedmesh/config"
	"feedmesh/embedded"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// openMesh starts the embedded NATS server if needed, and joins the mesh.
func (n *node) openMesh(ctx context.Context) error {
	conn, err := n.connect()
	if err != nil {
		return err
	}
	n.closeLater(closer(func() error { conn.Close(); return nil }))
	n.mesh, err = mesh.Join(ctx, mesh.Options{
		Agent: n.self.ID, Conn: conn, Domain: n.config.NATSLogin.NATSDomain, Log: n.options.Log, Trace: n.trace, Metrics: n.registry,
		Unavailable: func(err error) bool { return errors.Is(err, storage.ErrUnavailable) },
	})
	return err
}

func (n *node) connect() (*nats.Conn, error) {
	log := n.options.Log
	opts := []nats.Option{
		nats.Name("feedmesh agent " + n.self.ID),
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
	if len(n.config.NATS) > 0 {
		return ConnectNATS(n.config.NATS, n.config.NATSLogin, opts...)
	}
	o := embedded.Options{
		Dir: n.path("nats"), MaxFile: subjects.MaxBytes() * 5 / 4, MaxMessage: subjects.MaxMessage, Log: log,
	}
	if s := n.config.Servers; s.Listen != "" {
		o.Cluster = &embedded.Cluster{Listen: s.Listen, Peers: s.Peers, Secret: string(s.Secret)}
	}
	server, err := embedded.Start(o)
	if err != nil {
		return nil, err
	}
	n.closeLater(server)
	n.server = server
	return server.Connect(opts...)
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
