package plan

import (
	"math"
	"time"
)

// An outage is detected if most unrelated hosts fail to answer together: then our own network is down.
// Failures during an outage do not count against feeds, and polling pauses except for a few probes until one
// of them is answered.
type outage struct {
	results []result // the last results, oldest first
	since   time.Time
	probe   time.Time // start of the last probe
}

// A result states whether a host answered a feed's request.
type result struct {
	host     string
	feed     *Feed // if the failure was counted against it
	at       time.Time
	answered bool
}

const (
	outageHosts  = 10               // failing hosts, at least; all hosts if there are fewer
	minHosts     = 3                // with fewer hosts an outage is not distinguished from dead hosts
	outageShare  = 0.9              // failing part of the requests
	outageWindow = time.Minute      // period evaluated; longer if it has fewer than minResults results
	minResults   = 20               // results evaluated, at least
	maxResults   = 10_000           // results buffered, at most
	resultMaxAge = 30 * time.Minute // older results are ignored
	probeEvery   = 15 * time.Second
	probeFeeds   = 3
	outageRetry  = time.Minute // retry delay of requests that failed during an outage
)

// active reports whether an outage is active.
func (o *outage) active() bool { return !o.since.IsZero() }

// capacity returns the number of feeds that may be dispatched.
func (o *outage) capacity(now time.Time) int {
	switch {
	case !o.active():
		return math.MaxInt
	case now.Sub(o.probe) < probeEvery:
		return 0
	}
	return probeFeeds
}

// recordProbe records that feeds were dispatched.
func (o *outage) recordProbe(now time.Time) { o.probe = now }

// record adds the result of a feed's request; hosts is the number of all hosts. If it starts an outage, record
// returns the feeds whose earlier failures must be undone.
func (o *outage) record(host string, class string, f *Feed, hosts int, now time.Time) (forgiven []*Feed) {
	answered := !unanswered(class)
	if o.active() && answered {
		*o = outage{}
		return nil
	}
	o.results = append(o.results, result{host, f, now, answered})
	drop := max(0, len(o.results)-maxResults)
	for ; drop < len(o.results)-minResults && now.Sub(o.results[drop].at) > outageWindow; drop++ {
	}
	for ; drop < len(o.results) && now.Sub(o.results[drop].at) > resultMaxAge; drop++ {
	}
	o.results = o.results[drop:]
	if answered || o.active() || !o.detected(min(outageHosts, max(minHosts, hosts))) {
		return nil
	}
	o.since = now
	for _, a := range o.results {
		if !a.answered && a.feed != f {
			forgiven = append(forgiven, a.feed)
		}
	}
	return forgiven
}

// detected reports whether nearly all requests failed, to at least needed hosts.
func (o *outage) detected(needed int) bool {
	failed := 0
	for _, a := range o.results {
		if !a.answered {
			failed++
		}
	}
	if failed < needed || float64(failed) < outageShare*float64(len(o.results)) {
		return false
	}
	hosts := map[string]bool{}
	for _, a := range o.results {
		if !a.answered {
			hosts[a.host] = true
		}
	}
	return len(hosts) >= needed
}

// unanswered reports whether an error class means that the host did not respond.
func unanswered(class string) bool {
	switch class {
	case "timeout", "connect", "dns", "resolver", "reset":
		return true
	}
	return false
}

const outageReason = "our own network seems to be down"
