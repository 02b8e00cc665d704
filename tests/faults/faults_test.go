//go:build linux

// Package faults breaks a whole mesh, of real servers and agents, while a farm of
// feeds publishes, and counts what came of it: what was lost, stored twice,
// forgotten or fetched too often, and how long it took to be as before.
//
//	go test ./tests/faults -v                        all faults, each for some seconds
//	go test ./tests/faults -v -faults.for 10m        each for ten minutes, one by one
//	go test ./tests/faults -v -faults.only R04,R08   these
//
// To add a fault, write a function that has it happen (see [fault]) and name it in
// the table below.
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

	"feedmesh/agent/api"
	"feedmesh/subjects"
)

var (
	forFlag  = flag.Duration("faults.for", 0, "how long each fault lasts, one by one; 0: some seconds, several at once")
	onlyFlag = flag.String("faults.only", "", "faults to have happen, as R01,R04; empty: all")
	seedFlag = flag.Uint64("faults.seed", 0, "seed of what happens when; 0: one of the time")
)

const (
	feeds = 240
	rate  = 15.0 // entries a second that they publish, together

	agentsBack = time.Minute     // time to be as before when agents or NATS were hit
	storesBack = 2 * time.Minute // and when stores were

	// settleTime is how long all that was served may take to be in the store after
	// the last fault.
	settleTime = 2*interval + time.Minute
)

// A fault is something that goes wrong in a mesh.
type fault struct {
	id, what string
	back     time.Duration // time that the mesh may take to be as before
	short    time.Duration // how long it lasts in the short form

	// again says that it has feeds fetched again by design, how often can't be told.
	again bool

	// happen has it happen until r.until, or as often as makes sense, and returns
	// when all that was broken is whole again.
	happen func(m *mesh, r *run)
}

// stages are the faults in the order they happen; those of one stage, which do not
// mask one another, at the same time if they are to be short.
var stages = [][]fault{
	{{id: "R18", what: "ten agents and back", back: agentsBack, short: 15 * time.Second, happen: scale}},
	{{id: "R09", what: "Meilisearch down, slow, its index deleted", back: storesBack, short: 12 * time.Second, happen: searchGoes}},
	{{id: "R01", what: "agents killed", back: agentsBack, short: 15 * time.Second, happen: killAgents}},
	{{id: "R20", what: "the agent that places items killed every 10 s", back: agentsBack, short: 32 * time.Second, happen: killCluster}},
	{{id: "R02", what: "agents killed at each crash point", back: agentsBack, short: 35 * time.Second, happen: crashAtPoints}},
	{
		{id: "R03", what: "active agent stopped for three leases", back: agentsBack, short: 18 * time.Second, happen: zombie},
		{id: "R13", what: "poison", back: agentsBack, short: 16 * time.Second, happen: poison},
	},
	{{id: "R04", what: "one NATS server killed", back: agentsBack, short: 12 * time.Second, happen: killNATS}},
	{{id: "R06", what: "all streams and buckets deleted", back: agentsBack, short: 4 * time.Second, happen: loseStreams}},
	{{id: "R08", what: "PostgreSQL restarted, down, connections killed", back: storesBack, short: 14 * time.Second, happen: storeGoes}},
	{{id: "R11", what: "disks full", back: storesBack, short: 12 * time.Second, happen: fillDisks}},
	{{id: "R15", what: "a fifth delivered again", back: agentsBack, short: 12 * time.Second, again: true, happen: redeliver}},
	{{id: "R16", what: "two versions mixed", back: agentsBack, short: 12 * time.Second, happen: mixVersions}},
}

// A run is one fault as it happens, and what came of it.
type run struct {
	fault
	random *rand.Rand // the same for the same seed
	until  time.Time  // when it is to end

	hits atomic.Int64 // kills, or what else has work done again

	mu     sync.Mutex
	missed []string // bars
	slow   []string // bars of time, in the short form

	began, ended, over   time.Time     // when it began and ended, and when the next could
	took                 time.Duration // from its end until the mesh was as before
	found                time.Duration // and until all was findable; 0 if nobody asked
	served, absent, lost int
	fell                 int64
	memory               [2]int64 // before and after
	polite               politeness
}

