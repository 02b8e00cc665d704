package role

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/policy"
	"feedmesh/subjects"
)

// feedURL returns the address of the i-th feed on a host of its own.
func feedURL(i int) string { return fmt.Sprintf("http://host%d.example/feed", i) }

// planOf returns a plan of n new feeds, due at noon, on hosts hosts.
func planOf(n, hosts int) *plan {
	p := newPlan(0)
	for i := range n {
		p.add(fmt.Sprintf("f%04d", i), fmt.Sprintf("http://host%d.example/%d", i%hosts, i), 0, noon)
	}
	return p
}

// ids returns the feeds' IDs.
func ids(feeds []*planned) []string {
	var s []string
	for _, f := range feeds {
		s = append(s, f.FeedID)
	}
	return s
}

// said returns an observation of the poll that a feed is out for.
func said(f *planned, outcome subjects.Outcome, at time.Time) subjects.Observation {
	return subjects.Observation{
		Receipt: subjects.Receipt{
			FeedID: f.FeedID, Crawl: f.State.Crawl, Fetched: at, Status: 200,
			ETag: `"new"`, LastModified: "today", BodyHash: "new hash",
		},
		Outcome: outcome,
	}
}

// observeAll has a plan observe and then checks it.
func observeAll(t *testing.T, p *plan, now time.Time, observations ...subjects.Observation) {
	t.Helper()
	for _, o := range observations {
		p.observe(o, now)
	}
	checkPlan(t, p)
}

// checkPlan fails if the plan contradicts itself.
func checkPlan(t *testing.T, p *plan) {
	t.Helper()
	inFlight := map[string]int{}
	scheduled := 0
	for id, f := range p.feeds {
		if f.FeedID != id || f.host != hostOf(f.State.URL) {
			t.Fatalf("feed %s is kept as %s on %s", f.FeedID, id, f.host)
		}
		if f.State.Crawl != "" {
			inFlight[f.host]++
		}
		if (f.State.Crawl == "") != f.State.Due.IsZero() {
			t.Fatalf("feed %s is out in %q, due %v; want both or neither", id, f.State.Crawl, f.State.Due)
		}
		if f.State.Next.IsZero() != (f.index < 0) {
			t.Fatalf("feed %s is next at %v and has index %d", id, f.State.Next, f.index)
		}
		if f.index >= 0 {
			scheduled++
			if p.due[f.tier][f.index] != f {
				t.Fatalf("feed %s is not where it says, %d of tier %d", id, f.index, f.tier)
			}
		}
		if f.State.Tier != subjects.Tiers[f.tier] {
			t.Fatalf("feed %s is in tier %d and says %s", id, f.tier, f.State.Tier)
		}
	}
	inHeaps := 0
	for _, due := range p.due {
		inHeaps += len(due)
		for i := range due {
			if i > 0 && earlier(due[i], due[(i-1)/2]) {
				t.Fatalf("feed %s is below %s, which is due later", due[i].FeedID, due[(i-1)/2].FeedID)
			}
		}
	}
	if inHeaps != scheduled {
		t.Fatalf("got %d feeds in heaps, want the %d that have a next time", inHeaps, scheduled)
	}
	if len(inFlight) != len(p.inFlight) {
		t.Fatalf("got feeds out on hosts %v, want %v", p.inFlight, inFlight)
	}
	for host, n := range inFlight {
		if p.inFlight[host] != n {
			t.Fatalf("got %d out on %s, want %d", p.inFlight[host], host, n)
		}
	}
}

