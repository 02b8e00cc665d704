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

// A try is one attempt at a document by one way.
type try struct {
	*Client
	request Request
	proxy   *url.URL // nil is the direct way
	now     time.Time
	stop    context.CancelCauseFunc // ends it with the [*Error] given

	reached atomic.Bool // a connection to the host stands, through the proxy if there is one
	hops    hops
}

// by fetches the document by one way.
func (c *Client) by(ctx context.Context, way string, r Request, now time.Time) (Document, *Error) {
	began := time.Now()
	t := &try{Client: c, request: r, now: now}
	d, err := t.do(ctx, way)
	took := time.Since(began)
	if r.Plain != nil && (err != nil || d.Unchanged) {
		r.Plain.Reset()
	}
	if err != nil {
		e := *t.explain(ctx, err)
		e.Took, e.Way = took, way
		if e.Class != ClassRedirect && e.Class != ClassBlocked {
			e.Moved = t.hops.moved()
		}
		return Document{}, &e
	}
	d.Took, d.Way, d.Moved = took, way, t.hops.moved()
	return d, nil
}

func (t *try) do(ctx context.Context, way string) (Document, error) {
	ctx, t.stop = context.WithCancelCause(ctx)
	defer t.stop(nil)
	if way != "" {
		proxy, err := parseProxy(way)
		if err != nil {
			return Document{}, &Error{Class: ClassProxy, Err: err}
		}
		t.proxy = proxy
		ctx = context.WithValue(ctx, proxyKey{}, proxy)
		patience := time.AfterFunc(t.options.Timeout/maxWays, func() { t.stop(slowProxy(proxy)) })
		defer patience.Stop()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
			patience.Stop()
			t.reached.Store(true)
		}})
	}
	request, err := t.options.newRequest(ctx, t.request)
	if err != nil {
		return Document{}, err
	}
	client := http.Client{Transport: t, CheckRedirect: t.follow}
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		defer t.watch(response)()
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
func (t *try) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "http" && r.URL.Scheme != "https" || r.URL.Hostname() == "" {
		class := ClassAddress
		if r.Response != nil {
			class = ClassRedirect
		}
		return nil, &Error{Class: class, Err: errors.New("it leads to what is no web address")}
	}
	response, err := t.send(r)
	if err == nil && t.request.Answered != nil {
		t.request.Answered(response)
	}
	if err != nil || response.StatusCode/100 != 3 {
		return response, err
	}
	if _, err := response.Location(); err != nil && !errors.Is(err, http.ErrNoLocation) {
		response.Body.Close()
		return nil, &Error{Class: ClassRedirect, Err: errors.New("it redirects to what is no address")}
	}
	return response, nil
}

func (t *try) send(r *http.Request) (*http.Response, error) {
	if t.proxy == nil {
		return t.direct.RoundTrip(r)
	}
	if err := t.guard.behindProxy(r.Context(), t.resolver, r.URL); err != nil {
		return nil, &Error{Class: ClassBlocked, Err: err}
	}
	t.reached.Store(false)
	return t.proxied.RoundTrip(r)
}

// read makes a document of an answer.
func (t *try) read(r *http.Response) (Document, error) {
	came := *r.Request.URL
	came.User = nil
	d := Document{
		URL:          came.String(),
		Status:       r.StatusCode,
		ETag:         r.Header.Get("ETag"),
		LastModified: r.Header.Get("Last-Modified"),
		ContentType:  r.Header.Get("Content-Type"),
		MaxAge:       maxAge(r.Header, t.now),
		Hub:          linked(r, "hub"),
		Self:         linked(r, "self"),
	}
	asked := t.request
	switch {
	case r.StatusCode == http.StatusOK:
	case r.StatusCode == http.StatusNotModified && (asked.ETag != "" || asked.LastModified != ""):
		d.Unchanged, d.BodyHash = true, asked.BodyHash
		d.ETag, d.LastModified = cmp.Or(d.ETag, asked.ETag), cmp.Or(d.LastModified, asked.LastModified)
		return d, nil
	default:
		return d, t.refused(r)
	}
	packed, err := t.pack(r, newInside(asked.Plain))
	if err != nil {
		return d, err
	}
	d.BodyHash, d.Size = packed.hash, packed.size
	if d.BodyHash == asked.BodyHash {
		d.Unchanged = true
		return d, nil
	}
	d.Body = packed.gzip
	return d, t.page(r, packed.gzip)
}

// refused says what an HTTP status other than 200 and 304 means.
func (t *try) refused(r *http.Response) error {
	e := statusError(r, t.now)
	if r.StatusCode == http.StatusProxyAuthRequired && t.proxy != nil {
		e.Class, e.Err = ClassProxy, fmt.Errorf("the proxy %s wants another user or password", t.proxy.Host)
		return e
	}
	if shown := t.obstacle(r, headOf(r)); shown != nil {
		e.Class, e.Err = shown.Class, shown.Err
	}
	return e
}

// explain tells what went wrong, and how long we waited instead of "context
// deadline exceeded".
func (t *try) explain(ctx context.Context, err error) *Error {
	var e *Error
	if t.proxy != nil && !t.reached.Load() {
		e = proxyError(t.proxy, err)
	} else {
		e = classify(err)
	}
	if e.Class == ClassTimeout && e.Status == 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Class: ClassTimeout, Err: fmt.Errorf("no complete answer within %v", t.options.Timeout)}
	}
	return e
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
