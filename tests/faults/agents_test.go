//go:build linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"feedmesh/tests/engines"
)

// killAgents kills an agent every two to five seconds.
func killAgents(m *mesh, r *run) {
	for r.left(r.between(2*time.Second, 5*time.Second)) {
		a := anyOf(r.random, m.agents)
		m.logf("kill %s", a.Name)
		r.hits.Add(1)
		a.end(syscall.SIGKILL)
	}
}

// points are the fault points at which agents crash, by role.
var points = map[string][]string{
	"schedule": {"written schedule", "published crawl", "done observe"},
	"crawl":    {"taken crawl", "published parse", "done crawl"},
	"parse":    {"taken parse", "published prepare"},
	"prepare":  {"taken prepare", "done prepare"},
	"classify": {"published cluster", "done classify"},
	"cluster":  {"taken cluster", "published store", "done cluster"},
	"store":    {"taken store", "committed store", "published index", "done store"},
	"index":    {"taken index", "done index"},
}

// alone are the roles with one active agent at a time.
var alone = []string{"schedule", "cluster"}

// crashAtPoints starts an agent with one role for each point, which crashes there: first for roles with
// several active agents, then, while the usual agents give them up, for roles with one active agent, one
// after another.
func crashAtPoints(m *mesh, r *run) {
	var doomed []*agent
	for _, role := range slices.Sorted(maps.Keys(points)) {
		if !slices.Contains(alone, role) {
			doomed = append(doomed, m.doom(r, role)...)
		}
	}
	r.died(doomed)

	rest := []*agent{m.add("rest", []string{"parse", "store", "api"})}
	for _, a := range m.agents[:2] {
		a.halt(syscall.SIGTERM, time.Minute)
	}
	turns := map[string][]*agent{}
	for _, role := range alone {
		turns[role] = m.doom(r, role)
	}
	for _, role := range alone {
		r.died(turns[role])
		rest = append(rest, m.add("rest-"+role, []string{role})) // the other agents need its roles
	}
	for _, a := range m.agents[:2] {
		a.resume()
	}
	for _, a := range rest {
		a.dismiss(time.Minute)
	}
}

// doom starts the agents that crash in a role.
func (m *mesh) doom(r *run, role string) []*agent {
	var doomed []*agent
	for _, point := range points[role] {
		a := m.newAgent("dies at "+point, []string{role}, "FEEDMESH_CRASH_AT="+point+":1")
		m.register(a)
		if err := a.Start(); err != nil {
			r.miss("%v", err)
		}
		doomed = append(doomed, a)
	}
	return doomed
}

// died waits until agents have died by their own signal.
func (r *run) died(doomed []*agent) {
	deadline := time.Now().Add(80 * time.Second)
	for _, a := range doomed {
		switch {
		case !a.Wait(time.Until(deadline)):
			a.Kill()
			r.miss("no agent %s: %s", a.Name, lastLines(a.Log(), 2))
		case a.ExitCode() != -1:
			r.miss("agent %s ended with code %d: %s", a.Name, a.ExitCode(), lastLines(a.Log(), 2))
		default:
			r.hits.Add(1)
		}
	}
}

// zombie stops the active schedule's agent for three leases and resumes it. Its late writes must be rejected.
func zombie(m *mesh, r *run) {
	for first := true; first || r.left(3*lease+interval); first = false {
		a := m.holder("schedule")
		if a == nil {
			r.miss("no agent reports an active schedule")
			return
		}
		m.logf("stop %s", a.Name)
		r.hits.Add(1)
		before := a.refusals()
		a.Signal(syscall.SIGSTOP)
		time.Sleep(3 * lease)
		a.Signal(syscall.SIGCONT)
		if !awokeToRefusal(a, before) {
			r.miss("%s continued as if it had not been stopped", a.Name)
		}
	}
}

// awokeToRefusal reports whether an agent soon detects that it has lost a lease.
func awokeToRefusal(a *agent, before int) bool {
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		if a.refusals() > before {
			return true
		}
	}
	return false
}

// refusals returns the number of times that the agent detected a lost lease.
func (a *agent) refusals() int {
	a.readLog()
	return int(a.metric("feedmesh_step_downs_total")+a.metric("feedmesh_fenced_off_total")) + a.journal.count("stepped down")
}

// metric returns the value of a metric without labels, 0 if it is missing.
func (a *agent) metric(name string) float64 {
	response, err := http.Get(a.api.Address() + "/metrics")
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(page) {
		if value, is := strings.CutPrefix(string(line), name+" "); is {
			n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return n
		}
	}
	return 0
}

// redeliver causes a second delivery of a fifth of the finished tasks.
func redeliver(m *mesh, r *run) {
	m.roll(2*restartAfter, "FEEDMESH_REDELIVER=0.2")
	r.rest()
	m.roll(2 * restartAfter)
}

// schemaUpdateTime is the time within which all agents detect the other agents and write in a schema that all of
// them can read.
const schemaUpdateTime = 8 * time.Second

