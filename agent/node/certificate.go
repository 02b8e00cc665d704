package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// certificates are the certificates of a process.
type certificates []interface {
	check(now time.Time) error // returns an error if clients cannot use it, or soon cannot
}

// open reads and adds a certificate and its key. Readiness reports if it cannot be used for much longer.
func (all *certificates) open(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	_, err := c.get()
	*all = append(*all, c)
	return c, err
}

// start obtains the certificates that are not in files, until ctx ends.
func (all certificates) start(ctx context.Context, group *errgroup.Group) {
	for _, c := range all {
		if a, is := c.(*acmeCertificate); is {
			group.Go(func() error { return a.keep(ctx) })
		}
	}
}

// check returns the problems of all certificates.
func (all certificates) check(now time.Time) error {
	var problems []error
	for _, c := range all {
		problems = append(problems, c.check(now))
	}
	return errors.Join(problems...)
}

// A certificate is a certificate with its key in two files, which are read again when they change.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	changed [2]time.Time // of the files, when they were read last
	err     error        // of the last read
}

// get returns the certificate. While changed files can't be used, such as between the writes of both, it returns the
// one before.
func (c *certificate) get() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := modified(c.certFile, c.keyFile)
	if err == nil && changed == c.changed && c.current != nil {
		return c.current, nil
	}
	failed := c.err
	if err == nil {
		var read tls.Certificate
		if read, err = tls.LoadX509KeyPair(c.certFile, c.keyFile); err == nil {
			c.current, c.changed = &read, changed
		}
	}
	if c.err = err; err != nil {
		c.err = fmt.Errorf("read the certificate %s with the key %s: %w", c.certFile, c.keyFile, err)
		if c.current == nil {
			return nil, c.err
		}
		if failed == nil {
			c.log.Warn("certificate unreadable, the former one is used", "err", c.err)
		}
	}
	return c.current, nil
}

func modified(files ...string) (times [2]time.Time, err error) {
	for i, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return times, err
		}
		times[i] = info.ModTime()
	}
	return times, nil
}

// expiryWarning is how long before its end a certificate is reported.
const expiryWarning = 7 * 24 * time.Hour

// check returns nil if the certificate is readable and valid for some time.
func (c *certificate) check(now time.Time) error {
	current, err := c.get()
	if err != nil {
		return err
	}
	c.mu.Lock()
	err = c.err
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return checkExpiry(current, c.certFile, now)
}

// checkExpiry returns an error if a certificate ends soon.
func checkExpiry(c *tls.Certificate, name string, now time.Time) error {
	if end := c.Leaf.NotAfter; end.Before(now.Add(expiryWarning)) {
		return fmt.Errorf("the certificate %s ends at %s UTC: replace it", name, end.UTC().Format(time.DateTime))
	}
	return nil
}

// peerConfig is the TLS configuration of servers that verify each other by the CAs in a file.
func (c *certificate) peerConfig(caFile string) (*tls.Config, error) {
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read the CA certificates of --cluster-tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("read the CA certificates of --cluster-tls-ca: the file " + caFile + " contains no certificate in PEM")
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, RootCAs: pool,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.get() },
	}, nil
}
