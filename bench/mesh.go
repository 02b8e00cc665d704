package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
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

// benchMesh prints side by side how fast the setups take in the same feeds.
func benchMesh(ctx context.Context, feeds, items, hosts int) error {
	farm, err := startFarm(ctx, feeds, items, hosts)
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
	program := filepath.Join(dir, "agent")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./agent").CombinedOutput(); err != nil {
		return fmt.Errorf("build the agent: %w: %s", err, out)
	}
	var sweeps []sweep
	for i, s := range setups {
		fmt.Fprintln(os.Stderr, s.name)
		at := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		m := &meshUnderTest{program: program, dir: at, processes: map[string][]*engines.Process{}}
		result, err := m.measure(ctx, s, farm.urls, feeds*items)
		m.end()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		sweeps = append(sweeps, result)
	}
	printSweeps(sweeps)
	return nil
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
	port, err := engines.FreePort()
	if err != nil {
		return nil, err
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	client, err := api.NewClient("http://"+addr, "")
	if err != nil {
		return nil, err
	}
	p := &engines.Process{Name: "agent", Path: m.program, Args: append([]string{
		"--data", filepath.Join(m.dir, "agent"+strconv.Itoa(i)), "--listen", addr, "--starter=false", "--allow-net", "127.0.0.0/8",
	}, m.flags...)}
	m.processes["agents"] = append(m.processes["agents"], p)
	if err := p.Start(); err != nil {
		return nil, err
	}
	return client, p.Ready(time.Minute, func() error {
		_, err := client.Status(context.Background())
		return err
	})
}

// measure starts the setup, gives it the feeds and waits until all their items
// can be found.
func (m *meshUnderTest) measure(ctx context.Context, s setup, urls []string, items int) (sweep, error) {
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
	if _, err := client.ImportFeeds(ctx, strings.NewReader(strings.Join(urls, "\n"))); err != nil {
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

// processorTime returns what a process and its children, living and dead, have
// used.
func processorTime(pid int) time.Duration {
	sum := ticks(pid, 14, 15, 16, 17)
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(list)) {
		if n, err := strconv.Atoi(child); err == nil {
			sum += processorTime(n)
		}
	}
	return sum
}

// ticks returns the sum of some fields of a process's stat file, counted as in
// proc(5): 14 and 15 its own time, 16 and 17 that of its dead children.
func ticks(pid int, fields ...int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may have spaces in it
	values, sum := strings.Fields(rest), 0
	for _, f := range fields {
		n, _ := strconv.Atoi(values[f-3])
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond // a tick is 1/100 s on Linux
}

func printSweeps(sweeps []sweep) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(what string, value func(sweep) string) {
		fmt.Fprintf(w, "%s", what)
		for _, s := range sweeps {
			fmt.Fprintf(w, "\t%s", value(s))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nfirst sweep")
	for _, s := range setups {
		fmt.Fprintf(w, "\t%s", s.name)
	}
	fmt.Fprintln(w)
	row("items stored", func(s sweep) string { return fmt.Sprintf("%.0f /s", s.items/s.stored.Seconds()) })
	row("items searchable", func(s sweep) string { return fmt.Sprintf("%.0f /s", s.items/s.searchable.Seconds()) })
	for _, kind := range kinds {
		row("CPU of "+kind, func(s sweep) string { return fmt.Sprintf("%.2f ms an item", s.cpu[kind].Seconds()*1000/s.items) })
	}
	row("CPU of all", func(s sweep) string {
		var all time.Duration
		for _, t := range s.cpu {
			all += t
		}
		return fmt.Sprintf("%.2f ms an item, %.0f %% of a core", all.Seconds()*1000/s.items, 100*all.Seconds()/s.searchable.Seconds())
	})
	w.Flush()
}
