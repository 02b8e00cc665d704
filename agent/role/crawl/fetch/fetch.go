// Package fetch downloads documents over HTTP for crawl, discovery and web pages.
//
// A [Client] makes conditional requests, retries by the next proxy of the request's routes, limits size, rate
// and time, and refuses addresses of private networks at dial time ([ErrBlocked]). [Robots] caches robots.txt
// rules. The package does not depend on queues, storage or feed formats.
package fetch

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

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
		if ctx.Err() != nil || !e.TryOtherRoute() { // after the timeout further routes would fail without a fault of their own
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
