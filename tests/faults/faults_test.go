//go:build linux

// Package faults injects faults into a whole mesh of real servers and agents while feeds publish, and
// measures lost items, duplicates, missing polls, superfluous requests and recovery times.
//
//	go test ./tests/faults -v                        all faults, each for some seconds
//	go test ./tests/faults -v -faults.for 10m        each for ten minutes, one by one
//	go test ./tests/faults -v -faults.only R04,R08   these
//	go test ./tests/faults -v -run Soak -soak.for 1h any of them, at random, for an hour
//
// To add a fault, write a function that injects it (see killAgents) and add it to the table below.
package faults

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

var (
	forFlag        = flag.Duration("faults.for", 0, "duration of each fault, in sequence; 0: some seconds, several together")
	onlyFlag       = flag.String("faults.only", "", "faults to inject, as R01,R04; empty: all")
	partitionsFlag = flag.Int("faults.partitions", 1, "partitions of the schedule; the previous version knows only one, so it is not mixed with more")
	seedFlag       = flag.Uint64("faults.seed", 0, "seed of the fault times; 0: the current time")
)

const (
	feeds = 240
	rate  = 15.0 // entries a second of all feeds together

	agentsBack = time.Minute     // recovery time after faults of agents or NATS
	storesBack = 2 * time.Minute // and after faults of stores

	// settleTimeout is the time after the last fault within which all served entries must be stored.
	settleTime = 2*interval + time.Minute
)

// A fault is an injected fault of a mesh.
type fault struct {
	id, what string
	back     time.Duration // limit of the recovery time
	short    time.Duration // duration in the short form

	// refetches states that the fault causes repeated fetches by design, in any number.
	refetches bool

	// happen injects the fault until r.until, or as often as makes sense, and returns after all broken parts
	// are repaired.
	happen func(m *mesh, r *run)
}

// stages are the faults in order. The faults of a stage, which do not mask each other, are injected together
// in the short form.
var stages = [][]fault{
	{{id: "R18", what: "ten agents and back", back: agentsBack, short: 15 * time.Second, happen: scale}},
	{{id: "R09", what: "Meilisearch down, slow, its index deleted", back: storesBack, short: 12 * time.Second, happen: searchGoes}},
	{{id: "R01", what: "agents killed", back: agentsBack, short: 15 * time.Second, happen: killAgents}},
	{{id: "R01b", what: "the agent that places items killed every 10 s", back: agentsBack, short: 32 * time.Second, happen: killCluster}},
	{{id: "R02", what: "agents killed at each crash point", back: agentsBack, short: 35 * time.Second, happen: crashAtPoints}},
	{
		{id: "R03", what: "active agent stopped for three leases", back: agentsBack, short: 18 * time.Second, happen: zombie},
		{id: "R13", what: "poison", back: agentsBack, short: 16 * time.Second, happen: poison},
	},
	{{id: "R04", what: "one NATS server killed", back: agentsBack, short: 12 * time.Second, happen: killNATS}},
	{{id: "R26", what: "one NATS server hangs", back: agentsBack, short: 20 * time.Second, happen: hangNATS}},
	{{id: "R27", what: "a NATS server apart from the others; the disk of one full", back: agentsBack, short: 40 * time.Second, happen: partNATS}},
	{{id: "R30", what: "a site and a NATS server cut off", back: agentsBack, short: 30 * time.Second, happen: siteAway}},
	{{id: "R06", what: "all streams and buckets deleted", back: agentsBack, short: 4 * time.Second, happen: loseStreams}},
	{{id: "R08", what: "PostgreSQL restarted, down, connections killed", back: storesBack, short: 14 * time.Second, happen: storeGoes}},
	{{id: "R20", what: "unreadable values under keys of every bucket, and in every queue", back: agentsBack, short: 10 * time.Second, happen: garbage}},
	{
		{id: "R21", what: "the clock of the active schedule 1 h ahead, 1 h behind", back: agentsBack, short: 40 * time.Second, refetches: true, happen: shiftClock},
		{id: "R28", what: "a single node killed during a purge", back: agentsBack, happen: killPurge},
		{id: "R29", what: "a restore killed, into SQLite and PostgreSQL", back: agentsBack, happen: killRestore},
	},
	{{id: "R22", what: "PostgreSQL goes back to older files", back: storesBack, short: 20 * time.Second, refetches: true, happen: storeGoesBack}},
	{{id: "R23", what: "damaged files of one NATS server", back: agentsBack, short: 10 * time.Second, happen: damageNATS}},
	{{id: "R25", what: "an agent starts without its engines", back: agentsBack, short: 30 * time.Second, happen: startWithout}},
	{{id: "R11", what: "disks full", back: storesBack, short: 12 * time.Second, happen: fillDisks}},
	{{id: "R15", what: "a fifth delivered again", back: agentsBack, short: 12 * time.Second, refetches: true, happen: redeliver}},
	{{id: "R16", what: "two versions mixed", back: agentsBack, short: 12 * time.Second, happen: mixVersions}},
	{{id: "R17", what: "previous version mixed", back: agentsBack, short: 20 * time.Second, happen: mixPreviousVersion}},
}

