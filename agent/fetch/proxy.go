package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// CheckProxy says in words what is wrong with the URL of a proxy; nil means
// that it is as http://user:password@host:port, https:// or socks5://. No port
// is that of its scheme.
func CheckProxy(raw string) error {
	_, err := parseProxy(raw)
	return err
}

// parseProxy reads the URL of a proxy. Its errors do not show it: it may have
// a password in it.
func parseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("the proxy's address can't be read; write it as http://user:password@host:port")
	}
	switch port, _ := strconv.Atoi(u.Port()); {
	case !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme):
		return nil, errors.New("a proxy's address begins with http://, https:// or socks5://")
	case u.Hostname() == "":
		return nil, errors.New("the proxy's address names no host; write it as http://user:password@host:port")
	case u.Port() != "" && (port < 1 || port > 65535):
		return nil, fmt.Errorf("the proxy's port %s is none; ports go from 1 to 65535", u.Port())
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a proxy's address ends with its port; nothing may follow")
	}
	if password, _ := u.User.Password(); u.Scheme == "socks5" && (len(u.User.Username()) > 255 || len(password) > 255) {
		return nil, errors.New("a SOCKS proxy takes users and passwords of at most 255 bytes")
	}
	return u, nil
}

// proxyKey is what a try's context has its proxy under.
type proxyKey struct{}

// proxyOf is an [http.Transport]'s Proxy.
func proxyOf(r *http.Request) (*url.URL, error) {
	if u, ok := r.Context().Value(proxyKey{}).(*url.URL); ok {
		return u, nil
	}
	return nil, errors.New("no proxy is set") // to go without one would be to go past the guard
}

// dialSecureProxy is the [http.Transport.DialTLSContext] of https proxies.
// They are not offered HTTP/2, which net/http does not speak to a proxy.
func (c *Client) dialSecureProxy(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.proxied.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	config := c.proxied.TLSClientConfig.Clone()
	config.ServerName, _, _ = net.SplitHostPort(addr) // which was dialled, so it has a port
	config.NextProtos = []string{"http/1.1"}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// connected is an [http.Transport]'s OnProxyConnectResponse. Whether the proxy
// or the host is to blame for a gateway's errors is not said; as proxies
// answer so to hosts that are down, the host is.
func connected(_ context.Context, proxy *url.URL, _ *http.Request, r *http.Response) error {
	said := strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
	switch r.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &Error{Class: ClassConnect, Err: fmt.Errorf("the proxy %s can't reach the host: it answered %s", proxy.Host, said)}
	}
	return &Error{Class: ClassProxy, Err: fmt.Errorf("the proxy %s refuses: it answered %s", proxy.Host, said)}
}

// slowProxy is the error of a proxy that takes so long that the other ways
// would have no time left.
func slowProxy(proxy *url.URL) *Error {
	return &Error{Class: ClassProxy, Err: fmt.Errorf("the proxy %s made no connection in time", proxy.Host)}
}

// unreachable are how net/http tells what a SOCKS proxy says of the host: they
// have no type (RFC 1928, section 6).
var unreachable = []string{"network unreachable", "host unreachable", "connection refused", "TTL expired"}

// proxyError tells whose fault it is that a proxy made no connection.
func proxyError(proxy *url.URL, err error) *Error {
	var known *Error
	var op *net.OpError
	opened := errors.As(err, &op)
	switch {
	case errors.As(err, &known):
		return known
	case opened && op.Op == "socks connect" && slices.ContainsFunc(unreachable, func(s string) bool { return strings.HasSuffix(op.Err.Error(), s) }):
		return &Error{Class: ClassConnect, Err: fmt.Errorf("the proxy %s can't reach the host: %w", proxy.Host, op.Err)}
	case opened && op.Op == "proxyconnect":
		err = op.Err
	case isTLS(err): // through the proxy: that handshake is the host's
		return classify(err)
	}
	return &Error{Class: ClassProxy, Err: fmt.Errorf("the proxy %s can't be used: %w", proxy.Host, err)}
}
