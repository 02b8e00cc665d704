package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/simulate"
	"feedmesh/tests/engines"
)

// A webSize is what feeds there are that behave like real ones.
type webSize struct {
	feeds, hosts int
	window       int     // entries that each shows, at most
	rate         float64 // items a day of the mean feed
}

// flags lets a part's flags set the size.
func (s *webSize) flags(f *flag.FlagSet) {
	f.IntVar(&s.feeds, "feeds", s.feeds, "feeds that publish as real ones do")
	f.IntVar(&s.hosts, "hosts", s.hosts, "addresses of this machine they are spread over")
	f.IntVar(&s.window, "window", s.window, "entries that each shows, at most")
	f.Float64Var(&s.rate, "rate", s.rate, "items a day of the mean feed")
}

// webFaults is what is wrong with feeds of a list that nobody tends.
const webFaults = "404=0.02,410=0.005,403=0.005,429=0.005,5xx=0.01,slow=0.005,hang=0.002,reset=0.002,truncated=0.002,bomb=0.0001,redirect=0.02,moved=0.01"

// serveWeb serves the feeds.
func serveWeb(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("serve-web", flag.ContinueOnError)
	var size webSize
	size.flags(flags)
	port := flags.String("port", "", "of all hosts")
	if err := parse(flags, args); err != nil {
		return err
	}
	s := simulate.Settings{Feeds: size.feeds, Hosts: size.hosts, Window: size.window, Rate: size.rate, Seed: 1}
	if err := s.Faults.UnmarshalText([]byte(webFaults)); err != nil {
		return err
	}
	if err := s.Validate(); err != nil {
		return err
	}
	web, err := simulate.NewWeb(s)
	if err != nil {
		return err
	}
	defer web.Close()
	server, err := web.Serve("127.0.0.1:"+*port, "")
	if err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}

// A remoteWeb is the process that serves the feeds.
type remoteWeb struct {
	process *engines.Process
	base    string
}

func startWeb(ctx context.Context, size webSize) (*remoteWeb, error) {
	process, port, err := startServer("serve-web", "-feeds", strconv.Itoa(size.feeds), "-hosts", strconv.Itoa(size.hosts),
		"-window", strconv.Itoa(size.window), "-rate", fmt.Sprint(size.rate))
	if err != nil {
		return nil, err
	}
	w := &remoteWeb{process, "http://127.0.0.1:" + port}
	if err := process.Ready(time.Minute, func() error { _, err := w.ledger(ctx); return err }); err != nil {
		process.Kill()
		return nil, err
	}
	return w, nil
}

// ledger returns what became of the feeds so far.
func (w *remoteWeb) ledger(ctx context.Context) (s simulate.Summary, err error) {
	response, err := get(ctx, w.base+"/ledger")
	if err != nil {
		return s, err
	}
	defer response.Body.Close()
	return s, json.NewDecoder(response.Body).Decode(&s)
}

// giveTo gives a node all feeds.
func (w *remoteWeb) giveTo(ctx context.Context, node *api.Client) error {
	list, err := get(ctx, w.base+"/feeds.opml")
	if err != nil {
		return err
	}
	defer list.Body.Close()
	_, err = node.ImportFeeds(ctx, list.Body)
	return err
}

// get gets what is at an address.
func get(ctx context.Context, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s says %s", address, response.Status)
	}
	return response, nil
}