// A run is one injection of a fault with its results.
type run struct {
	fault
	random *rand.Rand    // reproducible by the seed
	lasts  time.Duration // planned duration
	long   bool          // repeated for the duration, otherwise once
	strict bool          // time limits are enforced
	until  time.Time     // planned end

	hits atomic.Int64 // kills, or other causes of repeated work

	mu     sync.Mutex
	missed []string // exceeded limits
	slow   []string // exceeded time limits, if not enforced

	began, ended, recovered time.Time     // start, end, and earliest start of the next
	recovery                time.Duration // recovery time
	found                   time.Duration // time until all items were searchable; 0 if not measured
	served, absent, lost    int
	crashes                 int64
	memory                  [2]int64 // before and after
	polite                  politeness
}

// miss records an exceeded limit.
func (r *run) miss(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed = append(r.missed, fmt.Sprintf(format, args...))
}

// late records an exceeded time limit. It fails the long form only: other forms run in parallel with other
// work on the machine, and print it.
func (r *run) late(format string, args ...any) {
	if r.strict {
		r.miss(format, args...)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow = append(r.slow, fmt.Sprintf(format, args...))
}

// left waits for a pause and reports whether the fault is to continue.
func (r *run) left(pause time.Duration) bool {
	if time.Now().Add(pause).After(r.until) {
		return false
	}
	time.Sleep(pause)
	return true
}

// rest waits until the planned end.
func (r *run) rest() { time.Sleep(time.Until(r.until)) }

// between returns a random duration between two.
func (r *run) between(from, to time.Duration) time.Duration {
	return from + time.Duration(r.random.Int64N(int64(to-from)))
}

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	w := startWork(t)
	for _, stage := range plan(w.seed) {
		w.happen(stage)
	}
	end := w.settle(*forFlag > 0, summaryTimeout)
	t.Log("\n" + w.table() + end.String() + w.exceeded(end))
	for _, r := range append(w.runs, end.run) {
		t.Run(r.id, func(t *testing.T) {
			for _, limit := range r.missed {
				t.Error(limit)
			}
		})
	}
}

// plan returns the selected faults, stage by stage.
func plan(seed uint64) [][]*run {
	var list [][]*run
	for _, stage := range stages {
		var runs []*run
		for _, f := range stage {
			if *onlyFlag != "" && !slices.Contains(strings.Split(*onlyFlag, ","), f.id) || f.id == "R17" && *partitionsFlag > 1 {
				continue
			}
			h := fnv.New64a()
			h.Write([]byte(f.id))
			r := &run{fault: f, random: rand.New(rand.NewPCG(seed, h.Sum64())), lasts: f.short}
			if *forFlag > 0 {
				r.lasts, r.long, r.strict = *forFlag, true, true
				list = append(list, []*run{r})
				continue
			}
			runs = append(runs, r)
		}
		list = append(list, runs)
	}
	return slices.DeleteFunc(list, func(stage []*run) bool { return len(stage) == 0 })
}

