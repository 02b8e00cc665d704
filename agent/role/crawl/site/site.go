// Package site fetches web pages as their sites allow: one request at a time from a host, spaced, and as robots.txt permits.
// [Pages] fetches them and extracts their articles; [Locks] are shared with the fetches of feeds.
package site

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/crawl/page"
	"feedmesh/subjects"
)

const (
	// MaxHosts bounds the hosts of a redirect chain, each with its own lock and robots.txt file.
	MaxHosts = 4

	// PageTimeout is the timeout of the request for one page: feeds of its host wait meanwhile.
	PageTimeout = 15 * time.Second
)

// ErrRobots reports that robots.txt disallows a page.
var ErrRobots = errors.New("disallowed by robots.txt")

// An OtherHostError reports a redirect to another host.
type OtherHostError struct{ To string }

func (e *OtherHostError) Error() string { return "redirected to another host: " + e.To }

// Pages fetches pages. Its methods may be called concurrently.
type Pages struct {
	fetcher fetch.Fetcher
	robots  *fetch.Robots
	locks   *Locks
	now     func() time.Time

	reading sync.Mutex // locked while a page is parsed: a hostile one takes 100 MB
}

// New returns Pages that fetch by a fetcher.
func New(fetcher fetch.Fetcher, locks *Locks, now func() time.Time) *Pages {
	return &Pages{fetcher: fetcher, robots: fetch.NewRobots(fetcher), locks: locks, now: now}
}

// Fetch fetches a page, over up to MaxHosts hosts of a redirect chain, the first by one of the routes, the others directly. Its
// errors are [ErrRobots], an error of ctx, and those of package fetch.
func (p *Pages) Fetch(ctx context.Context, address string, routes ...string) (fetch.Document, error) {
	for range MaxHosts {
		d, err := p.FetchAt(ctx, address, routes...)
		if e := (*OtherHostError)(nil); errors.As(err, &e) {
			address, routes = e.To, nil
			continue
		}
		return d, err
	}
	return fetch.Document{}, &fetch.Error{Class: fetch.ClassRedirect, Err: fmt.Errorf("redirected over more than %d hosts", MaxHosts)}
}

// FetchAt fetches a page of one host under the host's lock, if robots.txt allows it, by the routes of [fetch.Request]. A redirect to
// another host is an [OtherHostError].
func (p *Pages) FetchAt(ctx context.Context, address string, routes ...string) (fetch.Document, error) {
	u, err := url.Parse(address)
	if err != nil {
		return fetch.Document{}, &fetch.Error{Class: fetch.ClassAddress, Err: err}
	}
	host := subjects.HostOf(address)
	rules, err := p.rules(ctx, host, u, routes)
	if err != nil {
		return fetch.Document{}, err
	}
	if !rules.Allow(u) {
		return fetch.Document{}, ErrRobots
	}
	release, err := p.locks.LockForPage(ctx, host, max(p.locks.Spacing, rules.Delay))
	if err != nil {
		return fetch.Document{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, PageTimeout)
	defer cancel()
	return p.fetcher.Fetch(ctx, fetch.Request{
		URL:    address,
		Routes: routes,
		Header: map[string]string{"Accept": "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"},
		CheckRedirect: func(to *url.URL) error {
			if !fetch.SameHost(u, to) {
				return &OtherHostError{to.String()}
			}
			if !rules.Allow(to) {
				return ErrRobots
			}
			return nil
		},
	}, p.now())
}

// rules returns a site's robots.txt rules. Fetching them takes the host's lock like any request.
func (p *Pages) rules(ctx context.Context, host string, u *url.URL, routes []string) (*fetch.Rules, error) {
	if rules, cached := p.robots.Cached(u, p.now()); cached {
		return rules, nil
	}
	release, err := p.locks.LockForPage(ctx, host, p.locks.Spacing)
	if err != nil {
		return nil, err
	}
	defer release()
	if rules, cached := p.robots.Cached(u, p.now()); cached { // another worker fetched them
		return rules, nil
	}
	return p.robots.Fetch(ctx, u, routes, p.now())
}

// Extract returns the article of a page. Its errors are those of [page.Extract].
func (p *Pages) Extract(d fetch.Document) (page.Article, error) {
	address, err := url.Parse(d.URL)
	if err != nil {
		return page.Article{}, err
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	body, err := fetch.Decompress(d.Body, page.MaxPage)
	if err != nil {
		return page.Article{}, err
	}
	return page.Extract(body, d.ContentType, address)
}
