package plan

import (
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// proxies holds the configured proxies and their states.
type proxies struct {
	all     []storage.Proxy
	states  map[string]*proxyState // by ID
	changed map[string]bool        // IDs of states to be written
	network *outage                // during which proxies are not probed
	regions regions
	tried   map[string][]string // by feed ID: proxies by which a poll failed that continues with the others; "" is the direct route
}

const (
	// maxRoutes bounds the routes that one request may try.
	maxRoutes = 4

	// direct is the proxy setting of feeds that must be fetched without a proxy.
	direct = "direct"
)

// A path is the part of a feed's routes that the crawlers of one region take in one task.
type path struct {
	region string           // empty: the crawlers without a region
	routes []subjects.Route // in the order to try them; nil for the direct route only
	last   bool             // no routes follow
}

// path returns the part of a feed's routes for its next request: the first that did not fail in this poll.
func (ps *proxies) path(f *Feed, now time.Time) path {
	all := ps.routes(f, now)
	if len(all) == 0 {
		return path{last: true}
	}
	routes, tried := all, ps.tried[f.FeedID]
	if len(tried) > 0 {
		routes = slices.DeleteFunc(slices.Clone(all), func(r subjects.Route) bool { return slices.Contains(tried, r.ID) })
	}
	if len(routes) == 0 { // those that were left rest since
		routes = all
	}
	region := ps.regionOf(routes[0].ID)
	if region != "" {
		return path{region, []subjects.Route{{ID: routes[0].ID}}, len(routes) == 1} // its crawlers connect directly
	}
	n := slices.IndexFunc(routes, func(r subjects.Route) bool { return ps.regionOf(r.ID) != "" })
	if n < 0 {
		n = len(routes)
	}
	return path{"", routes[:n], n == len(routes)}
}

// routes returns all routes for a feed's request in the order to try them; nil for the direct route only.
// Resting proxies are left out, except a proxy selected in the feed's settings.
func (ps *proxies) routes(f *Feed, now time.Time) []subjects.Route {
	if len(ps.all) == 0 {
		return nil
	}
	if r := f.State.Request; r != nil && r.Proxy != "" {
		i := slices.IndexFunc(ps.all, func(p storage.Proxy) bool { return p.ID == r.Proxy })
		if r.Proxy == direct || i < 0 {
			return nil
		}
		return []subjects.Route{{ID: ps.all[i].ID, URL: ps.all[i].URL}}
	}
	var first, later []subjects.Route
	for _, p := range ps.all {
		if !serves(p, f.host.Name) || ps.states[p.ID].isResting(now) {
			continue
		}
		route := subjects.Route{ID: p.ID, URL: p.URL}
		switch {
		case p.ID == f.host.ProxyID && now.Sub(f.host.ProxySince) < routeMaxAge:
			first = slices.Insert(first, 0, route)
		case p.Always:
			first = append(first, route)
		default:
			later = append(later, route)
		}
	}
	if len(first)+len(later) == 0 {
		return nil
	}
	routes := slices.Concat(first, []subjects.Route{{}}, later)
	return routes[:min(len(routes), maxRoutes)]
}

// serves reports whether a proxy is configured for a host: any host, or the listed hosts and their
// subdomains.
func serves(p storage.Proxy, host string) bool {
	return len(p.Hosts) == 0 || slices.ContainsFunc(p.Hosts, func(suffix string) bool {
		return host == suffix || strings.HasSuffix(host, "."+suffix)
	})
}
