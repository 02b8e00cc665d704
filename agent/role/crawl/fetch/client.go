package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// A Client fetches documents. Its methods are safe for concurrent use.
type Client struct {
	options  Options
	guard    *guard
	resolver *net.Resolver
	direct   *http.Transport // for direct requests; its dialer applies guard
	proxied  *http.Transport // for requests by proxy; dials proxies only
}

// New returns a client. It ignores proxies of the environment, stores no cookies and sends no Referer.
func New(o Options) *Client { return newClient(o, net.DefaultResolver) }

// newClient returns a client that resolves host names by the given resolver.
func newClient(o Options, names *net.Resolver) *Client {
	c := &Client{options: o, guard: newGuard(o), resolver: cachingResolver(names)}
	c.direct = c.transport(c.guard)
	c.proxied = c.transport(newProxyGuard(o))
	c.proxied.Proxy = proxyOf
	c.proxied.OnProxyConnectResponse = checkConnectResponse
	c.proxied.DialTLSContext = c.dialSecureProxy
	return c
}

// transport returns a transport whose dialer applies the guard.
func (c *Client) transport(g *guard) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Resolver: c.resolver, Control: g.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // newRequest requests more encodings, and readBody limits the decompressed size
		TLSHandshakeTimeout:    connectTimeout,
		TLSClientConfig:        &tls.Config{},
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           maxIdleConns(c.options.Parallel, maxOpenFiles()),
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        IdleTimeout,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
	}
}

const (
	// IdleTimeout is how long an idle connection stays open for the host's next feed. Feeds that are due
	// together follow within seconds. Most hosts close a connection before a feed's next poll, minutes later.
	IdleTimeout = 20 * time.Second

	idleConnsPerFetch = 64   // idle connections for each concurrent fetch
	maxIdleConnsTotal = 4096 // upper bound, at some 20 KB each, unless Parallel is very large
	minOpenFiles      = 1024 // open files that any system allows

	// Sizes of each connection's buffers, in bytes. Most response headers and nearly all requests are
	// smaller. Larger messages pass in pieces; bodies bypass the buffers.
	readBuffer  = 2 << 10
	writeBuffer = 1 << 10
)

// maxIdleConns returns the size of the pool of idle connections. A new connection costs several times as much
// as a request that finds nothing new. The rest of the program needs open files too.
func maxIdleConns(parallel, files int) int {
	return max(64, min(idleConnsPerFetch*parallel, max(maxIdleConnsTotal, 4*parallel), files/4))
}

// Transport returns the client's direct connections, with their guard, for requests other than [Client.Fetch]. Its caller bounds their
// time, and the part of a response that is read.
func (c *Client) Transport() http.RoundTripper { return c.direct }

// Close closes idle connections.
func (c *Client) Close() {
	c.direct.CloseIdleConnections()
	c.proxied.CloseIdleConnections()
}

// dialSecureProxy is the [http.Transport.DialTLSContext] of https proxies. It does not offer HTTP/2 because
// net/http does not support it to proxies.
func (c *Client) dialSecureProxy(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.proxied.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	config := c.proxied.TLSClientConfig.Clone()
	config.ServerName, _, _ = net.SplitHostPort(addr) // a dialed address has a port
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
