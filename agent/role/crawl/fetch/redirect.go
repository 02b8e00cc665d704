package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const maxRedirects = 5

// hops records the redirects of an attempt. The zero value has none.
type hops struct {
	to        string // the last URL
	temporary bool   // at least one redirect was temporary
	crossHost bool   // at least one redirect led to another host
}

// checkRedirect is an [http.Client]'s CheckRedirect. Credentials and custom headers are sent to the feed's
// own host only, and dropped after the first cross-host redirect, even if a later redirect leads back.
func (h *hops) checkRedirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	if len(via) > maxRedirects {
		return &Error{Class: ClassRedirect, Err: fmt.Errorf("more than %d redirects", maxRedirects)}
	}
	to := *r.URL
	to.User, to.Fragment = nil, ""
	h.to = to.String()
	switch r.Response.StatusCode {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
	default:
		h.temporary = true
	}
	h.crossHost = h.crossHost || !SameHost(via[0].URL, r.URL)
	if h.crossHost {
		for name := range r.Header {
			if !slices.Contains(standardHeaders, name) {
				r.Header.Del(name)
			}
		}
	}
	return nil
}

// checkRedirect is an [http.Client]'s CheckRedirect. It also calls the request's own CheckRedirect.
func (t *attempt) checkRedirect(r *http.Request, via []*http.Request) error {
	r.Close = t.request.Close
	if err := t.hops.checkRedirect(r, via); err != nil || t.request.CheckRedirect == nil {
		return err
	}
	if err := t.request.CheckRedirect(r.URL); err != nil {
		return &Error{Class: ClassRedirect, Err: err}
	}
	return nil
}

// moved returns the last redirect's target if all redirects were permanent, else "".
func (h *hops) moved() string {
	if h.temporary {
		return ""
	}
	return h.to
}

// SameHost reports whether both URLs have the same host and port, or differ only by an upgrade from http to
// https on the default ports.
func SameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	return a.Scheme == b.Scheme && portOf(a) == portOf(b) ||
		a.Scheme == "http" && portOf(a) == "80" && b.Scheme == "https" && portOf(b) == "443"
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
