// Package mail sends items as mail through an SMTP server.
package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"feedmesh/agent/role/deliver/channel"
)

// maxItems is the number of items of a mail. With their excerpts they stay below the size at which mail programs cut.
const maxItems = 100

// TLS is how connections to the server are encrypted.
type TLS string

// Kinds of encryption.
const (
	StartTLS    TLS = "starttls" // required, as on port 587
	ImplicitTLS TLS = "implicit" // from the first byte, as on port 465
	NoTLS       TLS = "none"     // a password is sent only to loopback addresses
)

// Options are the settings of a [Channel].
type Options struct {
	Server   string         // HOST:PORT of the SMTP server
	User     string         // empty: without a login
	Password string         // of the user
	From     string         // sender, with or without a name: feedmesh <feeds@example.org>
	TLS      TLS            // empty: StartTLS
	Roots    *x509.CertPool // CAs of the server's certificate; nil: those of the system
	BaseURL  string         // of the console, for links; or empty
}

// A Channel sends mails.
type Channel struct {
	options Options
	host    string
	port    int
	from    *mail.Address
	domain  string // of the sender; part of IDs
}

// New returns a channel that sends through a server, or an error that states how to correct an option. It connects to nothing.
func New(o Options) (*Channel, error) {
	c := &Channel{options: o}
	host, port, err := net.SplitHostPort(o.Server)
	if c.port, _ = strconv.Atoi(port); err != nil || host == "" || c.port < 1 || c.port > 65535 {
		return nil, fmt.Errorf("%q is not a mail server; write HOST:PORT, such as smtp.example.org:587", o.Server)
	}
	c.host = host
	if c.from, err = mail.ParseAddress(o.From); err == nil {
		c.from.Address, err = addressOf(c.from.Address)
	}
	if err != nil {
		return nil, fmt.Errorf("%q is not a sender; write an address, such as feedmesh <feeds@example.org>", o.From)
	}
	_, c.domain, _ = strings.Cut(c.from.Address, "@")
	switch o.TLS {
	case "":
		c.options.TLS = StartTLS
	case StartTLS, ImplicitTLS:
	case NoTLS:
		if o.Password != "" && !isLoopback(host) {
			return nil, fmt.Errorf("the password would be sent to %s without encryption; use starttls or implicit", host)
		}
	default:
		return nil, fmt.Errorf("%q is no kind of encryption; write starttls, implicit or none", o.TLS)
	}
	return c, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Redacted implements [channel.Channel]: an address is no secret.
func (c *Channel) Redacted(address string) string { return address }

// Limits implements [channel.Channel].
func (c *Channel) Limits() channel.Limits { return channel.Gathered(maxItems) }

// Check implements [channel.Channel].
func (c *Channel) Check(address string) error {
	_, err := addressOf(address)
	return err
}

// Bounds of RFC 5321, in bytes.
const (
	maxAddress = 254
	maxLocal   = 64
)

// addressOf returns one mail address as it is used in SMTP, with its domain in ASCII. Names, comments, lists, quoted local
// parts and IP addresses for domains are rejected.
func addressOf(text string) (string, error) {
	invalid := errors.New("the receiver of a mail is one address such as name@example.org, without a name")
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text {
		return "", invalid
	}
	local, domain, _ := strings.Cut(text, "@")
	isAtom := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".!#$%&'*+-/=?^_`{|}~", r)
	}
	if local == "" || len(local) > maxLocal || strings.ContainsFunc(local, func(r rune) bool { return !isAtom(r) }) {
		return "", invalid
	}
	if domain, err = idna.Lookup.ToASCII(domain); err != nil || domain == "" || len(local)+1+len(domain) > maxAddress {
		return "", invalid
	}
	return local + "@" + domain, nil
}

// Send implements [channel.Channel]. A response is that of the mail server, which need not be the one that has the receiver's
// mailbox; its status is the code of SMTP. Errors of the connection and the login, and timeouts,
// are no responses. A retry has the same Message-ID.
func (c *Channel) Send(ctx context.Context, to channel.Receiver, m channel.Message) (channel.Response, error) {
	address, err := addressOf(to.Address)
	if err != nil {
		return channel.Response{}, err
	}
	message, err := c.compose(address, to.Unsubscribe, m)
	if err != nil {
		return channel.Response{}, err
	}
	if err := c.transmit(ctx, address, message); err != nil {
		return channel.Response{}, err
	}
	return channel.Response{Status: accepted}, nil
}

// webURL returns a URL of HTTP as it is written in mails, or an empty text if it is none.
func webURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(text) > maxURL {
		return ""
	}
	if text = u.String(); strings.ContainsAny(text, " <>\"") {
		return ""
	}
	return text
}

// maxURL is the maximum length of a URL, in bytes.
const maxURL = 2000
