//go:build linux

package faults

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

var soakFlag = flag.Duration("soak.for", 0, "duration of random faults; 0: skip")

// TestSoak injects random faults for a long time. Lost, duplicate or missing items and leaks fail it;
// recovery times are printed.
func TestSoak(t *testing.T) {
	if *soakFlag == 0 {
		t.Skip("runs for the duration of -soak.for")
	}
	w := startWork(t)
	w.spare()
	s := newSurvey(w, *soakFlag)
	var group sync.WaitGroup
	done := make(chan struct{})
	ended := sync.OnceFunc(func() { close(done); group.Wait() })
	t.Cleanup(ended)
	group.Go(func() { s.watch(done) })
	plan := newChance(w.seed)
	for until := time.Now().Add(*soakFlag); time.Now().Before(until); {
		quiet, runs := plan.next()
		s.calm(min(quiet, time.Until(until)))
		if time.Now().Before(until) {
			s.happen(runs)
		}
	}
	s.calm(quietLeast) // otherwise the last quarter may have no samples
	ended()
	s.lasts = time.Since(s.start)
	end := w.settle(false, summaryTimeout)
	s.sample() // the final state
	t.Log("\n" + w.table() + s.faults() + s.growth() + s.words() + end.String() + w.exceeded(end))
	for _, why := range append(w.losses(end), s.leaks()...) {
		t.Error(why)
	}
}

// spare adds two agents without faults, in which leaks become visible; in others they end with the process.
// They have no role with a single active agent, because faults that search for it would miss it.
func (m *mesh) spare() {
	m.spared = []*agent{
		m.add("spared-stores", []string{"parse", "store", "api"}),
		m.add("spared-helpers", helpers),
	}
}

// pairs are the faults that may be injected together: neither masks or prevents the other.
var pairs = [][2]string{
	{"R03", "R13"}, {"R04", "R13"}, {"R09", "R13"}, {"R15", "R13"}, {"R18", "R13"},
	{"R01", "R09"}, {"R03", "R09"}, {"R04", "R09"}, {"R08", "R09"}, {"R15", "R09"}, {"R16", "R09"}, {"R01b", "R09"}, {"R20", "R09"}, {"R20", "R13"}, {"R21", "R13"}, {"R26", "R13"},
	{"R04", "R08"},
}

const (
	// Pause between faults. Interrupted work is repeated within the shorter time.
	quietLeast, quietMost = redeliveryTimeout + 5*time.Second, time.Minute

	longLeast, longMost = time.Minute, 150 * time.Second // duration of a repeated fault
)

// summaryTimeout is the time after which the store marks stories dirty again whose items arrived together (see
// addDirtyStoriesJoined in storage/postgres), plus the longest delay of a summary (30 s) and a minute for the rounds of a
// busy machine.
const summaryTimeout = 4*time.Minute + 30*time.Second

// A chance selects faults, reproducibly by its seed. All faults have about the same frequency.
type chance struct {
	random *rand.Rand
	deck   []fault // faults to inject before any is repeated
}

func newChance(seed uint64) *chance { return &chance{random: rand.New(rand.NewPCG(seed, 2))} }

// next returns the next pause, and the one or two faults after it.
func (c *chance) next() (quiet time.Duration, runs []*run) {
	quiet = c.between(quietLeast, quietMost)
	first := c.draw(func(fault) bool { return true })
	runs = append(runs, c.run(*first))
	if c.random.IntN(3) > 0 {
		return quiet, runs
	}
	if second := c.draw(func(f fault) bool { return together(first.id, f.id) }); second != nil {
		runs = append(runs, c.run(*second))
	}
	return quiet, runs
}

func together(a, b string) bool {
	return slices.Contains(pairs, [2]string{a, b}) || slices.Contains(pairs, [2]string{b, a})
}

// draw removes a suitable fault from the deck, nil if none.
func (c *chance) draw(fits func(fault) bool) *fault {
	if len(c.deck) == 0 {
		c.deck = slices.Concat(stages...)
		c.random.Shuffle(len(c.deck), func(i, j int) { c.deck[i], c.deck[j] = c.deck[j], c.deck[i] })
	}
	i := slices.IndexFunc(c.deck, fits)
	if i < 0 {
		return nil
	}
	f := c.deck[i]
	c.deck = slices.Delete(c.deck, i, i+1)
	return &f
}

