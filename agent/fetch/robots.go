package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Product is our product token: what our User-Agent begins with, and what a
// robots.txt file names us by.
const Product = "feedmesh"

const (
	maxRobots  = 500 << 10        // bytes of a robots.txt file that are read; RFC 9309 wants that many
	robotsKept = 24 * time.Hour   // how long it is believed, as RFC 9309 has it
	robotsAway = 10 * time.Minute // how long what can't be asked is left alone
	maxSites   = 4096             // whose files are remembered
	maxRules   = 16 << 20         // bytes of what is remembered of them
)

// A Getter fetches a document, as [Client.Fetch] does.
type Getter interface {
	Fetch(ctx context.Context, r Request, now time.Time) (Document, error)
}

// Robots knows what sites ask of robots in their robots.txt files (RFC 9309). It
// is for web pages: feeds are there for programs to read. Its methods may be
// called concurrently.
type Robots struct {
	from Getter

	mu    sync.Mutex
	sites map[string]site // by scheme and authority
	size  int             // of their rules, in bytes
}

// A site is what one asked for, and how long that holds.
type site struct {
	rules *Rules
	until time.Time
}

// NewRobots returns a Robots that fetches the files by the getter.
func NewRobots(from Getter) *Robots { return &Robots{from: from, sites: map[string]site{}} }

// Known returns the rules of the site that an address is on, if it need not be
// asked for them.
func (r *Robots) Known(address *url.URL, now time.Time) (*Rules, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, known := r.sites[siteOf(address)]
	return s.rules, known && now.Before(s.until)
}

// Ask asks the site that an address is on for its rules. Its error is that of ctx:
// a site that does not say them has rules all the same.
func (r *Robots) Ask(ctx context.Context, address *url.URL, now time.Time) (*Rules, error) {
	name := siteOf(address)
	d, err := r.from.Fetch(ctx, Request{URL: name + "/robots.txt", Header: map[string]string{"Accept": "text/plain, */*;q=0.5"}}, now)
	if ctx.Err() != nil && err != nil {
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := site{until: now.Add(robotsKept)}
	switch last, known := r.sites[name]; {
	case err == nil:
		s.rules = readRules(head(d.Body, maxRobots), Product)
	case unavailable(err):
		s.rules = &Rules{}
	case known: // it is away: what it said last holds
		s = site{last.rules, now.Add(robotsAway)}
	default:
		s = site{&Rules{nothing: true}, now.Add(robotsAway)}
	}
	r.keep(name, s, now)
	return s.rules, nil
}

// unavailable reports whether a site has no file for robots, so that all is
// allowed. One that is away, or that we ask too often, may have one.
func unavailable(err error) bool {
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	return e.Class == ClassRedirect || e.Status/100 == 4 && e.Status != http.StatusTooManyRequests
}

// keep remembers the rules of a site, in place of others if there are too many:
// first those that hold no more, then whichever, as they can be asked for again.
func (r *Robots) keep(name string, s site, now time.Time) {
	r.drop(name)
	r.sites[name] = s
	r.size += s.rules.size()
	for _, held := range []bool{false, true} {
		for other, s := range r.sites {
			if len(r.sites) <= maxSites && r.size <= maxRules {
				return
			}
			if other != name && now.Before(s.until) == held {
				r.drop(other)
			}
		}
	}
}

func (r *Robots) drop(name string) {
	if s, known := r.sites[name]; known {
		r.size -= s.rules.size()
		delete(r.sites, name)
	}
}

// siteOf returns scheme and authority of an address: each has a file of its own.
func siteOf(address *url.URL) string {
	return strings.ToLower(address.Scheme + "://" + address.Host)
}

// head returns the first bytes inside a [Document]'s Body.
func head(body []byte, size int64) []byte {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(z, size))
	return text
}
