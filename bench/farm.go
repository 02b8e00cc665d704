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

	"feedmesh/agent/api"
	"feedmesh/agent/simulate"
	"feedmesh/storage"
	"feedmesh/tests/engines"
)

// address returns the i-th address of this machine, all of them loopback ones.
func address(i int) string { return fmt.Sprintf("127.1.%d.%d", i/250, 1+i%250) }

// A farmSize is what feeds there are.
type farmSize struct {
	feeds int
	items int // entries that each shows
	hosts int // addresses of this machine they are spread over
}

// flags lets a part's flags set the size.
func (s *farmSize) flags(f *flag.FlagSet) {
	f.IntVar(&s.feeds, "feeds", s.feeds, "synthetic feeds")
	f.IntVar(&s.items, "items", s.items, "entries that each shows")
	f.IntVar(&s.hosts, "hosts", s.hosts, "addresses of this machine they are spread over")
}

// prepared is how many bytes of documents are made before they are asked for: those
// of some 30,000 feeds of 20 items.
const prepared = 512 << 20

// serveFarm serves the feeds on as many addresses as this system has of them.
func serveFarm(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("serve-farm", flag.ContinueOnError)
	var size farmSize
	size.flags(flags)
	port := flags.String("port", "", "of all addresses")
	if err := parse(flags, args); err != nil {
		return err
	}
	debug.SetGCPercent(400) // what it takes of the processor is not the node's to have
	farm := simulate.NewFarm(size.feeds, size.items, time.Now().Add(-time.Hour))
	farm.Prepare(prepared)
	mux := http.NewServeMux()
	mux.Handle("/feed/", farm)
	mux.HandleFunc("POST /publish", func(http.ResponseWriter, *http.Request) {
		farm.Publish()
		farm.Prepare(prepared)
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		requests, _ := farm.Count()
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

// A remoteFarm is the process that serves the feeds.
type remoteFarm struct {
	process *engines.Process
	base    string
	urls    []string // canonical
}

func startFarm(size farmSize) (*remoteFarm, error) {
	process, port, err := startServer("serve-farm", "-feeds", strconv.Itoa(size.feeds), "-items", strconv.Itoa(size.items), "-hosts", strconv.Itoa(size.hosts))
	if err != nil {
		return nil, err
	}
	f := &remoteFarm{process: process, base: "http://" + net.JoinHostPort(address(0), port)}
	for i := range size.feeds {
		f.urls = append(f.urls, fmt.Sprintf("http://%s/feed/%d", net.JoinHostPort(address(i%size.hosts), port), i))
	}
	err = process.Ready(2*time.Minute, func() error { _, err := f.count(); return err })
	if err != nil {
		f.stop()
		return nil, fmt.Errorf("the farm does not serve; it needs Linux, for many loopback addresses: %w", err)
	}
	return f, nil
}

// startServer starts one of [servers], which gets a free port as a flag.
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

// giveTo gives a node all feeds.
func (f *remoteFarm) giveTo(ctx context.Context, node *api.Client) error {
	_, err := node.ImportFeeds(ctx, strings.NewReader(strings.Join(f.urls, "\n")))
	return err
}

func (f *remoteFarm) stop() { f.process.Kill() }

// count returns how many requests for feeds came.
func (f *remoteFarm) count() (int, error) {
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

// ids returns the IDs that a node gives the feeds.
func (f *remoteFarm) ids() []string {
	ids := make([]string, len(f.urls))
	for i, url := range f.urls {
		ids[i] = storage.FeedID(url)
	}
	return ids
}

// poll has a node poll some of the feeds at once, and waits until all were asked for.
func (f *remoteFarm) poll(ctx context.Context, node *api.Client, ids []string) error {
	since, err := f.count()
	if err != nil {
		return err
	}
	if err := doTo(ctx, node, api.Refresh, ids); err != nil {
		return err
	}
	return f.asked(ctx, since+len(ids))
}

// asked waits until so many requests for feeds came in all.
func (f *remoteFarm) asked(ctx context.Context, n int) error {
	for deadline := time.Now().Add(atMost); ; time.Sleep(20 * time.Millisecond) {
		came, err := f.count()
		if err != nil || came >= n {
			return errors.Join(err, ctx.Err())
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d requests came within %v", came, n, atMost)
		}
	}
}

// publish has every feed publish one more entry.
func (f *remoteFarm) publish() error {
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
