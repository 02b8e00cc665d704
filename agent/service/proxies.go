package service

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func (s *Server) proxyRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/proxies", "list-proxies", "All proxies, ordered by ID", 503), s.listProxies)
	huma.Register(api, op("PUT", "/api/proxies/{id}", "set-proxy", "Add a proxy, or change it", 400, 422, 503), s.setProxy)
	remove := op("DELETE", "/api/proxies/{id}", "remove-proxy", "Remove a proxy; feeds configured for it use the default routing again", 404, 503)
	remove.DefaultStatus = http.StatusNoContent
	huma.Register(api, remove, s.removeProxy)
}

// proxyOf returns a proxy as clients see it.
func proxyOf(p storage.Proxy) wire.Proxy {
	return wire.Proxy{ID: p.ID, URL: publicURL(p.URL), Hosts: append([]string{}, p.Hosts...), Always: p.Always, Added: p.Added}
}

func (s *Server) listProxies(ctx context.Context, _ *struct{}) (*body[wire.Proxies], error) {
	all, err := s.Proxies(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Proxies]{Body: all}, nil
}

// Proxies returns all proxies, ordered by ID, with their health.
func (s *Server) Proxies(ctx context.Context) (wire.Proxies, error) {
	stored, err := storage.Proxies(s.Store).List(ctx)
	if err != nil {
		return wire.Proxies{}, err
	}
	out := wire.Proxies{Proxies: make([]wire.Proxy, len(stored))}
	var state *subjects.Proxy
	for i, p := range stored {
		if err == nil { // skip the mesh after its first error
			state, err = s.Mesh.Proxy(ctx, p.ID)
		}
		out.Proxies[i] = proxyOf(p)
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

func (s *Server) setProxy(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"32" pattern:"^[a-z0-9][a-z0-9-]*$" patternDescription:"lower-case letters, digits and hyphens"`
	Body wire.ProxySetting
}) (*body[wire.Proxy], error) {
	all, err := storage.Proxies(s.Store).List(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	p := storage.Proxy{ID: in.ID, URL: in.Body.URL, Always: in.Body.Always, Added: s.Now()}
	if i := slices.IndexFunc(all, func(old storage.Proxy) bool { return old.ID == p.ID }); i >= 0 {
		p.Added = all[i].Added
		p.URL = withPassword(p.URL, all[i].URL)
	}
	var problems []error
	if p.ID == direct {
		problems = append(problems, fieldError("path.id", "direct means no proxy; choose another name"))
	}
	if err := fetch.CheckProxy(p.URL); err != nil {
		problems = append(problems, fieldError("body.url", "%v", err))
	}
	for _, name := range in.Body.Hosts {
		host, err := hostSuffix(name)
		if err != nil {
			problems = append(problems, fieldError("body.hosts", "%v", err))
		} else if !slices.Contains(p.Hosts, host) {
			p.Hosts = append(p.Hosts, host)
		}
	}
	if len(problems) > 0 {
		return nil, huma.Error422UnprocessableEntity("the proxy is wrong, nothing was changed", problems...)
	}
	if err := storage.Proxies(s.Store).Put(ctx, p); err != nil {
		return nil, s.problem(err)
	}
	if err := s.publishProxiesChanged(ctx); err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Proxy]{Body: proxyOf(p)}, nil
}

func (s *Server) removeProxy(ctx context.Context, in *byID) (*struct{}, error) {
	if err := storage.Proxies(s.Store).Remove(ctx, in.ID); err != nil {
		return nil, s.problem(fmt.Errorf("proxy %s: %w", in.ID, err))
	}
	if err := s.publishProxiesChanged(ctx); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

// publishProxiesChanged makes the schedule reload the proxies now instead of within ten minutes.
func (s *Server) publishProxiesChanged(ctx context.Context) error {
	return publishObservations(ctx, s.Mesh, observation("", "", subjects.Changed))
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
