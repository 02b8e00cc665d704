package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Proxy is a proxy for hosts that refuse direct requests.
type Proxy struct {
	ID     string    `json:"id"`
	URL    string    `json:"url" doc:"Of http, https or socks5; xxxxx stands for its password."`
	Hosts  []string  `json:"hosts" doc:"Suffixes of host names that use it; empty: all hosts that need a proxy."`
	Always bool      `json:"always" doc:"Whether it is always used, not only after a direct request was blocked."`
	Added  time.Time `json:"added"`

	Health *ProxyHealth `json:"health,omitempty" doc:"Only in lists of proxies."`
}

// The states of a proxy.
const (
	ProxyWorks    = "works"
	ProxyDoubtful = "doubtful"
	ProxyRests    = "rests"
	ProxyUnknown  = "unknown"
)

// A ProxyHealth is the health of a proxy, from polls through it and from probes.
type ProxyHealth struct {
	State    string    `json:"state" enum:"works,doubtful,rests,unknown" doc:"Doubtful: it passes probes, but a poll through it failed. Rests: only feeds configured for it use it. Unknown: not tried recently."`
	Used     time.Time `json:"used,omitzero" doc:"Last time it brought a host's answer."`
	Passed   time.Time `json:"passed,omitzero" doc:"Last time it passed a probe: it was there, and took our user and password."`
	Failures int       `json:"failures" doc:"How often it failed, in a row."`
	Until    time.Time `json:"until,omitzero" doc:"It rests until then, and until it passes a probe."`
	Why      string    `json:"why,omitempty" doc:"In words, what happened when it failed last, or why nothing is known."`
}

// Proxies are all proxies, ordered by ID.
type Proxies struct {
	Proxies []Proxy `json:"proxies"`
}

// A ProxySetting is the configuration of a proxy.
type ProxySetting struct {
	URL    string   `json:"url" maxLength:"1024" doc:"Of http, https or socks5, with user and password if it needs them. The password xxxxx keeps the one it has."`
	Hosts  []string `json:"hosts,omitempty" maxItems:"1000" doc:"Suffixes of host names that use it, such as example.org; empty: all hosts that need a proxy."`
	Always bool     `json:"always,omitempty" doc:"Always use it, not only after a direct request was blocked."`
}

func (s *Server) proxyRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/proxies", "list-proxies", "All proxies, ordered by ID", 503), s.listProxies)
	huma.Register(api, op("PUT", "/api/proxies/{id}", "set-proxy", "Add a proxy, or change it", 400, 422, 503), s.setProxy)
	remove := op("DELETE", "/api/proxies/{id}", "remove-proxy", "Remove a proxy; feeds configured for it use the default routing again", 404, 503)
	remove.DefaultStatus = http.StatusNoContent
	huma.Register(api, remove, s.removeProxy)
}

// proxyOf returns a proxy as clients see it.
func proxyOf(p storage.Proxy) Proxy {
	return Proxy{ID: p.ID, URL: publicURL(p.URL), Hosts: append([]string{}, p.Hosts...), Always: p.Always, Added: p.Added}
}

func (s *Server) listProxies(ctx context.Context, _ *struct{}) (*body[Proxies], error) {
	all, err := s.Proxies(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Proxies]{Body: all}, nil
}

// Proxies returns all proxies, ordered by ID, with their health.
func (s *Server) Proxies(ctx context.Context) (Proxies, error) {
	stored, err := s.Store.Proxies(ctx)
	if err != nil {
		return Proxies{}, err
	}
	out := Proxies{Proxies: make([]Proxy, len(stored))}
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
func proxyHealth(p *subjects.Proxy, err error) *ProxyHealth {
	switch {
	case err != nil:
		return &ProxyHealth{State: ProxyUnknown, Why: err.Error()}
	case p == nil:
		return &ProxyHealth{State: ProxyUnknown}
	}
	h := &ProxyHealth{State: ProxyUnknown, Used: p.LastUsed, Passed: p.ProbePassed, Failures: p.Failures, Until: p.RestUntil, Why: p.Reason}
	switch {
	case !p.RestUntil.IsZero():
		h.State = ProxyRests
	case p.Failures > 0:
		h.State = ProxyDoubtful
	case !p.LastUsed.IsZero() || !p.ProbePassed.IsZero():
		h.State = ProxyWorks
	}
	return h
}

func (s *Server) setProxy(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"32" pattern:"^[a-z0-9][a-z0-9-]*$" patternDescription:"lower-case letters, digits and hyphens"`
	Body ProxySetting
}) (*body[Proxy], error) {
	all, err := s.Store.Proxies(ctx)
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
	if err := s.Store.PutProxy(ctx, p); err != nil {
		return nil, s.problem(err)
	}
	if err := s.publishProxiesChanged(ctx); err != nil {
		return nil, s.problem(err)
	}
	return &body[Proxy]{Body: proxyOf(p)}, nil
}

func (s *Server) removeProxy(ctx context.Context, in *byID) (*struct{}, error) {
	if err := s.Store.RemoveProxy(ctx, in.ID); err != nil {
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
