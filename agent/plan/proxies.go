package plan

import (
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// proxies are the ways to hosts that do not answer us directly.
type proxies struct {
	all  []storage.Proxy
	rest map[string]rest // those that did not work, by ID
}

// A rest is how often in a row a proxy did not work, and until when it is left
// alone for that.
type rest struct {
	failures int
	until    time.Time
}

// maxRest bounds how long a proxy that did not work is left alone.
const maxRest = time.Hour

// maxWays is the most ways that one request may try.
const maxWays = 4

// direct is the name of no proxy, for feeds that are to be fetched without one.
const direct = "direct"

// SetProxies takes over the proxies that the store has by now.
func (p *Plan) SetProxies(all []storage.Proxy) {
	p.proxies.all = all
}

// note learns from a request which proxies work and which do not.
func (ps *proxies) note(o subjects.Observation, now time.Time) {
	if ps.rest == nil {
		ps.rest = map[string]rest{}
	}
	for _, id := range o.Dead {
		r := ps.rest[id]
		if r.until.Before(now) { // else somebody else has said so just before
			r.until = now.Add(min(time.Minute<<min(r.failures, 10), maxRest))
			r.failures++
			ps.rest[id] = r
		}
	}
	if o.Way != "" && !slices.Contains(o.Dead, o.Way) {
		delete(ps.rest, o.Way)
	}
}

// ways returns how a feed is to be reached, in the order to be tried; nil if only
// directly. A proxy that did not work is left out for a while, and then tried
// again; one that was named for the feed is always tried.
func (ps *proxies) ways(f *Feed, now time.Time) []subjects.Way {
	if len(ps.all) == 0 {
		return nil
	}
	if r := f.State.Request; r != nil && r.Proxy != "" {
		i := slices.IndexFunc(ps.all, func(p storage.Proxy) bool { return p.ID == r.Proxy })
		if r.Proxy == direct || i < 0 {
			return nil
		}
		return []subjects.Way{{ID: ps.all[i].ID, URL: ps.all[i].URL}}
	}
	var first, later []subjects.Way
	for _, p := range ps.all {
		if !serves(p, f.host.Name) || ps.rest[p.ID].until.After(now) {
			continue
		}
		way := subjects.Way{ID: p.ID, URL: p.URL}
		switch {
		case p.ID == f.host.Way && now.Sub(f.host.WaySince) < wayFor:
			first = slices.Insert(first, 0, way)
		case p.Always:
			first = append(first, way)
		default:
			later = append(later, way)
		}
	}
	if len(first)+len(later) == 0 {
		return nil
	}
	ways := slices.Concat(first, []subjects.Way{{}}, later)
	return ways[:min(len(ways), maxWays)]
}

// serves reports whether a proxy is for a host: the hosts it names and those
// below them, or any.
func serves(p storage.Proxy, host string) bool {
	return len(p.Hosts) == 0 || slices.ContainsFunc(p.Hosts, func(suffix string) bool {
		return host == suffix || strings.HasSuffix(host, "."+suffix)
	})
}
