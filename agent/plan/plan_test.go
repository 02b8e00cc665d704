package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const spacing = 2 * time.Second

func newPlan() *Plan {
	return New(Options{Policy: policy.New(policy.Settings{Kind: policy.KindTiers}), Spacing: spacing})
}

func feedID(i int) string { return fmt.Sprintf("f%04d", i) }

// planOf returns a plan of n new feeds on hosts hosts, due a moment before noon.
func planOf(n, hosts int) *Plan {
	p := newPlan()
	for i := range n {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/%d", i%hosts, i)}, noon)
	}
	return p
}

// takeAll takes what is due of all tiers.
func takeAll(p *Plan, now time.Time) (taken []*Feed) {
	for tier := range subjects.Tiers {
		for more := p.Take(policy.Tier(tier), now); more != nil; more = p.Take(policy.Tier(tier), now) {
			taken = append(taken, more...)
		}
	}
	return taken
}

// ids returns the feeds' IDs, sorted.
func ids(feeds []*Feed) []string {
	var s []string
	for _, f := range feeds {
		s = append(s, f.FeedID)
	}
	slices.Sort(s)
	return s
}

// said returns an observation of the poll that a feed is out for.
func said(f *Feed, outcome subjects.Outcome, at time.Time) subjects.Observation {
	return subjects.Observation{
		Receipt: subjects.Receipt{
			FeedID: f.FeedID, Crawl: f.State.Crawl, Fetched: at, Status: 200, Took: time.Second, Size: 1000,
			ETag: `"new"`, LastModified: "today", BodyHash: "new hash",
		},
		Outcome: outcome,
	}
}

// notModified returns word of a 304.
func notModified(f *Feed, at time.Time) subjects.Observation {
	o := said(f, subjects.Unchanged, at)
	o.Status, o.Size = 304, 0
	return o
}

func failure(f *Feed, class string, at time.Time) subjects.Observation {
	o := said(f, subjects.Failed, at)
	o.Class, o.Error, o.Weight, o.Status = class, "why", 1, 0
	return o
}

// checked fails if the plan contradicts itself.
func checked(t *testing.T, p *Plan) {
	t.Helper()
	tally, counts := [3]Tally{}, subjects.Counts{}
	perHost := map[string]int{}
	waiting := 0
	for id, f := range p.feeds {
		perHost[f.host.Name]++
		if !f.State.Polled.IsZero() {
			counts.Polled++
		}
		switch {
		case f.State.Outcome == subjects.Gone:
			counts.Gone++
		case f.State.Failures > 0:
			counts.Failing++
		}
		out := f.State.Crawl != ""
		switch {
		case f.FeedID != id || f.host != p.hosts[HostOf(f.State.URL)]:
			t.Fatalf("feed %s is kept as %s on %s", f.FeedID, id, f.host.Name)
		case out != (p.out[id] == f) || out == f.State.Due.IsZero():
			t.Fatalf("feed %s is out in %q, due %v", id, f.State.Crawl, f.State.Due)
		case (f.index >= 0) != (!out && !f.State.Next.IsZero()):
			t.Fatalf("feed %s is next at %v, out in %q, and has index %d", id, f.State.Next, f.State.Crawl, f.index)
		case f.index >= 0 && f.host.lanes[f.tier].feeds[f.index] != f:
			t.Fatalf("feed %s is not where it says", id)
		case f.State.Tier != subjects.Tiers[f.tier]:
			t.Fatalf("feed %s is in tier %d and says %s", id, f.tier, f.State.Tier)
		}
		if f.index >= 0 {
			waiting++
		}
		n := &tally[f.tier]
		switch {
		case out:
			n.Out++
			counts.Out++
		case f.State.Next.IsZero():
		case f.State.Failures > 0:
			n.Failing++
		default:
			n.Waiting++
		}
	}
	if counts != p.Counts() {
		t.Fatalf("got %+v, want %+v", p.Counts(), counts)
	}
	if tally != p.tally {
		t.Fatalf("got tally %v, want %v", p.tally, tally)
	}
	inLanes, ready := 0, 0
	for name, h := range p.hosts {
		if h.feeds != perHost[name] || h.Name != name {
			t.Fatalf("host %s counts %d feeds, want %d", name, h.feeds, perHost[name])
		}
		for _, f := range h.asking {
			if f.State.Crawl == "" {
				t.Fatalf("host %s is asked for %s, which is not out", name, f.FeedID)
			}
		}
		for tier, l := range h.lanes {
			if l == nil {
				continue
			}
			inLanes += len(l.feeds)
			for i := 1; i < len(l.feeds); i++ {
				if earlier(l.feeds[i], l.feeds[(i-1)/2]) {
					t.Fatalf("host %s has a feed before one due earlier", name)
				}
			}
			if (l.index >= 0) != (len(h.asking) == 0 && len(l.feeds) > 0) || l.index >= 0 && p.ready[tier][l.index] != l {
				t.Fatalf("host %s, tier %d: %d feeds wait and its place is %d", name, tier, len(l.feeds), l.index)
			}
			if l.index >= 0 {
				ready++
			}
		}
	}
	if inLanes != waiting || ready != len(p.ready[0])+len(p.ready[1])+len(p.ready[2]) {
		t.Fatalf("got %d feeds in lanes and %d lanes ready, want %d and %d", inLanes, ready, waiting, len(p.ready[0])+len(p.ready[1])+len(p.ready[2]))
	}
	for tier := range p.ready {
		for i := 1; i < len(p.ready[tier]); i++ {
			if p.ready[tier].Less(i, (i-1)/2) {
				t.Fatalf("tier %d: lane %d is below one that goes later", tier, i)
			}
		}
	}
}

