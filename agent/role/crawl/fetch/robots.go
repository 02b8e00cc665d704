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

// Product is our product token: the first part of our User-Agent and our name in robots.txt files.
const Product = "feedmesh"

const (
	maxRobots        = 500 << 10        // bytes of a robots.txt file that are parsed; the minimum of RFC 9309
	robotsMaxAge     = 24 * time.Hour   // lifetime of cached rules, by RFC 9309
	robotsRetryAfter = 10 * time.Minute // delay before an unreachable site is retried
	maxSites         = 4096             // sites in the cache
	maxRulesSize     = 16 << 20         // bytes of all cached rules
)

// A Fetcher fetches a document, as [Client.Fetch] does.
type Fetcher interface {
	Fetch(ctx context.Context, r Request, now time.Time) (Document, error)
}

// Robots fetches and caches the robots.txt rules of sites (RFC 9309). It is used for web pages only, because
// feeds are published for programs. Its methods are safe for concurrent use.
type Robots struct {
	fetcher Fetcher

	mu    sync.Mutex
	sites map[string]cachedRules // by scheme and authority
	size  int                    // of all cached rules, in bytes
}

// cachedRules are a site's rules with their expiry.
type cachedRules struct {
	rules *Rules
	until time.Time
}

// NewRobots returns a Robots that fetches the files by the fetcher.
func NewRobots(from Fetcher) *Robots { return &Robots{fetcher: from, sites: map[string]cachedRules{}} }

// Cached returns the rules of the address's site, and false if the cache has none or they have expired.
func (r *Robots) Cached(address *url.URL, now time.Time) (*Rules, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, cached := r.sites[siteOf(address)]
	return s.rules, cached && now.Before(s.until)
}

// Fetch fetches, caches and returns the rules of the address's site. It returns an error only if ctx ends: a
// site whose file can't be fetched has rules too.
func (r *Robots) Fetch(ctx context.Context, address *url.URL, routes []string, now time.Time) (*Rules, error) {
	name := siteOf(address)
	d, err := r.fetcher.Fetch(ctx, Request{URL: name + "/robots.txt", Routes: routes, Header: map[string]string{"Accept": "text/plain, */*;q=0.5"}}, now)
	if ctx.Err() != nil && err != nil {
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := cachedRules{until: now.Add(robotsMaxAge)}
	switch last, cached := r.sites[name]; {
	case err == nil:
		s.rules = parseRules(decompressPrefix(d.Body, maxRobots), Product)
	case noRobotsFile(err):
		s.rules = &Rules{}
	case cached: // the site is unreachable: its last rules still apply
		s = cachedRules{last.rules, now.Add(robotsRetryAfter)}
	default:
		s = cachedRules{&Rules{denyAll: true}, now.Add(robotsRetryAfter)}
	}
	r.store(name, s, now)
	return s.rules, nil
}

// noRobotsFile reports whether the error means that the site has no robots.txt file, so that everything is
// allowed. An unreachable or rate-limiting site may have a file.
func noRobotsFile(err error) bool {
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	return e.Class == ClassRedirect || e.Status/100 == 4 && e.Status != http.StatusTooManyRequests
}

// store caches a site's rules. If the cache is full it evicts expired rules first, then arbitrary ones, which
// can be fetched again.
func (r *Robots) store(name string, s cachedRules, now time.Time) {
	r.evict(name)
	r.sites[name] = s
	r.size += s.rules.size()
	for _, held := range []bool{false, true} {
		for other, s := range r.sites {
			if len(r.sites) <= maxSites && r.size <= maxRulesSize {
				return
			}
			if other != name && now.Before(s.until) == held {
				r.evict(other)
			}
		}
	}
}

func (r *Robots) evict(name string) {
	if s, cached := r.sites[name]; cached {
		r.size -= s.rules.size()
		delete(r.sites, name)
	}
}

// siteOf returns scheme and authority of an address, which share a robots.txt file.
func siteOf(address *url.URL) string {
	return strings.ToLower(address.Scheme + "://" + address.Host)
}

// decompressPrefix returns the first size bytes inside a [Document]'s Body.
func decompressPrefix(body []byte, size int64) []byte {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(z, size))
	return text
}