// A work is a mesh that reads publishing feeds during faults.
type work struct {
	*mesh
	began  time.Time
	normal time.Duration // lag of 95 % of the entries without faults
	stop   func()        // stops publishing
	runs   []*run        // finished injections
}

// startWork returns a healthy mesh that has read its feeds, which keep publishing.
func startWork(t *testing.T) *work {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed) // reproduce it with -faults.seed
	w := &work{mesh: newMesh(t, feeds, seed)}
	ctx, cancel := context.WithCancel(w.ctx)
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); group.Wait() })
	group.Go(func() { w.ledger.watch(ctx) })
	w.begin()
	publishing, stop := context.WithCancel(ctx)
	w.stop, w.began = stop, time.Now()
	group.Go(func() { w.feedServer.publish(publishing, seed, rate) })
	w.normal = w.usual()
	return w
}

// startTimeout bounds the time in which the mesh starts, and that in which it reads all feeds.
const startTimeout = 3 * time.Minute

// begin adds the feeds and waits until all are read.
func (m *mesh) begin() {
	m.t.Helper()
	var list strings.Builder
	for i := range m.feedServer.feeds {
		fmt.Fprintln(&list, m.feedServer.url(i))
	}
	add := func(ctx context.Context, c *client.Client) error {
		_, err := c.ImportFeeds(ctx, strings.NewReader(list.String()))
		return err
	}
	m.addView()
	m.startDeliveries()
	if err := eventually(startTimeout, func() error { return m.request(add) }); err != nil {
		m.t.Fatalf("add the feeds: %v", err)
	}
	err := eventually(startTimeout, func() error {
		s, err := m.status()
		if want := int64(m.feedServer.feeds * entriesAtNew); err == nil && (s.Items < want || s.Indexed < want) {
			err = fmt.Errorf("%d items and %d indexed of %d", s.Items, s.Indexed, want)
		}
		return err
	})
	if err != nil {
		m.t.Fatalf("read the feeds: %v", err)
	}
	m.logf("the mesh has read its %d feeds", m.feedServer.feeds)
}

// usual returns the lag of the mesh without faults.
func (m *mesh) usual() time.Duration {
	began := time.Now()
	time.Sleep(2*interval + 3*time.Second)
	lag := m.ledger.lag(began, time.Now().Add(-interval-2*time.Second))
	m.logf("95 %% of published entries are stored within %v", lag.Round(10*time.Millisecond))
	return lag
}

// happen injects faults together, and returns after recovery.
func (w *work) happen(runs []*run) {
	var group sync.WaitGroup
	for _, r := range runs {
		r.began = time.Now()
		r.until = r.began.Add(r.lasts)
		group.Go(func() {
			w.logf("%s begins: %s", r.id, r.what)
			r.memory[0] = w.memory()
			crashes := w.crashes()
			r.fault.happen(w.mesh, r)
			r.ended = time.Now()
			w.logf("%s has ended", r.id)
			w.recover(r)
			r.crashes = w.crashes() - crashes
			r.memory[1] = w.memory()
		})
	}
	group.Wait()
	w.runs = append(w.runs, runs...)
}

// recover waits until most of the entries published during a fault are stored, or a timeout.
func (w *work) recover(r *run) {
	for r.recovered = time.Now(); time.Since(r.ended) < r.back; time.Sleep(250 * time.Millisecond) {
		r.recovered = time.Now()
		if stored, absent := w.ledger.stand(r.began, r.ended); absent*share <= stored {
			break
		}
	}
	if r.recovery = w.ledger.delay(r.began, r.ended, 2*w.normal); r.recovery > r.back {
		stored, absent := w.ledger.stand(r.began, r.ended)
		r.late("not recovered within %v: %d of %d entries are not stored yet", r.back, absent, stored+absent)
	}
	w.logf("%s is over, %v after its end", r.id, r.recovery.Round(100*time.Millisecond))
}