func TestTakeIsOfOneTierAndLongestDueFirst(t *testing.T) {
	p := newPlan()
	for i := range 250 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/", i)}, noon.Add(time.Duration(-i)*time.Second))
	}
	tier := p.feeds[feedID(0)].tier
	for other := range subjects.Tiers {
		if policy.Tier(other) != tier && p.Take(policy.Tier(other), noon) != nil {
			t.Errorf("got feeds of tier %d, want none there", other)
		}
	}
	first, second, third := p.Take(tier, noon), p.Take(tier, noon), p.Take(tier, noon)
	checked(t, p)
	if len(first) != 100 || len(second) != 100 || len(third) != 50 || p.Take(tier, noon) != nil {
		t.Fatalf("got tasks of %d, %d and %d feeds, want 100, 100 and 50", len(first), len(second), len(third))
	}
	all := slices.Concat(first, second, third)
	if all[0].FeedID != feedID(249) || !slices.IsSortedFunc(all, func(a, b *Feed) int { return a.State.Due.Compare(b.State.Due) }) {
		t.Error("want those due longest first")
	}
}

func TestAPlanThatLearnsOfManyFeedsOutgrowsItsPolicy(t *testing.T) {
	p := planOf(100, 100)
	p.Fit(noon)
	var outgrown []int
	for i, f := range takeAll(p, noon) {
		p.Observe(notModified(f, noon), noon)
		if p.Outgrown() {
			outgrown = append(outgrown, i+1)
			p.Fit(noon)
		}
	}
	if !slices.Equal(outgrown, []int{10, 30, 70}) {
		t.Errorf("outgrown after %v feeds, want a few times, ever more rarely", outgrown)
	}
}

// All feeds of a new mesh are read in its first minutes. That must not make it
// think that it lives beyond its means.
func TestNewFeedsArePolledAgainSoonWhateverTheyAllCost(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{})})
	p.Fit(noon)
	for i := range 300 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/", i)}, noon)
	}
	p.Fit(noon)
	for _, f := range takeAll(p, noon) {
		o := said(f, subjects.Stored, noon)
		for n := range 20 { // ten a day
			o.Dates = append(o.Dates, noon.Add(-time.Duration(n)*144*time.Minute).Unix())
		}
		p.Observe(o, noon)
		if p.Outgrown() {
			p.Fit(noon)
		}
		p.Spend(noon)
		if wait := f.State.Next.Sub(noon); wait > 2*time.Hour {
			t.Fatalf("next after %v (%s), want within the hour or two: it has ten items a day", wait, f.State.Reason)
		}
	}
}

