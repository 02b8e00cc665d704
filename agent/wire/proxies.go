package wire

import (
	"time"

	"feedmesh/agent/access"
)

// A Proxy is a proxy for hosts that refuse direct requests.
type Proxy struct {
	ID     string    `json:"id"`
	URL    string    `json:"url" doc:"Of http, https or socks5, where xxxxx stands for its password; or region:NAME, the crawlers of a region."`
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
	Passed   time.Time `json:"passed,omitzero" doc:"Last time it passed a probe: it was there, and took our user and password. For a region: since when it has crawlers."`
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
	URL    string   `json:"url" maxLength:"1024" doc:"Of http, https or socks5, with user and password if it needs them; or region:NAME, the crawlers of a region. The password xxxxx keeps the one it has."`
	Hosts  []string `json:"hosts,omitempty" maxItems:"1000" doc:"Suffixes of host names that use it, such as example.org; empty: all hosts that need a proxy."`
	Always bool     `json:"always,omitempty" doc:"Always use it, not only after a direct request was blocked."`
}

// A SetProxyRequest adds or changes a proxy.
type SetProxyRequest struct {
	ID   string `path:"id" maxLength:"32" pattern:"^[a-z0-9][a-z0-9-]*$" patternDescription:"lower-case letters, digits and hyphens" doc:"Lower-case letters, digits and hyphens."`
	Body ProxySetting
}

// The operations on proxies.
var (
	ListProxies = Operation[None, Proxies]{ID: "list-proxies", Method: "GET", Path: "/api/proxies", Tag: "proxies", Scope: access.Read,
		Summary: "All proxies, ordered by ID", Errors: []int{503}}
	SetProxy = Operation[SetProxyRequest, Proxy]{ID: "set-proxy", Method: "PUT", Path: "/api/proxies/{id}", Tag: "proxies", Scope: access.Admin,
		Summary: "Add a proxy, or change it", Errors: []int{400, 409, 422, 503}}
	RemoveProxy = Operation[ByID, None]{ID: "remove-proxy", Method: "DELETE", Path: "/api/proxies/{id}", Tag: "proxies", Scope: access.Admin,
		Summary: "Remove a proxy; feeds configured for it use the default routing again", Errors: []int{404, 503}}
)
