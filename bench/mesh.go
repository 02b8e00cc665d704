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

	"feedmesh/agent/api"
	"feedmesh/tests/engines"
)

// A setup is a mesh under measurement: its agents and what they stand on, each a
// process of its own.
type setup struct {
	name   string
	agents int
	shared bool // on a NATS server, PostgreSQL and Meilisearch instead of what is embedded
}

var setups = []setup{
	{"one node, embedded", 1, false},
	{"one agent on PostgreSQL, Meilisearch", 1, true},
	{"four agents on them", 4, true},
}

// A sweep is what the first sweep of a setup took.
type sweep struct {
	items              float64
	stored, searchable time.Duration // from the first feed added to the last item
	cpu                map[string]time.Duration
}

// benchMesh measures side by side how fast the setups take in the same feeds.
func benchMesh(ctx context.Context, out *report, args []string) error {
	flags := flag.NewFlagSet("mesh", flag.ContinueOnError)
	size := farmSize{feeds: 2000, items: 20, hosts: 200}
	size.flags(flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	farm, err := startFarm(size)
	if err != nil {
		return err
	}
	defer farm.stop()
	dir, err := os.MkdirTemp("", "feedmesh-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL runs as another user
		return err
	}
	program, err := buildAgent(ctx, dir)
	if err != nil {
		return err
	}
	for i, s := range setups {
		at := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		m := &meshUnderTest{program: program, dir: at, processes: map[string][]*engines.Process{}}
		result, err := m.measure(ctx, s, farm, size.feeds*size.items)
		m.end()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		out.addSweep(s.name, result)
	}
	return nil
}

// addSweep adds the rows of a setup.
func (r *report) addSweep(setup string, s sweep) {
	r.add(setup+": items stored", s.items/s.stored.Seconds(), "/s")
	r.add(setup+": items searchable", s.items/s.searchable.Seconds(), "/s")
	all := time.Duration(0)
	for _, kind := range kinds {
		if s.cpu[kind] > 0 {
			r.add(setup+": CPU of "+kind, s.cpu[kind].Seconds()*1e3/s.items, "ms an item")
		}
		all += s.cpu[kind]
	}
	r.add(setup+": CPU of all", all.Seconds()*1e3/s.items, "ms an item")
	r.add(setup+": load of all", 100*all.Seconds()/s.searchable.Seconds(), "% of a core")
}

// meshUnderTest is the processes of a setup, by what they are.
type meshUnderTest struct {
	program, dir string
	processes    map[string][]*engines.Process
	flags        []string
}

// kinds lists what there is in a setup.
var kinds = []string{"agents", "NATS server", "PostgreSQL", "Meilisearch"}

func (m *meshUnderTest) end() {
	for _, kind := range kinds {
		for _, p := range m.processes[kind] {
			p.Kill()
		}
	}
}

// share starts the servers that the agents stand on.
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
	m.processes["Meilisearch"] = []*engines.Process{&search.Process}
	m.flags = append(m.flags, "--nats", strings.Join(nats.URLs(), ","), "--store", store,
		"--search", strings.Replace(search.URL(), "http", "meilisearch", 1), "--search-key", search.Key())
	return nil
}

// launch starts an agent and returns a client of it when it serves.
func (m *meshUnderTest) launch(i int) (*api.Client, error) {
	a, err := newAgent(m.program, filepath.Join(m.dir, "agent"+strconv.Itoa(i)), m.flags...)
	if err != nil {
		return nil, err
	}
	m.processes["agents"] = append(m.processes["agents"], a.process)
	_, err = a.start()
	return a.Client, err
}

// measure starts the setup, gives it the feeds and waits until all their items
// can be found.
func (m *meshUnderTest) measure(ctx context.Context, s setup, farm *remoteFarm, items int) (sweep, error) {
	result := sweep{items: float64(items), cpu: map[string]time.Duration{}}
	if s.shared {
		if err := m.share(); err != nil {
			return result, err
		}
	}
	var client *api.Client
	for i := range s.agents {
		var err error
		if client, err = m.launch(i); err != nil {
			return result, err
		}
	}
	for _, kind := range kinds {
		result.cpu[kind] = -m.cpu(kind)
	}
	began := time.Now()
	if err := farm.giveTo(ctx, client); err != nil {
		return result, err
	}
	for result.searchable == 0 {
		st, err := client.Status(ctx)
		if err != nil {
			return result, err
		}
		took := time.Since(began)
		if result.stored == 0 && st.Items >= int64(items) {
			result.stored = took
		}
		if st.Indexed >= int64(items) {
			result.searchable = took
		}
		if took > 15*time.Minute {
			return result, fmt.Errorf("after %v: %d of %d items stored, %d searchable", took, st.Items, items, st.Indexed)
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, kind := range kinds {
		result.cpu[kind] += m.cpu(kind)
	}
	return result, nil
}

// cpu returns the processor time that the processes of a kind have used, with
// their children's.
func (m *meshUnderTest) cpu(kind string) (sum time.Duration) {
	for _, p := range m.processes[kind] {
		sum += processorTime(p.ID())
	}
	return sum
}
