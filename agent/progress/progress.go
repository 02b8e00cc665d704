// Package progress notices work of the mesh that stands still although its processes are alive: feeds that are
// overdue while none is dispatched, tasks that wait while none is finished, roles that no agent has, and actors
// that step down again and again.
package progress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"feedmesh/subjects"
)

const (
	// maxSilence is how long overdue feeds, tasks or leases may stand still before that is a problem.
	maxSilence = 20 * time.Second

	// queueSilence is the same for the tasks of a queue that agents serve, as each task may be in its last retry, and
	// for overdue feeds that a full queue holds back, as after a burst of due feeds.
	queueSilence = 2 * time.Minute

	// An actor that changed maxChanges times within changesWithin steps down again and again.
	maxChanges    = 4
	changesWithin = 2 * time.Minute
)

// A Snapshot is the state of the mesh at one time.
type Snapshot struct {
	Depths []subjects.Depth
	Leases map[string]subjects.Lease
	Agents []subjects.Agent
}

// A Problem is work that stands still.
type Problem struct {
	What   string // stands still: a fixed text
	Remedy string // the reason, if it is known, and what to do
	Since  time.Time
}

// A Watch compares snapshots. Its methods may be called concurrently.
type Watch struct {
	serving map[string]string // role that serves each queue

	mu       sync.Mutex
	started  time.Time           // of the first snapshot
	samples  map[string]sample   // last change of each counter
	changes  map[string][]change // of each lease's holder, newest last
	problems []Problem           // of the last snapshot
}

// A sample is a value of a counter, and the time when it was first observed.
type sample struct {
	value uint64
	since time.Time
}

type change struct {
	holder string
	at     time.Time
}

// New returns a watch. serving names the role that serves each queue.
func New(serving map[string]string) *Watch {
	return &Watch{serving: serving, samples: map[string]sample{}, changes: map[string][]change{}}
}

// Problems returns the problems of the last snapshot, the longest first.
func (w *Watch) Problems() []Problem {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(w.problems), func(a, b Problem) int { return a.Since.Compare(b.Since) })
}

// Observe evaluates a snapshot. now must be a monotonic clock's time, as [time.Now] returns it.
func (w *Watch) Observe(s Snapshot, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started.IsZero() {
		w.started = now
	}
	w.problems = nil
	report := func(since time.Time, what, remedy string) {
		if same := slices.IndexFunc(w.problems, func(p Problem) bool { return p.What == what && p.Remedy == remedy }); same >= 0 { // of another partition
			if since.Before(w.problems[same].Since) {
				w.problems[same].Since = since
			}
			return
		}
		w.problems = append(w.problems, Problem{what, remedy, since})
	}
	w.checkRoles(s, now, report)
	w.checkSchedule(s, now, report)
	w.checkQueues(s, now, report)
	w.checkLeases(s, now, report)
}

type reporter func(since time.Time, what, remedy string)

// stillSince returns the time since when a counter has had its value, or zero if that is less than limit.
func (w *Watch) stillSince(counter string, value uint64, limit time.Duration, now time.Time) time.Time {
	last, known := w.samples[counter]
	if !known || last.value != value {
		last = sample{value, now}
		w.samples[counter] = last
	}
	if now.Sub(last.since) < limit {
		return time.Time{}
	}
	return last.since
}