func TestTakeIsOfOneTierLongestDueFirst(t *testing.T) {
	p := newPlan(0)
	for i := range 250 {
		// Those added last are due first; every fifth is cold.
		rate := 0.0
		if i%5 == 0 {
			rate = 0.1
		}
		p.add(fmt.Sprintf("f%04d", i), feedURL(i), rate, noon.Add(time.Duration(-i)*time.Second))
	}
	if got := p.take(policy.Hot, noon); got != nil {
		t.Errorf("got %v from the hot tier, want nothing", ids(got))
	}
	warm, more, rest := p.take(policy.Warm, noon), p.take(policy.Warm, noon), p.take(policy.Warm, noon)
	checkPlan(t, p)
	if len(warm) != 100 || len(more) != 100 || rest != nil {
		t.Fatalf("got tasks of %d, %d and %d feeds, want 100, 100 and none", len(warm), len(more), len(rest))
	}
	if warm[0].FeedID != "f0249" || more[99].FeedID != "f0001" || !slices.IsSortedFunc(append(warm, more...), func(a, b *planned) int {
		return a.State.Due.Compare(b.State.Due)
	}) {
		t.Errorf("got %v and %v, want those due longest first", ids(warm), ids(more))
	}
	if cold := p.take(policy.Cold, noon); len(cold) != 50 || cold[0].tier != policy.Cold {
		t.Errorf("got %d cold feeds, want 50", len(cold))
	}
}

func TestTakeLeavesWhatIsNotDue(t *testing.T) {
	p := planOf(3, 3)
	if got := p.take(policy.Warm, noon.Add(-time.Microsecond)); got != nil || p.anyDue(noon.Add(-time.Microsecond)) {
		t.Errorf("got %v before noon, want nothing", ids(got))
	}
	if !p.anyDue(noon) || len(p.take(policy.Warm, noon)) != 3 || p.anyDue(noon) {
		t.Error("want all three at noon, and nothing more then")
	}
}

func TestAFeedThatIsOutIsHandedOutAgainOnlyWhenItIsTakenForLost(t *testing.T) {
	p := planOf(10, 10)
	first := p.take(policy.Warm, noon)
	task := first[0].State.Crawl
	if got := p.take(policy.Warm, noon.Add(subjects.InFlight-time.Microsecond)); got != nil {
		t.Errorf("got %v while they are out, want nothing", ids(got))
	}
	again := p.take(policy.Warm, noon.Add(subjects.InFlight))
	checkPlan(t, p)
	if len(again) != 10 || again[0].State.Crawl == task {
		t.Errorf("got %d feeds in task %s, want all ten in another task than %s", len(again), again[0].State.Crawl, task)
	}
}

func TestTakeIsFairToHosts(t *testing.T) {
	p := planOf(1000, 1)
	for i := range 30 {
		p.add(fmt.Sprintf("other%d", i), feedURL(i+1), 0, noon.Add(time.Second)) // due after all of the one host's
	}
	now := noon.Add(time.Minute)
	perHost := map[string]int{}
	for taken := p.take(policy.Warm, now); taken != nil; taken = p.take(policy.Warm, now) {
		inTask := map[string]int{}
		for _, f := range taken {
			inTask[f.host]++
			perHost[f.host]++
		}
		if inTask["host0.example"] > maxHostInTask {
			t.Errorf("got %d feeds of a host in a task, want at most %d", inTask["host0.example"], maxHostInTask)
		}
	}
	checkPlan(t, p)
	if perHost["host0.example"] != maxHostInFlight || len(perHost) != 31 {
		t.Errorf("got %d feeds of the large host and %d hosts, want %d and 31", perHost["host0.example"], len(perHost), maxHostInFlight)
	}
}

// A host with very many feeds must not keep all others waiting while it is
// busy with its share.
func TestAHostWithManyFeedsDoesNotStandInTheWay(t *testing.T) {
	p := planOf(20_000, 1)
	for p.take(policy.Warm, noon) != nil {
	}
	p.add("late", feedURL(1), 0, noon.Add(time.Second))
	taken := p.take(policy.Warm, noon.Add(time.Second))
	if !slices.Contains(ids(taken), "late") {
		t.Errorf("got %d feeds without the one of another host, want it", len(taken))
	}
	// When some of them come back, as many of the others go out.
	for _, f := range p.feeds {
		if f.State.Crawl != "" && f.host == "host0.example" {
			p.observe(said(f, subjects.Unchanged, noon), noon)
		}
	}
	got := 0
	for taken := p.take(policy.Warm, noon.Add(2*time.Second)); taken != nil; taken = p.take(policy.Warm, noon.Add(2*time.Second)) {
		got += len(taken)
	}
	checkPlan(t, p)
	if got != maxHostInFlight {
		t.Errorf("got %d feeds after the host's share came back, want %d", got, maxHostInFlight)
	}
}