// settle stops publishing, waits until all served entries are stored, completes the runs, and returns the
// final state. summaryTimeout is the time limit of missing story summaries.
func (w *work) settle(strict bool, summaryTimeout time.Duration) *end {
	time.Sleep(after) // so that the last entries are served
	w.stop()
	time.Sleep(after)
	e := &end{summaryTimeout: summaryTimeout, run: &run{fault: fault{id: "end", what: "after all faults"}, strict: strict, began: w.began}}
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(time.Second) {
		e.recovered = time.Now()
		if err := w.ledger.catchUp(w.ctx); err != nil {
			w.logf("read all stored items: %v", err)
		}
		if e.served, e.absent, e.lost = w.ledger.absent(e.began, e.recovered); e.absent == 0 {
			break
		}
	}
	w.later.Wait()
	for _, r := range w.runs {
		w.complete(r)
	}
	w.agree(e)
	return e
}

// cutOff returns the maximum number of repeated tasks in a run: caused by it, or by an earlier fault whose
// tasks are delivered again after their agent was silent. It returns false if there is no bound.
func (r *run) cutOff(runs []*run) (n int64, bounded bool) {
	for _, other := range runs {
		if other.began.After(r.recovered.Add(after)) || other.ended.Before(r.began.Add(-2*redeliveryTimeout)) {
			continue
		}
		if other.refetches {
			return 0, false
		}
		n += other.hits.Load()
	}
	return n, true
}

// after is the time after a fault during which requests are attributed to it.
const after = 2 * interval

// complete computes the results of a fault.
func (w *work) complete(r *run) {
	r.served, r.absent, r.lost = w.ledger.absent(r.began, r.recovered)
	// From before the fault to some polls after it.
	r.polite = w.ledger.polite(r.began, r.recovered.Add(after), r.ended.Sub(r.began)+r.back+2*interval)
	if r.lost > 0 {
		r.miss("%d of %d entries served are lost", r.lost, r.served)
	}
	if r.polite.forgotten > 0 {
		r.late("%d feeds were not polled: no request for %v", r.polite.forgotten, r.polite.gap)
	}
	if r.polite.overlaps > 0 {
		r.miss("%d requests to a host overlapped those of another agent", r.polite.overlaps)
	}
	if allowed, bounded := r.cutOff(w.runs); bounded && int64(r.polite.extra) > allowed {
		r.late("a feed was fetched %d times too often, more than the %d interrupted tasks", r.polite.extra, allowed)
	}
	if r.crashes > 0 {
		r.miss("agents exited unexpectedly %d times", r.crashes)
	}
	if r.memory[1] > 2*r.memory[0]+64<<20 {
		r.miss("an agent grew to %d MB", r.memory[1]>>20)
	}
}

// An end is the final state after all faults.
type end struct {
	*run                 // with all exceeded limits
	twice            int // duplicate rows of stored entries
	missing, surplus int // items without a document in the index, and documents without an item
	quarantined      uint64
	summaryTimeout   time.Duration // after which a missing story summary counts
	belonging
}

// agree checks that store and index contain every entry once, and that no feed or task is left over.
func (m *mesh) agree(e *end) {
	var err error
	if e.twice, err = m.ledger.twice(m.ctx); err != nil || e.twice > 0 {
		e.miss("%d rows are of entries stored already (%v)", e.twice, err)
	}
	// A rebuild of the index takes longer the more items there are: it may go on, but not stand still.
	left := -1
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(2 * time.Second) {
		e.missing, e.surplus, err = m.ledger.difference(m.ctx, m.meili.URL(), m.meili.Key())
		if err != nil {
			continue
		}
		if e.missing == 0 && e.surplus == 0 {
			break
		}
		if now := e.missing + e.surplus; left < 0 || now < left {
			left, began = now, time.Now()
			m.logf("%d items are not in the index yet, %d are not in the store", e.missing, e.surplus)
		}
	}
	if err != nil || e.missing > 0 || e.surplus > 0 {
		e.miss("%d items are not in the index, %d documents not in the store (%v)", e.missing, e.surplus, err)
	}
	if e.polite = m.ledger.polite(time.Now(), time.Now(), 2*interval+agentsBack); e.polite.forgotten > 0 {
		e.late("%d feeds are not polled, one for %v", e.polite.forgotten, e.polite.gap.Round(time.Second))
	}
	m.storiesAgree(e)
	m.viewAgrees(e)
	m.allReceived(e)
	m.queuesEmpty(e)
}

