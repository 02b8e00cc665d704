//go:build linux

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tests/engines"
)

const (
	interval = 5 * time.Second // polling interval of feeds
	lease    = 6 * time.Second // timeout of an active agent
)

// stores are the roles of agents with a store, helpers those of agents without.
var (
	stores  = []string{"schedule", "parse", "cluster", "store", "index", "api"}
	helpers = []string{"crawl", "prepare", "classify"}
)

// A mesh contains all processes of a mesh, and the web that it reads.
type mesh struct {
	t          *testing.T
	ctx        context.Context // ends before the processes do
	dir        string
	seed       uint64
	feedServer *feedServer

	nats    []*unit
	servers *engines.NATS
	routes  [natsServers][]*proxy // between each server and the others
	store   *unit
	pg      *engines.Postgres
	search  *unit
	meili   *engines.Meilisearch
	proxy   *proxy // between agents and Meilisearch
	disks   map[string]*disk

	program  string
	previous func() (program string, err error) // of the previous version; waits for its build
	flags    []string                           // of every agent
	agents   []*agent                           // two with roles stores, two with roles helpers
	spared   []*agent                           // excluded from faults, if any
	receiver *receiver                          // of webhooks
	senders  []*agent                           // with the role deliver, killed in turn

	js      jetstream.JetStream
	ledger  *ledger
	garbage sync.Map // unreadable values of buckets, which agents may put into quarantine at any time

	mu    sync.Mutex
	extra []*agent

	later sync.WaitGroup // checks that continue during the next faults
}

// An agent is one agent process.
type agent struct {
	*unit
	api     *client.Client // for its API if it has that role, otherwise for its health and metrics
	clock   string         // file with the shift of its clock
	journal journal
}

// set restarts the agent with another environment, after it has finished its work in progress.
func (a *agent) set(env ...string) { a.unit.set(append(env, "FEEDMESH_CLOCK="+a.clock)...) }

// newMesh starts a mesh that ends with the test.
func newMesh(t *testing.T, feeds int, seed uint64) *mesh {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	m := &mesh{t: t, ctx: ctx, dir: t.TempDir(), seed: seed, feedServer: newFeedServer(t, feeds), disks: map[string]*disk{}}
	m.build()
	var group sync.WaitGroup
	group.Go(m.startNATS)
	group.Go(m.startPostgres)
	group.Go(m.startMeilisearch)
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for i := range 4 {
		roles := stores
		if i >= 2 {
			roles = helpers
		}
		m.agents = append(m.agents, m.newAgent(fmt.Sprintf("agent-%d", i), roles))
	}
	t.Cleanup(func() {
		stop()
		m.saveLogs()
		for _, u := range m.units() {
			u.halt(syscall.SIGKILL, time.Minute)
		}
	})
	for _, u := range m.units() {
		go u.supervise(ctx, m.logf)
	}
	for i := range m.nats {
		go m.nurse(ctx, i)
	}
	go m.readLogs(ctx)
	return m
}

// logf logs an event with the time since the mesh began.
func (m *mesh) logf(format string, args ...any) {
	if m.ctx.Err() == nil {
		m.t.Logf("%s "+format, append([]any{time.Now().Format("15:04:05.0")}, args...)...)
	}
}

// build builds the agents with their fault points.
func (m *mesh) build() {
	m.program = filepath.Join(m.dir, "agent")
	cmd := exec.Command("go", "build", "-tags", "faults", "-ldflags", "-s -w", "-o", m.program, "feedmesh/agent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("build the agent: %v\n%s", err, out)
	}
	// The last fault needs it, and its build takes a minute or two.
	m.previous = sync.OnceValues(func() (string, error) { return engines.BuildPrevious(m.dir) })
	go m.previous()
	m.t.Cleanup(func() { m.previous() }) // before the folder is removed
}

const natsServers = 3

// route puts a proxy between two NATS servers.
func (m *mesh) route(from, to int, address string) (string, error) {
	p, err := newProxy(m.t, address)
	if err != nil {
		return "", err
	}
	m.routes[from] = append(m.routes[from], p)
	m.routes[to] = append(m.routes[to], p)
	return p.address(), nil
}

func (m *mesh) startNATS() {
	dir := m.folder("nats")
	for i := range natsServers {
		m.folder(filepath.Join("nats", fmt.Sprintf("nats-%d", i)))
	}
	servers, err := engines.StartRoutedNATS(dir, natsServers, m.route)
	if err != nil {
		m.t.Error(err)
		return
	}
	m.servers = servers
	for _, s := range servers.Servers {
		m.nats = append(m.nats, newUnit(&s.Process, s.Start))
	}
	conn, err := nats.Connect(strings.Join(servers.URLs(), ","), nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond))
	if err == nil {
		m.t.Cleanup(conn.Close)
		m.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(10*time.Second))
	}
	if err != nil {
		m.t.Error(err)
	}
}

func (m *mesh) startPostgres() {
	pg, err := engines.StartPostgres(m.folder("postgres"), "max_wal_size=128MB", "shared_buffers=64MB")
	if err != nil {
		m.t.Error(err)
		return
	}
	m.pg = pg
	m.store = newUnit(&pg.Process, pg.Start)
	url, err := pg.Create("feedmesh")
	if err != nil {
		m.t.Error(err)
		return
	}
	m.flags = append(m.flags, "--store", url)
	m.ledger = newLedger(m.feedServer, strings.Replace(url, "feedmesh:secret", "postgres", 1))
}

