package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tools/bench/report"
)

// benchGrowth measures the cost of an item and a poll while the number of items grows, then while the number
// of feeds grows.
func benchGrowth(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	items, feeds := numbers{100_000, 1_000_000, 3_000_000}, numbers{1_000, 10_000, 100_000}
	flags.Var(&items, "items", "numbers of items, ascending")
	flags.Var(&feeds, "feeds", "numbers of feeds, ascending")
	swept := flags.Int("swept", 1_000, "feeds to add (20 items each) or poll (no new items) at each size")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	g := &growth{run: &run{Report: out, clock: &clock{}}, swept: *swept, costs: map[string][]float64{}}
	if err := g.inFolder(func() error { return g.ofItems(ctx, items) }); err != nil {
		return err
	}
	g.ratios(items, "items")
	for _, n := range feeds {
		if err := g.inFolder(func() error { return g.ofFeeds(ctx, n) }); err != nil {
			return err
		}
	}
	g.ratios(feeds, "feeds")
	return nil
}

// numbers is a flag of several numbers, as 1000,10000.
type numbers []int

func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*n), " ", ","), "[]")
}

func (n *numbers) Set(text string) error {
	*n = nil
	for part := range strings.SplitSeq(text, ",") {
		one, err := strconv.Atoi(part)
		if err != nil || one < 1 {
			return fmt.Errorf("%q is not a number", part)
		}
		*n = append(*n, one)
	}
	return nil
}

// A growth is a node whose costs are measured at several sizes.
type growth struct {
	*run
	swept int                  // feeds added and polled at each size
	names []string             // names of the costs, in order
	costs map[string][]float64 // by name, for each size so far
}

// cost adds a row with a cost at a size.
func (g *growth) cost(size int, of, what string, value float64, unit string) {
	g.Add(fmt.Sprintf("at %d %s: %s", size, of, what), value, unit)
	if g.costs[what] == nil {
		g.names = append(g.names, what)
	}
	g.costs[what] = append(g.costs[what], value)
}

// ratios adds rows with the growth of costs from the smallest to the largest size, and clears the costs.
func (g *growth) ratios(sizes numbers, of string) {
	for _, what := range g.names {
		costs := g.costs[what]
		g.Aimed(fmt.Sprintf("from %d to %d %s: %s", sizes[0], sizes[len(sizes)-1], of, what), costs[len(costs)-1]/costs[0], "times as much", "<= 1.3")
	}
	g.names, g.costs = nil, map[string][]float64{}
}

// ofItems fills one data folder step by step, and measures at each size.
func (g *growth) ofItems(ctx context.Context, sizes numbers) error {
	old, err := startFeedServer(feedsSize{feeds: 1_000, items: 0, hosts: 1_000})
	if err != nil {
		return err
	}
	defer old.stop()
	f := &filler{dir: g.dir, most: slices.Max(sizes), feeds: old}
	for _, n := range sizes {
		last, err := f.fill(ctx, n)
		if err != nil {
			return err
		}
		g.cost(n, "items", "CPU of putting an item into the store", last.store, "us")
		g.cost(n, "items", "CPU of putting an item into the index", last.index, "us")
		fmt.Fprintf(os.Stderr, "%.1f GB\n", float64(bytesUnder(g.dir))/1e9)
		g.size = feedsSize{feeds: g.swept, items: 20, hosts: min(100, g.swept)}
		err = g.withFeedServer(func() error {
			return g.withNode(ctx, settings(g.dir), func(ctx context.Context) error { return g.atItems(ctx, n) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// atItems measures a node with a number of items: the cost of further items, and of polls without new items.
// Then it removes the further items.
func (g *growth) atItems(ctx context.Context, n int) error {
	if err := g.rest(ctx); err != nil {
		return err
	}
	st, err := client.Call(ctx, g.Client, wire.GetStatus, wire.None{})
	if err != nil {
		return err
	}
	items := g.size.feeds * g.size.items
	p, err := g.measure("", func() error {
		if err := g.feedServerCPU.addTo(ctx, g.Client); err != nil {
			return err
		}
		if _, err := g.until(ctx, func(now wire.Status) bool { return now.Indexed >= st.Indexed+int64(items) }); err != nil {
			return err
		}
		return g.rest(ctx) // stories are summarized, and the index merges
	})
	if err != nil {
		return err
	}
	g.cost(n, "items", "CPU of an item, from feed to searchable", p.micros(float64(items)), "us")
	ids := g.feedServerCPU.ids()
	if err := g.polls(ctx, n, "items", ids); err != nil {
		return err
	}
	if err := doTo(ctx, g.Client, wire.ActionRemove, ids); err != nil {
		return err
	}
	if _, err := g.until(ctx, func(now wire.Status) bool { return now.Indexed <= st.Indexed }); err != nil {
		return err
	}
	return g.rest(ctx)
}

// pollRounds is the number of measured rounds of polls.
const pollRounds = 5

// polls measures manual polls of some feeds, which fetch whole documents without news. Meanwhile it does not
// request the node's status, whose cost grows with the number of feeds.
func (g *growth) polls(ctx context.Context, n int, of string, ids []string) error {
	polls := float64(pollRounds * len(ids))
	p, err := g.measure("", func() error {
		for range pollRounds {
			if err := g.feedServerCPU.poll(ctx, g.Client, ids); err != nil {
				return err
			}
			time.Sleep(time.Second) // for the work after a poll
		}
		return nil
	})
	if err != nil {
		return err
	}
	g.cost(n, of, "CPU of a poll by hand that finds nothing new", p.micros(polls), "us")
	return nil
}

// ofFeeds measures a node with a number of feeds without items, and polls some of them.
func (g *growth) ofFeeds(ctx context.Context, n int) error {
	g.size = feedsSize{feeds: n, items: 0, hosts: min(n, 1_000)}
	return g.withFeedServer(func() error {
		return g.withNode(ctx, settings(g.dir), func(ctx context.Context) error {
			if err := g.feedServerCPU.addTo(ctx, g.Client); err != nil {
				return err
			}
			if err := g.feedServerCPU.waitRequests(ctx, n); err != nil {
				return err
			}
			if err := g.rest(ctx); err != nil {
				return err
			}
			return g.polls(ctx, n, "feeds", g.feedServerCPU.ids()[:min(g.swept, n)])
		})
	})
}