// If a host's whole share is lost with the streams, nothing is ever heard of it.
func TestAHostWhoseShareIsLostIsTriedAgain(t *testing.T) {
	p := planOf(maxHostInFlight, 1)
	for p.take(policy.Warm, noon) != nil {
	}
	if taken := p.take(policy.Warm, noon.Add(subjects.InFlight)); len(taken) != maxHostInTask {
		t.Errorf("got %d feeds when their host's share is taken for lost, want %d", len(taken), maxHostInTask)
	}
	checkPlan(t, p)
}

func TestAnObservationDecidesTheNextPoll(t *testing.T) {
	seen := noon.Add(3 * time.Second)
	for _, test := range []struct {
		outcome     subjects.Outcome
		rate        float64
		retryAfter  time.Duration
		tier        policy.Tier
		interval    time.Duration // 0: never
		validators  string        // of the document that we have after it
		failures    int
		changesWhen bool
	}{
		{outcome: subjects.Stored, rate: 5, tier: policy.Warm, interval: 20 * time.Minute, validators: `"new"`, changesWhen: true},
		{outcome: subjects.Stored, rate: 50, tier: policy.Hot, interval: 225 * time.Second, validators: `"new"`, changesWhen: true},
		{outcome: subjects.Stored, rate: 0.5, tier: policy.Cold, interval: time.Hour, validators: `"new"`, changesWhen: true},
		{outcome: subjects.Nothing, rate: 5, tier: policy.Warm, interval: 20 * time.Minute, validators: `"new"`},
		{outcome: subjects.Unchanged, tier: policy.Warm, interval: 20 * time.Minute, validators: `"new"`},
		{outcome: subjects.Failed, tier: policy.Warm, interval: 40 * time.Minute, validators: `"old"`, failures: 1},
		{outcome: subjects.Failed, retryAfter: 3 * time.Hour, tier: policy.Warm, interval: 3 * time.Hour, validators: `"old"`, failures: 1},
		{outcome: subjects.Failed, retryAfter: time.Second, tier: policy.Warm, interval: 40 * time.Minute, validators: `"old"`, failures: 1},
		{outcome: subjects.Gone, tier: policy.Warm, validators: `"old"`, failures: 1},
	} {
		p := planOf(1, 1)
		f := p.take(policy.Warm, noon)[0]
		f.State.ETag, f.State.LastModified, f.State.BodyHash = `"old"`, "yesterday", "old hash"
		o := said(f, test.outcome, seen)
		o.Rate, o.RetryAfter, o.Error, o.Class = test.rate, test.retryAfter, "why", "class"
		if got := p.observe(o, seen); got != f {
			t.Fatalf("%s: got %v, want the feed, as it changed", test.outcome, got)
		}
		checkPlan(t, p)
		s := f.State
		wait := s.Next.Sub(seen)
		if low, high := test.interval*94/100, test.interval*106/100; test.interval > 0 && (wait < low || wait > high) || test.interval == 0 && !s.Next.IsZero() {
			t.Errorf("%s: next after %v, want about %v", test.outcome, wait, test.interval)
		}
		if f.tier != test.tier || s.Failures != test.failures || s.ETag != test.validators || s.Changed.IsZero() == test.changesWhen {
			t.Errorf("%s: got tier %d, %d failures, ETag %s, changed %v; want %+v", test.outcome, f.tier, s.Failures, s.ETag, s.Changed, test)
		}
		if (s.LastModified == "today") != (s.ETag == `"new"`) || (s.BodyHash == "new hash") != (s.ETag == `"new"`) {
			t.Errorf("%s: got validators %q, %q and %q, want all of one document", test.outcome, s.ETag, s.LastModified, s.BodyHash)
		}
		if s.Crawl != "" || !s.Polled.Equal(seen) || s.Outcome != test.outcome || s.Error != "why" || s.Reason == "" {
			t.Errorf("%s: got %+v, want it back with what was said", test.outcome, s)
		}
	}
}

