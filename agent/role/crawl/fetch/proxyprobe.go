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

// unresolvableHost is a host that no proxy can reach: the top-level domain invalid is reserved (RFC 6761).
const unresolvableHost = "no-such-host.invalid:443"

// Probe tests a proxy, given as a route of a [Request], without sending requests to a third-party site. It
// returns nil if the proxy accepts a connection, by TLS for https, and our credentials. Otherwise it returns
// an [*Error] of [ClassProxy], whose text omits the proxy's URL.
//
// A SOCKS proxy checks credentials before it receives a host. An HTTP proxy receives a CONNECT request for a
// host that can't exist: it checks credentials first. Probe does not test whether the proxy can reach a given
// host.
func (c *Client) Probe(ctx context.Context, proxyURL string) error {
	proxy, err := parseProxy(proxyURL)
	if err != nil {
		return &Error{Class: ClassProxy, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, min(connectTimeout, c.options.Timeout))
	defer cancel()
	var op *net.OpError
	err = c.proxyHandshake(ctx, proxy)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = errors.New("no connection before the timeout")
	case errors.As(err, &op):
		err = op.Err
	}
	return &Error{Class: ClassProxy, Err: err}
}

// proxyHandshake connects to a proxy and checks whether it accepts our credentials.
func (c *Client) proxyHandshake(ctx context.Context, proxy *url.URL) error {
	conn, err := c.dialProxy(ctx, proxy)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if proxy.Scheme == "socks5" {
		return socksHandshake(conn, proxy.User)
	}
	return c.httpHandshake(conn, proxy.User)
}

// dialProxy connects to a proxy as fetches do, with the proxies' guard.
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

// httpHandshake sends a CONNECT request for unresolvableHost.
func (c *Client) httpHandshake(conn net.Conn, user *url.Userinfo) error {
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: unresolvableHost}, Host: unresolvableHost, Header: http.Header{}}
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
		return fmt.Errorf("not an HTTP proxy: %w", err)
	}
	// The body is not closed because Close would read it; it ends with the connection.
	if answer.StatusCode == http.StatusProxyAuthRequired {
		return errProxyLogin
	}
	return nil
}

var errProxyLogin = errors.New("user name or password rejected")

// socksHandshake authenticates to a SOCKS proxy (RFC 1928, 1929).
func socksHandshake(conn net.Conn, user *url.Userinfo) error {
	const version, open, byPassword = 5, 0, 2
	hello := []byte{version, 1, open}
	if user != nil {
		hello = []byte{version, 2, open, byPassword}
	}
	method, err := socksExchange(conn, hello)
	switch {
	case err != nil:
		return err
	case method[0] != version:
		return errors.New("not a SOCKS 5 proxy")
	case method[1] == open:
		return nil
	case method[1] != byPassword || user == nil:
		return errors.New("the proxy requires a user name and password, or an unsupported login method")
	}
	name := user.Username()
	password, _ := user.Password()
	login := append([]byte{1, byte(len(name))}, name...)
	login = append(append(login, byte(len(password))), password...)
	if verdict, err := socksExchange(conn, login); err != nil || verdict[1] == 0 {
		return err
	}
	return errProxyLogin
}

// socksExchange writes a message to a SOCKS proxy and returns the two bytes of its reply.
func socksExchange(conn net.Conn, message []byte) (answer [2]byte, err error) {
	if _, err := conn.Write(message); err != nil {
		return answer, err
	}
	if _, err = io.ReadFull(conn, answer[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the proxy closed the connection")
	}
	return answer, err
}
