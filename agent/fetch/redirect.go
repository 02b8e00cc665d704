package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const maxRedirects = 5

// hops remembers the redirects of a try. The zero value has none.
type hops struct {
	to        string // the last address
	temporary bool   // one of them was
	abroad    bool   // one of them led to another host
}

// follow is an [http.Client]'s CheckRedirect. What the feed's own host is
// told, be it a password or any header of the request's own, no other host is
// told, nor the same one again once another had a say in the address.
func (h *hops) follow(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	if len(via) > maxRedirects {
		return &Error{Class: ClassRedirect, Err: fmt.Errorf("redirected more than %d times", maxRedirects)}
	}
	to := *r.URL
	to.User, to.Fragment = nil, ""
	h.to = to.String()
	switch r.Response.StatusCode {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
	default:
		h.temporary = true
	}
	h.abroad = h.abroad || !SameHost(via[0].URL, r.URL)
	if h.abroad {
		for name := range r.Header {
			if !slices.Contains(ours, name) {
				r.Header.Del(name)
			}
		}
	}
	return nil
}

// follow is an [http.Client]'s CheckRedirect, with a word of who asked for the
// document.
func (t *try) follow(r *http.Request, via []*http.Request) error {
	r.Close = t.request.Last
	if err := t.hops.follow(r, via); err != nil || t.request.Follow == nil {
		return err
	}
	if err := t.request.Follow(r.URL); err != nil {
		return &Error{Class: ClassRedirect, Err: err}
	}
	return nil
}

// moved returns where permanent redirects led, if all of them were; else "".
func (h *hops) moved() string {
	if h.temporary {
		return ""
	}
	return h.to
}

// SameHost reports whether b is where a is, or is that by TLS.
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