// checkRoles reports roles that no agent has.
func (w *Watch) checkRoles(s Snapshot, now time.Time, report reporter) {
	present, regional := map[string]bool{}, false
	for _, a := range s.Agents {
		for _, role := range a.Roles {
			if role == "crawl" && a.Region != "" { // checkSchedule reports regions
				regional = true
				continue
			}
			present[role] = true
		}
	}
	waiting := map[string]uint64{}
	for _, d := range s.Depths {
		if role := w.serving[d.Queue]; role != "" {
			waiting[role] += d.Tasks
		}
	}
	for _, role := range slices.Sorted(maps.Keys(waiting)) {
		missing := uint64(0)
		if !present[role] {
			missing = 1
		}
		since := w.stillSince("role "+role, missing, maxSilence, now)
		switch {
		case missing == 0 || since.IsZero():
		case role == "schedule":
			report(since, "no agent has the role schedule, so no feed is polled", "start an agent with it")
		case role == "crawl" && regional && waiting[role] > 0:
			report(since, "all agents with the role crawl have a region, and tasks of no region wait", "start one without --region")
		case waiting[role] > 0:
			report(since, fmt.Sprintf("no agent has the role %s, and tasks wait for it", role), "start an agent with it")
		}
	}
}

// checkSchedule reports overdue feeds that are not dispatched, for each partition of the schedule.
func (w *Watch) checkSchedule(s Snapshot, now time.Time, report reporter) {
	for name, lease := range subjects.ScheduleLeases(s.Leases) {
		w.checkPartition(name, lease.Schedule, now, report)
	}
}

func (w *Watch) checkPartition(lease string, p *subjects.ScheduleProgress, now time.Time, report reporter) {
	dispatched := "dispatched by " + lease
	switch {
	case p == nil:
		return
	case p.Paused != "":
		report(p.PausedSince, "polling is paused", p.Paused)
		return
	}
	for _, r := range p.Regions {
		report(r.Since, fmt.Sprintf("feeds wait for region %s, which no agent crawls", r.Region), fmt.Sprintf("start an agent with --roles crawl --region %s, or give the feeds another proxy", r.Region))
	}
	switch {
	case p.Overdue == 0:
		w.samples[dispatched] = sample{uint64(p.Dispatched), now}
		return
	}
	limit := maxSilence
	if p.Held != "" {
		limit = queueSilence
	}
	if since := w.stillSince(dispatched, uint64(p.Dispatched), limit, now); !since.IsZero() {
		report(since, "feeds are overdue and none is dispatched", cmp.Or(p.Held, "restart the agent that holds the lease "+lease))
	}
}

// checkQueues reports queues whose tasks wait while none is finished.
func (w *Watch) checkQueues(s Snapshot, now time.Time, report reporter) {
	for _, d := range s.Depths {
		if w.serving[d.Queue] == "" {
			continue
		}
		if d.Tasks == 0 {
			w.samples["queue "+d.Queue] = sample{d.Done, now}
			continue
		}
		if since := w.stillSince("queue "+d.Queue, d.Done, max(queueSilence, d.Timeout+maxSilence), now); !since.IsZero() {
			report(since, fmt.Sprintf("tasks wait on queue %s and none is finished", d.Queue), fmt.Sprintf("see the logs of the agents with the role %s", w.serving[d.Queue]))
		}
	}
}

// checkLeases reports leases whose holder does not renew them, and holders that change again and again.
func (w *Watch) checkLeases(s Snapshot, now time.Time, report reporter) {
	for _, name := range slices.Sorted(maps.Keys(s.Leases)) {
		l := s.Leases[name]
		since := w.stillSince("lease "+name, uint64(l.Renewals), maxSilence, now)
		if !since.IsZero() && subjects.IsScheduleLease(name) {
			report(since, fmt.Sprintf("no agent renews the lease %s, so its feeds are not polled", name), "check the agents with the role schedule")
		}
		changes := w.changes[name]
		if holder := l.Agent + " " + l.Since; l.Agent != "" && (len(changes) == 0 || changes[len(changes)-1].holder != holder) {
			changes = append(changes, change{holder, now})
		}
		for len(changes) > 1 && now.Sub(changes[0].at) > changesWithin {
			changes = changes[1:]
		}
		w.changes[name] = changes
		if len(changes) >= maxChanges {
			report(changes[0].at, fmt.Sprintf("the actor %s steps down again and again", name), fmt.Sprintf("see the log of agent %s on %s", l.Agent, l.Host))
		}
	}
}
