package command

import (
	"testing"
	"time"

	"feedmesh/agent/wire"
)

func TestProxyState(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 39, 30, 0, time.Local)
	for want, h := range map[string]*wire.ProxyHealth{
		"unknown":                      nil,
		"not used yet":                 {State: wire.ProxyUnknown},
		"unknown: the mesh is away":    {State: wire.ProxyUnknown, Why: "the mesh is away"},
		"works, last used 12 s ago":    {State: wire.ProxyWorks, Used: now.Add(-12 * time.Second), Passed: now.Add(-time.Hour)},
		"works, last probed 4 min ago": {State: wire.ProxyWorks, Passed: now.Add(-4 * time.Minute), Used: now.Add(-time.Hour)},
		"suspended until 12:40 after 3 failures: connection refused":    {State: wire.ProxyRests, Failures: 3, Until: now.Add(30 * time.Second), Why: "connection refused"},
		"suspended until it passes a probe, after 1 failure":            {State: wire.ProxyRests, Failures: 1, Until: now},
		"passes probes, but failed 2 times in a row in use: it refuses": {State: wire.ProxyDoubtful, Failures: 2, Passed: now, Why: "it refuses"},
	} {
		if got := proxyState(wire.Proxy{URL: "http://proxy.example", Health: h}, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, h := range map[string]*wire.ProxyHealth{
		"works, last used 12 s ago":                             {State: wire.ProxyWorks, Used: now.Add(-12 * time.Second), Passed: now.Add(-time.Hour)},
		"works, with crawlers since 4 min ago":                  {State: wire.ProxyWorks, Passed: now.Add(-4 * time.Minute)},
		"suspended: no agent has the role crawl in this region": {State: wire.ProxyRests, Failures: 1, Until: now, Why: "no agent has the role crawl in this region"},
	} {
		if got := proxyState(wire.Proxy{URL: "region:us", Health: h}, now); got != want {
			t.Errorf("region: got %q, want %q", got, want)
		}
	}
}
