package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
	"feedmesh/tests/engines"
	"feedmesh/tests/machines"
	"feedmesh/tools/bench/busy"
	"feedmesh/tools/bench/report"
)

// scaleSize are the flags of [benchScale].
type scaleSize struct {
	counts     string // numbers of agents, separated by commas
	rounds     int    // how often each number is measured
	partitions int    // of the schedule
	feeds      int
	items      int           // entries of each feed
	polled     int           // feeds for each agent that are polled, with one entry each
	cpu        float64       // share of a core for each agent
	delay      time.Duration // of a link, in each direction
}

// benchScale measures meshes of a growing number of agents. Each agent is on a small machine of its own; NATS, PostgreSQL and
// Meilisearch use what is left of this one.
func benchScale(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	var size scaleSize
	flags.StringVar(&size.counts, "agents", "1,2,4,6", "numbers of agents")
	flags.IntVar(&size.rounds, "rounds", 1, "how often each number of agents is measured, in turns; medians are compared, since machines are not always as fast")
	flags.IntVar(&size.partitions, "partitions", 8, "partitions of the schedule")
	flags.IntVar(&size.feeds, "feeds", 600, "number of generated feeds, for any number of agents")
	flags.IntVar(&size.items, "items", 20, "entries per feed document")
	flags.IntVar(&size.polled, "polled", 1500, "number of feeds with one entry for each agent, whose polls are measured")
	flags.Float64Var(&size.cpu, "share", 0.15, "share of a core for each agent")
	flags.DurationVar(&size.delay, "delay", time.Millisecond, "delay of the links between agents and servers, in each direction")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	if size.rounds < 1 {
		return fmt.Errorf("-rounds %d: want at least 1", size.rounds)
	}
	var numbers []int
	for number := range strings.SplitSeq(size.counts, ",") {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return fmt.Errorf("-agents %s: want numbers such as 1,2,4", size.counts)
		}
		numbers = append(numbers, n)
	}
	var all []setup
	for round := range size.rounds {
		for _, n := range numbers {
			name := fmt.Sprintf("%d agents", n)
			if size.rounds > 1 {
				name += fmt.Sprintf(", round %d", round+1)
			}
			all = append(all, setup{name: name, agents: n, shared: true})
		}
	}
	measured := map[int][]scaleRates{} // by number of agents
	err := inFolder(func(dir string) error {
		return eachSetup(ctx, dir, all, func(m *meshUnderTest) error {
			m.Report, m.size = out, feedsSize{feeds: size.feeds, items: size.items, hosts: size.feeds}
			rates, err := (&scaledMesh{m, size}).measure(ctx)
			measured[m.agents] = append(measured[m.agents], rates)
			return err
		})
	})
	if err != nil {
		return err
	}
	compareRates(out, "items", func(r scaleRates) float64 { return r.items }, numbers, measured)
	compareRates(out, "polls", func(r scaleRates) float64 { return r.polls }, numbers, measured)
	return nil
}

// compareRates adds rows of a rate of an agent, for each number of agents, beside that of the first number.
func compareRates(out *report.Report, what string, rate func(scaleRates) float64, numbers []int, measured map[int][]scaleRates) {
	of := func(n int) float64 { return medianBy(measured[n], rate) / float64(n) }
	for i, n := range numbers {
		out.Add(fmt.Sprintf("%d agents: %s of an agent", n, what), of(n), "/s")
		if i > 0 {
			out.Aimed(fmt.Sprintf("%d agents: %s, of linear", n, what), of(n)/of(numbers[0]), "", ">= 0.85")
		}
	}
}