func TestAFeedThatWasNeverReadIsTriedAgainSoon(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{})})
	f := p.Add(storage.Feed{ID: "f", URL: "http://host.example/"}, noon)
	takeAll(p, noon)
	for _, weight := range []float64{1, 0} { // a proxy's fault counts nothing
		o := failure(f, "reset", noon)
		o.Weight = weight
		p.Observe(o, noon)
		if wait := f.State.Next.Sub(noon); wait > time.Hour*11/10 || wait < 10*time.Minute {
			t.Errorf("next after %v (%s), want it soon, but not at once", wait, f.State.Reason)
		}
		takeAll(p, f.State.Next)
	}
}

func TestFeedsGatherForAMomentUnlessSomebodyAsks(t *testing.T) {
	p := newPlan()
	f := p.Add(storage.Feed{ID: "f", URL: "http://host.example/"}, noon.Add(gather))
	for _, c := range []struct {
		after time.Duration
		ripe  bool
	}{{-time.Microsecond, false}, {0, false}, {gather - 1, false}, {gather, true}} {
		if got := p.Ripe(f.tier, noon.Add(c.after)); got != c.ripe {
			t.Errorf("%v after it is due: ripe is %t, want %t", c.after, got, c.ripe)
		}
	}
	p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "f"}, Outcome: subjects.Refresh}, noon)
	if !p.Ripe(f.tier, noon) {
		t.Error("somebody asked for it: want it at once")
	}
}

func TestAHostIsAskedForOneFeedAtATimeAndSpaced(t *testing.T) {
	p := planOf(3, 1)
	first := takeAll(p, noon)
	if len(first) != 1 {
		t.Fatalf("got %v of one host, want one", ids(first))
	}
	if more := takeAll(p, noon.Add(time.Hour/10)); more != nil {
		t.Errorf("got %v while the host is being asked, want none", ids(more))
	}
	// It begins late, as it waited on a queue: the next counts from there.
	began := noon.Add(10 * time.Second)
	p.Observe(said(first[0], subjects.Fetched, began), began.Add(time.Second))
	checked(t, p)
	if more := takeAll(p, began.Add(spacing-1)); more != nil {
		t.Errorf("got %v before the spacing is over, want none", ids(more))
	}
	second := takeAll(p, began.Add(spacing))
	if len(second) != 1 || second[0] == first[0] {
		t.Fatalf("got %v when the spacing is over, want another feed", ids(second))
	}
	// Word of the first one's document frees nothing that is not its own.
	p.Observe(said(first[0], subjects.Stored, began), began.Add(spacing))
	checked(t, p)
	if more := takeAll(p, began.Add(time.Hour/10)); more != nil {
		t.Errorf("got %v while the host is asked for the second, want none", ids(more))
	}
}

// Where requests need not be spaced, as to a host of one's own, its feeds go in a
// few tasks: in one at a time, and one after the other there.
func TestWithoutSpacingATaskHasSeveralFeedsOfAHost(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{Kind: policy.KindTiers})})
	for i := range 50 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprint("http://mine.example/", i)}, noon)
	}
	taken := takeAll(p, noon)
	if len(taken) != hostInTask || takeAll(p, noon) != nil {
		t.Fatalf("got %d feeds, want %d and no more before they are answered", len(taken), hostInTask)
	}
	for i, f := range taken {
		if more := takeAll(p, noon); more != nil {
			t.Fatalf("got %v after %d answers, want none", ids(more), i)
		}
		p.Observe(notModified(f, noon), noon)
		checked(t, p)
	}
	if more := takeAll(p, noon); len(more) != hostInTask {
		t.Errorf("got %d feeds when all are answered, want %d", len(more), hostInTask)
	}
}

// A host with very many feeds must not keep all others waiting.
func TestAHostWithManyFeedsDoesNotStandInTheWay(t *testing.T) {
	p := planOf(20_000, 1)
	for i := range 30 {
		p.Add(storage.Feed{ID: fmt.Sprint("other", i), URL: fmt.Sprintf("http://other%d.example/", i)}, noon)
	}
	taken := takeAll(p, noon)
	checked(t, p)
	if len(taken) != 31 {
		t.Errorf("got %d feeds, want one of each of 31 hosts", len(taken))
	}
}

