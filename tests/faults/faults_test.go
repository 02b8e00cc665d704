//go:build linux

// Package faults breaks a whole mesh, of real servers and agents, while a farm of
// feeds publishes, and counts what came of it: what was lost, stored twice,
// forgotten or fetched too often, and how long it took to be as before.
//
//	go test ./tests/faults -v                        all faults, each for some seconds
//	go test ./tests/faults -v -faults.for 10m        each for ten minutes, one by one
//	go test ./tests/faults -v -faults.only R04,R08   these
//	go test ./tests/faults -v -run Soak -soak.for 1h any of them, at random, for an hour
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
	random *rand.Rand    // the same for the same seed
	lasts  time.Duration // how long it is to
	long   bool          // it happens again and again for so long, or once if not
	strict bool          // bars of time count
	until  time.Time     // when it is to end

	hits atomic.Int64 // kills, or what else has work done again

	mu     sync.Mutex
	missed []string // bars
	slow   []string // bars of time, where these do not count

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

// late notes that a bar of time was missed. It fails the long form only: the others
// run beside whatever else this machine does, and print it.
func (r *run) late(format string, args ...any) {
	if r.strict {
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
	w := underWay(t)
	for _, stage := range plan(w.seed) {
		w.happen(stage)
	}
	end := w.settle(*forFlag > 0, settleTime)
	t.Log("\n" + w.table() + end.String() + w.bars(end))
	for _, r := range append(w.runs, end.run) {
		if len(r.missed) > 0 {
			t.Errorf("%s: %d bars are missed", r.id, len(r.missed))
		}
	}
}

// plan returns what is to happen, stage by stage: what was asked for.
func plan(seed uint64) [][]*run {
	var list [][]*run
	for _, stage := range stages {
		var runs []*run
		for _, f := range stage {
			if *onlyFlag != "" && !slices.Contains(strings.Split(*onlyFlag, ","), f.id) {
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

// A work is a mesh that reads what a farm publishes, while faults happen.
type work struct {
	*mesh
	began  time.Time
	normal time.Duration // within which 95 % of what is published is stored, while all is well
	stop   func()        // publishing
	runs   []*run        // so far
}

// underWay returns a mesh that has read its feeds and is well. They go on to publish.
func underWay(t *testing.T) *work {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed) // have it happen again with -faults.seed
	w := &work{mesh: newMesh(t, feeds, seed)}
	ctx, cancel := context.WithCancel(w.ctx)
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); group.Wait() })
	group.Go(func() { w.ledger.watch(ctx) })
	w.begin()
	publishing, stop := context.WithCancel(ctx)
	w.stop, w.began = stop, time.Now()
	group.Go(func() { w.farm.publish(publishing, seed, rate) })
	w.normal = w.usual()
	return w
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

// usual returns the lag of the mesh while all is well.
func (m *mesh) usual() time.Duration {
	began := time.Now()
	time.Sleep(2*interval + 3*time.Second)
	lag := m.ledger.lag(began, time.Now().Add(-interval-2*time.Second))
	m.say("95 %% of what is published is stored within %v", lag.Round(10*time.Millisecond))
	return lag
}

// happen has faults happen at the same time, and returns when the mesh is as before.
func (w *work) happen(runs []*run) {
	var group sync.WaitGroup
	for _, r := range runs {
		r.began = time.Now()
		r.until = r.began.Add(r.lasts)
		group.Go(func() {
			w.say("%s begins: %s", r.id, r.what)
			r.memory[0] = w.memory()
			fell := w.fell()
			r.fault.happen(w.mesh, r)
			r.ended = time.Now()
			w.say("%s has ended", r.id)
			w.recover(r)
			r.fell = w.fell() - fell
			r.memory[1] = w.memory()
		})
	}
	group.Wait()
	w.runs = append(w.runs, runs...)
}

// recover waits until most of what was published during a fault is stored, or too
// much time is over.
func (w *work) recover(r *run) {
	for r.over = time.Now(); time.Since(r.ended) < r.back; time.Sleep(250 * time.Millisecond) {
		r.over = time.Now()
		if stored, absent := w.ledger.stand(r.began, r.ended); absent*share <= stored {
			break
		}
	}
	if r.took = w.ledger.delay(r.began, r.ended, 2*w.normal); r.took > r.back {
		stored, absent := w.ledger.stand(r.began, r.ended)
		r.late("not as before within %v: %d of %d entries are not stored yet", r.back, absent, stored+absent)
	}
	w.say("%s is over, %v after its end", r.id, r.took.Round(100*time.Millisecond))
}

// settle stops publishing, waits until all that was served is stored, completes the
// runs, and returns how everything is in the end. Stories may take toldIn to be told as
// they are.
func (w *work) settle(strict bool, toldIn time.Duration) *end {
	time.Sleep(after) // so that what was published last is served
	w.stop()
	time.Sleep(after)
	e := &end{toldIn: toldIn, run: &run{fault: fault{id: "end", what: "after all faults"}, strict: strict, began: w.began}}
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(time.Second) {
		e.over = time.Now()
		if err := w.ledger.catchUp(w.ctx, e.began); err != nil {
			w.say("look at all that is stored: %v", err)
		}
		if e.served, e.absent, e.lost = w.ledger.absent(e.began, e.over); e.absent == 0 {
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
func (w *work) complete(r *run) {
	r.served, r.absent, r.lost = w.ledger.absent(r.began, r.over)
	// From before the fault to some polls after it.
	r.polite = w.ledger.polite(r.began, r.over.Add(after), r.ended.Sub(r.began)+r.back+2*interval)
	if r.lost > 0 {
		r.miss("%d of %d entries served are lost", r.lost, r.served)
	}
	if r.polite.forgotten > 0 {
		r.late("%d feeds were forgotten: no request for %v", r.polite.forgotten, r.polite.gap)
	}
	// Overlaps are shown and no bar: an agent asks a host for one thing at a time,
	// but does not know of the others.
	if allowed, told := r.cutOff(w.runs); told && int64(r.polite.extra) > allowed {
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
	toldIn           time.Duration // after which stories that are not told are missed
	belonging
}

// agree looks whether store and index have everything once, and nothing is forgotten
// or left undone.
func (m *mesh) agree(e *end) {
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
	if e.polite = m.ledger.polite(time.Now(), time.Now(), 2*interval+agentsBack); e.polite.forgotten > 0 {
		e.late("%d feeds are forgotten, one for %v", e.polite.forgotten, e.polite.gap.Round(time.Second))
	}
	m.storiesAgree(e)
	m.queuesEmpty(e)
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

// table shows a row per run.
func (w *work) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "without faults 95 %% of what is published is stored within %v\n\n", w.normal.Round(10*time.Millisecond))
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "fault\tfor s\thits\tserved\tabsent\tlost\tforgotten\textra\toverlaps\tgap s\tback s\tfound s\tfell\tMB before\tafter\t  what")
	for _, r := range w.runs {
		fmt.Fprintf(rows, "%s\t%.0f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.1f\t%.1f\t%d\t%d\t%d\t  %s\n", r.id,
			r.ended.Sub(r.began).Seconds(), r.hits.Load(), r.served, r.absent, r.lost, r.polite.forgotten, r.polite.extra, r.polite.overlaps,
			r.polite.gap.Seconds(), r.took.Seconds(), r.found.Seconds(), r.fell, r.memory[0]>>20, r.memory[1]>>20, r.what)
	}
	rows.Flush()
	return b.String()
}

func (e *end) String() string {
	return fmt.Sprintf("\nin the end: %d stored twice, %d not in the index, %d in the index only, %d in quarantine\n", e.twice, e.missing, e.surplus, e.quarantined) +
		fmt.Sprintf("%d stories of %d items; %d items without a story, %d events in two, %d items left their event\n", e.stories, e.together, e.alone, e.torn, e.moved)
}

// bars lists those that were missed.
func (w *work) bars(e *end) string {
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
