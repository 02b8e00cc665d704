// Package fetch gets documents over HTTP: conditionally, politely, guarded
// against addresses that are not for us, and never more of them than agreed.
// It knows nothing of queues, storage and feed formats.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/net/http/httpguts"
)

const (
	maxRedirects = 5
	maxHeader    = 64 << 10 // bytes of response headers
	accept       = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, " +
		"application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.5"
)

// Options say how a [Client] is to fetch.
type Options struct {
	UserAgent string
	Timeout   time.Duration  // of one fetch, with redirects and body
	MaxBody   int64          // bytes of a document, decompressed
	MaxPacked int64          // bytes of a document, in gzip
	Parallel  int            // connections kept open
	Allow     []netip.Prefix // private networks that may be fetched from
}

// A Client fetches. Its methods may be called concurrently.
type Client struct {
	http    *http.Client
	options Options
}

// New returns a client. It reads no proxy from the environment, keeps no
// cookies and sends no referrer.
func New(o Options) *Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: newGuard(o.Allow).control}
	transport := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // we ask for more encodings, and count what comes out of them
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           max(64, 4*o.Parallel),
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        60 * time.Second,
	}
	return &Client{options: o, http: &http.Client{Transport: web{transport}, CheckRedirect: checkRedirect}}
}

func checkRedirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	if len(via) > maxRedirects {
		return &Error{Class: ClassRedirect, Err: fmt.Errorf("redirected more than %d times", maxRedirects)}
	}
	return nil
}

// A web is a transport for web addresses only.
type web struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (t web) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "http" && r.URL.Scheme != "https" || r.URL.Hostname() == "" {
		class := ClassAddress
		if r.Response != nil {
			class = ClassRedirect
		}
		return nil, &Error{Class: class, Err: errors.New("it leads to what is no web address")}
	}
	response, err := t.Transport.RoundTrip(r)
	if err != nil || response.StatusCode/100 != 3 {
		return response, err
	}
	if _, err := response.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
		response.Body.Close()
		return nil, &Error{Class: ClassRedirect, Err: errors.New("it redirects to what is no address")}
	}
	return response, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A Request is what to fetch, and the validators of the document we have of
// it: they are sent back exactly as the server gave them.
type Request struct {
	URL          string
	ETag         string
	LastModified string
	BodyHash     string
}

// A Document is what was fetched.
type Document struct {
	URL          string // it came from, after redirects
	Status       int
	ETag         string
	LastModified string
	ContentType  string
	BodyHash     string // of the decompressed body; that of the request after 304
	Unchanged    bool   // 304, or a body with the request's hash
	Body         []byte // in gzip; nil if unchanged
	Size         int64  // of the body, decompressed
}

// Fetch gets the document, or returns an [*Error]. now is for a Retry-After
// that is a date.
func (c *Client) Fetch(ctx context.Context, r Request, now time.Time) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return Document{}, &Error{Class: ClassAddress, Err: errors.New("the address can't be read")} // nor shown: it may have a password in it
	}
	c.setHeader(request, r)
	response, err := c.http.Do(request)
	if err != nil {
		return Document{}, timedOut(ctx, c.options.Timeout, classify(unwrapURL(err)))
	}
	defer response.Body.Close()

	came := *response.Request.URL
	came.User = nil
	d := Document{
		URL:          came.String(),
		Status:       response.StatusCode,
		ETag:         response.Header.Get("ETag"),
		LastModified: response.Header.Get("Last-Modified"),
		ContentType:  response.Header.Get("Content-Type"),
	}
	switch {
	case response.StatusCode == http.StatusOK:
	case response.StatusCode == http.StatusNotModified && (r.ETag != "" || r.LastModified != ""):
		d.Unchanged, d.BodyHash = true, r.BodyHash
		d.ETag, d.LastModified = cmp.Or(d.ETag, r.ETag), cmp.Or(d.LastModified, r.LastModified)
		return d, nil
	default:
		return Document{}, statusError(response, now)
	}
	packed, err := c.pack(response)
	if err != nil {
		return Document{}, timedOut(ctx, c.options.Timeout, classify(err))
	}
	d.BodyHash, d.Size = packed.hash, packed.size
	if d.BodyHash == r.BodyHash {
		d.Unchanged = true
	} else {
		d.Body = packed.gzip
	}
	return d, nil
}

func (c *Client) setHeader(request *http.Request, r Request) {
	h := request.Header
	h.Set("User-Agent", c.options.UserAgent)
	h.Set("Accept", accept)
	h.Set("Accept-Encoding", "gzip, br, zstd")
	set := func(name, value string) {
		if value != "" && httpguts.ValidHeaderFieldValue(value) { // what a server sent us need not be fit to be sent
			h.Set(name, value)
		}
	}
	set("If-None-Match", r.ETag)
	set("If-Modified-Since", r.LastModified)
}

// unwrapURL takes off the URL that net/http puts before its errors: the caller
// knows it, and it may have a password in it.
func unwrapURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// timedOut says how long we waited instead of "context deadline exceeded".
func timedOut(ctx context.Context, timeout time.Duration, e *Error) *Error {
	if e.Class == ClassTimeout && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Err = fmt.Errorf("no complete answer within %v", timeout)
	}
	return e
}