// miss notes that a bar was missed.
func (r *run) miss(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed = append(r.missed, fmt.Sprintf(format, args...))
}

// late notes that a bar of time was missed. It fails the long form only: the short
// one runs beside whatever else this machine does, and prints it.
func (r *run) late(format string, args ...any) {
	if *forFlag > 0 {
		r.miss(format, args...)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow = append(r.slow, fmt.Sprintf(format, args...))
}

// left reports whether the fault is to go on, after a pause.
func (r *run) left(pause time.Duration) bool {
	if time.Now().Add(pause).After(r.until) {
		return false
	}
	time.Sleep(pause)
	return true
}

// rest waits until the fault is to end.
func (r *run) rest() { time.Sleep(time.Until(r.until)) }

// between returns a time between two, by chance.
func (r *run) between(from, to time.Duration) time.Duration {
	return from + time.Duration(r.random.Int64N(int64(to-from)))
}

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	m := newMesh(t, feeds, seed)
	ctx, cancel := context.WithCancel(m.ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { m.ledger.watch(ctx) })
	m.begin()
	publishing, stop := context.WithCancel(ctx)
	defer stop()
	group.Go(func() { m.farm.publish(publishing, seed, rate) })
	normal := m.normal()

	var runs []*run
	for _, stage := range plan() {
		runs = append(runs, m.happen(stage, normal)...)
	}
	end := m.settle(runs, stop)
	t.Log("\n" + table(runs, end, normal))
	for _, r := range append(runs, end.run) {
		if len(r.missed) > 0 {
			t.Errorf("%s: %d bars are missed", r.id, len(r.missed))
		}
	}
}

// plan returns the stages asked for.
func plan() [][]fault {
	var list [][]fault
	for _, stage := range stages {
		stage = slices.DeleteFunc(slices.Clone(stage), func(f fault) bool {
			return *onlyFlag != "" && !slices.Contains(strings.Split(*onlyFlag, ","), f.id)
		})
		if *forFlag == 0 {
			list = append(list, stage)
			continue
		}
		for _, f := range stage {
			f.short = *forFlag
			list = append(list, []fault{f})
		}
	}
	return slices.DeleteFunc(list, func(stage []fault) bool { return len(stage) == 0 })
}

// begin gives the mesh its feeds and waits until all are read.
func (m *mesh) begin() {
	m.t.Helper()
	var list strings.Builder
	for i := range m.farm.feeds {
		fmt.Fprintln(&list, m.farm.url(i))
	}
	add := func(ctx context.Context, c *api.Client) error {
		_, err := c.ImportFeeds(ctx, strings.NewReader(list.String()))
		return err
	}
	if err := eventually(time.Minute, func() error { return m.ask(add) }); err != nil {
		m.t.Fatalf("add the feeds: %v", err)
	}
	err := eventually(time.Minute, func() error {
		s, err := m.status()
		if want := int64(m.farm.feeds * entriesAtNew); err == nil && (s.Items < want || s.Indexed < want) {
			err = fmt.Errorf("%d items and %d indexed of %d", s.Items, s.Indexed, want)
		}
		return err
	})
	if err != nil {
		m.t.Fatalf("read the feeds: %v", err)
	}
	m.say("the mesh has read its %d feeds", m.farm.feeds)
}

// normal returns the lag of the mesh while all is well.
func (m *mesh) normal() time.Duration {
	began := time.Now()
	time.Sleep(2*interval + 3*time.Second)
	lag := m.ledger.lag(began, time.Now().Add(-interval-2*time.Second))
	m.say("95 %% of what is published is stored within %v", lag.Round(10*time.Millisecond))
	return lag
}

