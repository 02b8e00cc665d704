package plan

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedmesh/subjects"
)

// A hostTable holds the hosts of a plan.
type hostTable struct {
	spacing      time.Duration // minimum interval between starts of requests to one host
	hosts        map[string]*host
	ready        [3]queueHeap   // by tier: queues of hosts without requests in flight
	changedHosts map[*host]bool // since the last call of TakeHistory; true if more changed than the results of the last requests
}

// A host holds the queues of one host's feeds and its request limits. Only one task at a time may request
// from it: one feed, or several in sequence if requests need no spacing.
type host struct {
	subjects.Host
	queues     [3]*hostQueue        // by tier; nil if empty
	inFlight   []*Feed              // feeds of one task without a response yet
	notBefore  time.Time            // earliest start of the next request
	retryAfter map[string]time.Time // by feed ID: end of the Retry-After
	feeds      int
}

const (
	// maxSpacing bounds the spacing that 429 responses can cause.
	maxSpacing = 10 * time.Minute

	// maxHostFeeds bounds the feeds of a host in a task: fetched in sequence, each up to the crawl timeout,
	// they still fit into its lease.
	maxHostFeeds = 20

	// minRefusedFeeds is the number of a host's feeds with a Retry-After from which all its feeds wait. A
	// single feed may be limited because of other clients.
	minRefusedFeeds = 2

	// checkValidatorsEvery is the interval of the tests of a host's validators.
	checkValidatorsEvery = 24 * time.Hour

	// ignoreValidatorsFor is how long a host's validators are not used after a wrong 304.
	ignoreValidatorsFor = 7 * 24 * time.Hour

	// routeMaxAge is how long a host's last working proxy is used first before the direct route is tried
	// again.
	routeMaxAge = 24 * time.Hour
)

// recordRequestTime records a poll of one of the host's feeds. The stored state of the host may be older than
// its feeds' states.
func (t *hostTable) recordRequestTime(h *host, at time.Time) {
	if at.After(h.LastRequest) {
		h.LastRequest = at
		h.notBefore = t.nextRequest(h)
		t.updateReady(h)
	}
}

// LoadHost restores the stored state of a host. Call it after Load of all feeds; hosts without feeds are
// ignored.
func (t *hostTable) LoadHost(stored subjects.Host) {
	h := t.hosts[stored.Name]
	if h == nil {
		return // it has no feeds any more
	}
	lastRequest := h.LastRequest
	h.Host = stored
	h.notBefore = t.nextRequest(h)
	t.updateReady(h)
	t.recordRequestTime(h, lastRequest)
}

// nextRequest returns the earliest time of the host's next request.
func (t *hostTable) nextRequest(h *host) time.Time {
	free := h.LastRequest.Add(max(h.Spacing, t.spacing))
	if h.PausedUntil.After(free) {
		return h.PausedUntil
	}
	return free
}

// maxPerTask returns the number of the host's feeds that one task may contain.
func (t *hostTable) maxPerTask(h *host) int {
	if t.spacing > 0 || h.Spacing > 0 {
		return 1
	}
	return maxHostFeeds
}

func (t *hostTable) hostOf(url string) *host {
	name := subjects.HostOf(url)
	h := t.hosts[name]
	if h == nil {
		h = &host{Host: subjects.Host{Name: name}}
		t.hosts[name] = h
	}
	return h
}

// endRequest removes a feed from the host's requests in flight, after a response or when none is expected any
// more.
func (t *hostTable) endRequest(f *Feed) {
	if i := slices.Index(f.host.inFlight, f); i >= 0 {
		f.host.inFlight = slices.Delete(f.host.inFlight, i, i+1)
		t.updateReady(f.host)
	}
}

// recordResponse updates the host with the result of a feed's request.
func (t *hostTable) recordResponse(f *Feed, o subjects.Observation, now time.Time) {
	h := f.host
	before := h.Host
	h.Polls++
	h.LastRequest, h.Status, h.Class = o.Fetched, o.Status, o.Class
	if h.Latency += (o.Duration.Seconds() - h.Latency) / 8; h.Polls == 1 {
		h.Latency = o.Duration.Seconds()
	}
	t.adjustSpacing(f, o, now)
	if o.Outcome == subjects.Failed {
		h.Failures++
	} else {
		h.setRoute(o.ProxyID, now)
	}
	h.notBefore = t.nextRequest(h)
	t.changedHosts[h] = t.changedHosts[h] || h.Spacing != before.Spacing || h.PausedUntil != before.PausedUntil || h.Reason != before.Reason || h.ProxySince != before.ProxySince
	t.endRequest(f)
}

