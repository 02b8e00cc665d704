package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tests/engines"
	"feedmesh/tools/bench/report"
)

// A setup is a mesh under measurement: its agents and their engines, each a separate process.
type setup struct {
	name   string
	agents int
	shared bool // uses a NATS server, PostgreSQL and Meilisearch instead of embedded engines
}

var setups = []setup{
	{"one node, embedded", 1, false},
	{"one agent on PostgreSQL, Meilisearch", 1, true},
	{"four agents on them", 4, true},
}

// A stepCosts contains the costs of a step.
type stepCosts struct {
	elapsed time.Duration
	cpu     map[string]time.Duration // by kind of process
	busiest time.Duration            // CPU time of the agent with most
}

// all returns the CPU time of all processes.
func (b stepCosts) all() (sum time.Duration) {
	for _, one := range b.cpu {
		sum += one
	}
	return sum
}

// benchMesh compares the setups: first polls of the same feeds, repeated polls, new items, and concurrent
// searches.
func benchMesh(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("mesh", flag.ContinueOnError)
	size := feedsSize{feeds: 2000, items: 20, hosts: 2000}
	size.flags(flags)
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return inFolder(func(dir string) error {
		return eachSetup(ctx, dir, setups, func(m *meshUnderTest) error {
			m.Report, m.size = out, size
			defer m.end()
			return m.measure(ctx)
		})
	})
}

