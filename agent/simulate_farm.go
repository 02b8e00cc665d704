package main

import (
	"context"
	"errors"
	"os"
	"time"

	"feedmesh/agent/opml"
	"feedmesh/agent/simulate"
)

// A simulateFarmCommand serves synthetic feeds.
type simulateFarmCommand struct {
	Feeds  int             `default:"500" help:"How many feeds."`
	Hosts  int             `help:"How many hosts they are on, each with a loopback address of its own. By default each feed is on one of its own. Where 127.0.0.1 is the only such address, as on macOS, there can be but 1."`
	Listen string          `default:"127.0.0.1:9090" env:"-" placeholder:"ADDR" help:"Port of 127.0.0.1 and all other hosts. With several the program listens on all addresses, but hangs up on other machines."`
	Proxy  string          `placeholder:"ADDR" help:"Address at which to be a forward proxy to the hosts too: the way to feeds with the fault 403."`
	Seed   uint64          `default:"1" help:"What chance decides, it decides alike for the same seed."`
	Rate   float64         `default:"3" help:"Items a day of the mean feed. Of 100 feeds, 17 publish 97 of 100 items."`
	Speed  float64         `default:"1" help:"How many times faster than real time passes, from the start on."`
	Faults simulate.Faults `placeholder:"LIST" help:"Share of the feeds that have a fault, by fault, as 404=0.01,hang=0.001."`
	OPML   string          `name:"opml" placeholder:"FILE" help:"Write the list of feeds to this file; it is also served, at /feeds.opml."`
	Log    string          `placeholder:"FILE" help:"Append a line of JSON to this file for each request; it is also served, at /log."`
}

// Help implements kong's HelpProvider.
func (simulateFarmCommand) Help() string {
	return `A node that reads the feeds of a farm, in another terminal:

    agent simulate farm --feeds 1000 --opml farm.opml
    agent --data ./farm --no-starter --allow-net 127.0.0.0/8
    agent feeds import farm.opml

How it was read, as it goes on (/ledger tells of polls, spacing, overlaps and what was missed):

    curl http://127.0.0.1:9090/ledger

Faults: 404 and 410; 403, except to who comes by --proxy; 429 and 5xx, every other hour, some of them with Retry-After; slow, hang, reset, truncated; bomb, 1 MB that unpacks to 1 GB; redirect and moved, to another address for now or for good.

The farm serves until SIGINT or SIGTERM, and then prints its ledger.`
}

// Run implements the command.
func (c *simulateFarmCommand) Run(ctx context.Context, p *program) (err error) {
	s := simulate.Settings{
		Feeds: c.Feeds, Hosts: c.Hosts, Seed: c.Seed, Rate: c.Rate, Faults: c.Faults, Log: c.Log,
		Now: simulate.Clock{Speed: c.Speed, Start: time.Now()}.Now,
	}
	if !(c.Speed > 0 && c.Speed <= 10_000) {
		return wrong("--speed: %v is not between 0 and 10000", c.Speed)
	}
	if s.Hosts == 0 {
		s.Hosts = s.Feeds
	}
	wrongs := []error{s.Validate(), simulate.CheckAddress(c.Listen)}
	if c.Proxy != "" {
		wrongs = append(wrongs, simulate.CheckAddress(c.Proxy))
	}
	if err := errors.Join(wrongs...); err != nil {
		return fault{err, misused}
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
	p.say("%d feeds are listed at http://127.0.0.1:%d/feeds.opml", c.Feeds, server.Port)
	<-ctx.Done()
	return p.printJSON(web.Summary())
}

// writeList writes a list of feeds to a file.
func writeList(path string, feeds []opml.Feed) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(opml.Write(file, "Synthetic feeds", feeds), file.Close())
}
