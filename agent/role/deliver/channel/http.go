package channel

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxResponse is the part of a response that is read, in bytes, so that its connection can be used again.
const maxResponse = 4 << 10

// IsURL reports whether an address is a URL of HTTP.
func IsURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.Fragment == ""
}

// withoutQuery returns a URL without its password and its query, which may contain secrets.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.Redacted()
}

// An HTTP sends messages by HTTP, for the channels whose receivers are URLs.
type HTTP struct {
	Client    *http.Client // follows no redirects: the owner of a receiver would not learn that it moved
	UserAgent string
	Now       func() time.Time
}

// NewHTTP returns an HTTP that connects through the transport, which refuses private addresses.
func NewHTTP(transport http.RoundTripper, userAgent string, now func() time.Time) HTTP {
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return HTTP{&http.Client{Transport: transport, CheckRedirect: refuse}, userAgent, now}
}

// Redacted implements [Channel].
func (h HTTP) Redacted(address string) string { return withoutQuery(address) }

// Post sends a request with a message. Every status but those of success is a [*ResponseError].
func (h HTTP) Post(request *http.Request) (Response, error) {
	request.Header.Set("User-Agent", h.UserAgent)
	response, err := h.Client.Do(request)
	if err != nil {
		return Response{}, WithoutURL(err)
	}
	defer response.Body.Close()
	io.CopyN(io.Discard, response.Body, maxResponse)
	if response.StatusCode/100 == 2 {
		return Response{Status: response.StatusCode}, nil
	}
	return Response{}, &ResponseError{
		Status: response.StatusCode, Text: "the receiver responded " + strings.TrimSpace(strconv.Itoa(response.StatusCode)+" "+http.StatusText(response.StatusCode)),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), h.Now()), IsGone: response.StatusCode == http.StatusGone,
	}
}

// retryAfter returns the duration of a header, in seconds or as a date; 0 without one.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
