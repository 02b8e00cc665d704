package plan

import (
	"math"
	"time"

	"feedmesh/subjects"
)

// An outage is when most unrelated hosts fail to answer at once: then it is our
// own network that is down. What fails meanwhile counts against no feed, and
// polling pauses but for a few probes, until one of them is answered.
type outage struct {
	answers []answer // the last ones, oldest first
	since   time.Time
	probe   time.Time // when the last probe went out
}

// An answer is how a host met a feed's request.
type answer struct {
	host string
	feed *Feed // if it did not answer and that was counted against it
	at   time.Time
	came bool
}

const (
	outageHosts = 10               // that fail, at least
	outageShare = 0.9              // of the requests
	outageLooks = time.Minute      // back, and further to see outageLeast answers
	outageLeast = 20               // answers looked at
	outageMost  = 10_000           // answers looked at
	outageStale = 30 * time.Minute // older answers say nothing
	probeEvery  = 15 * time.Second
	probeFeeds  = 3
	retryAfter  = time.Minute // for what failed meanwhile
)

// on reports whether there is an outage.
func (o *outage) on() bool { return !o.since.IsZero() }

// room returns how many feeds may be handed out.
func (o *outage) room(now time.Time) int {
	switch {
	case !o.on():
		return math.MaxInt
	case now.Sub(o.probe) < probeEvery:
		return 0
	}
	return probeFeeds
}

// probed takes note that feeds were handed out.
func (o *outage) probed(now time.Time) { o.probe = now }

// note takes an answer to a feed's request into account, or that there was none.
// It returns the feeds against which failures count that are now known to be our
// own network's.
func (o *outage) note(host string, class string, f *Feed, now time.Time) (forgiven []*Feed) {
	came := !unanswered(class)
	if o.on() && came {
		*o = outage{}
		return nil
	}
	o.answers = append(o.answers, answer{host, f, now, came})
	drop := max(0, len(o.answers)-outageMost)
	for ; drop < len(o.answers)-outageLeast && now.Sub(o.answers[drop].at) > outageLooks; drop++ {
	}
	for ; drop < len(o.answers) && now.Sub(o.answers[drop].at) > outageStale; drop++ {
	}
	o.answers = o.answers[drop:]
	if came || o.on() || !o.begins() {
		return nil
	}
	o.since = now
	for _, a := range o.answers {
		if !a.came && a.feed != f {
			forgiven = append(forgiven, a.feed)
		}
	}
	return forgiven
}

func (o *outage) begins() bool {
	failed := 0
	for _, a := range o.answers {
		if !a.came {
			failed++
		}
	}
	if failed < outageHosts || float64(failed) < outageShare*float64(len(o.answers)) {
		return false
	}
	hosts := map[string]bool{}
	for _, a := range o.answers {
		if !a.came {
			hosts[a.host] = true
		}
	}
	return len(hosts) >= outageHosts
}

// unanswered reports whether a class of error is that of a request that nobody
// answered.
func unanswered(class string) bool {
	switch class {
	case "timeout", "connect", "dns", "reset":
		return true
	}
	return false
}

// Outage returns since when the network seems to be down; zero if it does not.
func (p *Plan) Outage() time.Time { return p.outage.since }

// forgive takes back failures that are our own network's. That is written with
// the feeds' next polls, which are soon.
func (p *Plan) forgive(feeds []*Feed, now time.Time) {
	for _, f := range feeds {
		if f.State.Failures == 0 || f.State.Crawl != "" || p.feeds[f.FeedID] != f {
			continue // answered since
		}
		p.change(f, func() {
			f.State.Weight -= f.State.Weight / float64(f.State.Failures)
			f.State.Failures--
			f.State.Next, f.State.Reason = now.Add(retryAfter), whyForgiven
		})
	}
}

const whyForgiven = "our own network seems to be down"

// forgives reports whether a failure does not count against its feed.
func (p *Plan) forgives(o subjects.Observation) bool {
	return p.outage.on() && o.Outcome == subjects.Failed && unanswered(o.Class)
}
