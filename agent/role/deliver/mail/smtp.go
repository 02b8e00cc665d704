package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"regexp"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"feedmesh/agent/role/deliver/channel"
)

// accepted is the code of SMTP with which a server accepts a message.
const accepted = 250

// sendTimeout is the timeout of a session if its context has no deadline.
const sendTimeout = time.Minute

// quitTimeout is the timeout of QUIT, after the server accepted the message.
const quitTimeout = 2 * time.Second

// transmit sends a message to an address in a connection of its own.
func (c *Channel) transmit(ctx context.Context, address string, message *gomail.Msg) error {
	deadline, has := ctx.Deadline()
	if !has {
		deadline = time.Now().Add(sendTimeout)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel() // closes the connection: go-mail leaves it open after a failed login
	client, err := gomail.NewClient(c.host, c.clientOptions(ctx, max(time.Until(deadline), 1))...)
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return c.connectError(ctx, err)
	}
	if command, err := converse(session, "<"+c.from.Address+">", "<"+address+">", message); err != nil {
		return c.responseError(ctx, command, address, err)
	}
	// The server has the message: a failed QUIT must not cause a retry.
	_ = session.UpdateDeadline(quitTimeout)
	_ = session.Quit()
	return nil
}

// converse sends a message in a session, or returns the error with the command of SMTP that failed.
func converse(session *smtp.Client, from, to string, message *gomail.Msg) (command string, err error) {
	if err := session.Mail(from); err != nil {
		return "MAIL", err
	}
	if err := session.Rcpt(to); err != nil {
		return "RCPT", err
	}
	content, err := session.Data()
	if err != nil {
		return "DATA", err
	}
	if _, err := message.WriteTo(content); err != nil { // content stays open: its end would be that of the message
		return "DATA", err
	}
	return "DATA", content.Close()
}

// clientOptions returns the options of a connection that is closed when ctx ends. The timeout is that of the whole session.
func (c *Channel) clientOptions(ctx context.Context, timeout time.Duration) []gomail.Option {
	secure := &tls.Config{ServerName: c.host, RootCAs: c.options.Roots, MinVersion: tls.VersionTLS12}
	options := []gomail.Option{
		gomail.WithPort(c.port), gomail.WithTimeout(timeout), gomail.WithTLSConfig(secure),
		gomail.WithoutSMTPUTF8(), // addresses are ASCII, and not every server to follow may support it
		gomail.WithDialContextFunc(func(dialing context.Context, _, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(dialing, "tcp", c.options.Server)
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, func() { conn.Close() })
			if c.options.TLS != ImplicitTLS {
				return conn, nil
			}
			encrypted := tls.Client(conn, secure)
			return encrypted, encrypted.HandshakeContext(dialing)
		}),
	}
	plain, login := gomail.SMTPAuthPlain, gomail.SMTPAuthLogin
	switch c.options.TLS {
	case StartTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case ImplicitTLS:
		options = append(options, gomail.WithSSL())
	case NoTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
		plain, login = gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc
	}
	if c.options.User != "" {
		options = append(options, gomail.WithUsername(c.options.User), gomail.WithPassword(c.options.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, plain, login, gomail.SMTPAuthCramMD5))
	}
	return options
}

// connectError returns the error of a connection or a login, which is no response to a message. The text of the server is left
// out: it could repeat the password in any form.
func (c *Channel) connectError(ctx context.Context, err error) error {
	var response *textproto.Error
	if !errors.As(err, &response) {
		return c.networkError(ctx, "", err)
	}
	switch response.Code {
	case 530, 534, 535, 538:
		return fmt.Errorf("the mail server %s refused the login with %d: check mail.user and mail.password", c.options.Server, response.Code)
	}
	return fmt.Errorf("the mail server %s refused the connection with %d", c.options.Server, response.Code)
}

// responseError returns a [*channel.ResponseError] if the error is a response of the server to a command.
func (c *Channel) responseError(ctx context.Context, command, address string, err error) error {
	var response *textproto.Error
	if !errors.As(err, &response) {
		return c.networkError(ctx, address, err)
	}
	return &channel.ResponseError{
		Status: response.Code, Text: fmt.Sprintf("the mail server responded to %s: %d %s", command, response.Code, c.hide(address, response.Msg)),
		IsGone: command == "RCPT" && response.Code == 550 && noMailbox.MatchString(response.Msg),
	}
}

// noMailbox matches responses by which a mailbox does not exist: by the codes of RFC 3463, or where there are none by the
// usual words. Others with status 550 reject a message or its sender, and a retry may
// succeed.
var noMailbox = regexp.MustCompile(`(?i)^5\.1\.(1|6|10)\b|^([^0-9].*)?\b(no such user|user unknown|unknown user)\b`)

// networkError returns an error without a response. It is the one of ctx if that ended, also by its
// timeout.
func (c *Channel) networkError(ctx context.Context, address string, err error) error {
	reason := ctx.Err()
	if reason == nil && errors.Is(err, os.ErrDeadlineExceeded) { // of the connection, at the same time
		reason = context.DeadlineExceeded
	}
	if reason != nil {
		return fmt.Errorf("the mail server %s: %w", c.options.Server, reason)
	}
	return fmt.Errorf("the mail server %s: %s", c.options.Server, c.hide(address, err.Error()))
}

// maxText is the length of the part of an error that is kept, in characters.
const maxText = 200

// hide returns a text of an error as one line without the password and the address, which is stored sealed.
func (c *Channel) hide(address, s string) string {
	if c.options.Password != "" {
		s = strings.ReplaceAll(s, c.options.Password, "(hidden)")
	}
	if address != "" {
		s = regexp.MustCompile("(?i)"+regexp.QuoteMeta(address)).ReplaceAllLiteralString(s, "(address)")
	}
	return oneLine(s, maxText)
}
