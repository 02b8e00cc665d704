// Package fetch gets documents over HTTP: conditionally, politely, guarded
// against addresses that are not for us, and never more of them than agreed.
// It knows nothing of queues, storage and feed formats.
package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	maxHeader      = 64 << 10 // bytes of response headers
	connectTimeout = 10 * time.Second
	accept         = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, " +
		"application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.5"
)

// Options say how a [Client] is to fetch.
type Options struct {
	UserAgent  string
	Timeout    time.Duration    // of one fetch, with all ways, redirects and the body
	MaxBody    int64            // bytes of a document, decompressed
	MaxPacked  int64            // bytes of a document, in gzip
	Parallel   int              // fetches at a time; many times as many connections are kept open
	Allow      []netip.Prefix   // private networks that may be fetched from
	ProxyAllow []netip.Prefix   // private networks that proxies may be in, beside Allow
	Deny       []netip.AddrPort // our own listeners, never fetched from; 0.0.0.0 and :: are every address of this machine
}

// A Client fetches. Its methods may be called concurrently.
type Client struct {
	options  Options
	guard    *guard
	resolver *net.Resolver
	direct   *http.Transport // its dialler asks the guard
	proxied  *http.Transport // dials nothing but proxies
}

// New returns a client. It reads no proxy from the environment, keeps no
// cookies and sends no referrer.
func New(o Options) *Client { return newClient(o, net.DefaultResolver) }

// newClient returns a client that finds names by the resolver.
func newClient(o Options, names *net.Resolver) *Client {
	c := &Client{options: o, guard: newGuard(o), resolver: cached(names)}
	c.direct = c.transport(c.guard)
	c.proxied = c.transport(newProxyGuard(o))
	c.proxied.Proxy = proxyOf
	c.proxied.OnProxyConnectResponse = connected
	c.proxied.DialTLSContext = c.dialSecureProxy
	return c
}

// transport returns a transport that dials what the guard lets it.
func (c *Client) transport(g *guard) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Resolver: c.resolver, Control: g.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // we ask for more encodings, and count what comes out of them
		TLSHandshakeTimeout:    connectTimeout,
		TLSClientConfig:        &tls.Config{},
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           kept(c.options.Parallel, openFiles()),
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        KeptFor,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
	}
}

const (
	// KeptFor is how long a connection waits for the host's next feed. Those that
	// are due together follow one another within seconds; who waits for a feed's
	// next poll, minutes later, finds it closed by most hosts.
	KeptFor = 20 * time.Second

	keptEach   = 64   // connections are kept open for each fetch that may be under way
	keptMost   = 4096 // but no more, of some 20 KB each, where fetches are not very many
	leastFiles = 1024 // may be open, on any system

	// Each connection sets these aside, in bytes: most answers' headers, and nearly all
	// that we send, are smaller. What is larger passes in pieces, a body past them.
	readBuffer  = 2 << 10
	writeBuffer = 1 << 10
)

// kept returns how many connections are kept open at most: opening one costs
// several times what a request costs that finds nothing new. The other parts of the
// program need open files too.
func kept(parallel, files int) int {
	return max(64, min(keptEach*parallel, max(keptMost, 4*parallel), files/4))
}

// Close closes idle connections.
func (c *Client) Close() {
	c.direct.CloseIdleConnections()
	c.proxied.CloseIdleConnections()
}

// Fetch gets the document by the first of the request's ways that brings it,
// or returns an [*Error]. Of several it returns the last that the host itself
// answered, so that a proxy's fault is never held against the feed. now is for
// dates that servers send.
func (c *Client) Fetch(ctx context.Context, r Request, now time.Time) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	ways := r.Ways
	if len(ways) == 0 {
		ways = []string{""}
	}
	var failed *Error
	var dead []string
	for _, way := range ways[:min(len(ways), maxWays)] {
		d, e := c.by(ctx, way, r, now)
		if e == nil {
			d.Dead = dead
			return d, nil
		}
		if e.Class == ClassProxy {
			dead = append(dead, way)
		}
		if failed == nil || e.rank() >= failed.rank() {
			failed = e
		}
		if ctx.Err() != nil || !e.another() { // with no time left a way fails by no fault of its own
			break
		}
	}
	failed.Dead = dead
	return Document{}, failed
}