// run sets the duration of a fault: that of the short form or up to twice as long; for one in four, that of
// the long form.
func (c *chance) run(f fault) *run {
	r := &run{fault: f, random: rand.New(rand.NewPCG(c.random.Uint64(), 0)), lasts: c.between(f.short, 2*f.short)}
	if c.random.IntN(4) == 0 {
		r.lasts, r.long = c.between(longLeast, longMost), true
	}
	return r
}

// between returns a random duration; from if to is not longer, as of faults that end by themselves.
func (c *chance) between(from, to time.Duration) time.Duration {
	return from + time.Duration(c.random.Int64N(max(1, int64(to-from))))
}

// losses returns the results that fail a soak.
func (w *work) losses(e *end) (list []string) {
	for _, r := range w.runs {
		if r.lost > 0 {
			list = append(list, fmt.Sprintf("%s at %s: %d of %d entries served are lost", r.id, r.began.Format(time.TimeOnly), r.lost, r.served))
		}
	}
	if e.lost > 0 {
		list = append(list, fmt.Sprintf("%d of all %d entries served are lost", e.lost, e.served))
	}
	if e.polite.forgotten > 0 {
		list = append(list, fmt.Sprintf("%d feeds are forgotten, one for %v", e.polite.forgotten, e.polite.gap.Round(time.Second)))
	}
	if n := w.crashes(); n > 0 {
		list = append(list, fmt.Sprintf("agents ended by themselves %d times", n))
	}
	return append(list, e.missed...)
}

// faults prints the number of injections and the recovery times of each fault.
func (s *survey) faults() string {
	byID := map[string][]*run{}
	for _, r := range s.runs {
		byID[r.id] = append(byID[r.id], r)
	}
	var b strings.Builder
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "\nfault\ttimes\tlong\thits\tlost\texits\tback s: p50\tmax\tallowed\texceeded\t  what")
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		var recoveries []time.Duration
		var long, slow, lost int
		var hits, crashes int64
		for _, r := range byID[id] {
			recoveries = append(recoveries, r.recovery)
			hits, crashes, lost = hits+r.hits.Load(), crashes+r.crashes, lost+r.lost
			if r.long {
				long++
			}
			if r.recovery > r.back {
				slow++
			}
		}
		slices.Sort(recoveries)
		fmt.Fprintf(rows, "%s\t%d\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.0f\t%d\t  %s\n", id, len(recoveries), long, hits, lost, crashes,
			recoveries[len(recoveries)/2].Seconds(), recoveries[len(recoveries)-1].Seconds(), byID[id][0].back.Seconds(), slow, byID[id][0].what)
	}
	rows.Flush()
	return b.String()
}

func TestChance_SameSeedSelectsTheSameFaults(t *testing.T) {
	one, other := newChance(7), newChance(7)
	for range 100 {
		quiet, runs := one.next()
		quiet2, runs2 := other.next()
		if quiet != quiet2 || len(runs) != len(runs2) {
			t.Fatalf("got a pause of %v and %d faults, then %v and %d", quiet, len(runs), quiet2, len(runs2))
		}
		for i, r := range runs {
			if r.id != runs2[i].id || r.lasts != runs2[i].lasts || r.random.Uint64() != runs2[i].random.Uint64() {
				t.Fatalf("got %s for %v, then %s for %v", r.id, r.lasts, runs2[i].id, runs2[i].lasts)
			}
		}
	}
}

func TestChance_InjectsEachFaultBeforeRepeating(t *testing.T) {
	c := newChance(7)
	all := len(slices.Concat(stages...))
	times := map[string]int{}
	for n := 0; n < 10*all; {
		_, runs := c.next()
		for _, r := range runs {
			times[r.id]++
			n++
		}
		if len(runs) == 2 && !together(runs[0].id, runs[1].id) {
			t.Errorf("%s and %s mask each other", runs[0].id, runs[1].id)
		}
	}
	least, most := slices.Min(slices.Collect(maps.Values(times))), slices.Max(slices.Collect(maps.Values(times)))
	if len(times) != all || most-least > 2 {
		t.Errorf("got %v, want each of %d about equally often", times, all)
	}
}
