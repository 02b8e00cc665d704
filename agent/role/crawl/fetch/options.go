package fetch

import (
	"net/netip"
	"time"
)

// Options configure a [Client].
type Options struct {
	UserAgent     string
	Timeout       time.Duration    // timeout of one fetch, with all routes, redirects and the body
	MaxBody       int64            // limit of a document, in bytes, decompressed
	MaxCompressed int64            // limit of a document, in bytes, as gzip
	Parallel      int              // number of concurrent fetches; sizes the pool of idle connections
	Allow         []netip.Prefix   // private networks that may be fetched from, at ports that serve web content
	AllowPorts    []netip.AddrPort // addresses with a port that may be fetched from, whatever the address and the port are
	ProxyAllow    []netip.Prefix   // private networks that proxies may be in, in addition to Allow
	Deny          []netip.AddrPort // our own listeners, never fetched from; 0.0.0.0 and :: match every address of this machine
}

const (
	maxHeader      = 64 << 10 // bytes of response headers
	connectTimeout = 10 * time.Second
	accept         = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, " +
		"application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.5"
)
