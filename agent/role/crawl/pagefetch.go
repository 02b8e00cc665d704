package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/subjects"
)

// otherHostError reports a redirect to another host.
type otherHostError struct{ to string }

func (e *otherHostError) Error() string { return "redirected to another host: " + e.to }

// page fetches a page, over up to pageHosts hosts of a redirect chain.
func (p *pager) page(ctx context.Context, address string) (fetch.Document, error) {
	for range pageHosts {
		d, err := p.pageAt(ctx, address)
		if e := (*otherHostError)(nil); errors.As(err, &e) {
			address = e.to
			continue
		}
		return d, err
	}
	return fetch.Document{}, &fetch.Error{Class: fetch.ClassRedirect, Err: fmt.Errorf("redirected over more than %d hosts", pageHosts)}
}

// pageAt fetches a page of one host under the host's lock, if robots.txt allows it.
func (p *pager) pageAt(ctx context.Context, address string) (fetch.Document, error) {
	u, err := url.Parse(address)
	if err != nil {
		return fetch.Document{}, &fetch.Error{Class: fetch.ClassAddress, Err: err}
	}
	host := subjects.HostOf(address)
	rules, err := p.rules(ctx, host, u)
	if err != nil {
		return fetch.Document{}, err
	}
	if !rules.Allow(u) {
		return fetch.Document{}, errRobots
	}
	release, err := p.hosts.lockForPage(ctx, host, max(p.hosts.spacing, rules.Delay))
	if err != nil {
		return fetch.Document{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return p.fetch.Fetch(ctx, fetch.Request{
		URL:    address,
		Header: map[string]string{"Accept": "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"},
		CheckRedirect: func(to *url.URL) error {
			if !fetch.SameHost(u, to) {
				return &otherHostError{to.String()}
			}
			if !rules.Allow(to) {
				return errRobots
			}
			return nil
		},
	}, p.clock.Now())
}

// rules returns a site's robots.txt rules. Fetching them takes the host's lock like any request.
func (p *pager) rules(ctx context.Context, host string, u *url.URL) (*fetch.Rules, error) {
	if rules, cached := p.robots.Cached(u, p.clock.Now()); cached {
		return rules, nil
	}
	release, err := p.hosts.lockForPage(ctx, host, p.hosts.spacing)
	if err != nil {
		return nil, err
	}
	defer release()
	if rules, cached := p.robots.Cached(u, p.clock.Now()); cached { // another worker fetched them
		return rules, nil
	}
	return p.robots.Fetch(ctx, u, p.clock.Now())
}
