// Package client sends the requests of package wire to a node, by the same table of operations that the node
// serves.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
)

// A Client calls the API of a node. Its methods may be called concurrently. An error response of the API is
// returned as a [*Problem]; all errors are sentences for people. Timeouts of a request are 5 s to
// connect, and 30 s without a byte sent or received.
type Client struct {
	// Waiting is called when a request waits for 2 s; nil: nothing is. Set it before the first request.
	Waiting func()

	base  string // without a trailing slash
	token string
	http  http.Client
}

// NewClient returns a client of the API at an address like http://127.0.0.1:8080. It sends the token unless
// that is empty.
func NewClient(address, token string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of an API; write it as http://127.0.0.1:8080", address)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	transport.TLSHandshakeTimeout = connectTimeout
	return &Client{
		base: strings.TrimRight(address, "/"), token: token,
		// A followed redirect would change the method, or send the token to another host.
		http: http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Address returns the base address of the API.
func (c *Client) Address() string { return c.base }

// A Problem is an error response of the API.
type Problem struct {
	Status  int    // HTTP status
	Detail  string // a sentence
	Details []string
}

// Error returns the detail and the errors of single parts of the request.
func (p *Problem) Error() string {
	if len(p.Details) == 0 {
		return p.Detail
	}
	return p.Detail + ": " + strings.Join(p.Details, "; ")
}

// pollUntilDone calls get until runs returns false, with a delay from 20 ms that doubles up to one second. It
// calls each with every result before that.
func pollUntilDone[T any](ctx context.Context, get func() (T, error), runs func(T) bool, each func(T)) (T, error) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		now, err := get()
		if err != nil || !runs(now) {
			return now, err
		}
		each(now)
		select {
		case <-ctx.Done():
			return now, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// send sends a request. An [io.Reader] as the body is sent as a list of feeds, bytes as text, all else as JSON. The caller
// closes the response's body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body any) (*http.Response, error) {
	return c.sendWithin(ctx, answerTimeout, method, path, query, body)
}

// sendWithin is send with a timeout of the first byte of the response.
func (c *Client) sendWithin(ctx context.Context, timeout time.Duration, method, path string, query url.Values, body any) (*http.Response, error) {
	exchanged, x := begin(ctx, timeout, c.Waiting)
	req, err := c.request(exchanged, x, method, path, query, body)
	if err != nil {
		x.end()
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		defer x.end()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.explain(exchanged, timeout, err)
	}
	x.answered()
	resp.Body = download{resp.Body, exchanged, x}
	return resp, nil
}

// withHeader is the body of a request with further headers.
type withHeader struct {
	body   any
	header http.Header
}

// request returns the request of an exchange.
func (c *Client) request(ctx context.Context, x *exchange, method, path string, query url.Values, body any) (*http.Request, error) {
	target := c.base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	content, kind := io.Reader(nil), ""
	with, _ := body.(withHeader)
	if with.header != nil {
		body = with.body
	}
	switch b := body.(type) {
	case nil:
	case io.Reader:
		content, kind = upload{b, ctx, x}, "application/xml"
	case []byte:
		content, kind = bytes.NewReader(b), wire.RulesType
	default:
		data, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		content, kind = bytes.NewReader(data), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, with.header)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// explain returns the error of a request without a response as a sentence.
func (c *Client) explain(ctx context.Context, timeout time.Duration, err error) error {
	if context.Cause(ctx) == errIdle {
		return fmt.Errorf("%s accepts connections but did not respond within %v: check the node's log, or restart it", c.base, timeout)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the method and the address are in the message below
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no node answers at %s: is one running? start one with: agent", c.base)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("can't reach %s: %w: is a node running there, and is the address right?", c.base, err)
	}
	return fmt.Errorf("the request to %s failed: %w", c.base, err)
}

// decodeProblem converts an error response to an error.
func (c *Client) decodeProblem(resp *http.Response) error {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/problem+json" {
		return c.errNotFeedmesh(resp)
	}
	var m huma.ErrorModel
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&m); err != nil {
		return c.unreadable(resp, err)
	}
	p := &Problem{Status: resp.StatusCode, Detail: m.Detail}
	if p.Detail == "" {
		p.Detail = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	for _, e := range m.Errors {
		if e.Location != "" {
			p.Details = append(p.Details, e.Message+" ("+e.Location+")")
		} else {
			p.Details = append(p.Details, e.Message)
		}
	}
	return p
}

// unreadable returns the error of a response whose body can't be decoded: it is incomplete, or another kind of server
// sent it.
func (c *Client) unreadable(resp *http.Response, err error) error {
	if errors.Is(err, errIdle) {
		return fmt.Errorf("the response of %s ended early: nothing arrived for %v: retry, or check the node's log", c.base, answerTimeout)
	}
	return c.errNotFeedmesh(resp)
}

// errNotFeedmesh reports that another kind of server answered.
func (c *Client) errNotFeedmesh(resp *http.Response) error {
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && to != "" {
		return fmt.Errorf("%s redirects to %s: set --api to the API's own address", c.base, to)
	}
	return fmt.Errorf("the server at %s is not a feedmesh node (it returned %s): check the address of --api", c.base, resp.Status)
}
