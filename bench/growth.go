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

	"feedmesh/agent/api"
)

// benchGrowth measures what an item and a poll cost while a node has more and more
// items, and then while it has more and more feeds.
func benchGrowth(ctx context.Context, out *report, args []string) error {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	items, feeds := numbers{100_000, 1_000_000, 3_000_000}, numbers{1_000, 10_000, 100_000}
	flags.Var(&items, "items", "numbers of items, ascending")
	flags.Var(&feeds, "feeds", "numbers of feeds, ascending")
	swept := flags.Int("swept", 1_000, "feeds of 20 items that are taken in, or of none that are polled, at each size")
	if err := parse(flags, args); err != nil {
		return err
	}
	g := &growth{run: &run{report: out, clock: &clock{}}, swept: *swept, costs: map[string][]float64{}}
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
			return fmt.Errorf("%q is no number", part)
		}
		*n = append(*n, one)
	}
	return nil
}

// A growth is a node whose costs are measured at several sizes.
type growth struct {
	*run
	swept int                  // feeds that are taken in and polled at each size
	names []string             // of what costs something, in order
	costs map[string][]float64 // at each size so far
}

// cost adds a row of what something costs at a size.
func (g *growth) cost(size int, of, what string, value float64, unit string) {
	g.add(fmt.Sprintf("at %d %s: %s", size, of, what), value, unit)
	if g.costs[what] == nil {
		g.names = append(g.names, what)
	}
	g.costs[what] = append(g.costs[what], value)
}

// ratios adds the rows of how costs grew from the smallest to the largest size, and
// forgets the costs.
func (g *growth) ratios(sizes numbers, of string) {
	for _, what := range g.names {
		costs := g.costs[what]
		g.aimed(fmt.Sprintf("from %d to %d %s: %s", sizes[0], sizes[len(sizes)-1], of, what), costs[len(costs)-1]/costs[0], "times as much", "<= 1.3")
	}
	g.names, g.costs = nil, map[string][]float64{}
}

// ofItems fills one folder more and more, and measures at each size.
func (g *growth) ofItems(ctx context.Context, sizes numbers) error {
	old, err := startFarm(farmSize{feeds: 1_000, items: 0, hosts: 1_000})
	if err != nil {
		return err
	}
	defer old.stop()
	f := &filler{dir: g.dir, most: slices.Max(sizes), farm: old}
	for _, n := range sizes {
		last, err := f.fill(ctx, n)
		if err != nil {
			return err
		}
		g.cost(n, "items", "CPU of putting an item into the store", last.store, "us")
		g.cost(n, "items", "CPU of putting an item into the index", last.index, "us")
		fmt.Fprintf(os.Stderr, "%.1f GB\n", float64(bytesUnder(g.dir))/1e9)
		g.size = farmSize{feeds: g.swept, items: 20, hosts: min(100, g.swept)}
		err = g.withFarm(func() error {
			return g.withNode(ctx, settings(g.dir), func(ctx context.Context) error { return g.atItems(ctx, n) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// atItems measures a node that has so many items: what others cost that come, and
// polls that find none. Then it removes what came.
func (g *growth) atItems(ctx context.Context, n int) error {
	if err := g.rest(ctx); err != nil {
		return err
	}
	st, err := g.Status(ctx)
	if err != nil {
		return err
	}
	items := g.size.feeds * g.size.items
	p, err := g.measure("", func() error {
		if err := g.farm.giveTo(ctx, g.Client); err != nil {
			return err
		}
		if _, err := g.until(ctx, func(now api.Status) bool { return now.Indexed >= st.Indexed+int64(items) }); err != nil {
			return err
		}
		return g.rest(ctx) // stories are told, and the index merges
	})
	if err != nil {
		return err
	}
	g.cost(n, "items", "CPU of an item, from feed to searchable", p.micros(float64(items)), "us")
	ids := g.farm.ids()
	if err := g.polls(ctx, n, "items", ids); err != nil {
		return err
	}
	if err := doTo(ctx, g.Client, api.Remove, ids); err != nil {
		return err
	}
	if _, err := g.until(ctx, func(now api.Status) bool { return now.Indexed <= st.Indexed }); err != nil {
		return err
	}
	return g.rest(ctx)
}

// pollRounds is how often the feeds are polled that are measured.
const pollRounds = 5

// polls measures polls of some feeds, which are asked for by hand: so their documents
// are read whole, although they have nothing new. While it does, it does not ask for
// the node's status, which costs the more the more feeds there are.
func (g *growth) polls(ctx context.Context, n int, of string, ids []string) error {
	polls := float64(pollRounds * len(ids))
	p, err := g.measure("", func() error {
		for range pollRounds {
			if err := g.farm.poll(ctx, g.Client, ids); err != nil {
				return err
			}
			time.Sleep(time.Second) // for what follows a poll
		}
		return nil
	})
	if err != nil {
		return err
	}
	g.cost(n, of, "CPU of a poll by hand that finds nothing new", p.micros(polls), "us")
	return nil
}

// ofFeeds measures a node that knows so many feeds, which have no items, and polls
// some of them.
func (g *growth) ofFeeds(ctx context.Context, n int) error {
	g.size = farmSize{feeds: n, items: 0, hosts: min(n, 1_000)}
	return g.withFarm(func() error {
		return g.withNode(ctx, settings(g.dir), func(ctx context.Context) error {
			if err := g.farm.giveTo(ctx, g.Client); err != nil {
				return err
			}
			if err := g.farm.asked(ctx, n); err != nil {
				return err
			}
			if err := g.rest(ctx); err != nil {
				return err
			}
			return g.polls(ctx, n, "feeds", g.farm.ids()[:min(g.swept, n)])
		})
	})
}
