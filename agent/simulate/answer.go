package simulate

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// movedTo is the path prefix of the documents of redirected feeds.
const movedTo = "/new/"

// An answer is the response to a request, before it is sent.
type answer struct {
	status int
	header http.Header
	body   []byte
	shown  span      // entries in the body
	until  time.Time // end of Retry-After; zero if not sent
	fault  Fault     // fault applied when sending; "" if none
}

// answer computes the response to a request for the feed.
func (p publisher) answer(cache *documents, r *http.Request, now time.Time) answer {
	a := answer{status: http.StatusOK, header: http.Header{"Date": {now.UTC().Format(http.TimeFormat)}}}
	switch p.fault {
	case NotFound:
		a.status = http.StatusNotFound
	case Gone:
		a.status = http.StatusGone
	case Forbidden:
		if !proxied(r) {
			a.status = http.StatusForbidden
		}
	case Limited, Broken:
		a.refuse(p, now)
	case Redirect, Moved:
		if strings.HasPrefix(r.URL.Path, movedTo) {
			break
		}
		a.status = redirects[p.fault][draw(p.seed, 106)%2]
		a.header.Set("Location", fmt.Sprintf("%s%d", movedTo, p.feed))
	case Hang:
		return answer{fault: Hang}
	case Bomb:
		a.fault = Bomb
		return a
	case Slow, Reset, Truncated:
		a.fault = p.fault
	}
	if a.status == http.StatusOK {
		a.fill(p, cache, r, now)
	}
	return a
}

var redirects = map[Fault][2]int{
	Redirect: {http.StatusFound, http.StatusTemporaryRedirect},
	Moved:    {http.StatusMovedPermanently, http.StatusPermanentRedirect},
}

// refuse turns it into the response of a feed that alternates between refusing and serving, if it refuses
// now.
func (a *answer) refuse(p publisher, now time.Time) {
	until := p.refusedUntil(now)
	if until.IsZero() {
		return
	}
	a.status = http.StatusTooManyRequests
	if p.fault == Broken {
		a.status = p.brokenStatus()
	}
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		var text string
		text, a.until = p.retryAfter(until, now)
		a.header.Set("Retry-After", text)
	}
}

// fill adds the document, or status 304 if the client has it.
func (a *answer) fill(p publisher, cache *documents, r *http.Request, now time.Time) {
	a.shown = p.shown(now)
	tag := fmt.Sprintf(`"%d-%d"`, p.feed, a.shown.to)
	var modified string
	if a.shown.to > 0 {
		modified = p.at(a.shown.to - 1).UTC().Format(http.TimeFormat)
	}
	same := false
	if p.dates && modified != "" {
		a.header.Set("Last-Modified", modified)
		same = r.Header.Get("If-Modified-Since") == modified
	}
	if p.tags {
		a.header.Set("ETag", tag)
		if validator := r.Header.Get("If-None-Match"); validator != "" {
			same = validator == tag
		}
	}
	if same {
		a.status, a.fault = http.StatusNotModified, ""
		return
	}
	a.header.Set("Content-Type", p.format.contentType)
	packed := p.gzip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	if packed {
		a.header.Set("Content-Encoding", "gzip")
	}
	a.body = cache.get(documentKey{p.feed, packed}, a.shown, func() []byte {
		body := p.render(a.shown)
		if packed {
			body = zipped(body)
		}
		return body
	})
}

// validates reports whether the response contains validators for conditional requests.
func (a answer) validates() bool {
	return a.header.Get("ETag") != "" || a.header.Get("Last-Modified") != ""
}

// byProxy is the context key of requests through the proxy.
type byProxy struct{}

func proxied(r *http.Request) bool { return r.Context().Value(byProxy{}) != nil }
