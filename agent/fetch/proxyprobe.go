package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// nowhere is a host that no proxy can reach: no name ends in invalid (RFC 6761).
const nowhere = "no-such-host.invalid:443"

// Probe tries a proxy, given as in [Request], as far as can be done without
// bothering a site. It returns nil if somebody answers there, by TLS at an https
// one, and takes our user and password; else an [*Error] of [ClassProxy], which
// does not name the proxy.
//
// A SOCKS proxy says so before it is asked for a host. An http one is asked for a
// host that can't exist: it tells us off for that only if it takes us. What lies
// behind the proxy, and whether it lets us go there, remains for use to show.
func (c *Client) Probe(ctx context.Context, way string) error {
	proxy, err := parseProxy(way)
	if err != nil {
		return &Error{Class: ClassProxy, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, min(connectTimeout, c.options.Timeout))
	defer cancel()
	var op *net.OpError
	err = c.greet(ctx, proxy)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = errors.New("it makes no connection in time")
	case errors.As(err, &op):
		err = op.Err
	}
	return &Error{Class: ClassProxy, Err: err}
}

// greet connects to a proxy and has it say whether it takes us.
func (c *Client) greet(ctx context.Context, proxy *url.URL) error {
	conn, err := c.dialProxy(ctx, proxy)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if proxy.Scheme == "socks5" {
		return greetSOCKS(conn, proxy.User)
	}
	return c.greetHTTP(conn, proxy.User)
}

// dialProxy connects to a proxy as fetches do, past the proxies' guard.
func (c *Client) dialProxy(ctx context.Context, proxy *url.URL) (net.Conn, error) {
	host, err := asciiHost(proxy.Hostname())
	if err != nil {
		return nil, err
	}
	port := portOf(proxy)
	if proxy.Scheme == "socks5" && proxy.Port() == "" {
		port = "1080"
	}
	dial := c.proxied.DialContext
	if proxy.Scheme == "https" {
		dial = c.dialSecureProxy
	}
	return dial(ctx, "tcp", net.JoinHostPort(host, port))
}

// greetHTTP asks an HTTP proxy for a host that there is not.
func (c *Client) greetHTTP(conn net.Conn, user *url.Userinfo) error {
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: nowhere}, Host: nowhere, Header: http.Header{}}
	r.Header.Set("User-Agent", c.options.UserAgent)
	if user != nil {
		password, _ := user.Password()
		login := http.Request{Header: http.Header{}}
		login.SetBasicAuth(user.Username(), password)
		r.Header.Set("Proxy-Authorization", login.Header.Get("Authorization"))
	}
	if err := r.Write(conn); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxHeader)), r)
	if err != nil {
		return fmt.Errorf("it does not answer as an HTTP proxy does: %w", err)
	}
	// Its body goes with the connection: to close it would be to read it.
	if answer.StatusCode == http.StatusProxyAuthRequired {
		return errOtherUser
	}
	return nil
}

var errOtherUser = errors.New("it wants another user or password")

// greetSOCKS logs in to a SOCKS proxy (RFC 1928, 1929).
func greetSOCKS(conn net.Conn, user *url.Userinfo) error {
	const version, open, byPassword = 5, 0, 2
	hello := []byte{version, 1, open}
	if user != nil {
		hello = []byte{version, 2, open, byPassword}
	}
	method, err := exchange(conn, hello)
	switch {
	case err != nil:
		return err
	case method[0] != version:
		return errors.New("it does not answer as a SOCKS 5 proxy does")
	case method[1] == open:
		return nil
	case method[1] != byPassword || user == nil:
		return errors.New("it wants a user and password, or another way to log in than we have")
	}
	name := user.Username()
	password, _ := user.Password()
	login := append([]byte{1, byte(len(name))}, name...)
	login = append(append(login, byte(len(password))), password...)
	if verdict, err := exchange(conn, login); err != nil || verdict[1] == 0 {
		return err
	}
	return errOtherUser
}

// exchange says something to a SOCKS proxy and returns the two bytes that it
// answers.
func exchange(conn net.Conn, say []byte) (answer [2]byte, err error) {
	if _, err := conn.Write(say); err != nil {
		return answer, err
	}
	if _, err = io.ReadFull(conn, answer[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it hangs up")
	}
	return answer, err
}
