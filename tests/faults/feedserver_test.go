//go:build linux

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
	"time"

	"feedmesh/agent/simulate"
	"feedmesh/tests/engines"
)

const (
	feedsPerHost = 2
	entriesAtNew = 3  // of each feed at the start
	window       = 30 // entries in a feed's document: those of some minutes
	latency      = 5 * time.Millisecond
)

// A feedServer is a simulated web: feeds on many hosts of this machine, which publish by a plan that depends on a
// seed.
type feedServer struct {
	*simulate.FeedServer
	feeds int
	port  int
}

// newFeedServer serves the feeds until the test ends.
func newFeedServer(t *testing.T, feeds int) *feedServer {
	t.Helper()
	port, err := engines.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	f := &feedServer{FeedServer: simulate.NewFeedServer(feeds, entriesAtNew, time.Now().Add(-time.Hour)), feeds: feeds, port: port}
	f.SetLatency(latency)
	f.SetWindow(window)
	hosts := http.NewServeMux()
	hosts.Handle("/feed/", f.FeedServer)
	serveBad(hosts)
	server := &http.Server{Handler: hosts}
	t.Cleanup(func() { server.Close() })
	for host := range (feeds + feedsPerHost - 1) / feedsPerHost {
		l, err := net.Listen("tcp", f.host(host))
		if err != nil {
			t.Fatal(err)
		}
		go server.Serve(l)
	}
	return f
}

// host returns the IP address of a host of the feed server.
func (f *feedServer) host(i int) string { return fmt.Sprintf("127.1.%d.%d:%d", i/250, i%250+1, f.port) }

// url returns the URL of a feed.
func (f *feedServer) url(feed int) string {
	return "http://" + f.host(feed/feedsPerHost) + f.Path(feed)
}

// publish publishes entries at a mean rate a second until ctx ends; the seed decides the feeds and the
// intervals.
func (f *feedServer) publish(ctx context.Context, seed uint64, rate float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	next := time.Now()
	for ctx.Err() == nil {
		next = next.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second)))
		select {
		case <-time.After(time.Until(next)):
			f.PublishIn(random.IntN(f.feeds))
		case <-ctx.Done():
		}
	}
}
