package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/simulate"
	"feedmesh/tests/engines"
	"feedmesh/tools/bench/report"
)

// A webSize configures feeds that publish like real ones.
type webSize struct {
	feeds, hosts int
	window       int     // maximum number of entries in each document
	rate         float64 // mean rate of a feed, items a day
}

// flags defines the flags of the size.
func (s *webSize) flags(f *flag.FlagSet) {
	f.IntVar(&s.feeds, "feeds", s.feeds, "number of realistic feeds")
	f.IntVar(&s.hosts, "hosts", s.hosts, "loopback addresses that serve them")
	f.IntVar(&s.window, "window", s.window, "maximum entries per feed document")
	f.Float64Var(&s.rate, "rate", s.rate, "items a day of the mean feed")
}

// webFaults is the share of faults in a long-used feed list.
const webFaults = "404=0.02,410=0.005,403=0.005,429=0.005,5xx=0.01,slow=0.005,hang=0.002,reset=0.002,truncated=0.002,bomb=0.0001,redirect=0.02,moved=0.01"

// serveWeb serves the feeds.
func serveWeb(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("serve-web", flag.ContinueOnError)
	var size webSize
	size.flags(flags)
	port := flags.String("port", "", "port on all hosts")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	s := simulate.Settings{
		Feeds: size.feeds, Hosts: size.hosts, Window: size.window, Rate: size.rate, Seed: 1, Zone: startOfWork(time.Now()),
	}
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

// startOfWork returns the offset from UTC, in whole hours from -12 to 11, of a zone where it is 9 o'clock. Feeds publish most
// entries by day, so a run at night would measure another load.
func startOfWork(now time.Time) time.Duration {
	return time.Duration((9-now.UTC().Hour()+36)%24-12) * time.Hour
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

// ledger returns the totals of the feeds so far.
func (w *remoteWeb) ledger(ctx context.Context) (s simulate.Summary, err error) {
	response, err := get(ctx, w.base+"/ledger")
	if err != nil {
		return s, err
	}
	defer response.Body.Close()
	return s, json.NewDecoder(response.Body).Decode(&s)
}

// addTo adds all feeds to a node.
func (w *remoteWeb) addTo(ctx context.Context, node *client.Client) error {
	list, err := get(ctx, w.base+"/feeds.opml")
	if err != nil {
		return err
	}
	defer list.Body.Close()
	_, err = node.ImportFeeds(ctx, list.Body)
	return err
}

// get requests a URL.
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
		return nil, fmt.Errorf("%s returned %s", address, response.Status)
	}
	return response, nil
}
