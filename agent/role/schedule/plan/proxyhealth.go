package plan

import (
	"slices"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// A proxyState is the health of a proxy.
type proxyState struct {
	subjects.Proxy
	unanswered int // consecutive probes without a result
}

const (
	// minRest and maxRest bound how long a failed proxy is not used. minRest is also the timeout of a probe's
	// result.
	minRest = time.Minute
	maxRest = time.Hour

	// probeIdleAfter is the idle time after which a proxy is probed.
	probeIdleAfter = 5 * time.Minute

	// maxUnansweredProbes is the number of probes without a result after which feeds use a proxy whose rest
	// is over: crawlers of older versions ignore probes.
	maxUnansweredProbes = 3
)

// LoadProxy restores the stored state of a proxy. Call it before SetProxies.
func (ps *proxies) LoadProxy(stored subjects.Proxy) {
	if ps.states == nil {
		ps.states = map[string]*proxyState{}
	}
	ps.states[stored.ID] = &proxyState{Proxy: stored}
}

// SetProxies replaces the proxies by those of the store. The state of a proxy whose address changed is
// discarded.
func (ps *proxies) SetProxies(all []storage.Proxy) {
	before, states := map[string]string{}, map[string]*proxyState{}
	for _, x := range ps.all {
		before[x.ID] = x.URL
	}
	for _, x := range all {
		k := ps.states[x.ID]
		if was, is := before[x.ID]; k == nil || is && was != x.URL {
			k = &proxyState{Proxy: subjects.Proxy{ID: x.ID}}
			ps.markChanged(k)
		}
		states[x.ID] = k
	}
	ps.all, ps.states = all, states
}

// Probes returns the proxies to probe now, at most as many as fit into a task: those whose rest is over, and
// idle ones. During a network outage it returns none, because all would fail. Regions are not probed: see SetRegions.
func (ps *proxies) Probes(now time.Time) []subjects.Route {
	if ps.network.active() {
		return nil
	}
	var due []subjects.Route
	for _, x := range ps.all {
		if len(due) < subjects.MaxFeeds && x.Region() == "" && ps.states[x.ID].probeDue(now) {
			due = append(due, subjects.Route{ID: x.ID, URL: x.URL})
		}
	}
	return due
}

// Probed records that a probe task was dispatched. Its proxies are not due again for minRest, whether or not
// results arrive.
func (ps *proxies) Probed(routes []subjects.Route, now time.Time) {
	for _, route := range routes {
		if k := ps.states[route.ID]; k != nil {
			k.ProbeSent = now
			k.unanswered++
			ps.markChanged(k)
		}
	}
}

func (k *proxyState) probeDue(now time.Time) bool {
	if k.RestUntil.IsZero() {
		return now.Sub(k.LastUsed) >= probeIdleAfter && now.Sub(k.ProbePassed) >= probeIdleAfter && now.Sub(k.ProbeSent) >= probeIdleAfter
	}
	return !k.RestUntil.After(now) && now.Sub(k.ProbeSent) >= minRest
}

// ObserveProbe updates a proxy with the result of a probe. A passed probe resets failures that probes found.
// Failures of feed requests are reset only by the next successful request; until then rests keep growing.
func (ps *proxies) ObserveProbe(o subjects.Observation, now time.Time) {
	k := ps.states[o.ProxyID]
	if k == nil {
		return
	}
	k.unanswered = 0
	switch {
	case len(o.FailedProxies) == 0:
		if k.ProbePassed, k.RestUntil = now, (time.Time{}); !k.InUse {
			k.Failures, k.Reason = 0, ""
		}
		ps.markChanged(k)
	case !ps.network.active():
		ps.failed(k, o.Error, false, now)
	}
}

// TakeProxies returns the proxy states changed since the last call.
func (ps *proxies) TakeProxies() []subjects.Proxy {
	var learned []subjects.Proxy
	for id := range ps.changed {
		if k := ps.states[id]; k != nil {
			learned = append(learned, k.Proxy)
		}
	}
	ps.changed = nil
	return learned
}

func (ps *proxies) markChanged(k *proxyState) {
	if ps.changed == nil {
		ps.changed = map[string]bool{}
	}
	ps.changed[k.ID] = true
}

// record updates proxy states with the result of a request.
func (ps *proxies) record(o subjects.Observation, now time.Time) {
	for _, id := range o.FailedProxies {
		if k := ps.states[id]; k != nil {
			why := "a feed could not be fetched through it"
			if id == o.ProxyID && o.Error != "" {
				why = o.Error
			}
			ps.failed(k, why, true, now)
		}
	}
	// Without a response of the host, the proxy itself may be disconnected.
	if k := ps.states[o.ProxyID]; k != nil && o.Status != 0 && !slices.Contains(o.FailedProxies, o.ProxyID) {
		*k = proxyState{Proxy: subjects.Proxy{ID: k.ID, LastUsed: now, ProbePassed: k.ProbePassed, ProbeSent: k.ProbeSent}}
		ps.markChanged(k)
	}
}

// failed starts a proxy's rest, twice as long as the last one.
func (ps *proxies) failed(k *proxyState, why string, inUse bool, now time.Time) {
	if k.RestUntil.After(now) {
		return // another result reported the failure already
	}
	k.RestUntil = now.Add(min(minRest<<min(k.Failures, 10), maxRest))
	k.Failures++
	k.InUse, k.Reason = inUse, why
	ps.markChanged(k)
}

// isResting reports whether feeds must not use the proxy: until its rest is over and a probe has passed.
func (k *proxyState) isResting(now time.Time) bool {
	return k.RestUntil.After(now) || !k.RestUntil.IsZero() && k.unanswered < maxUnansweredProbes
}
