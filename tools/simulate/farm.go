package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"feedmesh/agent/opml"
	"feedmesh/agent/simulate"
	"feedmesh/tools/command"
)

// A simulateFarmCommand serves synthetic feeds.
type simulateFarmCommand struct {
	Feeds  int             `default:"500" help:"Number of feeds."`
	Hosts  int             `help:"Number of hosts, each with its own loopback address; by default one per feed. At most 1 where 127.0.0.1 is the only loopback address, as on macOS."`
	Listen string          `default:"127.0.0.1:9090" placeholder:"ADDR" help:"Port of all hosts. With several hosts the program listens on all addresses, but closes connections from other machines."`
	Proxy  string          `placeholder:"ADDR" help:"Address of a forward proxy to the hosts; through it, feeds with the fault 403 can be fetched."`
	Seed   uint64          `default:"1" help:"Seed of the random generator."`
	Rate   float64         `default:"3" help:"Mean number of items a day per feed; 17 of 100 feeds publish 97 of 100 items."`
	Speed  float64         `default:"1" help:"Speed of the simulated clock, as a multiple of real time."`
	Faults simulate.Faults `placeholder:"LIST" help:"Share of the feeds with a fault, by fault, such as 404=0.01,hang=0.001."`
	OPML   string          `name:"opml" placeholder:"FILE" help:"Write the list of feeds to this file; it is also served at /feeds.opml."`
	Log    string          `placeholder:"FILE" help:"Append a line of JSON to this file for each request; also served at /log."`
}

// Help implements kong's HelpProvider.
func (simulateFarmCommand) Help() string {
	return `Run a node that polls synthetic feeds, in another terminal:

    go run ./tools/simulate farm --feeds 1000 --opml farm.opml
    agent --data ./farm --no-starter --allow-net 127.0.0.0/8
    agent feeds import farm.opml

Statistics of requests so far (polls, spacing, overlaps, missed items):

    curl http://127.0.0.1:9090/ledger

Faults: 404 and 410; 403, except through --proxy; 429 and 5xx, every other hour, some with Retry-After; slow, hang, reset, truncated; bomb, 1 MB that decompresses to 1 GB; redirect and moved, to another URL, temporarily or permanently.

It serves until SIGINT or SIGTERM, then prints the statistics.`
}

// Run implements the command.
func (c *simulateFarmCommand) Run(ctx context.Context, o *command.Output) (err error) {
	s := simulate.Settings{
		Feeds: c.Feeds, Hosts: c.Hosts, Seed: c.Seed, Rate: c.Rate, Faults: c.Faults, Log: c.Log,
		Now: simulate.Clock{Speed: c.Speed, Start: time.Now()}.Now,
	}
	if !(c.Speed > 0 && c.Speed <= 10_000) {
		return command.Usage("--speed: %v is not between 0 and 10000", c.Speed)
	}
	if s.Hosts == 0 {
		s.Hosts = s.Feeds
	}
	errs := []error{s.Validate(), simulate.CheckAddress(c.Listen)}
	if c.Proxy != "" {
		errs = append(errs, simulate.CheckAddress(c.Proxy))
	}
	if err := errors.Join(errs...); err != nil {
		return command.Usage("%w", err)
	}
	web, err := simulate.NewWeb(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, web.Close()) }()
	server, err := web.Serve(c.Listen, c.Proxy)
	if err != nil {
		return err
	}
	defer server.Close()
	if c.OPML != "" {
		if err := writeList(c.OPML, web.Feeds(server.Port)); err != nil {
			return err
		}
	}
	fmt.Fprintf(o.Err, "%d feeds listed at http://127.0.0.1:%d/feeds.opml\n", c.Feeds, server.Port)
	<-ctx.Done()
	return o.JSON(web.Summary())
}

// writeList writes a list of feeds to a file.
func writeList(path string, feeds []opml.Feed) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(opml.Write(file, "Synthetic feeds", feeds), file.Close())
}
