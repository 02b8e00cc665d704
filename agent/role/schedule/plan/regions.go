package plan

import (
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// regions holds what is known of the crawlers of each region.
type regions struct {
	capacity map[string]int           // further tasks that the queue of each region with crawlers takes; nil: not known yet
	waiting  map[string]regionWaiting // by region without crawlers
}

// A regionWaiting is the time in which feeds waited for a region.
type regionWaiting struct{ since, last time.Time }

const (
	// regionRetry is the delay of the retry of a feed whose region has no crawlers or enough tasks.
	regionRetry = time.Minute

	// unknownRetry is the delay of the retry while the crawlers are not known.
	unknownRetry = time.Second

	// waitingTimeout is the time for which a region without crawlers is reported after the last retry of a feed that waits for it.
	waitingTimeout = 2 * regionRetry
)

// queued records that a task was queued for a region.
func (r *regions) queued(region string) {
	if region != "" {
		r.capacity[region]--
	}
}

// SetRegions sets the number of further tasks that the queue of each region takes; regions that it does not name have
// no crawlers, and rest.
func (p *Plan) SetRegions(capacity map[string]int, now time.Time) {
	p.regions.capacity = maps.Clone(capacity)
	for region := range capacity {
		delete(p.regions.waiting, region)
	}
	for _, x := range p.proxies.all {
		region := x.Region()
		if region == "" {
			continue
		}
		state := p.proxies.states[x.ID]
		_, crawled := capacity[region]
		switch {
		case crawled && (!state.RestUntil.IsZero() || state.ProbePassed.IsZero()):
			state.ProbePassed, state.RestUntil, state.Failures, state.Reason = now, time.Time{}, 0, ""
			p.retryBy(x, now)
		case !crawled && state.RestUntil.IsZero():
			state.RestUntil, state.Reason = now, noCrawler
			state.Failures++
		default:
			continue
		}
		p.proxies.markChanged(state)
	}
}

// retryBy makes the retries of feeds due that waited for a region, or failed while it rested though their hosts had answered it.
func (p *Plan) retryBy(x storage.Proxy, now time.Time) {
	for _, f := range p.feeds {
		waited := f.State.Reason == noCrawler && p.proxies.path(f, now).region == x.Region()
		failed := f.host.ProxyID == x.ID && f.State.Failures > 0
		if (waited || failed) && f.State.Crawl == "" && f.State.Next.After(now) {
			p.change(f, func() { f.State.Next, f.State.Reason = now, "its region has crawlers again" })
		}
	}
}

// HasRegions reports whether feeds may be routed through a region.
func (p *Plan) HasRegions() bool {
	return slices.ContainsFunc(p.proxies.all, func(x storage.Proxy) bool { return x.Region() != "" })
}

// RegionsMissing returns the regions without crawlers for which feeds wait, by name.
func (p *Plan) RegionsMissing(now time.Time) (missing []subjects.MissingRegion) {
	for _, region := range slices.Sorted(maps.Keys(p.regions.waiting)) {
		if w := p.regions.waiting[region]; now.Sub(w.last) < waitingTimeout {
			missing = append(missing, subjects.MissingRegion{Region: region, Since: w.since})
		}
	}
	return missing
}

// noCrawler is the reason why a region rests, and why feeds wait for it.
const noCrawler = "no agent has the role crawl in this region"

// postpone delays the dispatch of a feed to a retry if its region can't take a task now, and reports whether it did.
func (p *Plan) postpone(f *Feed, now time.Time) bool {
	region := p.proxies.path(f, now).region
	if region == "" {
		return false
	}
	capacity, crawled := p.regions.capacity[region]
	reason, wait := "the crawlers of its region have enough tasks", regionRetry
	switch {
	case capacity > 0:
		return false
	case p.regions.capacity == nil:
		reason, wait = "the crawlers of its region are not known yet", unknownRetry
	case !crawled:
		reason = noCrawler
		p.regions.wait(region, now)
	}
	p.change(f, func() { f.State.Next, f.State.Reason = now.Add(wait), reason })
	return true
}

// wait records that a feed waits for a region without crawlers.
func (r *regions) wait(region string, now time.Time) {
	w, known := r.waiting[region]
	if !known || now.Sub(w.last) >= waitingTimeout {
		w.since = now
	}
	w.last = now
	if r.waiting == nil {
		r.waiting = map[string]regionWaiting{}
	}
	r.waiting[region] = w
}

// continueElsewhere makes a retry of a poll due at once, by the next routes, if it failed by those of one region, and reports
// whether it did. After a restart of the schedule the retry begins with the first routes.
func (p *Plan) continueElsewhere(f *Feed, o subjects.Observation, now time.Time) bool {
	if o.Outcome != subjects.Failed || !o.OtherRoute {
		return false
	}
	path := p.proxies.path(f, now)
	if path.last || p.proxies.regionOf(o.ProxyID) != path.region { // or the routes have changed since
		return false
	}
	if p.tried == nil {
		p.tried = map[string][]string{}
	}
	for _, route := range path.routes {
		p.tried[f.FeedID] = append(p.tried[f.FeedID], route.ID)
	}
	p.endCrawl(f)
	p.change(f, func() { f.State.Next, f.State.Reason = now, "other routes failed" })
	return true
}

// regionOf returns the region of a route, empty for proxy servers, the direct route and unknown proxies.
func (ps *proxies) regionOf(proxyID string) string {
	for _, x := range ps.all {
		if x.ID == proxyID {
			return x.Region()
		}
	}
	return ""
}
