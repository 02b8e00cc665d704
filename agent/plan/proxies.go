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
	all   []storage.Proxy
	known map[string]*proxy // by ID
	seen  map[string]bool   // of which there is something new to write
}

const (
	// maxWays is the most ways that one request may try.
	maxWays = 4

	// direct is the name of no proxy, for feeds that are to be fetched without one.
	direct = "direct"
)

// ways returns how a feed is to be reached, in the order to be tried; nil if only
// directly. A proxy that rests is left out; one that was named for the feed is
// always tried.
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
		if !serves(p, f.host.Name) || ps.known[p.ID].rests(now) {
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