func TestFailuresBackOffAndOneSuccessForgetsThem(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds["f0000"]
	now, last := noon, time.Duration(0)
	for i := range 60 {
		if len(p.take(policy.Warm, now)) != 1 {
			t.Fatalf("not due at %v", now)
		}
		p.observe(said(f, subjects.Failed, now), now)
		wait := f.State.Next.Sub(now)
		if i < 5 && wait <= last || wait > 26*time.Hour || f.State.Failures != i+1 {
			t.Errorf("failure %d: next after %v, before that %v; want more each time, and at most a day", i+1, wait, last)
		}
		last, now = wait, f.State.Next
	}
	p.take(policy.Warm, now)
	observeAll(t, p, now, said(f, subjects.Unchanged, now))
	if wait := f.State.Next.Sub(now); f.State.Failures != 0 || wait > 22*time.Minute {
		t.Errorf("after a success: %d failures, next after %v; want 0 and some 20m", f.State.Failures, wait)
	}
}

func TestWordsThatComeLateOrTwiceChangeNothing(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds["f0000"]
	p.take(policy.Warm, noon)
	first := said(f, subjects.Stored, noon)

	// The first poll is taken for lost, and the second one under way, when
	// word of the first comes.
	later := noon.Add(subjects.InFlight)
	p.take(policy.Warm, later)
	out := *f.State
	if got := p.observe(first, later); got != nil || *f.State != out {
		t.Errorf("got %+v after word of a lost poll, want %+v", f.State, out)
	}
	// The clock of whoever fetched may be behind.
	second := said(f, subjects.Unchanged, noon.Add(-time.Hour))
	if p.observe(second, later) != f {
		t.Error("word of the poll under way was not taken into account")
	}
	after := *f.State
	for _, o := range []subjects.Observation{first, second, said(f, subjects.Failed, later.Add(time.Hour))} {
		if got := p.observe(o, later.Add(time.Minute)); got != nil || *f.State != after {
			t.Errorf("got %+v after late word %s of %q, want %+v", f.State, o.Outcome, o.Crawl, after)
		}
	}
	if got := p.observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "unknown"}, Outcome: subjects.Stored}, noon); got != nil {
		t.Errorf("got %v for an unknown feed, want nothing", got)
	}
	if got := p.observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "unknown"}, Outcome: subjects.Refresh}, noon); got != nil {
		t.Errorf("got %v for the refresh of an unknown feed, want nothing", got)
	}
	checkPlan(t, p)
}

func TestAGoneFeedIsDueAgainOnlyWhenSomebodyAsks(t *testing.T) {
	p := planOf(1, 1)
	f := p.take(policy.Warm, noon)[0]
	observeAll(t, p, noon, said(f, subjects.Gone, noon))
	if p.anyDue(noon.AddDate(100, 0, 0)) {
		t.Error("a feed that is gone is due in a hundred years, want never")
	}
	observeAll(t, p, noon, subjects.Observation{Receipt: subjects.Receipt{FeedID: f.FeedID}, Outcome: subjects.Refresh})
	if got := p.take(policy.Warm, noon); len(got) != 1 {
		t.Error("not due after somebody asked for it")
	}
}

func TestRefreshHasTheDocumentReadWhole(t *testing.T) {
	refresh := subjects.Observation{Receipt: subjects.Receipt{FeedID: "f0000"}, Outcome: subjects.Refresh}
	for _, out := range []bool{false, true} {
		p := planOf(1, 1)
		f := p.take(policy.Warm, noon)[0]
		o := said(f, subjects.Stored, noon)
		p.observe(o, noon)
		now := f.State.Next
		if out {
			p.take(policy.Warm, now)
			o = said(f, subjects.Unchanged, now)
		}
		now = now.Add(-time.Minute)
		if p.observe(refresh, now) != f || f.State.ETag+f.State.LastModified+f.State.BodyHash != "" {
			t.Errorf("out %t: got %+v after a refresh, want no validators", out, f.State)
		}
		p.observe(o, now) // of the poll that was under way with the old validators
		taken := p.take(policy.Warm, now)
		checkPlan(t, p)
		if len(taken) != 1 || crawlTask(policy.Warm, taken).Feeds[0].ETag != "" {
			t.Errorf("out %t: got %v handed out with ETag %q, want the feed without", out, ids(taken), f.State.ETag)
		}
	}
}