func TestRetryAfterConcernsTheFeedAndTheHostOnlyWhenSeveralAreRefused(t *testing.T) {
	p := planOf(4, 1)
	now := noon
	refuse := func() {
		t.Helper()
		taken := takeAll(p, now)
		if len(taken) != 1 {
			t.Fatalf("at %v got %v, want one feed", now, ids(taken))
		}
		o := failure(taken[0], "http 4xx", now)
		o.Status, o.RetryAfter = 429, time.Hour
		p.Observe(o, now)
		checked(t, p)
	}
	refuse()
	if f := p.feeds[feedID(0)]; f.State.Next.Before(now.Add(time.Hour)) {
		t.Errorf("the feed is next at %v, want not before an hour is over", f.State.Next)
	}
	if h := p.hosts["host0.example"]; !h.Until.IsZero() || h.Spacing != 2*spacing {
		t.Errorf("after one refusal: %+v, want the host slower and not stopped", h.Host)
	}
	now = now.Add(time.Minute)
	refuse()
	until := now.Add(time.Hour)
	if more := takeAll(p, until.Add(-1)); more != nil {
		t.Errorf("got %v before the hour is over, want none: several were refused", ids(more))
	}
	if got := takeAll(p, until); len(got) != 1 {
		t.Errorf("got %v when the hour is over, want one", ids(got))
	}
}

func TestAHostThatHadEnoughIsAskedAtItsOldPaceAgain(t *testing.T) {
	p := planOf(1, 1)
	f, h := p.feeds[feedID(0)], p.hosts["host0.example"]
	now := noon
	poll := func(o func() subjects.Observation) {
		f.State.Next = now
		takeAll(p, now)
		p.Observe(o(), now)
		now = now.Add(24 * time.Hour)
	}
	tooMany := func() subjects.Observation {
		o := failure(f, "http 4xx", now)
		o.Status = 429
		return o
	}
	for range 20 {
		poll(tooMany)
	}
	if h.Spacing != maxSpacing {
		t.Errorf("after 20 refusals requests are %v apart, want %v", h.Spacing, maxSpacing)
	}
	for range 300 {
		poll(func() subjects.Observation { return notModified(f, now) })
	}
	if h.Spacing != 0 || h.Why != "" {
		t.Errorf("after 300 good answers requests are %v apart (%s), want the default", h.Spacing, h.Why)
	}
}

func TestTheBudgetBoundsWhatIsHandedOut(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{Kind: policy.KindTiers}), Budget: 10})
	for i := range 1000 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/", i)}, noon.Add(-time.Minute))
	}
	got := 0
	for i := range 300 { // half a minute
		got += len(takeAll(p, noon.Add(time.Duration(i)*100*time.Millisecond)))
	}
	if got < 300 || got > 300+20 {
		t.Errorf("got %d feeds in 30 s at 10 a second, want some 300", got)
	}
}

func TestAFeedThatIsLostIsHandedOutAgain(t *testing.T) {
	p := planOf(10, 5)
	first := takeAll(p, noon)
	lost := first[0]
	if got := p.Recall(noon.Add(time.Minute), func(f *Feed) bool { return f == lost }); len(got) != 1 || got[0] != lost {
		t.Errorf("recalled %v, want the one that is said to be lost", ids(got))
	}
	checked(t, p)
	if got := p.Recall(noon.Add(time.Minute), func(*Feed) bool { return true }); len(got) != 4 {
		t.Errorf("recalled %v in the end, want the other four", ids(got))
	}
	checked(t, p)
	if got := takeAll(p, noon.Add(time.Minute)); len(got) != 5 {
		t.Errorf("handed out %v, want one of each host", ids(got))
	}
}

func TestFeedsThatCameAtOnceAreNotDueAtOnceAgain(t *testing.T) {
	const n = 1000
	p := planOf(n, n)
	takeAll(p, noon)
	hours := map[time.Duration]int{}
	for _, f := range p.feeds {
		p.Observe(said(f, subjects.Nothing, noon), noon) // a cold one: every hour
		wait := f.State.Next.Sub(noon)
		if wait < 57*time.Minute || wait > 126*time.Minute {
			t.Errorf("got the second poll after %v, want it after one to two hours", wait)
		}
		hours[wait.Truncate(15*time.Minute)]++
	}
	for quarter, feeds := range hours {
		if feeds > n/3 {
			t.Errorf("got %d of %d feeds due within the quarter of an hour from %v on, want them spread", feeds, n, quarter)
		}
	}
	checked(t, p)
}

