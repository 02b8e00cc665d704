package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// An attempt is one try to fetch a document by one route.
type attempt struct {
	*Client
	request Request
	proxy   *url.URL // nil for a direct connection
	now     time.Time
	stop    context.CancelCauseFunc // cancels the attempt with the given [*Error]

	reached atomic.Bool // a connection to the host exists, through the proxy if any
	hops    hops
}

func (t *attempt) do(ctx context.Context, route string) (Document, error) {
	ctx, t.stop = context.WithCancelCause(ctx)
	defer t.stop(nil)
	if route != "" {
		proxy, err := parseProxy(route)
		if err != nil {
			return Document{}, &Error{Class: ClassProxy, Err: err}
		}
		t.proxy = proxy
		ctx = context.WithValue(ctx, proxyKey{}, proxy)
		timer := time.AfterFunc(t.options.Timeout/maxRoutes, func() { t.stop(proxyTimeout(proxy)) })
		defer timer.Stop()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
			timer.Stop()
			t.reached.Store(true)
		}})
	}
	request, err := t.options.newRequest(ctx, t.request)
	if err != nil {
		return Document{}, err
	}
	client := http.Client{Transport: t, CheckRedirect: t.checkRedirect}
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		defer t.enforceRate(response)()
		var d Document
		if d, err = t.read(response); err == nil {
			return d, nil
		}
	}
	if cause := (*Error)(nil); errors.As(context.Cause(ctx), &cause) {
		return Document{}, cause
	}
	return Document{}, unwrapURL(err)
}

// RoundTrip implements [http.RoundTripper] for web addresses only.
func (t *attempt) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "http" && r.URL.Scheme != "https" || r.URL.Hostname() == "" {
		class := ClassAddress
		if r.Response != nil {
			class = ClassRedirect
		}
		return nil, &Error{Class: class, Err: errors.New("the address is not a web address")}
	}
	response, err := t.send(r)
	if err == nil && t.request.OnResponse != nil {
		t.request.OnResponse(response)
	}
	if err != nil || response.StatusCode/100 != 3 {
		return response, err
	}
	if _, err := response.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
		response.Body.Close()
		return nil, &Error{Class: ClassRedirect, Err: errors.New("the redirect has an invalid target")}
	}
	return response, nil
}

func (t *attempt) send(r *http.Request) (*http.Response, error) {
	if t.proxy == nil {
		return t.direct.RoundTrip(r)
	}
	if err := t.guard.checkProxied(r.Context(), t.resolver, r.URL); err != nil {
		return nil, &Error{Class: ClassBlocked, Err: err}
	}
	t.reached.Store(false)
	return t.proxied.RoundTrip(r)
}

// read returns the document of a response.
func (t *attempt) read(r *http.Response) (Document, error) {
	final := *r.Request.URL
	final.User = nil
	d := Document{
		URL:          final.String(),
		Status:       r.StatusCode,
		ETag:         r.Header.Get("ETag"),
		LastModified: r.Header.Get("Last-Modified"),
		ContentType:  r.Header.Get("Content-Type"),
		MaxAge:       maxAge(r.Header, t.now),
		Hub:          linkTarget(r, "hub"),
		Self:         linkTarget(r, "self"),
	}
	request := t.request
	switch {
	case r.StatusCode == http.StatusOK:
	case r.StatusCode == http.StatusNotModified && (request.ETag != "" || request.LastModified != ""):
		d.Unchanged, d.BodyHash = true, request.BodyHash
		d.ETag, d.LastModified = cmp.Or(d.ETag, request.ETag), cmp.Or(d.LastModified, request.LastModified)
		return d, nil
	default:
		return d, t.responseError(r)
	}
	body, err := t.readBody(r, newBodyWriter(request.Buffer))
	if err != nil {
		return d, err
	}
	d.BodyHash, d.Size = body.hash, body.size
	if d.BodyHash == request.BodyHash {
		d.Unchanged = true
		return d, nil
	}
	d.Body = body.gzip
	return d, t.checkPage(r, body.gzip)
}

// responseError returns the error for a response with a status other than 200 and 304.
func (t *attempt) responseError(r *http.Response) error {
	e := statusError(r, t.now)
	if r.StatusCode == http.StatusProxyAuthRequired && t.proxy != nil {
		e.Class, e.Err = ClassProxy, fmt.Errorf("the proxy %s rejected the user name or password", t.proxy.Host)
		return e
	}
	if shown := t.accessError(r, responseHead(r)); shown != nil {
		e.Class, e.Err = shown.Class, shown.Err
	}
	return e
}

// toError returns the classified error of the attempt. A timeout states its duration in place of "context
// deadline exceeded".
func (t *attempt) toError(ctx context.Context, err error) *Error {
	var e *Error
	if t.proxy != nil && !t.reached.Load() {
		e = proxyError(t.proxy, err)
	} else {
		e = classify(err)
	}
	if e.Class == ClassTimeout && e.Status == 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Class: ClassTimeout, Err: fmt.Errorf("no complete response within %v", t.options.Timeout)}
	}
	return e
}

// unwrapURL removes the URL that net/http prepends to its errors: the caller has it, and it may contain a
// password.
func unwrapURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// enforceRate cancels the attempt if the response's body arrives too slowly. The caller must call the
// returned function after it has read the body.
func (t *attempt) enforceRate(r *http.Response) (end func()) {
	p := &bodyRate{ReadCloser: r.Body}
	r.Body = p
	timer := time.AfterFunc(slowAfter, func() { p.checkRate(int64(slowAfter/time.Second)*minRate, t.stop) })
	return func() {
		p.done.Store(true)
		timer.Stop()
	}
}
