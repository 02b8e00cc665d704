package embedded

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"testing"
	"time"
)

// An authority is a CA of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{key: key, pool: x509.NewCertPool(), cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

// member returns the configuration of a server with a certificate of the authority that trusts certificates of
// another one.
func (a authority) member(t *testing.T, trusted authority) *tls.Config {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: a.key}}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: trusted.pool, RootCAs: trusted.pool, MinVersion: tls.VersionTLS13,
	}
}

func TestCluster_EncryptedRoutes(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	addrs := addresses(t, 4)
	var servers []*Server
	rejected := rejections{text: "TLS route handshake error"}
	for i, config := range []*tls.Config{ca.member(t, ca), ca.member(t, ca), other.member(t, ca), nil} {
		o := member(t.TempDir(), "s3cret", addrs[i], addrs[0], addrs[1])
		if o.Cluster.TLS = config; i == 0 {
			o.Log = slog.New(slog.NewTextHandler(&rejected, nil))
		}
		servers = append(servers, start(t, o))
	}
	eventually(t, "the first two servers join", func() error {
		if servers[0].nats.Load().NumRoutes() == 0 || servers[1].nats.Load().NumRoutes() == 0 {
			return fmt.Errorf("no route")
		}
		return nil
	})
	eventually(t, "the others are rejected, and again when they retry", func() error {
		if n := rejected.Load(); n < 4 {
			return fmt.Errorf("rejected %d times", n)
		}
		return nil
	})
	for i, what := range map[int]string{2: "with a certificate of another CA", 3: "without TLS"} {
		if n := servers[i].nats.Load().NumRoutes(); n != 0 {
			t.Errorf("a server %s has %d routes, want none", what, n)
		}
	}
}

func TestCluster_NeedsSecret(t *testing.T) {
	t.Parallel()
	if s, err := Start(member(t.TempDir(), "", addresses(t, 2)...)); err == nil {
		s.Close()
		t.Error("it starts without a secret, also on loopback")
	}
}
