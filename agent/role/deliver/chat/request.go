package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/role/deliver/channel"
)

// errUsed is the error of every request but the first: shoutrrr repeats failed requests, which is the caller's decision.
var errUsed = errors.New("a message is sent by one request")

// A request is the [http.RoundTripper] of a single request. It binds the request to the caller's context, which shoutrrr
// does not pass on, bounds the response, and records its status, which shoutrrr's errors do not contain.
type request struct {
	ctx       context.Context // of one call of Send, which ends with the request
	transport http.RoundTripper

	sent     bool
	response *http.Response // nil without
	err      error          // of the transport
}

// RoundTrip sends the request if it is the first.
func (r *request) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.sent {
		return nil, errUsed
	}
	r.sent = true
	response, err := r.transport.RoundTrip(req.WithContext(r.ctx))
	if err != nil {
		r.err = err
		return nil, err
	}
	response.Body = &boundedBody{Reader: io.LimitReader(response.Body, maxResponse), Closer: response.Body}
	r.response = response
	return response, nil
}

// A boundedBody is the beginning of a body.
type boundedBody struct {
	io.Reader
	io.Closer
}

// result returns the result of sending, where failed is the error of the sender. Only errors of the transport and of this
// package are passed on: those of shoutrrr contain URLs with tokens.
func (r *request) result(service string, failed error) (channel.Response, error) {
	var refused refusal
	switch {
	case r.response == nil && r.ctx.Err() != nil:
		return channel.Response{}, fmt.Errorf("%s: no response in time: %w", service, r.ctx.Err())
	case r.err != nil:
		return channel.Response{}, fmt.Errorf("%s: %w", service, channel.WithoutURL(r.err))
	case r.response == nil && errors.As(failed, &refused):
		return channel.Response{}, fmt.Errorf("%s: %w", service, refused)
	case r.response == nil:
		return channel.Response{}, fmt.Errorf("%s: the message can't be sent; check the address", service)
	}
	status := r.response.StatusCode
	if status >= 200 && status < 300 && failed == nil {
		return channel.Response{Status: status}, nil
	}
	text := advice(status)
	switch {
	case r.ctx.Err() != nil:
		text = "the response was not received in time"
	case errors.As(failed, &refused):
		text = refused.Error()
	}
	return channel.Response{}, &channel.ResponseError{
		Status:     status,
		Text:       fmt.Sprintf("%s: status %d: %s", service, status, text),
		RetryAfter: retryAfter(r.response.Header.Get("Retry-After"), time.Now()),
		IsGone:     status == http.StatusGone,
	}
}

// advice describes the status of a response that accepts no message.
func advice(status int) string {
	switch {
	case status < 300:
		return "the response is not one of this service; check the host"
	case status < 400:
		return "the service redirects; use the host that it leads to"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "not allowed; check the token"
	case status == http.StatusNotFound:
		return "not found; check the address"
	case status == http.StatusGone:
		return "the receiver no longer exists"
	case status == http.StatusTooManyRequests:
		return "too many messages"
	case status < 500:
		return "the message was rejected; check the address"
	}
	return "the service failed"
}

// maxRetryAfter bounds the time that a service may request.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns the time of a Retry-After header in seconds, which Discord gives with a fraction, or as a date. 0: none.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}
