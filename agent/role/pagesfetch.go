package role

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"feedmesh/agent/fetch"
	"feedmesh/agent/plan"
)

// elsewhere is that a page is redirected to another host.
type elsewhere struct{ to string }

func (e *elsewhere) Error() string { return "it is elsewhere: " + e.to }

// page fetches a page, however many hosts it is redirected over.
func (p *pager) page(ctx context.Context, address string) (fetch.Document, error) {
	for range pageHosts {
		d, err := p.pageAt(ctx, address)
		if e := (*elsewhere)(nil); errors.As(err, &e) {
			address = e.to
			continue
		}
		return d, err
	}
	return fetch.Document{}, &fetch.Error{Class: fetch.ClassRedirect, Err: fmt.Errorf("it is redirected over more than %d hosts", pageHosts)}
}

// pageAt fetches a page of one host when it is its turn, if that host lets robots.
func (p *pager) pageAt(ctx context.Context, address string) (fetch.Document, error) {
	u, err := url.Parse(address)
	if err != nil {
		return fetch.Document{}, &fetch.Error{Class: fetch.ClassAddress, Err: err}
	}
	host := plan.HostOf(address)
	rules, err := p.rules(ctx, host, u)
	if err != nil {
		return fetch.Document{}, err
	}
	if !rules.Allow(u) {
		return fetch.Document{}, errRobots
	}
	release, err := p.hosts.takeForPage(ctx, host, max(p.hosts.spacing, rules.Delay))
	if err != nil {
		return fetch.Document{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return p.fetch.Fetch(ctx, fetch.Request{
		URL:    address,
		Header: map[string]string{"Accept": "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"},
		Follow: func(to *url.URL) error {
			if !fetch.SameHost(u, to) {
				return &elsewhere{to.String()}
			}
			if !rules.Allow(to) {
				return errRobots
			}
			return nil
		},
	}, p.clock.Now())
}

// rules returns what a site asks of robots. To ask it is a fetch like any.
func (p *pager) rules(ctx context.Context, host string, u *url.URL) (*fetch.Rules, error) {
	if rules, known := p.robots.Known(u, p.clock.Now()); known {
		return rules, nil
	}
	release, err := p.hosts.takeForPage(ctx, host, p.hosts.spacing)
	if err != nil {
		return nil, err
	}
	defer release()
	if rules, known := p.robots.Known(u, p.clock.Now()); known { // another worker asked meanwhile
		return rules, nil
	}
	return p.robots.Ask(ctx, u, p.clock.Now())
}