// happen has faults happen at the same time, and returns when the mesh is as before.
func (m *mesh) happen(faults []fault, normal time.Duration) []*run {
	var runs []*run
	var group sync.WaitGroup
	for _, f := range faults {
		h := fnv.New64a()
		h.Write([]byte(f.id))
		r := &run{fault: f, random: rand.New(rand.NewPCG(m.seed, h.Sum64())), began: time.Now(), until: time.Now().Add(f.short)}
		runs = append(runs, r)
		group.Go(func() {
			m.say("%s begins: %s", r.id, r.what)
			r.memory[0] = m.memory()
			fell := m.fell()
			f.happen(m, r)
			r.ended = time.Now()
			m.say("%s has ended", r.id)
			m.recover(r, normal)
			r.fell = m.fell() - fell
			r.memory[1] = m.memory()
		})
	}
	group.Wait()
	return runs
}

// recover waits until most of what was published during a fault is stored, or too
// much time is over.
func (m *mesh) recover(r *run, normal time.Duration) {
	for r.over = time.Now(); time.Since(r.ended) < r.back; time.Sleep(250 * time.Millisecond) {
		r.over = time.Now()
		if stored, absent := m.ledger.stand(r.began, r.ended); absent*share <= stored {
			break
		}
	}
	if r.took = m.ledger.delay(r.began, r.ended, 2*normal); r.took > r.back {
		stored, absent := m.ledger.stand(r.began, r.ended)
		r.late("not as before within %v: %d of %d entries are not stored yet", r.back, absent, stored+absent)
	}
	m.say("%s is over, %v after its end", r.id, r.took.Round(100*time.Millisecond))
}

// settle stops publishing, waits until all that was served is stored, completes the
// runs, and returns how everything is in the end.
func (m *mesh) settle(runs []*run, stop func()) *end {
	time.Sleep(after) // so that what was published last is served
	stop()
	time.Sleep(after)
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(time.Second) {
		if _, absent, _ := m.ledger.absent(runs[0].began, time.Now()); absent == 0 {
			break
		}
	}
	m.later.Wait()
	for _, r := range runs {
		m.complete(r, runs)
	}
	return m.agree()
}

// cutOff returns how often work may have been done again in the time of a run: by
// it, or by a fault shortly before, whose tasks come again when their agent has
// been silent for long. It returns false if that can't be told.
func (r *run) cutOff(runs []*run) (n int64, told bool) {
	for _, other := range runs {
		if other.began.After(r.over.Add(after)) || other.ended.Before(r.began.Add(-2*silence)) {
			continue
		}
		if other.again {
			return 0, false
		}
		n += other.hits.Load()
	}
	return n, true
}

// after is how long after a fault is over requests are still counted as its.
const after = 2 * interval

// complete counts what came of a fault.
func (m *mesh) complete(r *run, runs []*run) {
	r.served, r.absent, r.lost = m.ledger.absent(r.began, r.over)
	// From before the fault to some polls after it.
	r.polite = m.ledger.polite(r.began, r.over.Add(after), r.ended.Sub(r.began)+r.back+2*interval)
	if r.lost > 0 {
		r.miss("%d of %d entries served are lost", r.lost, r.served)
	}
	if r.polite.forgotten > 0 {
		r.late("%d feeds were forgotten: no request for %v", r.polite.forgotten, r.polite.gap)
	}
	// Overlaps are shown and no bar: an agent asks a host for one thing at a time,
	// but does not know of the others.
	if allowed, told := r.cutOff(runs); told && int64(r.polite.extra) > allowed {
		r.late("a feed was fetched %d times too often, more than the %d times that work was cut off", r.polite.extra, allowed)
	}
	if r.fell > 0 {
		r.miss("agents ended by themselves %d times", r.fell)
	}
	if r.memory[1] > 2*r.memory[0]+64<<20 {
		r.miss("an agent grew to %d MB", r.memory[1]>>20)
	}
}