// mixVersions replaces agents by a newer version and back, under load.
func mixVersions(m *mesh, r *run) {
	m.roll(2*restartAfter, "FEEDMESH_SCHEMA_AHEAD=1")
	r.rest()
	m.roll(schemaUpdateTime)
}

// mixPreviousVersion replaces agents by the previous version and back, under load. For the pause of each roll
// one agent of each kind runs the previous version and one this version, so tasks pass between them in both
// directions.
func mixPreviousVersion(m *mesh, r *run) {
	previous, err := m.previous()
	if errors.Is(err, engines.ErrNoHistory) {
		m.logf("%s SKIPPED, NOT TESTED: %v", r.id, err)
		return
	}
	if err != nil {
		r.miss("%v", err)
		return
	}
	r.until = time.Now().Add(r.lasts) // after the wait for its build
	m.rollTo(previous, schemaUpdateTime)
	r.rest()
	m.rollTo(m.program, schemaUpdateTime)
}

// roll restarts two agents, one of each kind, and after a pause the others, each after draining.
func (m *mesh) roll(pause time.Duration, env ...string) {
	m.rollBy(pause, func(a *agent) { a.set(env...) })
}

// rollTo does the same with another program.
func (m *mesh) rollTo(program string, pause time.Duration) {
	m.rollBy(pause, func(a *agent) { a.replace(program) })
}

func (m *mesh) rollBy(pause time.Duration, restart func(*agent)) {
	for i := range 2 {
		var group sync.WaitGroup
		group.Go(func() { restart(m.agents[i]) })
		group.Go(func() { restart(m.agents[i+2]) })
		group.Wait()
		time.Sleep(pause)
	}
}

// more is the number of agents that join and leave.
const more = 9

// scale lets agents join and leave, twice if time allows. None may be idle half a minute after joining, and
// leaving agents must finish their tasks.
func scale(m *mesh, r *run) {
	for turn := 0; turn == 0 || turn == 1 && r.long; turn++ {
		var joined []*agent
		for i := range more {
			joined = append(joined, m.add(fmt.Sprintf("joined-%d-%d", turn, i), helpers))
		}
		m.someWork(r, joined)
		_, before := m.redeliveries()
		var group sync.WaitGroup
		for _, a := range joined {
			group.Go(func() {
				if !a.dismiss(30*time.Second) || a.ExitCode() != 0 {
					r.miss("%s did not leave in order: code %d: %s", a.Name, a.ExitCode(), lastLines(a.Log(), 3))
				}
			})
		}
		group.Wait()
		m.later.Go(func() {
			time.Sleep(redeliveryTimeout) // after which their unfinished tasks are delivered again
			if least, _ := m.redeliveries(); least > before {
				r.late("%d tasks were delivered again when %d agents left", least-before, more)
			}
		})
	}
}

// redeliveryTimeout is the time after which the task of a silent agent is delivered again.
const redeliveryTimeout = 20 * time.Second

// someWork waits until every agent of the mesh has finished a task since now.
func (m *mesh) someWork(r *run, joined []*agent) {
	want := len(m.agents) + len(m.spared) + len(joined)
	began := time.Now()
	first := map[string]uint64{}
	for {
		time.Sleep(time.Second)
		status, err := m.status()
		if err != nil {
			continue
		}
		busy := 0
		for _, a := range status.Agents {
			if _, found := first[a.ID]; !found {
				first[a.ID] = a.Done
			}
			if a.Done > first[a.ID] {
				busy++
			}
		}
		if busy >= want {
			m.logf("all %d agents work after %v", busy, time.Since(began).Round(time.Second))
			return
		}
		if time.Since(began) > 30*time.Second {
			r.late("only %d of %d agents do anything after 30 s", busy, want)
			return
		}
	}
}

// redeliveries returns bounds of the number of deliveries beyond one for each task, on the queues of agents
// that join and leave, since their creation. Because tasks arrive during the count, it repeats until the
// bounds meet, for a limited time, so that it does not count the next fault's deliveries.
func (m *mesh) redeliveries() (least, most int64) {
	least, most = math.MinInt64, math.MaxInt64
	for began := time.Now(); least < most && time.Since(began) < 3*time.Second; {
		var low, high int64
		for _, queue := range helpers {
			before, seen, after := m.deliveries(queue)
			low, high = low+seen-after, high+seen-before
		}
		least, most = max(least, low), min(most, high)
	}
	return least, most
}

// deliveries returns the number of deliveries of a queue, pending ones included, and its number of tasks just
// before and just after that count.
func (m *mesh) deliveries(queue string) (before, seen, after int64) {
	stream, err := m.js.Stream(m.ctx, queue)
	if err != nil {
		return 0, 0, 0
	}
	before = int64(stream.CachedInfo().State.LastSeq)
	consumers := stream.ListConsumers(m.ctx)
	for c := range consumers.Info() {
		seen += int64(c.Delivered.Consumer + c.NumPending)
	}
	info, err := stream.Info(m.ctx)
	if err != nil {
		return 0, 0, 0
	}
	return before, seen, int64(info.State.LastSeq)
}