func (m *mesh) startMeilisearch() {
	meili, err := engines.StartMeilisearch(m.folder("meilisearch"))
	if err != nil {
		m.t.Error(err)
		return
	}
	m.meili = meili
	m.search = newUnit(&meili.Process, meili.Start)
	if m.proxy, err = newProxy(m.t, strings.TrimPrefix(meili.URL(), "http://")); err != nil {
		m.t.Error(err)
	}
}

// diskSize exceeds the data of an hour: an engine's disk gets full only on purpose.
const diskSize = 8 << 30

// folder creates a folder, on a separate disk if mounting is allowed.
func (m *mesh) folder(name string) string {
	path := filepath.Join(m.dir, name)
	if err := os.Mkdir(path, 0o755); err != nil {
		m.t.Error(err)
	}
	d, err := newDisk(m.t, path, diskSize)
	if err != nil {
		m.t.Logf("%s has no disk of its own: %v", name, err)
		return path
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.disks[filepath.Base(name)] = d
	return path
}

// newAgent returns an agent of the mesh that is not started yet.
func (m *mesh) newAgent(name string, roles []string, env ...string) *agent {
	return m.newProcess(name, roles, env, append([]string{
		"--roles", strings.Join(roles, ","), "--nats", strings.Join(m.servers.URLs(), ","),
		"--search", "meilisearch://" + m.proxy.address(), "--search-key", m.meili.Key(),
	}, m.flags...)...)
}

// newProcess returns an agent that is not started yet, with a data folder of its name.
func (m *mesh) newProcess(name string, roles, env []string, flags ...string) *agent {
	port, err := engines.FreePort()
	if err != nil {
		m.t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", port)
	at := "--health"
	if slices.Contains(roles, "api") {
		at = "--listen"
	}
	clock := filepath.Join(m.dir, strings.ReplaceAll(name, " ", "-")+".clock")
	p := &engines.Process{Name: name, Path: m.program, Env: append(env, "FEEDMESH_CLOCK="+clock, fmt.Sprintf("FEEDMESH_SCHEDULE_PARTITIONS=%d", *partitionsFlag)), Args: append([]string{
		"--data", filepath.Join(m.dir, name), at, listen, "--schedule-interval", interval.String(), "--schedule-host-spacing", "0s",
		"--allow-net", "127.0.0.0/8", "--starter=false", "--log-level", "debug",
	}, flags...)}
	client, err := client.NewClient("http://"+listen, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return &agent{unit: newUnit(p, p.Start), api: client, clock: clock, journal: newJournal()}
}

// add starts an additional agent under supervision.
func (m *mesh) add(name string, roles []string, env ...string) *agent {
	a := m.newAgent(name, roles, env...)
	m.register(a)
	go a.supervise(m.ctx, m.logf)
	return a
}

// register registers an agent for log reading and for the end of the mesh.
func (m *mesh) register(a *agent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.extra = append(m.extra, a)
}

// units returns all processes: agents first, then their dependencies.
func (m *mesh) units() []*unit {
	var units []*unit
	for _, a := range m.all() {
		units = append(units, a.unit)
	}
	return append(append(units, m.store, m.search), m.nats...)
}

// all returns the current agents and those that have left.
func (m *mesh) all() []*agent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(m.agents[:len(m.agents):len(m.agents)], m.extra...)
}

// crashes returns the number of unexpected ends of agents. Those that send webhooks are left out: an agent that starts while its NATS
// server is apart from the others ends and is started again, and these are started all the time.
func (m *mesh) crashes() int64 {
	var n int64
	for _, a := range m.all() {
		if !slices.Contains(m.senders, a) {
			n += a.crashes.Load()
		}
	}
	return n
}

// memory returns the memory of the largest of the four agents, in bytes.
func (m *mesh) memory() int64 {
	var most int64
	for _, a := range m.agents {
		most = max(most, a.memory())
	}
	return most
}

// anyOf returns a random agent.
func anyOf(random *rand.Rand, agents []*agent) *agent { return agents[random.IntN(len(agents))] }

// request sends a request to an agent with an API, and on failure to another.
func (m *mesh) request(do func(ctx context.Context, c *client.Client) error) error {
	return m.requestWithin(10*time.Second, do)
}

// requestWithin is request with a timeout for each agent.
func (m *mesh) requestWithin(timeout time.Duration, do func(ctx context.Context, c *client.Client) error) error {
	var err error
	for _, a := range m.agents[:2] {
		ctx, cancel := context.WithTimeout(m.ctx, timeout)
		err = do(ctx, a.api)
		cancel()
		if err == nil {
			break
		}
	}
	return err
}

// status returns the complete status of the mesh, or an error.
func (m *mesh) status() (status wire.Status, err error) {
	err = m.request(func(ctx context.Context, c *client.Client) (err error) {
		status, err = client.Call(ctx, c, wire.GetStatus, wire.None{})
		if err == nil && len(status.Problems) > 0 {
			err = fmt.Errorf("status: %v", status.Problems)
		}
		return err
	})
	return status, err
}

// holder returns the agent that became the holder of a lease last.
func (m *mesh) holder(name string) *agent {
	var last string
	var holder *agent
	for _, a := range m.agents[:2] {
		a.readLog()
		if line := a.journal.activeIn(name); line > last { // it begins with the time
			last, holder = line, a
		}
	}
	return holder
}

// saveLogs stores the logs of all processes if the test failed.
func (m *mesh) saveLogs() {
	if !m.t.Failed() {
		return
	}
	for _, u := range m.units() {
		os.WriteFile(filepath.Join(m.t.ArtifactDir(), u.Name+".log"), []byte(u.Log()), 0o600)
	}
	m.t.Logf("logs are in %s (kept with -artifacts)", m.t.ArtifactDir())
}
