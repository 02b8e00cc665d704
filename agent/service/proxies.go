package service

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	var problems []FieldError
	if i := slices.IndexFunc(all, func(old storage.Proxy) bool { return old.ID == in.ID }); i >= 0 {
		proxy.Added = all[i].Added
		if proxy.URL, err = p.withPassword(proxy, all[i].URL); err != nil {
			problems = append(problems, fieldf("body.url", "%v", err))
		}
	}
	if proxy.ID == direct {
		problems = append(problems, fieldf("path.id", "direct means no proxy; choose another name"))
	}
	if err := checkRoute(proxy); err != nil {
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
	if proxy.URL, err = p.Secrets.SealProxy(ctx, proxy); err != nil {
		return wire.Proxy{}, unsealed(err)
	}
	if err := storage.Proxies(p.Store).Put(ctx, proxy); err != nil {
		return wire.Proxy{}, err
	}
	return proxyOf(proxy), p.publishChanged(ctx)
}

// checkRoute returns an error if the URL of a proxy is neither that of a proxy server nor of a region.
func checkRoute(p storage.Proxy) error {
	if name, is := strings.CutPrefix(p.URL, storage.RegionScheme); is {
		return storage.CheckRegion(name)
	}
	return fetch.CheckProxy(p.URL)
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

// withPassword returns the URL of a proxy with the stored password in place of a redacted one, so that clients can send
// a response back.
func (p *Proxies) withPassword(proxy storage.Proxy, before string) (string, error) {
	u, err := url.Parse(proxy.URL)
	if err != nil {
		return proxy.URL, nil
	}
	if shown, _ := u.User.Password(); shown != redactedPassword {
		return proxy.URL, nil
	}
	if before, err = p.Secrets.OpenProxy(proxy.ID, before); err != nil {
		return proxy.URL, err
	}
	old, err := url.Parse(before)
	if err != nil {
		return proxy.URL, nil
	}
	if password, is := old.User.Password(); is {
		u.User = url.UserPassword(u.User.Username(), password)
	}
	return u.String(), nil
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

// redacted replaces secrets in responses.
const redacted = "set"

// requestOf returns a request as clients see it.
func requestOf(r *storage.Request) *wire.RequestView {
	if r == nil {
		return nil
	}
	view := &wire.RequestView{UserAgent: r.UserAgent, Headers: slices.Sorted(maps.Keys(r.Header)), User: r.User, Proxy: r.Proxy}
	if r.Password != "" {
		view.Password = redacted
	}
	return view
}

// publicURL returns the URL of a proxy without its password.
func publicURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// withoutSecrets returns a queued task with the secrets of requests and proxies redacted. Text that is not
// JSON was not written by feedmesh and stays unchanged.
func withoutSecrets(task json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(task, &v) != nil {
		return task
	}
	if !redact(v) {
		return task
	}
	hidden, err := json.Marshal(v)
	if err != nil {
		return task
	}
	return hidden
}

// redact redacts secrets in decoded JSON, and reports whether it found any.
func redact(v any) (hidden bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			hidden = redact(e) || hidden
		}
	case map[string]any:
		if request, is := v["request"].(map[string]any); is {
			hidden = redactRequest(request)
		}
		if proxies, is := v["ways"].([]any); is {
			hidden = redactProxies(proxies) || hidden
		}
		for _, e := range v {
			hidden = redact(e) || hidden
		}
	}
	return hidden
}

func redactRequest(request map[string]any) (hidden bool) {
	if _, is := request["password"]; is {
		request["password"], hidden = redacted, true
	}
	header, _ := request["header"].(map[string]any)
	for name := range header {
		header[name], hidden = redacted, true
	}
	return hidden
}

func redactProxies(proxies []any) (hidden bool) {
	for _, w := range proxies {
		proxy, _ := w.(map[string]any)
		if address, is := proxy["url"].(string); is && address != "" {
			proxy["url"], hidden = publicURL(address), true
		}
	}
	return hidden
}
