package engines

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// A MailServer is an SMTP server with an inbox, which mail-server.mjs describes.
type MailServer struct {
	Process
	Roots                     *x509.CertPool // of its certificate
	StartTLS, Implicit, Plain string         // addresses, by their encryption
	inbox                     string         // URL
}

// Login at a [MailServer], but on its address without encryption.
const (
	MailUser     = "feedmesh"
	MailPassword = "a secret of the user"
)

// A Mail is a mail in the inbox of a [MailServer], decoded.
type Mail struct {
	From      string      `json:"from"` // of the envelope, as To
	To        []string    `json:"to"`
	IsSecure  bool        `json:"secure"`
	User      string      `json:"user"` // that logged in
	Raw       string      `json:"raw"`
	Headers   [][2]string `json:"headers"` // lower-case name and whole line
	Sender    string      `json:"sender"`
	Receiver  string      `json:"receiver"`
	Subject   string      `json:"subject"`
	Text      string      `json:"text"`
	HTML      string      `json:"html"`
	MessageID string      `json:"messageId"`
}

// StartMailServer starts a server whose certificate is in a folder, and returns when it is ready. The error is [os.ErrNotExist]
// if it is not installed.
func StartMailServer(dir string) (*MailServer, error) {
	library, err := installed("smtp-server/package.json")
	if err != nil {
		return nil, err
	}
	if _, err := installed("mailparser/package.json"); err != nil {
		return nil, err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	s := &MailServer{}
	cert, key := filepath.Join(dir, "mail.crt"), filepath.Join(dir, "mail.key")
	if s.Roots, err = writeCertificate(cert, key); err != nil {
		return nil, err
	}
	folder := filepath.Dir(filepath.Dir(filepath.Dir(library)))
	s.Name, s.Path, s.Dir = "mail-server", node, folder
	s.Args = []string{filepath.Join(folder, "mail-server.mjs"), cert, key}
	for _, address := range []*string{&s.inbox, &s.StartTLS, &s.Implicit, &s.Plain} {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		*address = fmt.Sprintf("127.0.0.1:%d", port)
		s.Args = append(s.Args, strconv.Itoa(port))
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	err = s.Ready(time.Minute, func() error {
		for _, address := range []string{s.StartTLS, s.Implicit, s.Plain} {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				return err
			}
			conn.Close()
		}
		_, err := s.Inbox()
		return err
	})
	if err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// Inbox returns all mails that the server accepted, the last one at the end.
func (s *MailServer) Inbox() (mails []Mail, err error) {
	response, err := http.Get("http://" + s.inbox)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return mails, json.NewDecoder(response.Body).Decode(&mails)
}

// writeCertificate writes a certificate of 127.0.0.1 for a day and its key, and returns the certificate.
func writeCertificate(certFile, keyFile string) (*x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail server of tests"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return roots, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
}
