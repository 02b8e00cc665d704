package tests

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// A probe measures the longest time that requests take to arrive at a server of this machine. Other load delays
// them, and with them the times at which a test's server sees the requests of a node.
type probe struct {
	mu      sync.Mutex
	longest time.Duration
}

// startProbe sends requests until the test ends.
func startProbe(t *testing.T) *probe {
	t.Helper()
	p := &probe{}
	arrived := make(chan time.Time, 1)
	address := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- time.Now() }))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var group sync.WaitGroup
	t.Cleanup(group.Wait)
	group.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-t.Context().Done():
				tick.Stop()
				return
			case began := <-tick.C: // the late delivery of a tick counts
				response, err := client.Get(address)
				if err != nil {
					continue
				}
				response.Body.Close()
				p.add((<-arrived).Sub(began))
			}
		}
	})
	return p
}

func (p *probe) add(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.longest = max(p.longest, d)
}

// delay returns the longest time so far.
func (p *probe) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.longest
}