// medianBy returns the median of what a function returns for each of the rates.
func medianBy(rates []scaleRates, of func(scaleRates) float64) float64 {
	var all []float64
	for _, r := range rates {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// scaleRates are rates of a mesh, per second.
type scaleRates struct{ items, polls float64 }

// A scaledMesh is a mesh whose agents are on small machines. Its status is read from one more agent, which has only the
// role api.
type scaledMesh struct {
	*meshUnderTest
	limits scaleSize
}

// workRoles are the roles of the agents on small machines: all that process feeds.
const workRoles = "schedule,crawl,parse,prepare,classify,cluster,store,index"

func (m *scaledMesh) measure(ctx context.Context) (rates scaleRates, err error) {
	network, err := machines.NewNetwork(2)
	if err != nil {
		return rates, err
	}
	defer network.Close()
	defer m.end() // before the network is closed
	if m.feedServer, err = startFeedServer(m.size); err != nil {
		return rates, err
	}
	defer m.feedServer.stop()
	if err := m.share(); err != nil {
		return rates, err
	}
	m.flags = append(m.flags, "--schedule-partitions", strconv.Itoa(m.limits.partitions))
	api, err := newAgent(m.program, filepath.Join(m.dir, "api"), append([]string{"--roles", "api"}, m.flags...)...)
	if err != nil {
		return rates, err
	}
	defer api.process.Kill()
	if _, err := api.start(); err != nil {
		return rates, err
	}
	m.client = api.Client
	flags, err := network.Linked(m.flags, m.limits.delay)
	if err != nil {
		return rates, err
	}
	for i := range m.agents {
		if err := m.launchOn(network, i, flags); err != nil {
			return rates, err
		}
	}
	if err := m.awaitBalance(ctx); err != nil {
		return rates, err
	}
	if rates.items, err = m.intake(ctx); err != nil {
		return rates, err
	}
	rates.polls, err = m.polls(ctx)
	return rates, err
}

// launchOn starts an agent on a machine of its own. It serves nothing there.
func (m *scaledMesh) launchOn(network *machines.Network, i int, flags []string) error {
	machine, err := network.Add(m.limits.cpu)
	if err != nil {
		return err
	}
	args := append(agentFlags(filepath.Join(m.dir, "agent"+strconv.Itoa(i))), "--roles", workRoles)
	process := &engines.Process{Name: "agent", Path: m.program, Args: append(args, flags...)}
	process.Env = append(process.Env, "GOMAXPROCS=1") // a small machine has one core
	machine.On(process)
	m.processes["agents"] = append(m.processes["agents"], process)
	return process.Start()
}

// awaitBalance waits until the leases that the agents compete for are held by the agents to which they are assigned.
func (m *scaledMesh) awaitBalance(ctx context.Context) error {
	began := time.Now()
	_, err := until(ctx, m.client, 200*time.Millisecond, func(st wire.Status) bool {
		agents, wanted := map[string]bool{}, map[string]bool{}
		for _, a := range st.Agents {
			if !slices.Contains(a.Roles, "api") {
				agents[a.ID] = true
				for _, lease := range a.Leases {
					wanted[lease] = true
				}
			}
		}
		for name := range wanted {
			if l := st.Active[name]; !agents[l.Agent] || l.Reason == subjects.LeaseMoves {
				return false
			}
		}
		return len(agents) == m.agents && len(wanted) > 0
	})
	m.named("leases spread within", time.Since(began).Seconds(), "s")
	return err
}

// intake adds the feeds and returns the rate at which items become searchable, of those between a tenth and nine tenths: so it
// is that of a mesh whose roles all have work.
func (m *scaledMesh) intake(ctx context.Context) (rate float64, err error) {
	items := int64(m.size.feeds * m.size.items)
	began := time.Now()
	if err := m.feedServer.addTo(ctx, m.client); err != nil {
		return 0, err
	}
	searchable := func(least int64) (n int64, err error) {
		st, err := until(ctx, m.client, 250*time.Millisecond, func(st wire.Status) bool { return st.Indexed >= least })
		return st.Indexed, err
	}
	first, err := searchable(items / 10)
	if err != nil {
		return 0, err
	}
	before, err := busy.ReadCores()
	if err != nil {
		return 0, err
	}
	from := time.Now()
	var last int64
	c, err := m.costs(func() (err error) { last, err = searchable(items * 9 / 10); return err })
	if err != nil {
		return 0, err
	}
	to := time.Now()
	cores, err := busy.ReadCores()
	if err != nil {
		return 0, err
	}
	if _, err := searchable(items); err != nil {
		return 0, err
	}
	rate = float64(last-first) / c.elapsed.Seconds()
	m.named("items searchable", rate, "/s")
	m.named("items searchable, of all from the import on", float64(items)/time.Since(began).Seconds(), "/s")
	m.loads("intake", c)
	m.named("intake: this machine busy", 100*cores.Since(before), "% of all cores")
	return rate, m.batches(ctx, from, to, last-first)
}

// batches adds rows of what Meilisearch did while a number of items became searchable.
func (m *scaledMesh) batches(ctx context.Context, from, to time.Time, items int64) error {
	b, err := busy.Meilisearch(ctx, m.engine.URL(), m.engine.Key(), from, to)
	if err != nil {
		return err
	}
	m.named("intake: Meilisearch in a batch", 100*b.Busy.Seconds()/to.Sub(from).Seconds(), "% of the time")
	m.named("intake: Meilisearch documents", float64(b.Documents)/float64(max(b.Count, 1)), "a batch")
	m.named("intake: Meilisearch documents, repeated ones included", float64(b.Documents)/float64(items), "an item")
	return nil
}

// loads adds rows of the CPU use of each kind of process, and of the busiest agent: one that has a role for all may be busy while
// others are not.
func (m *scaledMesh) loads(what string, c stepCosts) {
	m.named(what+": load of the busiest agent", 100*c.busiest.Seconds()/c.elapsed.Seconds(), "% of a core")
	for _, kind := range kinds {
		m.named(what+": load of "+kind, 100*c.cpu[kind].Seconds()/c.elapsed.Seconds(), "% of a core")
	}
}

// scaledRounds is how often all feeds are polled.
const scaledRounds = 3

// polls adds feeds of one entry, polls them some times, with nothing new, and returns the rate: as in [scaledMesh.intake], of
// those between a tenth and nine tenths of each round. The rest is the time until status shows that a round has ended.
func (m *scaledMesh) polls(ctx context.Context) (rate float64, err error) {
	n := m.limits.polled * m.agents
	feeds, err := startFeedServer(feedsSize{feeds: n, items: 1, hosts: n})
	if err != nil {
		return 0, err
	}
	defer feeds.stop()
	if err := feeds.addTo(ctx, m.client); err != nil {
		return 0, err
	}
	if err := feeds.waitRequests(ctx, n); err != nil {
		return 0, err
	}
	var counted time.Duration
	var all stepCosts
	for range scaledRounds {
		if _, err := until(ctx, m.client, 50*time.Millisecond, idle); err != nil {
			return 0, err
		}
		since, err := feeds.count()
		if err != nil {
			return 0, err
		}
		if err := doTo(ctx, m.client, wire.ActionRefresh, feeds.ids()); err != nil {
			return 0, err
		}
		if err := feeds.waitRequests(ctx, since+n/10); err != nil {
			return 0, err
		}
		c, err := m.costs(func() error { return feeds.waitRequests(ctx, since+n*9/10) })
		if err != nil {
			return 0, err
		}
		counted += c.elapsed
		all = c
		if err := feeds.waitRequests(ctx, since+n); err != nil {
			return 0, err
		}
	}
	rate = float64(scaledRounds*(n*9/10-n/10)) / counted.Seconds()
	m.named("polls, nothing new", rate, "/s")
	m.loads("polls in the last round", all)
	return rate, nil
}
