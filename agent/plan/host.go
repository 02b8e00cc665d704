package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedmesh/subjects"
)

// A host is asked by one request at a time: one is handed out, or, where requests
// need not be spaced, a few that one task makes one after the other.
type host struct {
	subjects.Host
	lanes   [3]*lane             // by tier; nil where nothing waits
	asking  []*Feed              // whose requests are not answered yet, of one task
	free    time.Time            // no request may begin before
	refused map[string]time.Time // feeds it told to wait, and until when
	feeds   int
}

const (
	// maxSpacing bounds the pace to which a host that says "too many requests"
	// can slow us.
	maxSpacing = 10 * time.Minute

	// hostInTask is how many feeds of a host a task may have: at the crawl's
	// time-out, and one after the other, they still fit into its lease.
	hostInTask = 20

	// refusedFeeds is how many feeds of a host must be told to wait at one time
	// for all its feeds to wait: one alone may be asked too often by others.
	refusedFeeds = 2

	// testEvery is how often a host's validators are put to the test.
	testEvery = 24 * time.Hour

	// distrust is how long a host's validators are left unused after a lie.
	distrust = 7 * 24 * time.Hour

	// wayFor is how long a proxy is remembered before the direct way is tried
	// again.
	wayFor = 24 * time.Hour
)

// asked takes note of when a feed of a host was polled: what was written of the host
// itself may be older.
func (p *Plan) asked(h *host, at time.Time) {
	if at.After(h.Asked) {
		h.Asked = at
		h.free = p.freeAfter(h)
		p.arrange(h)
	}
}

// LoadHost takes what was known of a host before.
func (p *Plan) LoadHost(known subjects.Host) {
	h := p.hosts[known.Name]
	if h == nil {
		return // it has no feeds any more
	}
	asked := h.Asked
	h.Host = known
	h.free = p.freeAfter(h)
	p.arrange(h)
	p.asked(h, asked)
}

// freeAfter returns when a host may be asked again, by when it was asked last.
func (p *Plan) freeAfter(h *host) time.Time {
	free := h.Asked.Add(max(h.Spacing, p.options.Spacing))
	if h.Until.After(free) {
		return h.Until
	}
	return free
}

// share returns how many feeds of a host one task may have.
func (p *Plan) share(h *host) int {
	if p.options.Spacing > 0 || h.Spacing > 0 {
		return 1
	}
	return hostInTask
}

func (p *Plan) hostOf(url string) *host {
	name := HostOf(url)
	h := p.hosts[name]
	if h == nil {
		h = &host{Host: subjects.Host{Name: name}}
		p.hosts[name] = h
	}
	return h
}

// release takes note that a host answered a feed's request, or never will.
func (p *Plan) release(f *Feed) {
	if i := slices.Index(f.host.asking, f); i >= 0 {
		f.host.asking = slices.Delete(f.host.asking, i, i+1)
		p.arrange(f.host)
	}
}

// answered learns from a host's answer to a feed's request, or from its silence.
func (p *Plan) answered(f *Feed, o subjects.Observation, now time.Time) {
	h := f.host
	before := h.Host
	h.Polls++
	h.Asked, h.Status, h.Class = o.Fetched, o.Status, o.Class
	if h.Took += (o.Took.Seconds() - h.Took) / 8; h.Polls == 1 {
		h.Took = o.Took.Seconds()
	}
	p.pace(f, o, now)
	if o.Outcome == subjects.Failed {
		h.Failures++
	} else {
		h.remember(o.Way, now)
	}
	h.free = p.freeAfter(h)
	p.seen[h] = p.seen[h] || h.Spacing != before.Spacing || h.Until != before.Until || h.Why != before.Why || h.WaySince != before.WaySince
	p.release(f)
}

// pace learns how often the host wants to be asked.
func (p *Plan) pace(f *Feed, o subjects.Observation, now time.Time) {
	h := f.host
	switch {
	case o.Status == 429:
		h.Spacing = min(2*max(h.Spacing, p.options.Spacing, time.Second), maxSpacing)
	case o.Outcome != subjects.Failed && h.Spacing > 0:
		if h.Spacing -= h.Spacing / 32; h.Spacing <= p.options.Spacing {
			h.Spacing = 0
		}
	}
	if o.RetryAfter == 0 {
		delete(h.refused, f.FeedID)
	} else {
		if h.refused == nil {
			h.refused = map[string]time.Time{}
		}
		h.refused[f.FeedID] = now.Add(o.RetryAfter)
	}
	h.settle(now)
}

// settle decides whether the host as a whole wants to be left alone.
func (h *host) settle(now time.Time) {
	var until time.Time
	for id, at := range h.refused {
		if !at.After(now) {
			delete(h.refused, id)
		} else if at.After(until) {
			until = at
		}
	}
	if len(h.refused) >= refusedFeeds {
		h.Until = until
	} else if !h.Until.After(now) {
		h.Until = time.Time{}
	}
	switch {
	case !h.Until.IsZero():
		h.Why = fmt.Sprintf("it told %d of its feeds to wait", len(h.refused))
	case h.Spacing > 0:
		h.Why = "it said that there were too many requests"
	default:
		h.Why = ""
	}
}

// remember keeps the proxy that brought an answer.
func (h *host) remember(way string, now time.Time) {
	switch {
	case way == "":
		h.Way, h.WaySince = "", time.Time{}
	case way != h.Way, now.Sub(h.WaySince) >= wayFor: // the direct way was refused again
		h.Way, h.WaySince = way, now
	}
}

// test reports whether a feed's request is to go without its validators: once a
// day, to see whether the host's "not modified" is true, and always for a while
// after it was not.
func (h *host) test(s *subjects.State, now time.Time) bool {
	if s.ETag == "" && s.LastModified == "" {
		return false
	}
	if now.Sub(h.Lied) < distrust {
		return true
	}
	if h.Checked.IsZero() { // a new mesh does not test all hosts at once
		h.Checked = now.Add(-rand.N(testEvery))
	}
	if s.Status != 304 || now.Sub(h.Checked) < testEvery {
		return false
	}
	h.Checked = now
	return true
}