func TestAnObservationDecidesTheNextPoll(t *testing.T) {
	seen := noon.Add(3 * time.Second)
	for _, test := range []struct {
		outcome    subjects.Outcome
		retryAfter time.Duration
		interval   time.Duration // 0: never
		validators string        // of the document that we have after it
		failures   int
	}{
		{outcome: subjects.Stored, interval: time.Hour, validators: `"new"`}, // nothing is known of its rate but that nothing came
		{outcome: subjects.Nothing, interval: time.Hour, validators: `"new"`},
		{outcome: subjects.Unchanged, interval: 20 * time.Minute, validators: `"new"`},
		{outcome: subjects.Failed, interval: 40 * time.Minute, validators: `"old"`, failures: 1},
		{outcome: subjects.Failed, retryAfter: 3 * time.Hour, interval: 3 * time.Hour, validators: `"old"`, failures: 1},
		{outcome: subjects.Failed, retryAfter: time.Second, interval: 40 * time.Minute, validators: `"old"`, failures: 1},
		{outcome: subjects.Gone, validators: `"old"`, failures: 1},
	} {
		p := planOf(1, 1)
		f := takeAll(p, noon)[0]
		f.State.ETag, f.State.LastModified, f.State.BodyHash, f.State.Polled = `"old"`, "yesterday", "old hash", noon.Add(-time.Hour)
		p.counts.Polled++
		o := said(f, test.outcome, seen)
		o.RetryAfter, o.Error, o.Class, o.Weight = test.retryAfter, "why", "class", 1
		if got := p.Observe(o, seen); got != f {
			t.Fatalf("%s: got %v, want the feed, as it changed", test.outcome, got)
		}
		checked(t, p)
		s := f.State
		wait := s.Next.Sub(seen)
		if low, high := test.interval*94/100, test.interval*106/100; test.interval > 0 && (wait < low || wait > high) || test.interval == 0 && !s.Next.IsZero() {
			t.Errorf("%s: next after %v, want about %v", test.outcome, wait, test.interval)
		}
		if s.Failures != test.failures || s.ETag != test.validators || s.Changed.IsZero() == (test.outcome == subjects.Stored) {
			t.Errorf("%s: got %d failures, ETag %s, changed %v; want %+v", test.outcome, s.Failures, s.ETag, s.Changed, test)
		}
		if (s.LastModified == "today") != (s.ETag == `"new"`) || (s.BodyHash == "new hash") != (s.ETag == `"new"`) {
			t.Errorf("%s: got validators %q, %q and %q, want all of one document", test.outcome, s.ETag, s.LastModified, s.BodyHash)
		}
		if s.Crawl != "" || !s.Polled.Equal(seen) || s.Outcome != test.outcome || s.Error != "why" || s.Reason == "" {
			t.Errorf("%s: got %+v, want it back with what was said", test.outcome, s)
		}
	}
}

func TestWordsThatComeLateOrTwiceChangeNothing(t *testing.T) {
	p := planOf(1, 1)
	f := takeAll(p, noon)[0]
	first := said(f, subjects.Stored, noon)

	// The first poll is taken for lost, and the second one under way, when word
	// of the first comes.
	later := noon.Add(subjects.InFlight)
	p.Recall(later, func(*Feed) bool { return true })
	takeAll(p, later)
	out := *f.State
	if got := p.Observe(first, later); got != nil || !reflect.DeepEqual(*f.State, out) {
		t.Errorf("got %+v after word of a lost poll, want %+v", f.State, out)
	}
	second := said(f, subjects.Unchanged, noon.Add(-time.Hour)) // the clock of whoever fetched may be behind
	if p.Observe(second, later) != f {
		t.Error("word of the poll under way was not taken into account")
	}
	after := *f.State
	for _, o := range []subjects.Observation{first, second, said(f, subjects.Failed, later.Add(time.Hour))} {
		if got := p.Observe(o, later.Add(time.Minute)); got != nil || !reflect.DeepEqual(*f.State, after) {
			t.Errorf("got %+v after late word %s of %q, want %+v", f.State, o.Outcome, o.Crawl, after)
		}
	}
	for _, outcome := range []subjects.Outcome{subjects.Stored, subjects.Refresh} {
		if got := p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "unknown"}, Outcome: outcome}, noon); got != nil {
			t.Errorf("got %v for %s of an unknown feed, want nothing", got, outcome)
		}
	}
	checked(t, p)
}