// An end is how everything is after all faults.
type end struct {
	*run                 // what is not as it should be
	twice            int // rows of entries stored already
	missing, surplus int // items without a document in the index, and documents without an item
	quarantined      uint64
	belonging
}

// agree looks whether store and index have everything once, and nothing is forgotten
// or left undone.
func (m *mesh) agree() *end {
	e := &end{run: &run{fault: fault{id: "end", what: "after all faults"}}}
	var err error
	if e.twice, err = m.ledger.twice(m.ctx); err != nil || e.twice > 0 {
		e.miss("%d rows are of entries stored already (%v)", e.twice, err)
	}
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(2 * time.Second) {
		e.missing, e.surplus, err = m.ledger.difference(m.ctx, m.meili.URL(), m.meili.Key())
		if err == nil && e.missing == 0 && e.surplus == 0 {
			break
		}
	}
	if err != nil || e.missing > 0 || e.surplus > 0 {
		e.miss("%d items are not in the index, %d documents not in the store (%v)", e.missing, e.surplus, err)
	}
	if p := m.ledger.polite(time.Now(), time.Now(), 2*interval+agentsBack); p.forgotten > 0 {
		e.late("%d feeds are forgotten, one for %v", p.forgotten, p.gap.Round(time.Second))
	}
	m.storiesAgree(e)
	m.queuesEmpty(e)
	return e
}

// queuesEmpty looks whether there are tasks that nobody does.
func (m *mesh) queuesEmpty(e *end) {
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
		}
	}
	if e.quarantined > 0 {
		m.sayQuarantine()
		e.miss("%d tasks are in quarantine", e.quarantined)
	}
}

func (m *mesh) sayQuarantine() {
	var page api.QuarantinePage
	err := m.ask(func(ctx context.Context, c *api.Client) (err error) {
		page, err = c.Quarantine(ctx, 0, 20)
		return err
	})
	if err != nil {
		m.say("quarantine: %v", err)
	}
	for _, q := range page.Tasks {
		m.say("quarantine: %s %s after %d attempts: %s", q.Queue, q.Task, q.Attempts, q.Reason)
	}
}

// eventually waits for a state, and returns why it has not come in time.
func eventually(within time.Duration, state func() error) error {
	var err error
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err = state(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("not within %v: %w", within, err)
}

// table shows a row per fault, and the end.
func table(runs []*run, e *end, normal time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "without faults 95 %% of what is published is stored within %v\n\n", normal.Round(10*time.Millisecond))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "fault\tfor s\thits\tserved\tabsent\tlost\tforgotten\textra\toverlaps\tgap s\tback s\tfound s\tfell\tMB before\tafter\t  what")
	for _, r := range runs {
		fmt.Fprintf(w, "%s\t%.0f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.1f\t%.1f\t%d\t%d\t%d\t  %s\n", r.id,
			r.ended.Sub(r.began).Seconds(), r.hits.Load(), r.served, r.absent, r.lost, r.polite.forgotten, r.polite.extra, r.polite.overlaps,
			r.polite.gap.Seconds(), r.took.Seconds(), r.found.Seconds(), r.fell, r.memory[0]>>20, r.memory[1]>>20, r.what)
	}
	w.Flush()
	fmt.Fprintf(&b, "\nin the end: %d stored twice, %d not in the index, %d in the index only, %d in quarantine\n", e.twice, e.missing, e.surplus, e.quarantined)
	fmt.Fprintf(&b, "%d stories of %d items; %d items without a story, %d events in two, %d items left their event\n", e.stories, e.together, e.alone, e.torn, e.moved)
	for _, r := range append(runs, e.run) {
		for _, bar := range r.missed {
			fmt.Fprintf(&b, "MISSED %s (%s): %s\n", r.id, r.what, bar)
		}
		for _, bar := range r.slow {
			fmt.Fprintf(&b, "SLOW %s (%s): %s\n", r.id, r.what, bar)
		}
	}
	return b.String()
}
