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

// ours are the headers that we send to whatever host.
var ours = []string{"User-Agent", "Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since"}

// reserved are headers that a feed may not have of its own: we set them, or
// they are about the connection, or name a person or an address to proxies and
// sites that believe them. An entry that ends in "-" stands for all with that
// beginning.
var reserved = []string{
	"Connection", "Keep-Alive", "Proxy-", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Http2-Settings", "Alt-Used",
	"Host", "Content-", "Date", "Range", "If-", "Accept-Encoding", "User-Agent", "Referer", "Origin", "Sec-", "Cookie2",
	"Authorization", "Remote-", "X-Remote-", "X-Webauth-", "X-Auth-Request-", "X-Authenticated-", "X-Authentik-",
	"Forwarded", "Via", "Client-Ip", "True-Client-Ip", "X-Client-Ip", "X-Real-Ip", "X-Forwarded-", "X-Original-", "X-Rewrite-Url", "Cf-",
}

// maxHeaderValue bounds what a feed may send in one header, in bytes.
const maxHeaderValue = 4 << 10

// CheckHeader says in words why a feed may not have a header of its own; nil
// means that it may.
func CheckHeader(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%q is no name of a header", name)
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch taken := func(r string) bool { return name == r || strings.HasSuffix(r, "-") && strings.HasPrefix(name, r) }; {
	case name == "Authorization":
		return errors.New("set the feed's user and password in place of Authorization")
	case name == "User-Agent":
		return errors.New("set the feed's user agent in place of User-Agent")
	case slices.ContainsFunc(reserved, taken):
		return fmt.Errorf("%s is not for a feed to set", name)
	case len(value) > maxHeaderValue:
		return fmt.Errorf("the value of %s is longer than %d bytes", name, maxHeaderValue)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("the value of %s has characters that can't be sent", name)
	}
	return nil
}

// newRequest returns what to send. Its errors do not show the address: it may
// have a password in it.
func (o Options) newRequest(ctx context.Context, r Request) (*http.Request, error) {
	refuse := func(err error) (*http.Request, error) { return nil, &Error{Class: ClassAddress, Err: err} }
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return refuse(errors.New("the address can't be read"))
	}
	request.Close = r.Last
	agent := o.UserAgent
	if r.UserAgent != "" {
		if agent = r.UserAgent; !httpguts.ValidHeaderFieldValue(agent) {
			return refuse(errors.New("the user agent has characters that can't be sent"))
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
		if value != "" && httpguts.ValidHeaderFieldValue(value) { // what a server sent us need not be fit to be sent
			h.Set(name, value)
		}
	}
	return request, nil
}