func TestAGoneFeedIsDueAgainOnlyWhenSomebodyAsks(t *testing.T) {
	p := planOf(1, 1)
	f := takeAll(p, noon)[0]
	p.Observe(said(f, subjects.Gone, noon), noon)
	checked(t, p)
	if got := takeAll(p, noon.AddDate(100, 0, 0)); got != nil {
		t.Error("a feed that is gone is due in a hundred years, want never")
	}
	p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: f.FeedID}, Outcome: subjects.Refresh}, noon.Add(time.Minute))
	checked(t, p)
	if got := takeAll(p, noon.Add(time.Minute)); len(got) != 1 {
		t.Error("not due after somebody asked for it")
	}
}

func TestRefreshHasTheDocumentReadWhole(t *testing.T) {
	refresh := subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID(0)}, Outcome: subjects.Refresh}
	for _, out := range []bool{false, true} {
		p := planOf(1, 1)
		f := takeAll(p, noon)[0]
		o := said(f, subjects.Stored, noon)
		p.Observe(o, noon)
		now := f.State.Next
		if out {
			takeAll(p, now)
			o = said(f, subjects.Unchanged, now)
		}
		if p.Observe(refresh, now) != f || f.State.ETag+f.State.LastModified+f.State.BodyHash != "" {
			t.Errorf("out %t: got %+v after a refresh, want no validators", out, f.State)
		}
		p.Observe(o, now) // of the poll that was under way with the old validators
		taken := takeAll(p, now.Add(spacing))
		checked(t, p)
		if len(taken) != 1 || p.Task(f.tier, taken, now).Feeds[0].ETag != "" {
			t.Errorf("out %t: got %v handed out with ETag %q, want the feed without", out, ids(taken), f.State.ETag)
		}
	}
}

func TestARemovedFeedThatIsAddedAgainBeginsAnew(t *testing.T) {
	p := planOf(2, 1)
	f := takeAll(p, noon)[0]
	late := said(f, subjects.Stored, noon)
	p.Remove(f.FeedID)
	p.Remove("never there")
	checked(t, p)
	if p.Has(f.FeedID) || p.Observe(late, noon) != nil {
		t.Error("a removed feed is still there")
	}
	again := p.Add(storage.Feed{ID: f.FeedID, URL: f.State.URL}, noon.Add(time.Second))
	if again == nil || again.Revision != 0 || p.Add(storage.Feed{ID: f.FeedID, URL: f.State.URL}, noon) != nil {
		t.Fatalf("got %+v, want the feed anew, once", again)
	}
	// The items that this is about were removed with the feed. If its
	// validators were remembered, the document would never be read again.
	if p.Observe(late, noon.Add(2*time.Second)) != nil || again.State.ETag != "" {
		t.Errorf("got %+v after word from before it was removed, want no validators", again.State)
	}
	checked(t, p)
}

// reload returns a plan made of what p would have written, in any order.
func reload(t *testing.T, p *Plan, r *rand.Rand) *Plan {
	t.Helper()
	var states []subjects.FeedState
	for _, f := range p.feeds {
		data, err := json.Marshal(f.State)
		s := new(subjects.State)
		if err == nil {
			err = json.Unmarshal(data, s)
		}
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, subjects.FeedState{FeedID: f.FeedID, Revision: f.Revision, State: s})
	}
	r.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
	fresh := New(p.options)
	for _, s := range states {
		fresh.Load(s)
	}
	for _, h := range p.hosts {
		fresh.LoadHost(h.Host)
	}
	return fresh
}

