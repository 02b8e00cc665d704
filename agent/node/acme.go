package node

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"feedmesh/config"
)

// An acmeCertificate is a certificate that a CA issues by ACME, with its account in the data folder. The CA verifies
// the name by a connection to its port 443 (TLS-ALPN-01).
type acmeCertificate struct {
	host    string
	manager *autocert.Manager
	log     *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	err     error // of the last attempt
}

// retryACME is the interval of retries to obtain a certificate. Let's Encrypt allows five failures an hour.
const retryACME = time.Hour

// newACME returns the certificate of --tls-acme-host, which is kept in a folder. It is obtained later, by
// [acmeCertificate.keep] or the first connection, since the CA connects to the listener.
func newACME(c config.Config, folder string, log *slog.Logger) *acmeCertificate {
	host := strings.ToLower(c.TLS.ACMEHost)
	email := ""
	if strings.Contains(c.Contact, "@") {
		email = strings.TrimPrefix(c.Contact, "mailto:")
	}
	if _, port, err := net.SplitHostPort(c.Listen); err == nil && port != "443" {
		log.Warn("the CA connects to port 443", "listen", c.Listen, "remedy", "listen on port 443, or forward port 443 of "+host+" to this address")
	}
	return &acmeCertificate{host: host, log: log, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(folder), HostPolicy: autocert.HostWhitelist(host), Email: email,
		Client: &acme.Client{DirectoryURL: string(c.TLS.ACMEDirectory)},
	}}
}

// config is the TLS configuration of a listener with the certificate.
func (a *acmeCertificate) config() *tls.Config {
	c := a.manager.TLSConfig()
	c.MinVersion, c.GetCertificate = tls.VersionTLS12, a.get
	return c
}

// get returns the certificate for a connection, which it obtains from the CA first if there is none yet.
func (a *acmeCertificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c, err := a.manager.GetCertificate(hello)
	if !strings.EqualFold(hello.ServerName, a.host) || len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == acme.ALPNProto {
		return c, err // not for the name, or the CA's connection
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && a.err == nil {
		a.log.Warn("no certificate from the CA", "host", a.host, "err", err)
	}
	if a.err = err; err == nil {
		a.current = c
	}
	return c, err
}

// keep obtains the certificate, and retries until ctx ends. The manager renews it.
func (a *acmeCertificate) keep(ctx context.Context) error {
	modern := &tls.ClientHelloInfo{
		ServerName: a.host, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}, SupportedCurves: []tls.CurveID{tls.CurveP256},
		CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	}
	for {
		done := make(chan struct{})
		go func() {
			_, _ = a.get(modern) // reported by check and the log; ends by itself, after at most five minutes
			close(done)
		}()
		select {
		case <-done:
		case <-ctx.Done():
			return nil
		}
		select {
		case <-time.After(retryACME):
		case <-ctx.Done():
			return nil
		}
	}
}

// check returns nil if there is a certificate for some time.
func (a *acmeCertificate) check(now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return fmt.Errorf("no certificate for %s: %w: check that the name leads to this machine, and its port 443 to --listen", a.host, a.err)
	case a.current == nil:
		return fmt.Errorf("the certificate for %s is being obtained", a.host)
	}
	return checkExpiry(a.current, "for "+a.host, now)
}
