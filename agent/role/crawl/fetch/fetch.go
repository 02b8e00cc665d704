// Package fetch downloads documents over HTTP for crawl, discovery and web pages.
//
// A [Client] makes conditional requests, retries by the next proxy of the request's routes, limits size, rate
// and time, and refuses addresses of private networks at dial time ([ErrBlocked]). [Robots] caches robots.txt
// rules. The package does not depend on queues, storage or feed formats.
package fetch

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

const (
	maxHeader      = 64 << 10 // bytes of response headers
	connectTimeout = 10 * time.Second
	accept         = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, " +
		"application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.5"
)

// Options configure a [Client].
type Options struct {
	UserAgent     string
	Timeout       time.Duration    // timeout of one fetch, with all routes, redirects and the body
	MaxBody       int64            // limit of a document, in bytes, decompressed
	MaxCompressed int64            // limit of a document, in bytes, as gzip
	Parallel      int              // number of concurrent fetches; sizes the pool of idle connections
	Allow         []netip.Prefix   // private networks that may be fetched from
	ProxyAllow    []netip.Prefix   // private networks that proxies may be in, in addition to Allow
	Deny          []netip.AddrPort // our own listeners, never fetched from; 0.0.0.0 and :: match every address of this machine
}

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

// Close closes idle connections.
func (c *Client) Close() {
	c.direct.CloseIdleConnections()
	c.proxied.CloseIdleConnections()
}

// Fetch downloads the document by the first of the request's routes that succeeds, or returns an [*Error]. If
// several routes fail, it returns the last error that the host itself caused, so that a proxy's failure is
// never counted against the feed. now is the reference for dates in response headers.
func (c *Client) Fetch(ctx context.Context, r Request, now time.Time) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	routes := r.Routes
	if len(routes) == 0 {
		routes = []string{""}
	}
	var failed *Error
	var failedProxies []string
	for _, route := range routes[:min(len(routes), maxRoutes)] {
		d, e := c.fetchVia(ctx, route, r, now)
		if e == nil {
			d.FailedProxies = failedProxies
			return d, nil
		}
		if e.Class == ClassProxy {
			failedProxies = append(failedProxies, route)
		}
		if failed == nil || e.rank() >= failed.rank() {
			failed = e
		}
		if ctx.Err() != nil || !e.tryOtherRoute() { // after the timeout further routes would fail without a fault of their own
			break
		}
	}
	failed.FailedProxies = failedProxies
	return Document{}, failed
}

// fetchVia fetches the document by one route.
func (c *Client) fetchVia(ctx context.Context, route string, r Request, now time.Time) (Document, *Error) {
	began := time.Now()
	t := &attempt{Client: c, request: r, now: now}
	d, err := t.do(ctx, route)
	took := time.Since(began)
	if r.Buffer != nil && (err != nil || d.Unchanged) {
		r.Buffer.Reset()
	}
	if err != nil {
		e := *t.toError(ctx, err)
		e.Took, e.Route = took, route
		if e.Class != ClassRedirect && e.Class != ClassBlocked {
			e.Moved = t.hops.moved()
		}
		return Document{}, &e
	}
	d.Took, d.Route, d.Moved = took, route, t.hops.moved()
	return d, nil
}

// Post sends a form and returns the response's status, whatever it is, and up to the first 1024 bytes of its
// body. It applies the same address guard as Fetch, follows only redirects that resend the form (307 and
// 308), and has no timeout except that of ctx. Its errors omit the URL, which may contain a password.
func (c *Client) Post(ctx context.Context, address string, form url.Values) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, unwrapURL(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", c.options.UserAgent)
	client := http.Client{Transport: c.direct, CheckRedirect: followForm}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, unwrapURL(err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, body, err
}

// maxAnswer bounds the part of a form's response that is read, in bytes.
const maxAnswer = 1 << 10

// followForm is the CheckRedirect of forms. If a redirect would change the request's method, the redirect
// itself is the response.
func followForm(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	if r.Method != http.MethodPost || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