func TestATaskIsMadeAgainFromWhatWasWritten(t *testing.T) {
	p := planOf(300, 170)
	now := noon.Add(123456 * time.Microsecond)
	tier := p.feeds[feedID(0)].tier
	first := p.Task(tier, p.Take(tier, now), now)
	second := p.Task(tier, p.Take(tier, now), now)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		fresh := reload(t, p, r)
		checked(t, fresh)
		for _, want := range []subjects.Crawl{first, second} {
			got, ok := fresh.Again(want.ID(), now)
			if !ok || got.ID() != want.ID() || !reflect.DeepEqual(got, want) {
				t.Fatalf("got %v, %t; want the task as it was taken", got, ok)
			}
		}
	}
	f := p.feeds[first.Feeds[5].FeedID]
	p.Observe(said(f, subjects.Unchanged, now), now)
	for _, id := range []string{first.ID(), "", "unknown"} {
		if got, ok := p.Again(id, now); ok {
			t.Errorf("got %v for task %q, want none", got, id)
		}
	}
}

func TestAStateThatComesTwiceCountsOnce(t *testing.T) {
	p := planOf(3, 1)
	f := p.feeds[feedID(1)]
	newer := *f.State
	newer.ETag = "newer"
	p.Load(subjects.FeedState{FeedID: f.FeedID, Revision: 7, State: &newer})
	checked(t, p)
	if p.Len() != 3 || p.feeds[f.FeedID].State.ETag != "newer" || p.feeds[f.FeedID].Revision != 7 {
		t.Errorf("got %d feeds and %+v, want three, and the newer state", p.Len(), p.feeds[f.FeedID])
	}
}

func TestARestartAsksNobodyEarly(t *testing.T) {
	p := planOf(50, 5)
	now := noon
	for range 20 {
		for _, f := range takeAll(p, now) {
			p.Observe(notModified(f, now), now)
		}
		now = now.Add(spacing)
	}
	next := map[string]time.Time{}
	for id, f := range p.feeds {
		next[id] = f.State.Next
	}
	fresh := reload(t, p, rand.New(rand.NewPCG(3, 4)))
	for ; now.Before(noon.Add(time.Hour)); now = now.Add(spacing) {
		for _, f := range takeAll(fresh, now) {
			if now.Before(next[f.FeedID]) {
				t.Fatalf("feed %s is polled at %v, want not before %v", f.FeedID, now, next[f.FeedID])
			}
			fresh.Observe(notModified(f, now), now)
			next[f.FeedID] = f.State.Next
		}
	}
}

// A plan that much happens to never contradicts itself, asks no host for two
// feeds at once, and could be made again from what it writes.
func TestAPlanStaysSound(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := planOf(60, 9)
		now := noon
		asked := map[*host]*Feed{}
		for step := range 4000 {
			now = now.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
			switch r.IntN(12) {
			case 0:
				p.Add(storage.Feed{ID: feedID(r.IntN(90)), URL: fmt.Sprintf("http://host%d.example/x", r.IntN(9))}, now)
			case 1:
				p.Remove(feedID(r.IntN(90)))
			case 2:
				p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID(r.IntN(90))}, Outcome: subjects.Refresh}, now)
			case 3:
				p.Recall(now, func(*Feed) bool { return r.IntN(20) == 0 })
			case 4:
				p.Fit(now)
				p.Spend(now)
			case 5, 6:
				for _, f := range takeAll(p, now) {
					if out := asked[f.host]; out != nil && out != f && p.out[out.FeedID] == out && slices.Contains(f.host.asking, out) {
						t.Fatalf("host %s is asked for two feeds at once", f.host.Name)
					}
					asked[f.host] = f
				}
			default:
				for _, f := range p.out {
					outcomes := []subjects.Outcome{subjects.Fetched, subjects.Stored, subjects.Nothing, subjects.Unchanged, subjects.Failed, subjects.Gone}
					o := said(f, outcomes[r.IntN(len(outcomes))], now)
					if o.Outcome == subjects.Failed {
						o.Class, o.Weight = []string{"timeout", "http 5xx"}[r.IntN(2)], 0.25
					}
					o.Dates = []int64{now.Add(-time.Duration(r.IntN(1e13))).Unix()}
					p.Observe(o, now)
					break
				}
			}
			if step%100 == 0 {
				checked(t, p)
				checked(t, reload(t, p, r))
			}
		}
		checked(t, p)
	}
}
