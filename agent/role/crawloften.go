package role

import (
	"sync"
	"time"

	"feedmesh/agent/fetch"
)

// oftenHosts is how many hosts are remembered to have been asked, twice at most.
const oftenHosts = 1024

// often knows which hosts are asked often. Most are not: they have one feed, which is
// due again when they have long closed a connection that was left open for it. What
// an open one costs (goroutines, buffers, timers, being closed some time) is nearly a
// third of what asking takes where nothing is new. The zero value knows of none. Its
// methods may be called concurrently.
type often struct {
	mu          sync.Mutex
	since       time.Time
	now, before map[string]bool // the hosts asked since then, and in the time before
}

// ask notes that a host is asked, and reports whether it was asked of late: within
// the time that connections are kept open for, or up to twice that, but not before
// the last oftenHosts others.
func (o *often) ask(host string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if age := now.Sub(o.since); o.now == nil || age >= fetch.KeptFor || len(o.now) >= oftenHosts {
		o.before = o.now
		if age >= 2*fetch.KeptFor {
			o.before = nil
		}
		o.now, o.since = map[string]bool{}, now
	}
	again := o.now[host] || o.before[host]
	o.now[host] = true
	return again
}
