package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// CheckProxy returns an error with the reason if a proxy's URL is invalid. Valid forms are
// http://user:password@host:port, https:// and socks5://. The port defaults to that of the scheme.
func CheckProxy(raw string) error {
	_, err := parseProxy(raw)
	return err
}

// parseProxy parses a proxy's URL. Its errors omit the URL, which may contain a password.
func parseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("invalid proxy URL; write it as http://user:password@host:port")
	}
	switch port, _ := strconv.Atoi(u.Port()); {
	case !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme):
		return nil, errors.New("a proxy URL must begin with http://, https:// or socks5://")
	case u.Hostname() == "":
		return nil, errors.New("the proxy URL has no host; write it as http://user:password@host:port")
	case u.Port() != "" && (port < 1 || port > 65535):
		return nil, fmt.Errorf("invalid proxy port %s; use 1 to 65535", u.Port())
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a proxy URL must end with its port")
	}
	if password, _ := u.User.Password(); u.Scheme == "socks5" && (len(u.User.Username()) > 255 || len(password) > 255) {
		return nil, errors.New("the user name and password of a SOCKS proxy may have at most 255 bytes")
	}
	return u, nil
}

// proxyKey is the context key of an attempt's proxy.
type proxyKey struct{}

// proxyOf is an [http.Transport]'s Proxy.
func proxyOf(r *http.Request) (*url.URL, error) {
	if u, ok := r.Context().Value(proxyKey{}).(*url.URL); ok {
		return u, nil
	}
	return nil, errors.New("no proxy is set") // a direct request would bypass the guard
}

// checkConnectResponse is an [http.Transport]'s OnProxyConnectResponse. A gateway error does not state
// whether the proxy or the host failed. It counts against the host because proxies respond so for hosts that
// are down.
func checkConnectResponse(_ context.Context, proxy *url.URL, _ *http.Request, r *http.Response) error {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
	switch r.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &Error{Class: ClassConnect, Err: fmt.Errorf("the proxy %s can't reach the host: %s", proxy.Host, status)}
	}
	return &Error{Class: ClassProxy, Err: fmt.Errorf("the proxy %s refused the connection: %s", proxy.Host, status)}
}

// proxyTimeout returns the error of a proxy that is too slow to leave time for the other routes.
func proxyTimeout(proxy *url.URL) *Error {
	return &Error{Class: ClassProxy, Err: fmt.Errorf("the proxy %s did not connect before the timeout", proxy.Host)}
}

// socksUnreachable are the texts of net/http for SOCKS replies that concern the host (RFC 1928, section 6).
// These errors have no type.
var socksUnreachable = []string{"network unreachable", "host unreachable", "connection refused", "TTL expired"}

// proxyError returns the error of a failed connection by proxy, attributed to the proxy or to the host.
func proxyError(proxy *url.URL, err error) *Error {
	var known *Error
	var op *net.OpError
	opened := errors.As(err, &op)
	switch {
	case errors.As(err, &known):
		return known
	case opened && op.Op == "socks connect" && slices.ContainsFunc(socksUnreachable, func(s string) bool { return strings.HasSuffix(op.Err.Error(), s) }):
		return &Error{Class: ClassConnect, Err: fmt.Errorf("the proxy %s can't reach the host: %w", proxy.Host, op.Err)}
	case opened && op.Op == "proxyconnect":
		err = op.Err
	case isTLS(err): // the handshake through the proxy is with the host
		return classify(err)
	}
	return &Error{Class: ClassProxy, Err: fmt.Errorf("the proxy %s can't be used: %w", proxy.Host, err)}
}
