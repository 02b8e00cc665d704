package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestProbe_AcceptsAWorkingProxyWithoutContactingASite(t *testing.T) {
	t.Parallel()
	p := &proxyServer{}
	secure := serveTLS(t, true, p.ServeHTTP) // HTTP/2 must not be negotiated
	c := secured(t, secure)
	if err := c.Probe(t.Context(), withUser(secure.URL)); err != nil || p.to.Load() != unresolvableHost {
		t.Errorf("https: got %v after a request for %v, want no request for an existing host", err, p.to.Load())
	}
	plain, socks := httpProxy(t), socksProxy(t)
	if err := c.Probe(t.Context(), plain.url); err != nil || plain.to.Load() != unresolvableHost {
		t.Errorf("http: got %v after a request for %v, want no request for an existing host", err, plain.to.Load())
	}
	requested := func() bool { to := socks.to.Load(); return to != nil && to != ":0" } // ":0" means that the client sent no request
	if err := c.Probe(t.Context(), socks.url); err != nil || socks.connections.Load() != 1 || requested() {
		t.Errorf("socks5: got %v after a request for %v, want no request", err, socks.to.Load())
	}
	// Without credentials, and with any response about the host.
	for _, status := range []int{200, 403, 404, 405, 500, 502, 503} {
		refuses := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if err := c.Probe(t.Context(), refuses); err != nil {
			t.Errorf("%d: got %v, want it to do: it answers us", status, err)
		}
	}
	endless := raw(t, func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 9999\r\n\r\nSorry")
		io.Copy(io.Discard, conn)
	})
	if err := client(t, within(2*time.Second)).Probe(t.Context(), endless); err != nil {
		t.Errorf("a long response: got %v, want Probe not to wait for its end", err)
	}
	open := raw(t, func(conn net.Conn) { conn.Write([]byte{5, 0}) })
	if err := c.Probe(t.Context(), strings.Replace(open, "http", "socks5", 1)); err != nil {
		t.Errorf("an open SOCKS proxy: got %v, want it to do", err)
	}
}

func TestProbe_ErrorStatesTheReason(t *testing.T) {
	t.Parallel()
	hangs := raw(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	socks := func(url string) string { return strings.Replace(url, "http", "socks5", 1) }
	replies := func(s string) string {
		return raw(t, func(conn net.Conn) { io.WriteString(conn, s) })
	}
	const silent = "no connection before the timeout"
	for name, test := range map[string]struct{ url, want string }{
		"no listener":               {closedPort(t), "connection refused"},
		"no listener, for SOCKS":    {socks(closedPort(t)), "connection refused"},
		"a wrong password":          {strings.Replace(httpProxy(t).url, "s3cret", "guess", 1), "user name or password rejected"},
		"no password":               {strings.Replace(httpProxy(t).url, "me:s3cret@", "", 1), "user name or password rejected"},
		"a wrong SOCKS password":    {strings.Replace(socksProxy(t).url, "s3cret", "guess", 1), "user name or password rejected"},
		"no SOCKS password":         {strings.Replace(socksProxy(t).url, "me:s3cret@", "", 1), "requires a user name and password"},
		"HTTP, not SOCKS":           {socks(replies("HTTP/1.1 400 Bad Request\r\n\r\n")), "not a SOCKS 5 proxy"},
		"HTTP that waits for more":  {socks(httpProxy(t).url), silent},
		"SOCKS, not HTTP":           {replies("\x05\x00"), "not an HTTP proxy"},
		"a header too long":         {replies("HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 2*maxHeader) + "\r\n\r\n"), "not an HTTP proxy"},
		"no TLS":                    {strings.Replace(httpProxy(t).url, "http", "https", 1), "TLS handshake"},
		"another's certificate":     {serveTLS(t, true, http.NotFound).URL, "certificate"},
		"an unknown name":           {"http://proxy.invalid:3128", "proxy.invalid"},
		"no address":                {"proxy:3128", "must begin with http://"},
		"no response":               {hangs, silent},
		"no response, for SOCKS":    {socks(hangs), silent},
		"no response, for TLS":      {strings.Replace(hangs, "http", "https", 1), silent},
		"closes when greeted":       {socks(raw(t, func(net.Conn) {})), "the proxy closed the connection"},
		"closes after the greeting": {socks(withUser(replies("\x05\x02"))), "the proxy closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := client(t, within(2*time.Second)).Probe(t.Context(), test.url)
			var e *Error
			if !errors.As(err, &e) || e.Class != ClassProxy || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want an error of class %q that contains %q", err, ClassProxy, test.want)
			}
			if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "guess") {
				t.Errorf("got %v, with the password in it", err)
			}
		})
	}
}

func TestProbe_AppliesTheGuard(t *testing.T) {
	t.Parallel()
	x := newTrap(t, "127.0.0.2:0")
	for _, scheme := range []string{"http", "https", "socks5"} {
		err := client(t).Probe(t.Context(), scheme+"://"+x.Addr().String())
		if !errors.Is(err, ErrBlocked) || x.connections.Load() > 0 {
			t.Errorf("%s: got %v after %d connections, want none made", scheme, err, x.connections.Load())
		}
	}
}

func TestProbe_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	hangs := raw(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	if err := client(t).Probe(ctx, hangs); err == nil || time.Since(began) > connectTimeout-time.Second {
		t.Errorf("got %v after %v, want an error at once", err, time.Since(began))
	}
}