// queuesEmpty checks that no tasks are left.
func (m *mesh) queuesEmpty(e *end) {
	if err := m.takeGarbage(nil); err != nil {
		e.miss("list the quarantine: %v", err)
	}
	status, err := m.status()
	if err != nil {
		e.miss("no status: %v", err)
	}
	for _, q := range status.Queues {
		switch {
		case q.Queue == subjects.QuarantineStream:
			e.quarantined = q.Tasks
		case q.Oldest > settleTime.Seconds():
			e.late("a task has been on queue %s for %.0f s", q.Queue, q.Oldest)
			m.logConsumers(q.Queue)
		}
	}
	if e.quarantined > 0 {
		m.logQuarantine()
		e.miss("%d tasks are in quarantine", e.quarantined)
	}
}

func (m *mesh) logQuarantine() {
	var page wire.QuarantinePage
	err := m.request(func(ctx context.Context, c *client.Client) (err error) {
		page, err = client.Call(ctx, c, wire.ListQuarantine, wire.QuarantineSearch{After: 0, Limit: 20})
		return err
	})
	if err != nil {
		m.logf("quarantine: %v", err)
	}
	for _, q := range page.Tasks {
		m.logf("quarantine: %s %s after %d attempts: %s", q.Queue, q.Task, q.Attempts, q.Reason)
	}
}

// eventually waits for a state, and returns the last error after a timeout.
func eventually(within time.Duration, state func() error) error {
	var err error
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err = state(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("not within %v: %w", within, err)
}

// table prints a row for each run.
func (w *work) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "without faults 95 %% of published entries are stored within %v\n\n", w.normal.Round(10*time.Millisecond))
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "fault\tfor s\thits\tserved\tabsent\tlost\tunpolled\textra\toverlaps\tgap s\tback s\tfound s\texits\tMB before\tafter\t  what")
	for _, r := range w.runs {
		fmt.Fprintf(rows, "%s\t%.0f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.1f\t%.1f\t%d\t%d\t%d\t  %s\n", r.id,
			r.ended.Sub(r.began).Seconds(), r.hits.Load(), r.served, r.absent, r.lost, r.polite.forgotten, r.polite.extra, r.polite.overlaps,
			r.polite.gap.Seconds(), r.recovery.Seconds(), r.found.Seconds(), r.crashes, r.memory[0]>>20, r.memory[1]>>20, r.what)
	}
	rows.Flush()
	return b.String()
}

func (e *end) String() string {
	return fmt.Sprintf("\nin the end: %d stored twice, %d not in the index, %d in the index only, %d in quarantine\n", e.twice, e.missing, e.surplus, e.quarantined) +
		fmt.Sprintf("%d stories of %d items; %d items without a story, %d events in two, %d items left their event\n", e.stories, e.together, e.alone, e.torn, e.moved)
}

// exceeded lists the exceeded limits.
func (w *work) exceeded(e *end) string {
	var b strings.Builder
	for _, r := range append(w.runs[:len(w.runs):len(w.runs)], e.run) {
		for _, bar := range r.missed {
			fmt.Fprintf(&b, "MISSED %s (%s): %s\n", r.id, r.what, bar)
		}
		for _, bar := range r.slow {
			fmt.Fprintf(&b, "SLOW %s (%s): %s\n", r.id, r.what, bar)
		}
	}
	return b.String()
}