func TestARemovedFeedThatIsAddedAgainBeginsAnew(t *testing.T) {
	p := planOf(2, 1)
	f := p.take(policy.Warm, noon)[0]
	late := said(f, subjects.Stored, noon)
	p.remove(f.FeedID)
	p.remove("never there")
	checkPlan(t, p)
	if p.feeds[f.FeedID] != nil || p.observe(late, noon) != nil {
		t.Error("a removed feed is still there")
	}
	added := subjects.Observation{Receipt: subjects.Receipt{FeedID: f.FeedID}, URL: f.State.URL, Outcome: subjects.Added}
	again := p.observe(added, noon.Add(time.Second))
	if again == nil || again.Revision != 0 || p.observe(added, noon) != nil {
		t.Fatalf("got %+v, want the feed anew, once", again)
	}
	// The items that this is about were removed with the feed. If its
	// validators were remembered, the document would never be read again.
	if p.observe(late, noon.Add(2*time.Second)) != nil || again.State.ETag != "" || !again.State.Next.Equal(noon.Add(time.Second)) {
		t.Errorf("got %+v after word from before it was removed, want no validators and due at once", again.State)
	}
	checkPlan(t, p)
}

func TestTierChangesMoveFeedsBetweenHeaps(t *testing.T) {
	p := planOf(30, 30)
	now := noon
	for _, step := range []struct {
		rate float64
		tier policy.Tier
	}{{50, policy.Hot}, {0.5, policy.Cold}, {5, policy.Warm}, {0, policy.Warm}} {
		for i := range p.due {
			for taken := p.take(policy.Tier(i), now); taken != nil; taken = p.take(policy.Tier(i), now) {
				for _, f := range taken {
					o := said(f, subjects.Nothing, now)
					o.Rate = step.rate
					p.observe(o, now)
				}
			}
		}
		checkPlan(t, p)
		if got := len(p.due[step.tier]); got != 30 {
			t.Errorf("rate %v: got %d feeds in tier %d, want all 30", step.rate, got, step.tier)
		}
		now = now.Add(2 * time.Hour)
	}
	// The lines are drawn where a tenth may be hot; those on the wrong side
	// move with their next poll.
	for i := range 30 {
		p.feeds[fmt.Sprintf("f%04d", i)].State.Rate = 100 + float64(i)
	}
	p.fit()
	hot := 0
	for _, f := range p.feeds {
		if p.policy.Tier(f.State.Rate) == policy.Hot {
			hot++
		}
	}
	if hot != 3 {
		t.Errorf("got %d of 30 feeds hot, want 3", hot)
	}
}

// reload returns a plan made of what p would have written, in any order.
func reload(t *testing.T, p *plan, r *rand.Rand) *plan {
	t.Helper()
	var states []mesh.FeedState
	for _, f := range p.feeds {
		data, err := json.Marshal(f.State)
		s := new(subjects.State)
		if err == nil {
			err = json.Unmarshal(data, s)
		}
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, mesh.FeedState{FeedID: f.FeedID, Revision: f.Revision, State: s})
	}
	r.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
	fresh := newPlan(0)
	fresh.policy = p.policy
	for _, s := range states {
		fresh.load(s)
	}
	return fresh
}

