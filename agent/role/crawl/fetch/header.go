package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// standardHeaders are sent to every host, also after a redirect to another host.
var standardHeaders = []string{"User-Agent", "Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since"}

// reserved are headers that a feed's settings must not contain: the client sets them, they concern the
// connection, or they assert an identity or address that proxies and sites trust. An entry that ends in "-"
// matches all headers with that prefix.
var reserved = []string{
	"Connection", "Keep-Alive", "Proxy-", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Http2-Settings", "Alt-Used",
	"Host", "Content-", "Date", "Range", "If-", "Accept-Encoding", "User-Agent", "Referer", "Origin", "Sec-", "Cookie2",
	"Authorization", "Remote-", "X-Remote-", "X-Webauth-", "X-Auth-Request-", "X-Authenticated-", "X-Authentik-",
	"Forwarded", "Via", "Client-Ip", "True-Client-Ip", "X-Client-Ip", "X-Real-Ip", "X-Forwarded-", "X-Original-", "X-Rewrite-Url", "Cf-",
}

// maxHeaderValue bounds the value of a feed's custom header, in bytes.
const maxHeaderValue = 4 << 10

// CheckHeader returns an error with the reason if a feed's settings must not contain the header.
func CheckHeader(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%q is not a valid header name", name)
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch taken := func(r string) bool { return name == r || strings.HasSuffix(r, "-") && strings.HasPrefix(name, r) }; {
	case name == "Authorization":
		return errors.New("set the feed's user and password in place of Authorization")
	case name == "User-Agent":
		return errors.New("set the feed's user agent in place of User-Agent")
	case slices.ContainsFunc(reserved, taken):
		return fmt.Errorf("%s can't be set for a feed", name)
	case len(value) > maxHeaderValue:
		return fmt.Errorf("the value of %s is longer than %d bytes", name, maxHeaderValue)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("the value of %s contains invalid characters", name)
	}
	return nil
}

// newRequest returns the HTTP request. Its errors omit the URL, which may contain a password.
func (o Options) newRequest(ctx context.Context, r Request) (*http.Request, error) {
	refuse := func(err error) (*http.Request, error) { return nil, &Error{Class: ClassAddress, Err: err} }
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return refuse(errors.New("the URL is invalid"))
	}
	request.Close = r.Close
	agent := o.UserAgent
	if r.UserAgent != "" {
		if agent = r.UserAgent; !httpguts.ValidHeaderFieldValue(agent) {
			return refuse(errors.New("the user agent contains invalid characters"))
		}
	}
	h := request.Header
	h.Set("User-Agent", agent)
	h.Set("Accept", accept)
	h.Set("Accept-Encoding", "gzip, br, zstd")
	for name, value := range r.Header {
		if err := CheckHeader(name, value); err != nil {
			return refuse(err)
		}
		h.Set(name, value)
	}
	if r.User != "" || r.Password != "" {
		request.SetBasicAuth(r.User, r.Password)
	}
	for name, value := range map[string]string{"If-None-Match": r.ETag, "If-Modified-Since": r.LastModified} {
		if value != "" && httpguts.ValidHeaderFieldValue(value) { // a validator received from a server may contain characters that can't be sent
			h.Set(name, value)
		}
	}
	return request, nil
}