// adjustSpacing updates the host's spacing and its feeds' Retry-After times.
func (t *hostTable) adjustSpacing(f *Feed, o subjects.Observation, now time.Time) {
	h := f.host
	switch {
	case o.Status == 429:
		h.Spacing = min(2*max(h.Spacing, t.spacing, time.Second), maxSpacing)
	case o.Outcome != subjects.Failed && h.Spacing > 0:
		if h.Spacing -= h.Spacing / 32; h.Spacing <= t.spacing {
			h.Spacing = 0
		}
	}
	if o.RetryAfter == 0 {
		delete(h.retryAfter, f.FeedID)
	} else {
		if h.retryAfter == nil {
			h.retryAfter = map[string]time.Time{}
		}
		h.retryAfter[f.FeedID] = now.Add(o.RetryAfter)
	}
	h.updateUntil(now)
}

// updateUntil decides whether the host as a whole must wait.
func (h *host) updateUntil(now time.Time) {
	var until time.Time
	for id, at := range h.retryAfter {
		if !at.After(now) {
			delete(h.retryAfter, id)
		} else if at.After(until) {
			until = at
		}
	}
	if len(h.retryAfter) >= minRefusedFeeds {
		h.PausedUntil = until
	} else if !h.PausedUntil.After(now) {
		h.PausedUntil = time.Time{}
	}
	switch {
	case !h.PausedUntil.IsZero():
		h.Reason = fmt.Sprintf("Retry-After for %d of its feeds", len(h.retryAfter))
	case h.Spacing > 0:
		h.Reason = "status 429: too many requests"
	default:
		h.Reason = ""
	}
}

// setRoute records the route of a successful request; an empty way is the direct route.
func (h *host) setRoute(proxyID string, now time.Time) {
	switch {
	case proxyID == "":
		h.ProxyID, h.ProxySince = "", time.Time{}
	case proxyID != h.ProxyID, now.Sub(h.ProxySince) >= routeMaxAge: // the direct route failed again
		h.ProxyID, h.ProxySince = proxyID, now
	}
}

// skipValidators reports whether a feed's next request omits its validators: once a day, to test whether the
// host's 304 responses are right, and always for a while after a wrong one.
func (h *host) skipValidators(s *subjects.State, now time.Time) bool {
	if s.ETag == "" && s.LastModified == "" {
		return false
	}
	if now.Sub(h.ValidatorsWrong) < ignoreValidatorsFor {
		return true
	}
	if h.ValidatorsChecked.IsZero() { // a new mesh does not test all hosts together
		h.ValidatorsChecked = now.Add(-rand.N(checkValidatorsEvery))
	}
	if s.Status != 304 || now.Sub(h.ValidatorsChecked) < checkValidatorsEvery {
		return false
	}
	h.ValidatorsChecked = now
	return true
}

// enqueue adds a waiting feed to its queue.
func (t *hostTable) enqueue(f *Feed) {
	if f.State.Next.IsZero() || f.State.Crawl != "" {
		return
	}
	l := f.host.queues[f.tier]
	if l == nil {
		l = &hostQueue{host: f.host, index: -1}
		f.host.queues[f.tier] = l
	}
	heap.Push(&l.feeds, f)
	t.updateReady(f.host)
}

// dequeue removes a feed from its queue.
func (t *hostTable) dequeue(f *Feed) {
	if f.index >= 0 {
		heap.Remove(&f.host.queues[f.tier].feeds, f.index)
		t.updateReady(f.host)
	}
}

// updateReady moves a host's queues to their positions in the ready heaps, or removes them while the host has
// requests in flight. Empty queues are dropped, because hosts are many.
func (t *hostTable) updateReady(h *host) {
	for tier, l := range h.queues {
		if l == nil {
			continue
		}
		ready := &t.ready[tier]
		switch can := len(h.inFlight) == 0 && len(l.feeds) > 0; {
		case can && l.index < 0:
			heap.Push(ready, l)
		case can:
			heap.Fix(ready, l.index)
		case l.index >= 0:
			heap.Remove(ready, l.index)
		}
		if len(l.feeds) == 0 {
			h.queues[tier] = nil
		}
	}
}
