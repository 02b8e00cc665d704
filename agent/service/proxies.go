package service

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Proxies answers requests about the proxies of feeds.
type Proxies struct{ *core }

// proxyOf returns a proxy as clients see it.
func proxyOf(p storage.Proxy) wire.Proxy {
	return wire.Proxy{ID: p.ID, URL: publicURL(p.URL), Hosts: append([]string{}, p.Hosts...), Always: p.Always, Added: p.Added}
}

// List returns all proxies, ordered by ID, with their health.
func (p *Proxies) List(ctx context.Context, _ wire.None) (wire.Proxies, error) {
	stored, err := storage.Proxies(p.Store).List(ctx)
	if err != nil {
		return wire.Proxies{}, err
	}
	out := wire.Proxies{Proxies: make([]wire.Proxy, len(stored))}
	var state *subjects.Proxy
	for i, one := range stored {
		if err == nil { // skip the mesh after its first error
			state, err = p.Mesh.Proxy(ctx, one.ID)
		}
		out.Proxies[i] = proxyOf(one)
		out.Proxies[i].Health = proxyHealth(state, err)
	}
	return out, nil
}

// proxyHealth returns the health of a proxy as clients see it; p is nil without a state, and err the error of
// reading it.
func proxyHealth(p *subjects.Proxy, err error) *wire.ProxyHealth {
	switch {
	case err != nil:
		return &wire.ProxyHealth{State: wire.ProxyUnknown, Why: err.Error()}
	case p == nil:
		return &wire.ProxyHealth{State: wire.ProxyUnknown}
	}
	h := &wire.ProxyHealth{State: wire.ProxyUnknown, Used: p.LastUsed, Passed: p.ProbePassed, Failures: p.Failures, Until: p.RestUntil, Why: p.Reason}
	switch {
	case !p.RestUntil.IsZero():
		h.State = wire.ProxyRests
	case p.Failures > 0:
		h.State = wire.ProxyDoubtful
	case !p.LastUsed.IsZero() || !p.ProbePassed.IsZero():
		h.State = wire.ProxyWorks
	}
	return h
}

// Set adds or changes a proxy. The redacted password of an answer keeps the stored one.
func (p *Proxies) Set(ctx context.Context, in wire.SetProxyRequest) (wire.Proxy, error) {
	all, err := storage.Proxies(p.Store).List(ctx)
	if err != nil {
		return wire.Proxy{}, err
	}
	proxy := storage.Proxy{ID: in.ID, URL: in.Body.URL, Always: in.Body.Always, Added: p.Now()}
	if i := slices.IndexFunc(all, func(old storage.Proxy) bool { return old.ID == in.ID }); i >= 0 {
		proxy.Added = all[i].Added
		proxy.URL = withPassword(proxy.URL, all[i].URL)
	}
	var problems []FieldError
	if proxy.ID == direct {
		problems = append(problems, fieldf("path.id", "direct means no proxy; choose another name"))
	}
	if err := fetch.CheckProxy(proxy.URL); err != nil {
		problems = append(problems, fieldf("body.url", "%v", err))
	}
	for _, name := range in.Body.Hosts {
		host, err := hostSuffix(name)
		if err != nil {
			problems = append(problems, fieldf("body.hosts", "%v", err))
		} else if !slices.Contains(proxy.Hosts, host) {
			proxy.Hosts = append(proxy.Hosts, host)
		}
	}
	if len(problems) > 0 {
		return wire.Proxy{}, &Error{KindInvalid, "the proxy is wrong, nothing was changed", problems}
	}
	if err := storage.Proxies(p.Store).Put(ctx, proxy); err != nil {
		return wire.Proxy{}, err
	}
	return proxyOf(proxy), p.publishChanged(ctx)
}

// Remove removes a proxy; feeds configured for it use the default routing again.
func (p *Proxies) Remove(ctx context.Context, in wire.ByID) (wire.None, error) {
	if err := storage.Proxies(p.Store).Remove(ctx, in.ID); err != nil {
		return wire.None{}, fmt.Errorf("proxy %s: %w", in.ID, err)
	}
	return wire.None{}, p.publishChanged(ctx)
}

// publishChanged makes the schedule reload the proxies now instead of within ten minutes.
func (p *Proxies) publishChanged(ctx context.Context) error {
	return publishObservations(ctx, p.Mesh, observation("", "", subjects.Changed))
}

// withPassword replaces the redacted password of a proxy's URL with the stored one, so that clients can send
// a response back.
func withPassword(raw, before string) string {
	u, err := url.Parse(raw)
	old, oldErr := url.Parse(before)
	if err != nil || oldErr != nil {
		return raw
	}
	shown, _ := u.User.Password()
	password, is := old.User.Password()
	if !is || shown != redactedPassword {
		return raw
	}
	u.User = url.UserPassword(u.User.Username(), password)
	return u.String()
}

// redactedPassword is the password that [url.URL.Redacted] writes.
const redactedPassword = "xxxxx"

// hostSuffix returns a suffix of host names in the canonical form of URLs.
func hostSuffix(name string) (string, error) {
	bare := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(name), "*"), ".")
	canonical, err := storage.CanonicalURL("http://" + bare)
	if err != nil || bare == "" || strings.ContainsAny(bare, "/@?#:") {
		return "", fmt.Errorf("%.100q is no name of a host; write it as example.org", name)
	}
	return strings.TrimSuffix(strings.TrimPrefix(canonical, "http://"), "/"), nil
}