// eachSetup builds the agent and calls measure with a mesh of each setup, which has a folder of its own below dir.
func eachSetup(ctx context.Context, dir string, all []setup, measure func(*meshUnderTest) error) error {
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL runs as another user
		return err
	}
	program, err := buildAgent(ctx, dir)
	if err != nil {
		return err
	}
	for i, s := range all {
		at := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		if err := measure(&meshUnderTest{setup: s, program: program, dir: at, processes: map[string][]*engines.Process{}}); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// meshUnderTest is a setup while it is measured.
type meshUnderTest struct {
	*report.Report
	setup
	program, dir string
	size         feedsSize
	feedServer   *remoteFeeds
	processes    map[string][]*engines.Process // by kind
	flags        []string
	client       *client.Client       // of the last agent
	engine       *engines.Meilisearch // of a shared setup
}

// kinds lists the kinds of processes of a setup.
var kinds = []string{"agents", "NATS server", "PostgreSQL", "Meilisearch"}

func (m *meshUnderTest) end() {
	for _, kind := range kinds {
		for _, p := range m.processes[kind] {
			p.Kill()
		}
	}
}

// share starts the shared servers of the agents.
func (m *meshUnderTest) share() error {
	under := func(name string) string {
		path := filepath.Join(m.dir, name)
		os.Mkdir(path, 0o755)
		return path
	}
	nats, err := engines.StartNATS(under("nats"), 1)
	if err != nil {
		return err
	}
	for i := range nats.Servers {
		m.processes["NATS server"] = append(m.processes["NATS server"], &nats.Servers[i].Process)
	}
	postgres, err := engines.StartPostgres(under("postgres"))
	if err != nil {
		return err
	}
	m.processes["PostgreSQL"] = []*engines.Process{&postgres.Process}
	store, err := postgres.Create("feedmesh")
	if err != nil {
		return err
	}
	search, err := engines.StartMeilisearch(under("meilisearch"))
	if err != nil {
		return err
	}
	m.engine, m.processes["Meilisearch"] = search, []*engines.Process{&search.Process}
	m.flags = append(m.flags, "--nats", strings.Join(nats.URLs(), ","), "--store", store,
		"--search", strings.Replace(search.URL(), "http", "meilisearch", 1), "--search-key", search.Key())
	return nil
}

// launch starts an agent and returns a client of it when it serves.
func (m *meshUnderTest) launch(i int) (*client.Client, error) {
	a, err := newAgent(m.program, filepath.Join(m.dir, "agent"+strconv.Itoa(i)), m.flags...)
	if err != nil {
		return nil, err
	}
	m.processes["agents"] = append(m.processes["agents"], a.process)
	_, err = a.start()
	return a.Client, err
}

// measure starts the setup and runs all steps.
func (m *meshUnderTest) measure(ctx context.Context) (err error) {
	if m.feedServer, err = startFeedServer(m.size); err != nil {
		return err
	}
	defer m.feedServer.stop()
	if m.shared {
		if err := m.share(); err != nil {
			return err
		}
	}
	for i := range m.agents {
		if m.client, err = m.launch(i); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{m.firstSweep, m.search, m.unchanged, m.changed} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// costs measures the costs of a step.
func (m *meshUnderTest) costs(do func() error) (stepCosts, error) {
	c := stepCosts{cpu: map[string]time.Duration{}}
	for _, kind := range kinds {
		c.cpu[kind] = -m.cpu(kind)
	}
	before := m.times("agents")
	began := time.Now()
	err := do()
	c.elapsed = time.Since(began)
	for _, kind := range kinds {
		c.cpu[kind] += m.cpu(kind)
	}
	for i, spent := range m.times("agents") {
		c.busiest = max(c.busiest, spent-before[i])
	}
	return c, err
}

// named adds a row of the setup.
func (m *meshUnderTest) named(what string, value float64, unit string) {
	m.Add(m.name+": "+what, value, unit)
}

// firstSweep adds the feeds to the setup and waits until all their items are searchable.
func (m *meshUnderTest) firstSweep(ctx context.Context) error {
	items := m.size.feeds * m.size.items
	var stored time.Duration
	c, err := m.costs(func() error {
		began := time.Now()
		if err := m.feedServer.addTo(ctx, m.client); err != nil {
			return err
		}
		_, err := until(ctx, m.client, 100*time.Millisecond, func(st wire.Status) bool {
			if stored == 0 && st.Items >= int64(items) {
				stored = time.Since(began)
			}
			return st.Indexed >= int64(items)
		})
		return err
	})
	if err != nil {
		return err
	}
	m.named("items stored", float64(items)/stored.Seconds(), "/s")
	m.named("items searchable", float64(items)/c.elapsed.Seconds(), "/s")
	for _, kind := range kinds {
		if c.cpu[kind] > 0 {
			m.named("CPU of "+kind, c.cpu[kind].Seconds()*1e3/float64(items), "ms an item")
		}
	}
	m.named("CPU of all", c.all().Seconds()*1e3/float64(items), "ms an item")
	m.named("load of all", 100*c.all().Seconds()/c.elapsed.Seconds(), "% of a core")
	return nil
}

// searchedFor is the duration of the search load.
const searchedFor = 20 * time.Second

func (m *meshUnderTest) search(ctx context.Context) error {
	load, err := newSearchLoad(ctx, m.client)
	if err != nil {
		return err
	}
	ended, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	load.search(ended)
	load.rows(m.Report, m.name+": ")
	return ctx.Err()
}

// unchanged refreshes all feeds, without new items. A refresh fetches the whole document.
func (m *meshUnderTest) unchanged(ctx context.Context) error {
	c, err := m.costs(func() error { return m.feedServer.poll(ctx, m.client, m.feedServer.ids()) })
	if err != nil {
		return err
	}
	m.named("refresh of all, nothing new: feeds", float64(m.size.feeds)/c.elapsed.Seconds(), "/s")
	m.named("refresh of all, nothing new: CPU of all", c.all().Seconds()*1e6/float64(m.size.feeds), "us a poll")
	return nil
}

// changed polls all feeds, each with a new item, until all items are searchable.
func (m *meshUnderTest) changed(ctx context.Context) error {
	if err := m.feedServer.publish(); err != nil {
		return err
	}
	items := int64(m.size.feeds * (m.size.items + 1))
	c, err := m.costs(func() error {
		if err := m.feedServer.poll(ctx, m.client, m.feedServer.ids()); err != nil {
			return err
		}
		_, err := until(ctx, m.client, 100*time.Millisecond, func(st wire.Status) bool { return st.Indexed >= items })
		return err
	})
	if err != nil {
		return err
	}
	m.named("one new item in each feed, to searchable: feeds", float64(m.size.feeds)/c.elapsed.Seconds(), "/s")
	m.named("one new item in each feed: CPU of all", c.all().Seconds()*1e3/float64(m.size.feeds), "ms an item")
	return nil
}

// times returns the CPU time of each process of a kind and its children.
func (m *meshUnderTest) times(kind string) (all []time.Duration) {
	for _, p := range m.processes[kind] {
		all = append(all, processorTime(p.ID()))
	}
	return all
}

// cpu returns the CPU time of the processes of a kind and their children.
func (m *meshUnderTest) cpu(kind string) (sum time.Duration) {
	for _, spent := range m.times(kind) {
		sum += spent
	}
	return sum
}
