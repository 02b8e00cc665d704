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

	"feedmesh/agent/fetch"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Proxy is a way to hosts that do not answer us directly.
type Proxy struct {
	ID     string    `json:"id"`
	URL    string    `json:"url" doc:"Of http, https or socks5; xxxxx stands for its password."`
	Hosts  []string  `json:"hosts" doc:"It serves those that end so; none: any that need one."`
	Always bool      `json:"always" doc:"Whether it is used at once, not only when the direct way is refused."`
	Added  time.Time `json:"added"`

	Health *ProxyHealth `json:"health,omitempty" doc:"Told where proxies are listed."`
}

// What is known of a proxy, in a word.
const (
	ProxyWorks    = "works"
	ProxyDoubtful = "doubtful"
	ProxyRests    = "rests"
	ProxyUnknown  = "unknown"
)

// A ProxyHealth is what is known of a proxy, by feeds that go by it and by probes
// without a feed.
type ProxyHealth struct {
	State    string    `json:"state" enum:"works,doubtful,rests,unknown" doc:"Doubtful: it passes probes, but failed when a feed went by it. Rests: no feed goes by it, but those told to. Unknown: not tried of late."`
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

// A ProxySetting is what a person says of a proxy.
type ProxySetting struct {
	URL    string   `json:"url" maxLength:"1024" doc:"Of http, https or socks5, with user and password if it needs them. The password xxxxx keeps the one it has."`
	Hosts  []string `json:"hosts,omitempty" maxItems:"1000" doc:"It serves those that end so, as example.org; none: any that need one."`
	Always bool     `json:"always,omitempty" doc:"Use it at once, not only when the direct way is refused."`
}

func (s *Server) proxyRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/proxies", "list-proxies", "All proxies, ordered by ID", 503), s.listProxies)
	huma.Register(api, op("PUT", "/api/proxies/{id}", "set-proxy", "Add a proxy, or change it", 400, 422, 503), s.setProxy)
	remove := op("DELETE", "/api/proxies/{id}", "remove-proxy", "Remove a proxy; feeds told to go by it go by the rules again", 404, 503)
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

// Proxies returns all proxies, ordered by ID, and what is known of them.
func (s *Server) Proxies(ctx context.Context) (Proxies, error) {
	stored, err := s.Store.Proxies(ctx)
	if err != nil {
		return Proxies{}, err
	}
	out := Proxies{Proxies: make([]Proxy, len(stored))}
	var known *subjects.Proxy
	for i, p := range stored {
		if err == nil { // else the mesh does not answer
			known, err = s.Mesh.Proxy(ctx, p.ID)
		}
		out.Proxies[i] = proxyOf(p)
		out.Proxies[i].Health = proxyHealth(known, err)
	}
	return out, nil
}

// proxyHealth returns what the schedule knows of a proxy, which may be nothing, as
// clients see it; err is why we can't know that.
func proxyHealth(p *subjects.Proxy, err error) *ProxyHealth {
	switch {
	case err != nil:
		return &ProxyHealth{State: ProxyUnknown, Why: err.Error()}
	case p == nil:
		return &ProxyHealth{State: ProxyUnknown}
	}
	h := &ProxyHealth{State: ProxyUnknown, Used: p.Used, Passed: p.Passed, Failures: p.Failures, Until: p.Until, Why: p.Why}
	switch {
	case !p.Until.IsZero():
		h.State = ProxyRests
	case p.Failures > 0:
		h.State = ProxyDoubtful
	case !p.Used.IsZero() || !p.Passed.IsZero():
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
	var faults []error
	if p.ID == direct {
		faults = append(faults, fault("path.id", "direct means no proxy; choose another name"))
	}
	if err := fetch.CheckProxy(p.URL); err != nil {
		faults = append(faults, fault("body.url", "%v", err))
	}
	for _, name := range in.Body.Hosts {
		host, err := hostSuffix(name)
		if err != nil {
			faults = append(faults, fault("body.hosts", "%v", err))
		} else if !slices.Contains(p.Hosts, host) {
			p.Hosts = append(p.Hosts, host)
		}
	}
	if len(faults) > 0 {
		return nil, huma.Error422UnprocessableEntity("the proxy is wrong, nothing was changed", faults...)
	}
	if err := s.Store.PutProxy(ctx, p); err != nil {
		return nil, s.problem(err)
	}
	if err := s.tellOfProxies(ctx); err != nil {
		return nil, s.problem(err)
	}
	return &body[Proxy]{Body: proxyOf(p)}, nil
}

func (s *Server) removeProxy(ctx context.Context, in *byID) (*struct{}, error) {
	if err := s.Store.RemoveProxy(ctx, in.ID); err != nil {
		return nil, s.problem(fmt.Errorf("proxy %s: %w", in.ID, err))
	}
	if err := s.tellOfProxies(ctx); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

// tellOfProxies has the schedule read them, instead of in ten minutes.
func (s *Server) tellOfProxies(ctx context.Context) error {
	return tellSchedule(ctx, s.Mesh, observation("", "", subjects.Changed))
}

// withPassword returns the URL of a proxy with the password of the one before it
// in place of what stands for that in answers, so that an answer can be sent back.
func withPassword(raw, before string) string {
	u, err := url.Parse(raw)
	old, oldErr := url.Parse(before)
	if err != nil || oldErr != nil {
		return raw
	}
	shown, _ := u.User.Password()
	password, is := old.User.Password()
	if !is || shown != hiddenPassword {
		return raw
	}
	u.User = url.UserPassword(u.User.Username(), password)
	return u.String()
}

// hiddenPassword is what [url.URL.Redacted] writes for a password.
const hiddenPassword = "xxxxx"

// hostSuffix returns the end of hosts' names that a person means, in the form
// that hosts have in canonical URLs.
func hostSuffix(name string) (string, error) {
	bare := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(name), "*"), ".")
	canonical, err := storage.CanonicalURL("http://" + bare)
	if err != nil || bare == "" || strings.ContainsAny(bare, "/@?#:") {
		return "", fmt.Errorf("%.100q is no name of a host; write it as example.org", name)
	}
	return strings.TrimSuffix(strings.TrimPrefix(canonical, "http://"), "/"), nil
}
