package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRequest_CustomHeadersAreSent(t *testing.T) {
	t.Parallel()
	var received http.Header
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { received = r.Header })
	get(t, client(t), Request{
		URL: url, UserAgent: "other/1.0", User: "me", Password: "s3cret",
		Header: map[string]string{"accept": "text/xml", "Cookie": "a=b", "X-Api-Key": "k", "Accept-Language": "de"},
	})
	for name, want := range map[string]string{
		"User-Agent": "other/1.0", "Accept": "text/xml", "Cookie": "a=b", "X-Api-Key": "k", "Accept-Language": "de",
		"Authorization": "Basic bWU6czNjcmV0", "Accept-Encoding": "gzip, br, zstd",
	} {
		if got := strings.Join(received[name], "|"); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestCheckHeader_RejectsReservedHeaders(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Accept", "accept-language", "Cookie", "X-Api-Key", "DNT", "Api-Version", "X-Token"} {
		if err := CheckHeader(name, "value"); err != nil {
			t.Errorf("%s: got %v, want nil", name, err)
		}
	}
	for _, name := range []string{
		"Connection", "keep-alive", "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "HTTP2-Settings", "Expect",
		"If-None-Match", "if-modified-since", "If-Range", "Range", "Host", "HOST", "Content-Length", "Content-Type", "Cookie2", "Accept-Encoding",
		"User-Agent", "Authorization", "Remote-User", "X-WebAuth-User", "X-Remote-User", "X-Auth-Request-Email", "X-Forwarded-For", "X-Real-IP", "Forwarded", "Via",
		"Referer", "Origin", "Sec-Fetch-Site", "CF-Connecting-IP", "", "a b", "a:b", "a\r\nb", "жук",
	} {
		if err := CheckHeader(name, "value"); err == nil {
			t.Errorf("%q: got nil, want an error", name)
		}
		if _, err := client(t).Fetch(t.Context(), Request{URL: "http://192.0.1.1", Header: map[string]string{name: "value"}}, time.Now()); err == nil {
			t.Errorf("%q: Fetch sent it", name)
		}
	}
	for _, value := range []string{"a\r\nHost: b", "a\nb", "a\x00", strings.Repeat("x", maxHeaderValue+1)} {
		if err := CheckHeader("X-Api-Key", value); err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("%.20q: got %v, want an error that does not show it", value, err)
		}
	}
}

func TestRequest_InvalidRequestIsRejected(t *testing.T) {
	t.Parallel()
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	for want, r := range map[string]Request{
		"the user agent contains invalid characters": {UserAgent: "a\r\nb"},
		"Host can't be set for a feed":               {Header: map[string]string{"host": "other"}},
	} {
		r.URL = url
		if e := fails(t, client(t), r, ClassAddress); e.Error() != want {
			t.Errorf("got %q, want %q", e, want)
		}
	}
}
