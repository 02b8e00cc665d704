//go:build unix

package tests

import (
	"syscall"
	"testing"
	"time"

	"feedmesh/agent/simulate"
	"feedmesh/config"
	"feedmesh/tests/engines"
)

const (
	// maxPollingGap is the maximum time without a poll after a NATS server has stopped to answer: 5 to 9 s on a quiet
	// machine, up to 15 s on a busy one, 40 s if only the connection's own pings detect it.
	maxPollingGap = 25 * time.Second
	// takeover is the time in which another server takes over.
	takeover = 30 * time.Second
)

// A NATS server that hangs accepts connections and keeps those that it has, and does not answer. Polling goes on
// over the other servers, whichever of the three hangs.
func TestMesh_NATSServerHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: three servers hang for some seconds each")
	}
	servers, err := engines.StartNATS(t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Kill)
	const feeds = 20
	c := settings(t.TempDir())
	c.Schedule.Interval = time.Second
	for _, url := range servers.URLs() {
		c.NATS = append(c.NATS, config.Address(url))
	}
	n := start(t, c, nil)
	feedServer := simulate.NewFeedServer(feeds, 1, time.Now())
	base := serve(t, feedServer)
	for i := range feeds {
		n.add(base + feedServer.Path(i))
	}
	n.waitSettled()
	for _, s := range servers.Servers {
		hung := time.Now()
		s.Signal(syscall.SIGSTOP)
		gap := pollingGap(t, feedServer, hung)
		t.Logf("%s hangs: no poll for %v", s.Name, gap.Round(100*time.Millisecond))
		if gap > maxPollingGap {
			t.Errorf("%s hangs: got no poll for %v, want %v at most", s.Name, gap, maxPollingGap)
		}
		s.Signal(syscall.SIGCONT)
		for _, s := range servers.Servers {
			if err := s.Ready(time.Minute, s.Healthy); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pollingGap returns the longest time without a poll in the time after since in which another server takes over.
func pollingGap(t *testing.T, f *simulate.FeedServer, since time.Time) (longest time.Duration) {
	t.Helper()
	last := since
	count, _ := f.Count()
	for time.Since(since) < takeover || time.Since(last) > 2*time.Second {
		if time.Since(last) > 2*time.Minute {
			t.Fatal("polling has stopped")
		}
		if n, _ := f.Count(); n != count {
			longest = max(longest, time.Since(last))
			last, count = time.Now(), n
		}
		time.Sleep(20 * time.Millisecond)
	}
	return longest
}
