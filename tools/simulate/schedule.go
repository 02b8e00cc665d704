package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"feedmesh/tools/command"
	"feedmesh/tools/simulate/schedule"
)

// A simulateScheduleCommand compares polling policies.
type simulateScheduleCommand struct {
	Feeds    int           `default:"4000" help:"Number of feeds of a world."`
	Days     daySpan       `default:"28+7" placeholder:"LEARN+SCORE" help:"Days of training, and days that are scored (${default})."`
	Worlds   []string      `default:"K,T" enum:"K,T" help:"Worlds: K with the rate distribution of Kiryanov 2022, T with that of Travers 2014 (${default})."`
	Seed     seedRange     `default:"1..3" placeholder:"FIRST..LAST" help:"Seeds of the worlds (${default})."`
	Policies []string      `default:"tiers,uniform,price" enum:"tiers,uniform,price" help:"Policies (${default})."`
	Floor    time.Duration `default:"225s" help:"Minimum interval of policy price."`
	Log      string        `placeholder:"FILE" type:"existingfile" help:"Use recorded feeds, CSV with feed,published, instead of generated worlds."`
	SVG      string        `name:"svg" placeholder:"FILE" help:"File for a plot of delays and requests."`
	JSON     bool          `name:"json" help:"Print JSON."`
}

// Help implements kong's HelpProvider.
func (simulateScheduleCommand) Help() string {
	return `All policies make as many requests as policy tiers. Delays are in minutes, from an
item's publication to the poll that fetches it.

With a shorter minimum interval:

    go run ./tools/simulate schedule --floor 2m

On recorded feeds:

    go run ./tools/simulate schedule --log items.csv --days 20+7`
}

// Validate is called by kong.
func (c *simulateScheduleCommand) Validate() error {
	switch {
	case c.Feeds < 1 || c.Feeds > 1_000_000:
		return fmt.Errorf("--feeds: %d is not between 1 and 1000000", c.Feeds)
	case c.Floor < time.Second || c.Floor > 24*time.Hour:
		return fmt.Errorf("--floor: %v is not between 1s and 24h", c.Floor)
	}
	return nil
}

// Run implements the command.
func (c *simulateScheduleCommand) Run(ctx context.Context, o *command.Output) error {
	began := time.Now()
	results, err := c.results(ctx, o)
	if err != nil {
		return err
	}
	if c.SVG != "" {
		if err := c.draw(results); err != nil {
			return err
		}
	}
	if c.JSON {
		return o.JSON(results)
	}
	printResults(o.Out, results)
	if c.Seed.first != c.Seed.last && c.Log == "" {
		fmt.Fprintf(o.Out, "\nmean over seeds\n")
		printResults(o.Out, schedule.Mean(results))
	}
	polls := 0
	for _, r := range results {
		polls += r.Polls
	}
	fmt.Fprintf(o.Out, "\n%d polls simulated in %v, %.2f million a second\n", polls, time.Since(began).Round(time.Millisecond), float64(polls)/1e6/time.Since(began).Seconds())
	return nil
}

// A simulatedWorld is a set of feeds in which policies are compared.
type simulatedWorld struct {
	seed     uint64
	generate func() (schedule.World, schedule.Span, error)
}

// results compares the policies in all worlds, with one worker per processor.
func (c *simulateScheduleCommand) results(ctx context.Context, o *command.Output) ([]schedule.Result, error) {
	cases := c.cases()
	all := make([][]schedule.Result, len(cases))
	bar := progressbar.NewOptions(len(cases), progressbar.OptionSetDescription("simulating"), progressbar.OptionSetWriter(o.Err),
		progressbar.OptionSetVisibility(isTerminal(o.Err)), progressbar.OptionSetPredictTime(true))
	defer bar.Exit()
	var barLock sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, sim := range cases {
		group.Go(func() error {
			world, span, err := sim.generate()
			if err != nil {
				return err
			}
			if all[i], err = schedule.Compare(ctx, world, span, c.Policies, c.Floor, sim.seed); err != nil {
				return err
			}
			barLock.Lock()
			defer barLock.Unlock()
			return bar.Add(1)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(all...), nil
}

// worldsBegin is the start of generated worlds: midnight of a Monday.
var worldsBegin = time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC)

// cases returns the worlds to compare the policies in.
func (c *simulateScheduleCommand) cases() []simulatedWorld {
	if c.Log != "" {
		return []simulatedWorld{{c.Seed.first, c.recorded}}
	}
	var cases []simulatedWorld
	for _, kind := range schedule.Kinds() {
		for seed := c.Seed.first; slices.Contains(c.Worlds, kind.Name) && seed <= c.Seed.last; seed++ {
			cases = append(cases, simulatedWorld{seed, func() (schedule.World, schedule.Span, error) {
				span := schedule.Span{Begin: worldsBegin.Unix(), Learn: c.Days.learn, Score: c.Days.score}
				return kind.Generate(c.Feeds, span.Begin, c.Days.learn+c.Days.score, seed), span, nil
			}})
		}
	}
	return cases
}

// recorded reads the log of recorded feeds.
func (c *simulateScheduleCommand) recorded() (schedule.World, schedule.Span, error) {
	file, err := os.Open(c.Log)
	if err != nil {
		return schedule.World{}, schedule.Span{}, err
	}
	defer file.Close()
	world, err := schedule.ReadLog(file)
	if err != nil {
		return world, schedule.Span{}, command.Usage("%s: %w", c.Log, err)
	}
	span, err := world.Last(c.Days.learn, c.Days.score)
	if err != nil {
		return world, span, command.Usage("%s: %w: see --days", c.Log, err)
	}
	return world, span, nil
}

func (c *simulateScheduleCommand) draw(results []schedule.Result) error {
	file, err := os.Create(c.SVG)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := schedule.Plot(file, schedule.Mean(results)); err != nil {
		return fmt.Errorf("draw %s: %w", c.SVG, err)
	}
	return file.Close()
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
