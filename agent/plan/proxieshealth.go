package plan

import (
	"slices"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// A proxy is what is known of one.
type proxy struct {
	subjects.Proxy
	silent int // probes in a row, of which there was no word
}

const (
	// leastRest and maxRest bound how long a proxy that did not work is left alone.
	// The least is also how long its next probe waits for word of the last one.
	leastRest = time.Minute
	maxRest   = time.Hour

	// idleTime is how long a proxy may go without use before it is probed.
	idleTime = 5 * time.Minute

	// probesUnheard is after how many probes without a word feeds try a proxy whose
	// rest is over: crawlers of an older version do not know probes.
	probesUnheard = 3
)

// LoadProxy takes what was known of a proxy before. It comes before SetProxies.
func (p *Plan) LoadProxy(known subjects.Proxy) {
	if p.proxies.known == nil {
		p.proxies.known = map[string]*proxy{}
	}
	p.proxies.known[known.ID] = &proxy{Proxy: known}
}

// SetProxies takes over the proxies that the store has by now. What was known of
// one that is at another address does not hold any more.
func (p *Plan) SetProxies(all []storage.Proxy) {
	ps := &p.proxies
	before, known := map[string]string{}, map[string]*proxy{}
	for _, x := range ps.all {
		before[x.ID] = x.URL
	}
	for _, x := range all {
		k := ps.known[x.ID]
		if was, is := before[x.ID]; k == nil || is && was != x.URL {
			k = &proxy{Proxy: subjects.Proxy{ID: x.ID}}
			ps.see(k)
		}
		known[x.ID] = k
	}
	ps.all, ps.known = all, known
}

// Probes returns the proxies that are to be probed now, at most as many as go into
// a task: those whose rest is over, and those that nobody used for a while. There
// are none while the network seems to be down, as all would fail.
func (p *Plan) Probes(now time.Time) []subjects.Way {
	if p.outage.on() {
		return nil
	}
	var due []subjects.Way
	for _, x := range p.proxies.all {
		if len(due) < subjects.MaxFeeds && p.proxies.known[x.ID].probeDue(now) {
			due = append(due, subjects.Way{ID: x.ID, URL: x.URL})
		}
	}
	return due
}

// Probed takes note that a task to probe proxies is handed out. They are not due
// again for leastRest, whoever tells of them.
func (p *Plan) Probed(ways []subjects.Way, now time.Time) {
	for _, way := range ways {
		if k := p.proxies.known[way.ID]; k != nil {
			k.Asked = now
			k.silent++
			p.proxies.see(k)
		}
	}
}

func (k *proxy) probeDue(now time.Time) bool {
	if k.Until.IsZero() {
		return now.Sub(k.Used) >= idleTime && now.Sub(k.Passed) >= idleTime && now.Sub(k.Asked) >= idleTime
	}
	return !k.Until.After(now) && now.Sub(k.Asked) >= leastRest
}

// ObserveProbe learns from the end of a probe. One that is passed forgives what
// probes have found. What only feeds run into is forgiven by the next good use:
// until then the rests go on to grow.
func (p *Plan) ObserveProbe(o subjects.Observation, now time.Time) {
	k := p.proxies.known[o.Way]
	if k == nil {
		return
	}
	k.silent = 0
	switch {
	case len(o.Dead) == 0:
		if k.Passed, k.Until = now, (time.Time{}); !k.InUse {
			k.Failures, k.Why = 0, ""
		}
		p.proxies.see(k)
	case !p.outage.on():
		p.proxies.failed(k, o.Error, false, now)
	}
}

// LearnedOfProxies returns the proxies that there is something new to write of
// since the last call.
func (p *Plan) LearnedOfProxies() []subjects.Proxy {
	var learned []subjects.Proxy
	for id := range p.proxies.seen {
		if k := p.proxies.known[id]; k != nil {
			learned = append(learned, k.Proxy)
		}
	}
	p.proxies.seen = nil
	return learned
}

func (ps *proxies) see(k *proxy) {
	if ps.seen == nil {
		ps.seen = map[string]bool{}
	}
	ps.seen[k.ID] = true
}

// note learns from a request which proxies work and which do not.
func (ps *proxies) note(o subjects.Observation, now time.Time) {
	for _, id := range o.Dead {
		if k := ps.known[id]; k != nil {
			why := "a feed could not be fetched by it"
			if id == o.Way && o.Error != "" {
				why = o.Error
			}
			ps.failed(k, why, true, now)
		}
	}
	// Without a host's answer, it may be the proxy that is cut off.
	if k := ps.known[o.Way]; k != nil && o.Status != 0 && !slices.Contains(o.Dead, o.Way) {
		*k = proxy{Proxy: subjects.Proxy{ID: k.ID, Used: now, Passed: k.Passed, Asked: k.Asked}}
		ps.see(k)
	}
}

// failed has a proxy rest, twice as long as the last time.
func (ps *proxies) failed(k *proxy, why string, inUse bool, now time.Time) {
	if k.Until.After(now) {
		return // somebody else has said so just before
	}
	k.Until = now.Add(min(leastRest<<min(k.Failures, 10), maxRest))
	k.Failures++
	k.InUse, k.Why = inUse, why
	ps.see(k)
}

// rests reports whether feeds are not to go by the proxy: until its rest is over
// and a probe was passed.
func (k *proxy) rests(now time.Time) bool {
	return k.Until.After(now) || !k.Until.IsZero() && k.silent < probesUnheard
}
