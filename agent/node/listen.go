package node

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"

	"feedmesh/agent/access"
)

// openTLS returns the TLS configuration of the settings, nil without one.
func (p *process) openTLS() (*tls.Config, error) {
	switch t := p.config.TLS; {
	case t.ACMEHost != "":
		a := newACME(p.config, p.path("acme"), p.options.Log)
		p.certificates = append(p.certificates, a)
		return a.config(), nil
	case t.Cert != "":
		c, err := p.certificates.open(t.Cert, t.Key, p.options.Log)
		if err != nil {
			return nil, fmt.Errorf("%w: check --tls-cert and --tls-key", err)
		}
		return &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get() },
		}, nil
	}
	return nil, nil
}

// listen listens on the address of a flag, with bounded connections, and with TLS unless encrypted is nil.
func (p *process) listen(addr, flag string, encrypted *tls.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: if another agent runs there, stop it; else choose another address with %s", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no permission to listen on %s: choose a port above 1023 with %s, or permit it (CAP_NET_BIND_SERVICE on Linux)", addr, flag)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w: choose another address with %s", addr, err, flag)
	}
	l = access.LimitConnections(l, p.config.TrustedProxy, p.options.Log) // below TLS, which the server must see
	if encrypted != nil {
		l = tls.NewListener(l, encrypted)
	}
	return l, nil
}

// scheme returns the scheme of URLs of a listener.
func scheme(encrypted *tls.Config) string {
	if encrypted == nil {
		return "http"
	}
	return "https"
}
