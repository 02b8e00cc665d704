package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
	"feedmesh/subjects"
)

var (
	planFeeds = flag.Int("plan.feeds", 1500, "number of feeds")
	planHosts = flag.Int("plan.hosts", 150, "number of hosts")
	planSpeed = flag.Float64("plan.speed", 60, "speed of the clock relative to real time")
	planTimed = flag.Bool("plan.timed", false, "also enforce time limits, which depend on other load of the machine")
	planFor   = flag.Duration("plan.for", 25*time.Second, "duration in real time")
	planSpace = flag.Duration("plan.spacing", 20*time.Second, "least time between the starts of two requests to a host, in simulated time")
)

// A pace is a clock that runs at real speed until hurry changes it.
type pace struct{ from atomic.Pointer[paceFrom] }

type paceFrom struct {
	real, shown time.Time
	speed       float64
}

func newPace(at time.Time) *pace {
	p := &pace{}
	p.from.Store(&paceFrom{time.Now(), at, 1})
	return p
}

func (p *pace) now() time.Time {
	f := p.from.Load()
	return f.shown.Add(time.Duration(float64(time.Since(f.real)) * f.speed))
}

func (p *pace) hurry(speed float64) { p.from.Store(&paceFrom{time.Now(), p.now(), speed}) }

// A tenth of the feeds is hot, three tenths are warm: the maximum shares of the tiers. The source's plan for
// 50,000 feeds is then 28,800 tasks of 100 a day.
func planSettings(t *testing.T, dir string) config.Config {
	c := settings(dir)
	c.Schedule = config.Default().Schedule
	c.Schedule.Policy = "tiers"
	c.Schedule.Tiers.HotRate, c.Schedule.Tiers.WarmRate = 0.0001, 0.0001
	c.Crawl.Parallel = 256
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// The source's plan on an accelerated clock is kept, within the request limits measured by the simulated web,
// and across a restart.
func TestThePlan_IsKeptWithinRequestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if err := simulate.SeveralHosts(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	// It begins in the last hour of the night, so that hot feeds have both intervals.
	clock := newPace(time.Date(2026, 3, 4, 7, 30, 0, 0, time.UTC))
	log := filepath.Join(t.TempDir(), "visits.jsonl")
	web, err := simulate.NewWeb(simulate.Settings{
		Feeds: *planFeeds, Hosts: *planHosts, Seed: 1, Rate: 1, Window: 2, Now: clock.now, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	feedServer, err := web.Serve("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer feedServer.Close()

	dir := t.TempDir()
	c := planSettings(t, dir)
	c.Schedule.HostSpacing = 0 // for the first time all feeds are due together
	plantFeeds(t, dir, web, feedServer.Port)
	n := start(t, c, clock.now)
	waitPolled(t, n, *planFeeds)
	n.stop()

	c.Schedule.HostSpacing = *planSpace
	n = start(t, c, clock.now)
	load := startProbe(t)
	began := clock.now()
	clock.hurry(*planSpeed)
	warm := *planFor / 5
	time.Sleep(warm)
	before, lagBefore, from := web.Summary(), lags(t, n), clock.now()
	time.Sleep((*planFor - warm) / 2)
	lagFirst := lags(t, n)
	clock.hurry(1) // a restart takes real time
	n.stop()
	n = start(t, c, clock.now)
	clock.hurry(*planSpeed)
	time.Sleep((*planFor - warm) / 2)
	after, lagAfter, to := web.Summary(), lags(t, n), clock.now()
	n.stop()

	hours := to.Sub(from).Hours()
	polls := float64(after.Polls-before.Polls) / hours * 24
	planned := 28_800 * 100 * float64(*planFeeds) / 50_000
	lag := lagFirst.add(-1, lagBefore).add(1, lagAfter)
	t.Logf("%d feeds on %d hosts, %.1f h at %vx: %.0f polls a day (planned: %.0f over a whole day), started within p50 %v, p95 %v, p99 %v after they were due "+
		"(p99 %v before a restart, %v after); %d overlaps, least spacing %.2f s, %.2f %% conditional", *planFeeds, *planHosts, hours, *planSpeed, polls, planned,
		lag.quantile(0.5), lag.quantile(0.95), lag.quantile(0.99),
		lagFirst.add(-1, lagBefore).quantile(0.99), lagAfter.quantile(0.99), after.Overlaps-before.Overlaps, leastSpacing(t, log, began), 100*after.Conditional)

	if *planTimed && polls < 0.9*planned {
		t.Errorf("got %.0f polls a day, want the %.0f of the plan", polls, planned)
	}
	if p99 := lag.quantile(0.99); *planTimed && p99 > time.Minute {
		t.Errorf("99 of 100 polls start within %v of when they are due, want a minute", p99)
	}
	if after.Overlaps > before.Overlaps {
		t.Errorf("got %d overlapping requests to a host, want none", after.Overlaps-before.Overlaps)
	}
	// The web records when requests arrive: a difference in the latency of two requests is multiplied by the speed of
	// the clock. A spacing of 20 s, a third of a second of real time, leaves 50 ms for it, and as long as other load
	// delays requests.
	late := time.Duration(float64(load.delay()) * *planSpeed)
	if least := leastSpacing(t, log, began); least < 0.85*planSpace.Seconds()-late.Seconds() {
		t.Errorf("two requests to a host are %.2f s apart, want %v; load delays requests by up to %v", least, *planSpace, late)
	}
	if after.Conditional < 0.99 {
		t.Errorf("%.2f %% of the polls after the first are conditional, want 99 %%", 100*after.Conditional)
	}
	if early := earlyPolls(t, log, began, late); early > 0 || after.Early > 0 {
		t.Errorf("%d feeds were polled sooner than the shortest interval, %d before Retry-After; want none, restart or not", early, after.Early)
	}
}

// plantFeeds stores the feeds of a web.
func plantFeeds(t *testing.T, dir string, web *simulate.Web, port int) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var feeds []storage.Feed
	for _, f := range web.Feeds(port) {
		url, err := storage.CanonicalURL(f.URL)
		if err != nil {
			t.Fatal(err)
		}
		feeds = append(feeds, storage.Feed{ID: storage.FeedID(url), URL: url, Title: f.Title, Added: time.Now()})
	}
	for chunk := range slices.Chunk(feeds, 1000) {
		if _, err := store.AddFeeds(t.Context(), chunk...); err != nil {
			t.Fatal(err)
		}
	}
}

// waitPolled waits until all feeds were polled and no poll is in progress.
func waitPolled(t *testing.T, n *running, feeds int) {
	t.Helper()
	for deadline := time.Now().Add(time.Hour); ; time.Sleep(time.Second) {
		status, err := client.Call(t.Context(), n.Client, wire.GetStatus, wire.None{})
		if err == nil && status.Feeds.Polled >= int64(feeds) && !busy(status) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not all feeds were polled in an hour: %+v, %v", status.Feeds, err)
		}
	}
}

func busy(status wire.Status) bool {
	return slices.ContainsFunc(status.Queues, func(q subjects.Depth) bool { return q.Tasks > 0 && q.Queue != subjects.QuarantineStream })
}

// leastSpacing returns the minimum time between the starts of two requests to one host since then, in
// simulated seconds.
func leastSpacing(t *testing.T, log string, since time.Time) float64 {
	last := map[string]time.Time{}
	least := time.Hour
	eachVisit(t, log, since, func(v simulate.Visit) {
		if before, ok := last[v.Host]; ok {
			least = min(least, v.Start.Sub(before))
		}
		last[v.Host] = v.Start
	})
	return least.Seconds()
}

// earlyPolls returns the number of feeds polled sooner than the shortest interval of the plan and its jitter
// allow, where requests arrive up to a time late.
func earlyPolls(t *testing.T, log string, since time.Time, late time.Duration) (early int) {
	last := map[int]time.Time{}
	eachVisit(t, log, since, func(v simulate.Visit) {
		if before, ok := last[v.Feed]; ok && v.Start.Sub(before) < 225*time.Second*94/100-late {
			early++
		}
		last[v.Feed] = v.Start
	})
	return early
}

func eachVisit(t *testing.T, log string, since time.Time, each func(simulate.Visit)) {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var visits []simulate.Visit
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var v simulate.Visit
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if v.Start.After(since) && !v.Follows {
			visits = append(visits, v)
		}
	}
	slices.SortFunc(visits, func(a, b simulate.Visit) int { return a.Start.Compare(b.Start) })
	for _, v := range visits {
		each(v)
	}
}

// A histogram counts polls by their lag: each bucket those of at most a number of seconds.
type histogram map[float64]float64

// lags reads the node's histogram.
func lags(t *testing.T, n *running) histogram {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, n.Address()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	h := histogram{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		rest, found := strings.CutPrefix(lines.Text(), `feedmesh_feed_lag_seconds_bucket{le="`)
		if !found {
			continue
		}
		bound, count, _ := strings.Cut(rest, `"} `)
		le, err1 := strconv.ParseFloat(bound, 64)
		polls, err2 := strconv.ParseFloat(count, 64)
		if err1 != nil || err2 != nil {
			t.Fatal(fmt.Errorf("read %q: %w, %w", lines.Text(), err1, err2))
		}
		h[le] = polls
	}
	return h
}

// add returns the sum of two histograms, the other weighted by n.
func (h histogram) add(n float64, other histogram) histogram {
	sum := histogram{}
	for le := range h {
		sum[le] = h[le] + n*other[le]
	}
	return sum
}

// quantile returns the upper bound of the bucket that contains a quantile.
func (h histogram) quantile(share float64) time.Duration {
	var all float64
	for _, n := range h {
		all = max(all, n)
	}
	least := 1e9
	for le, n := range h {
		if n >= share*all {
			least = min(least, le)
		}
	}
	return time.Duration(least * float64(time.Second))
}
