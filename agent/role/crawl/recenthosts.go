package crawl

import (
	"sync"
	"time"

	"feedmesh/agent/role/crawl/fetch"
)

// maxRecentHosts bounds the cache: each of its two generations contains at most this number of hosts.
const maxRecentHosts = 1024

// recentHosts caches the hosts of recent fetches, to decide which connections are worth keeping open. Most
// hosts have one feed, which is due again long after an idle connection is closed. An idle connection
// (goroutines, buffers, timers, the later close) costs nearly a third of a fetch without news. The zero value
// is empty. Its methods may be called concurrently.
type recentHosts struct {
	mu                sync.Mutex
	since             time.Time
	current, previous map[string]bool // hosts since that time, and in the generation before
}

// visit records a fetch from a host, and reports whether another one is in the cache: within the idle timeout
// of connections, or up to twice that, and among the last maxRecentHosts hosts.
func (o *recentHosts) visit(host string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if age := now.Sub(o.since); o.current == nil || age >= fetch.IdleTimeout || len(o.current) >= maxRecentHosts {
		o.previous = o.current
		if age >= 2*fetch.IdleTimeout {
			o.previous = nil
		}
		o.current, o.since = map[string]bool{}, now
	}
	seen := o.current[host] || o.previous[host]
	o.current[host] = true
	return seen
}
