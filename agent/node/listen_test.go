package node

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/config"
)

// writeCertificate writes a self-signed certificate with its key to two files, and returns its serial number.
func writeCertificate(t *testing.T, certFile, keyFile string, end time.Time) *big.Int {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: serial, NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return serial
}

func TestTLS_CertificateFilesAreReloaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := settings(filepath.Join(dir, "data"))
	c.TLS.Cert, c.TLS.Key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := writeCertificate(t, c.TLS.Cert, c.TLS.Key, time.Now().AddDate(1, 0, 0))
	c.Listen = freeAddr(t)
	r := start(t, c)
	secure := func(path string) (*http.Response, string) {
		t.Helper()
		web := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		resp, err := web.Get("https://" + c.Listen + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp, string(body)
	}
	resp, body := secure("/readyz")
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 || resp.TLS.PeerCertificates[0].SerialNumber.Cmp(first) != 0 || !strings.Contains(body, `"certificate","ok":true`) {
		t.Errorf("got %v %s, want HTTP/2 with the certificate", resp, body)
	}
	if got := resp.Header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("got HSTS %q, want none with a certificate that may not be public", got)
	}
	if status, body := get(t, "http://"+c.Listen+"/", ""); status != http.StatusBadRequest || !strings.Contains(body, "HTTP request to an HTTPS server") {
		t.Errorf("without TLS: got %d %q, want an explanation", status, body)
	}
	if !strings.Contains(r.log.String(), "url=https://") {
		t.Errorf("the log does not contain the URL: %s", r.log)
	}

	second := writeCertificate(t, c.TLS.Cert, c.TLS.Key, time.Now().Add(time.Hour))
	resp, body = secure("/readyz")
	if resp.StatusCode != 200 || resp.TLS.PeerCertificates[0].SerialNumber.Cmp(second) != 0 {
		t.Errorf("got certificate %v, want the new one", resp.TLS.PeerCertificates[0].SerialNumber)
	}
	if !strings.Contains(body, `"certificate","ok":false`) || !strings.Contains(body, "replace it") {
		t.Errorf("got %s, want a warning about its end", body)
	}
	if err := os.WriteFile(c.TLS.Cert, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	resp, body = secure("/readyz")
	if resp.TLS.PeerCertificates[0].SerialNumber.Cmp(second) != 0 || !strings.Contains(body, "read the certificate") || !strings.Contains(r.log.String(), "certificate unreadable") {
		t.Errorf("got %s, want the former certificate and a warning", body)
	}
}

func TestTLS_UnusableFilesStopTheStart(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.TLS = config.TLS{Cert: filepath.Join(c.Data, "none.pem"), Key: filepath.Join(c.Data, "none.key")}
	if got := startError(t, c); !strings.Contains(got, "none.pem") || !strings.Contains(got, "--tls-cert") {
		t.Errorf("got %q, want the file and the flag", got)
	}
}

// No certificate is requested for another name, and the CA's refusal is reported.
func TestACME_ReportsWhyThereIsNoCertificate(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := settings(t.TempDir())
	c.TLS.ACMEHost, c.TLS.ACMEDirectory = "feeds.example.org", config.Address("https://"+freeAddr(t)+"/directory")
	a := newACME(c, t.TempDir(), slog.New(slog.NewTextHandler(&log, nil)))
	all := certificates{a}
	if _, err := a.get(&tls.ClientHelloInfo{ServerName: "other.example.org"}); err == nil {
		t.Error("it obtains certificates for any name")
	}
	if err := all.check(time.Now()); err == nil || !strings.Contains(err.Error(), "is being obtained") {
		t.Errorf("got %v, want it obtained", err)
	}
	if _, err := a.get(&tls.ClientHelloInfo{ServerName: "feeds.example.org"}); err == nil {
		t.Error("got a certificate without a CA")
	}
	if err := all.check(time.Now()); err == nil || !strings.Contains(err.Error(), "no certificate for feeds.example.org") || !strings.Contains(err.Error(), "port 443") {
		t.Errorf("got %v, want the reason and the remedy", err)
	}
	for _, want := range []string{"the CA connects to port 443", "no certificate from the CA"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, log.String())
		}
	}
}
