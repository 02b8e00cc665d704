package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/tests/engines"
	"feedmesh/tools/bench/report"
)

// address returns the i-th loopback address of this machine.
func address(i int) string { return fmt.Sprintf("127.1.%d.%d", i/250, 1+i%250) }

// A feedsSize configures the feeds.
type feedsSize struct {
	feeds int
	items int // entries in each document
	hosts int // addresses over which the feeds are distributed
}

// flags defines the flags of the size.
func (s *feedsSize) flags(f *flag.FlagSet) {
	f.IntVar(&s.feeds, "feeds", s.feeds, "number of generated feeds")
	f.IntVar(&s.items, "items", s.items, "entries per feed document")
	f.IntVar(&s.hosts, "hosts", s.hosts, "loopback addresses that serve them")
}

// prepared bounds the documents rendered in advance, in bytes: those of some 30,000 feeds of 20 items.
const prepared = 512 << 20

// serveFeeds serves the feeds on as many addresses as this system supports.
func serveFeeds(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("serve-feeds", flag.ContinueOnError)
	var size feedsSize
	size.flags(flags)
	port := flags.String("port", "", "port on all addresses")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	debug.SetGCPercent(400) // to leave the CPU to the node
	feedServer := simulate.NewFeedServer(size.feeds, size.items, time.Now().Add(-time.Hour))
	feedServer.Prepare(prepared)
	mux := http.NewServeMux()
	mux.Handle("/feed/", feedServer)
	mux.HandleFunc("POST /publish", func(http.ResponseWriter, *http.Request) {
		feedServer.Publish()
		feedServer.Prepare(prepared)
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		requests, _ := feedServer.Count()
		fmt.Fprint(w, requests)
	})
	server := &http.Server{Handler: mux}
	for i := range size.hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(address(i), *port))
		if err != nil {
			return err
		}
		go server.Serve(l)
	}
	<-ctx.Done()
	return server.Close()
}

// A remoteFeeds is the process that serves the feeds.
type remoteFeeds struct {
	process *engines.Process
	base    string
	urls    []string // canonical
}

func startFeedServer(size feedsSize) (*remoteFeeds, error) {
	process, port, err := startServer("serve-feeds", "-feeds", strconv.Itoa(size.feeds), "-items", strconv.Itoa(size.items), "-hosts", strconv.Itoa(size.hosts))
	if err != nil {
		return nil, err
	}
	f := &remoteFeeds{process: process, base: "http://" + net.JoinHostPort(address(0), port)}
	for i := range size.feeds {
		f.urls = append(f.urls, fmt.Sprintf("http://%s/feed/%d", net.JoinHostPort(address(i%size.hosts), port), i))
	}
	err = process.Ready(2*time.Minute, func() error { _, err := f.count(); return err })
	if err != nil {
		f.stop()
		return nil, fmt.Errorf("start the feed server, which needs Linux for many loopback addresses: %w", err)
	}
	return f, nil
}

// startServer starts a server of [servers], with a free port as a flag.
func startServer(name string, args ...string) (process *engines.Process, port string, err error) {
	free, err := engines.FreePort()
	if err != nil {
		return nil, "", err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	port = strconv.Itoa(free)
	process = &engines.Process{Name: name, Path: self, Args: append([]string{name, "-port", port}, args...)}
	return process, port, process.Start()
}

// addTo adds all feeds to a node.
func (f *remoteFeeds) addTo(ctx context.Context, node *client.Client) error {
	_, err := node.ImportFeeds(ctx, strings.NewReader(strings.Join(f.urls, "\n")))
	return err
}

func (f *remoteFeeds) stop() { f.process.Kill() }

// count returns the number of requests for feeds.
func (f *remoteFeeds) count() (int, error) {
	response, err := http.Get(f.base + "/count")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(body))
}

// ids returns the IDs of the feeds in a node.
func (f *remoteFeeds) ids() []string { return feedIDs(f.urls) }

// feedIDs returns the IDs of feeds.
func feedIDs(urls []string) []string {
	ids := make([]string, len(urls))
	for i, url := range urls {
		ids[i] = storage.FeedID(url)
	}
	return ids
}

// poll polls some of the feeds together, and waits until all were requested.
func (f *remoteFeeds) poll(ctx context.Context, node *client.Client, ids []string) error {
	return f.requested(ctx, len(ids), func() error { return doTo(ctx, node, wire.ActionRefresh, ids) })
}

// requested requests polls of some feeds, and waits until that many requests came.
func (f *remoteFeeds) requested(ctx context.Context, n int, request func() error) error {
	since, err := f.count()
	if err != nil {
		return err
	}
	if err := request(); err != nil {
		return err
	}
	return f.waitRequests(ctx, since+n)
}

// waitRequests waits until the total number of requests for feeds reaches a number.
func (f *remoteFeeds) waitRequests(ctx context.Context, n int) error {
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(20 * time.Millisecond) {
		came, err := f.count()
		if err != nil || came >= n {
			return errors.Join(err, ctx.Err())
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("got %d of %d requests within %v", came, n, waitTimeout)
		}
	}
}

// publish publishes one more entry in every feed.
func (f *remoteFeeds) publish() error {
	response, err := http.Post(f.base+"/publish", "", nil)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