func TestATaskIsMadeAgainFromWhatWasWritten(t *testing.T) {
	p := planOf(300, 7)
	now := noon.Add(123456 * time.Microsecond)
	first := crawlTask(policy.Warm, p.take(policy.Warm, now))
	second := crawlTask(policy.Warm, p.take(policy.Warm, now))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		fresh := reload(t, p, r)
		checkPlan(t, fresh)
		for _, want := range []subjects.Crawl{first, second} {
			got, ok := fresh.task(want.ID())
			if !ok || got.ID() != want.ID() || got.Tier != want.Tier || !slices.Equal(got.Feeds, want.Feeds) {
				t.Fatalf("got %v, %t; want the task as it was taken", got, ok)
			}
		}
	}
	f := p.feeds[first.Feeds[5].FeedID]
	p.observe(said(f, subjects.Unchanged, now), now)
	if _, ok := p.task(first.ID()); ok {
		t.Error("got a task one of whose feeds is back, want none: it was published")
	}
	for _, id := range []string{"", "unknown"} {
		if got, ok := p.task(id); ok {
			t.Errorf("got %v for task %q, want none", got, id)
		}
	}
}

// A plan that much happens to never contradicts itself, hands no feed out while
// it is out, and could be made again from what it writes.
func TestAPlanStaysSound(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := planOf(400, 9)
		p.add("huge", "http://host0.example/huge", 3, noon)
		for i := range 700 {
			p.add(fmt.Sprintf("h%04d", i), fmt.Sprintf("http://huge.example/%d", i), r.Float64()*20, noon)
		}
		now := noon
		var old []subjects.Observation // to be said again
		out := map[string]time.Time{}  // since when
		for range 1200 {
			now = now.Add(time.Duration(r.IntN(60_000_000)) * time.Microsecond)
			id := fmt.Sprintf("f%04d", r.IntN(400))
			if r.IntN(2) == 0 {
				id = fmt.Sprintf("h%04d", r.IntN(700))
			}
			f := p.feeds[id]
			switch op := r.IntN(100); {
			case op < 25:
				randomTake(t, p, policy.Tier(r.IntN(3)), now, out)
			case op < 30:
				p.observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: id}, Outcome: subjects.Refresh}, now)
				delete(out, id)
			case op < 33:
				p.remove(id)
				delete(out, id)
			case op < 40:
				p.observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: id}, URL: "http://huge.example/" + id, Outcome: subjects.Added}, now)
			case op < 41:
				p.fit()
			case op < 42:
				p = reload(t, p, r)
			case op < 50 && len(old) > 0:
				o := old[r.IntN(len(old))]
				if p.observe(o, now) != nil {
					delete(out, o.FeedID)
				}
			case f != nil:
				o := said(f, []subjects.Outcome{subjects.Stored, subjects.Nothing, subjects.Unchanged, subjects.Failed, subjects.Gone}[r.IntN(5)], now)
				o.Rate = r.Float64() * 12
				old = append(old, o)
				if p.observe(o, now) != nil {
					delete(out, id)
				}
			}
			checkPlan(t, p)
		}
	}
}

// randomTake takes a task and checks it.
func randomTake(t *testing.T, p *plan, tier policy.Tier, now time.Time, out map[string]time.Time) {
	t.Helper()
	taken := p.take(tier, now)
	hosts := map[string]int{}
	for _, f := range taken {
		hosts[f.host]++
		if since, is := out[f.FeedID]; is && now.Sub(since) < subjects.InFlight {
			t.Fatalf("feed %s was handed out after %v again", f.FeedID, now.Sub(since))
		}
		out[f.FeedID] = now
		if f.tier != tier || f.State.Due.After(now) || hosts[f.host] > maxHostInTask {
			t.Fatalf("feed %s of tier %d, due %v, is one of %d of its host; want tier %d, due by %v, at most %d",
				f.FeedID, f.tier, f.State.Due, hosts[f.host], tier, now, maxHostInTask)
		}
	}
	for host, n := range p.inFlight {
		if n > maxHostInFlight {
			t.Fatalf("got %d feeds of %s out, want at most %d", n, host, maxHostInFlight)
		}
	}
	if len(taken) == 0 {
		return
	}
	want := crawlTask(tier, taken)
	if got, ok := p.task(want.ID()); len(taken) > subjects.MaxFeeds || !ok || !slices.Equal(got.Feeds, want.Feeds) {
		t.Fatalf("a task of %d feeds can't be made again", len(taken))
	}
}
