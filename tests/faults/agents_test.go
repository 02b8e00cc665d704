//go:build linux

package faults

import (
	"bytes"
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
)

// killAgents kills an agent every two to five seconds.
func killAgents(m *mesh, r *run) {
	for r.left(r.between(2*time.Second, 5*time.Second)) {
		a := anyOf(r.random, m.agents)
		m.say("kill %s", a.Name)
		r.hits.Add(1)
		a.end(syscall.SIGKILL)
	}
}

// points are where agents are made to die, by the role that passes them.
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

// alone are the roles of which one agent is active at a time.
var alone = []string{"schedule", "cluster", "index"}

// crashAtPoints starts an agent for each point, which has one role and dies there:
// first those with roles that many have, then, while the agents that usually have
// the others leave them to them, those with the others, of which one after another
// gets its turn.
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
		rest = append(rest, m.add("rest-"+role, []string{role})) // the others need what it does
	}
	for _, a := range m.agents[:2] {
		a.resume()
	}
	for _, a := range rest {
		a.dismiss(time.Minute)
	}
}

// doom starts the agents that are to die in a role.
func (m *mesh) doom(r *run, role string) []*agent {
	var doomed []*agent
	for _, point := range points[role] {
		a := m.newAgent("dies at "+point, []string{role}, "FEEDMESH_CRASH_AT="+point+":1")
		m.know(a)
		if err := a.Start(); err != nil {
			r.miss("%v", err)
		}
		doomed = append(doomed, a)
	}
	return doomed
}

// died waits until agents have died by a signal, which nobody sent but they.
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

// zombie stops the active schedule's agent for three leases and lets it go on.
// What it then still wants to write must be refused.
func zombie(m *mesh, r *run) {
	for first := true; first || r.left(3*lease+interval); first = false {
		a := m.holder("schedule")
		if a == nil {
			r.miss("nobody says that its schedule is active")
			return
		}
		m.say("stop %s", a.Name)
		r.hits.Add(1)
		before := a.refusals()
		a.Signal(syscall.SIGSTOP)
		time.Sleep(3 * lease)
		a.Signal(syscall.SIGCONT)
		if !awokeToRefusal(a, before) {
			r.miss("%s went on as if it had not been away", a.Name)
		}
	}
}

// awokeToRefusal reports whether an agent soon says once more that it has lost what
// it did alone.
func awokeToRefusal(a *agent, before int) bool {
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		if a.refusals() > before {
			return true
		}
	}
	return false
}

// refusals returns how often the agent was told, or saw, that what it did alone is
// another's.
func (a *agent) refusals() int {
	a.hear()
	return int(a.metric("feedmesh_step_downs_total")+a.metric("feedmesh_fenced_off_total")) + a.heard.count("stepped down")
}

// metric returns the value of a metric without labels, 0 if it is not told.
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

// redeliver has a fifth of the tasks that are done delivered again.
func redeliver(m *mesh, r *run) {
	m.roll(2*restartAfter, "FEEDMESH_REDELIVER=0.2")
	r.rest()
	m.roll(2 * restartAfter)
}

// toldOthers is the time within which all agents know who else is in the mesh, and
// write what those can read.
const toldOthers = 8 * time.Second

// mixVersions has agents replaced by those of a newer version, while work goes on,
// and back.
func mixVersions(m *mesh, r *run) {
	m.roll(2*restartAfter, "FEEDMESH_SCHEMA_AHEAD=1")
	r.rest()
	m.roll(toldOthers)
}

// roll restarts two agents, one of each kind, and after a pause the others, each
// when it has drained.
func (m *mesh) roll(pause time.Duration, env ...string) {
	for i := range 2 {
		var group sync.WaitGroup
		group.Go(func() { m.agents[i].set(env...) })
		group.Go(func() { m.agents[i+2].set(env...) })
		group.Wait()
		time.Sleep(pause)
	}
}

// more is how many agents come and go.
const more = 9

// scale has agents join and leave, twice if there is time for it. None may be idle
// half a minute later, and those that leave must leave nothing undone.
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
			time.Sleep(silence) // after which what they left undone is delivered again
			if least, _ := m.redeliveries(); least > before {
				r.late("%d tasks were delivered again when %d agents left", least-before, more)
			}
		})
	}
}

// silence is how long a task is left to an agent that says nothing.
const silence = 20 * time.Second

// someWork waits until every agent of the mesh has done a task since now.
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
			if _, known := first[a.ID]; !known {
				first[a.ID] = a.Done
			}
			if a.Done > first[a.ID] {
				busy++
			}
		}
		if busy >= want {
			m.say("all %d agents work after %v", busy, time.Since(began).Round(time.Second))
			return
		}
		if time.Since(began) > 30*time.Second {
			r.late("only %d of %d agents do anything after 30 s", busy, want)
			return
		}
	}
}

// redeliveries returns between which bounds lies how many deliveries there were
// beyond one for each task, on the queues of agents that come and go, since these
// were made. Tasks come while it counts: it does so until the bounds meet, and not
// much longer, or it would count what the next fault has done.
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

// deliveries returns how many deliveries a queue has seen or will, and how many
// tasks it has had just before that was counted and just after.
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
