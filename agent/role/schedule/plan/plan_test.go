package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const spacing = 2 * time.Second

func newPlan() *Plan {
	return New(Options{Policy: policy.New(policy.Settings{Kind: policy.KindTiers}), Spacing: spacing})
}

func feedID(i int) string { return fmt.Sprintf("f%04d", i) }

// planOf returns a plan of n new feeds on a number of hosts, due just before noon.
func planOf(n, hosts int) *Plan {
	p := newPlan()
	for i := range n {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/%d", i%hosts, i)}, noon)
	}
	return p
}

// popAll pops the due feeds of all tiers.
func popAll(p *Plan, now time.Time) (popped []*Feed) {
	for tier := range subjects.Tiers {
		for more := p.PopDue(policy.Tier(tier), now); more != nil; more = p.PopDue(policy.Tier(tier), now) {
			popped = append(popped, more...)
		}
	}
	return popped
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

// observation returns an observation of the feed's current poll.
func observation(f *Feed, outcome subjects.Outcome, at time.Time) subjects.Observation {
	return subjects.Observation{
		Receipt: subjects.Receipt{
			FeedID: f.FeedID, Crawl: f.State.Crawl, Fetched: at, Status: 200, Duration: time.Second, Size: 1000,
			ETag: `"new"`, LastModified: "today", BodyHash: "new hash",
		},
		Outcome: outcome,
	}
}

// notModified returns an observation of a 304.
func notModified(f *Feed, at time.Time) subjects.Observation {
	o := observation(f, subjects.Unchanged, at)
	o.Status, o.Size = 304, 0
	return o
}

func failure(f *Feed, class string, at time.Time) subjects.Observation {
	o := observation(f, subjects.Failed, at)
	o.Class, o.Error, o.Weight, o.Status = class, "why", 1, 0
	return o
}

// checkConsistent fails if the plan is inconsistent.
func checkConsistent(t *testing.T, p *Plan) {
	t.Helper()
	tiers, counts := [3]TierCounts{}, subjects.ScheduleCounts{}
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
		inFlight := f.State.Crawl != ""
		switch {
		case f.FeedID != id || f.host != p.hosts[subjects.HostOf(f.State.URL)]:
			t.Fatalf("feed %s: got key %s and host %s", f.FeedID, id, f.host.Name)
		case inFlight != (p.inFlight[id] == f) || inFlight == f.State.Due.IsZero():
			t.Fatalf("feed %s: got task %q and due %v", id, f.State.Crawl, f.State.Due)
		case (f.index >= 0) != (!inFlight && !f.State.Next.IsZero()):
			t.Fatalf("feed %s: got next %v, task %q and index %d", id, f.State.Next, f.State.Crawl, f.index)
		case f.index >= 0 && f.host.queues[f.tier].feeds[f.index] != f:
			t.Fatalf("feed %s: wrong queue position", id)
		case f.State.Tier != subjects.Tiers[f.tier]:
			t.Fatalf("feed %s: got tier %d, state %s", id, f.tier, f.State.Tier)
		}
		if f.index >= 0 {
			waiting++
		}
		n := &tiers[f.tier]
		switch {
		case inFlight:
			n.InFlight++
			counts.InFlight++
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
	if tiers != p.tierCounts {
		t.Fatalf("got tier counts %v, want %v", p.tierCounts, tiers)
	}
	queued, ready := 0, 0
	for name, h := range p.hosts {
		if h.feeds != perHost[name] || h.Name != name {
			t.Fatalf("host %s: got %d feeds, want %d", name, h.feeds, perHost[name])
		}
		for _, f := range h.inFlight {
			if f.State.Crawl == "" {
				t.Fatalf("host %s: feed %s has a request in flight but no task", name, f.FeedID)
			}
		}
		for tier, l := range h.queues {
			if l == nil {
				continue
			}
			queued += len(l.feeds)
			for i := 1; i < len(l.feeds); i++ {
				if earlier(l.feeds[i], l.feeds[(i-1)/2]) {
					t.Fatalf("host %s: queue is not ordered by due time", name)
				}
			}
			if (l.index >= 0) != (len(h.inFlight) == 0 && len(l.feeds) > 0) || l.index >= 0 && p.ready[tier][l.index] != l {
				t.Fatalf("host %s, tier %d: got %d waiting feeds and heap index %d", name, tier, len(l.feeds), l.index)
			}
			if l.index >= 0 {
				ready++
			}
		}
	}
	if queued != waiting || ready != len(p.ready[0])+len(p.ready[1])+len(p.ready[2]) {
		t.Fatalf("got %d queued feeds and %d ready queues, want %d and %d", queued, ready, waiting, len(p.ready[0])+len(p.ready[1])+len(p.ready[2]))
	}
	for tier := range p.ready {
		for i := 1; i < len(p.ready[tier]); i++ {
			if p.ready[tier].Less(i, (i-1)/2) {
				t.Fatalf("tier %d: ready heap is out of order at %d", tier, i)
			}
		}
	}
}

func TestPopDue_OneTierLongestDueFirst(t *testing.T) {
	p := newPlan()
	for i := range 250 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/", i)}, noon.Add(time.Duration(-i)*time.Second))
	}
	tier := p.feeds[feedID(0)].tier
	for other := range subjects.Tiers {
		if policy.Tier(other) != tier && p.PopDue(policy.Tier(other), noon) != nil {
			t.Errorf("got feeds of tier %d, want none there", other)
		}
	}
	first, second, third := p.PopDue(tier, noon), p.PopDue(tier, noon), p.PopDue(tier, noon)
	checkConsistent(t, p)
	if len(first) != 100 || len(second) != 100 || len(third) != 50 || p.PopDue(tier, noon) != nil {
		t.Fatalf("got tasks of %d, %d and %d feeds, want 100, 100 and 50", len(first), len(second), len(third))
	}
	all := slices.Concat(first, second, third)
	if all[0].FeedID != feedID(249) || !slices.IsSortedFunc(all, func(a, b *Feed) int { return a.State.Due.Compare(b.State.Due) }) {
		t.Error("feeds are not ordered by due time")
	}
}

func TestHasGrown_AfterManyFirstPolls(t *testing.T) {
	p := planOf(100, 100)
	p.Recalibrate(noon)
	var outgrown []int
	for i, f := range popAll(p, noon) {
		p.Observe(notModified(f, noon), noon)
		if p.HasGrown() {
			outgrown = append(outgrown, i+1)
			p.Recalibrate(noon)
		}
	}
	if !slices.Equal(outgrown, []int{10, 30, 70}) {
		t.Errorf("got growth after %v feeds, want after 10, 30 and 70", outgrown)
	}
}

// All feeds of a new mesh are read in its first minutes. The policy must not treat that as an exceeded
// budget.
func TestPlan_NewFeedsArePolledAgainSoon(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{})})
	p.Recalibrate(noon)
	for i := range 300 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/", i)}, noon)
	}
	p.Recalibrate(noon)
	for _, f := range popAll(p, noon) {
		o := observation(f, subjects.Stored, noon)
		for n := range 20 { // ten a day
			o.Dates = append(o.Dates, noon.Add(-time.Duration(n)*144*time.Minute).Unix())
		}
		p.Observe(o, noon)
		if p.HasGrown() {
			p.Recalibrate(noon)
		}
		p.RecordPolls(noon)
		if wait := f.State.Next.Sub(noon); wait > 2*time.Hour {
			t.Fatalf("got the next poll after %v (%s), want within two hours: it has ten items a day", wait, f.State.Reason)
		}
	}
}

func TestPlan_UnreadFeedIsRetriedSoon(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{})})
	f := p.Add(storage.Feed{ID: "f", URL: "http://host.example/"}, noon)
	popAll(p, noon)
	for _, weight := range []float64{1, 0} { // failures of proxies have weight 0
		o := failure(f, "reset", noon)
		o.Weight = weight
		p.Observe(o, noon)
		if wait := f.State.Next.Sub(noon); wait > time.Hour*11/10 || wait < 10*time.Minute {
			t.Errorf("got the next poll after %v (%s), want 10 to 66 minutes", wait, f.State.Reason)
		}
		popAll(p, f.State.Next)
	}
}

func TestDue_FeedsGatherUnlessRefreshed(t *testing.T) {
	p := newPlan()
	f := p.Add(storage.Feed{ID: "f", URL: "http://host.example/"}, noon.Add(gatherTime))
	for _, c := range []struct {
		after time.Duration
		due   bool
	}{{-time.Microsecond, false}, {0, false}, {gatherTime - 1, false}, {gatherTime, true}} {
		if got := p.Due(f.tier, noon.Add(c.after)); got != c.due {
			t.Errorf("%v after the due time: got due %t, want %t", c.after, got, c.due)
		}
	}
	if next := p.NextDue(); !next.Equal(noon.Add(gatherTime)) {
		t.Errorf("next due at %v, want after %v", next, gatherTime)
	}
	if next := newPlan().NextDue(); !next.IsZero() {
		t.Errorf("next due at %v without feeds, want never", next)
	}
	p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "f"}, Outcome: subjects.Refresh}, noon)
	if !p.Due(f.tier, noon) {
		t.Error("got not due after a refresh, want due immediately")
	}
}

func TestHost_RequestsAreSequentialAndSpaced(t *testing.T) {
	p := planOf(3, 1)
	first := popAll(p, noon)
	if len(first) != 1 {
		t.Fatalf("got %v of one host, want one feed", ids(first))
	}
	if more := popAll(p, noon.Add(time.Hour/10)); more != nil {
		t.Errorf("got %v during a request to the host, want none", ids(more))
	}
	// It begins late, because it waited on a queue: the spacing of the next counts from there.
	began := noon.Add(10 * time.Second)
	p.Observe(observation(first[0], subjects.Fetched, began), began.Add(time.Second))
	checkConsistent(t, p)
	if more := popAll(p, began.Add(spacing-1)); more != nil {
		t.Errorf("got %v before the end of the spacing, want none", ids(more))
	}
	second := popAll(p, began.Add(spacing))
	if len(second) != 1 || second[0] == first[0] {
		t.Fatalf("got %v after the spacing, want another feed", ids(second))
	}
	// An observation of the first document does not end another feed's request.
	p.Observe(observation(first[0], subjects.Stored, began), began.Add(spacing))
	checkConsistent(t, p)
	if more := popAll(p, began.Add(time.Hour/10)); more != nil {
		t.Errorf("got %v during the second request, want none", ids(more))
	}
}

// If requests need no spacing, as on a private host, a task contains several of its feeds. Only one task at a
// time is in flight, and it fetches them in sequence.
func TestHost_WithoutSpacingTasksShareAHost(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{Kind: policy.KindTiers})})
	for i := range 50 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprint("http://mine.example/", i)}, noon)
	}
	popped := popAll(p, noon)
	if len(popped) != maxHostFeeds || popAll(p, noon) != nil {
		t.Fatalf("got %d feeds, want %d and no more before their responses", len(popped), maxHostFeeds)
	}
	for i, f := range popped {
		if more := popAll(p, noon); more != nil {
			t.Fatalf("got %v after %d responses, want none", ids(more), i)
		}
		p.Observe(notModified(f, noon), noon)
		checkConsistent(t, p)
	}
	if more := popAll(p, noon); len(more) != maxHostFeeds {
		t.Errorf("got %d feeds after all responses, want %d", len(more), maxHostFeeds)
	}
}

// A host with very many feeds must not delay all others.
func TestHost_LargeHostDoesNotDelayOthers(t *testing.T) {
	p := planOf(20_000, 1)
	for i := range 30 {
		p.Add(storage.Feed{ID: fmt.Sprint("other", i), URL: fmt.Sprintf("http://other%d.example/", i)}, noon)
	}
	popped := popAll(p, noon)
	checkConsistent(t, p)
	if len(popped) != 31 {
		t.Errorf("got %d feeds, want one of each of 31 hosts", len(popped))
	}
}

func TestHost_RetryAfterAppliesToTheHostAfterSeveralFeeds(t *testing.T) {
	p := planOf(4, 1)
	now := noon
	refuse := func() {
		t.Helper()
		popped := popAll(p, now)
		if len(popped) != 1 {
			t.Fatalf("at %v got %v, want one feed", now, ids(popped))
		}
		o := failure(popped[0], "http 4xx", now)
		o.Status, o.RetryAfter = 429, time.Hour
		p.Observe(o, now)
		checkConsistent(t, p)
	}
	refuse()
	if f := p.feeds[feedID(0)]; f.State.Next.Before(now.Add(time.Hour)) {
		t.Errorf("got the next poll at %v, want at least an hour later", f.State.Next)
	}
	if h := p.hosts["host0.example"]; !h.PausedUntil.IsZero() || h.Spacing != 2*spacing {
		t.Errorf("after one 429: got %+v, want larger spacing and no pause", h.Host)
	}
	now = now.Add(time.Minute)
	refuse()
	until := now.Add(time.Hour)
	if more := popAll(p, until.Add(-1)); more != nil {
		t.Errorf("got %v before the end of the Retry-After, want none", ids(more))
	}
	if got := popAll(p, until); len(got) != 1 {
		t.Errorf("got %v after the Retry-After, want one feed", ids(got))
	}
}

func TestHost_SpacingRecoversAfter429(t *testing.T) {
	p := planOf(1, 1)
	f, h := p.feeds[feedID(0)], p.hosts["host0.example"]
	now := noon
	poll := func(o func() subjects.Observation) {
		f.State.Next = now
		popAll(p, now)
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
		t.Errorf("after 20 responses 429: got spacing %v, want %v", h.Spacing, maxSpacing)
	}
	for range 300 {
		poll(func() subjects.Observation { return notModified(f, now) })
	}
	if h.Spacing != 0 || h.Reason != "" {
		t.Errorf("after 300 successful responses: got spacing %v (%s), want the default", h.Spacing, h.Reason)
	}
}

func TestPopDue_BudgetBoundsTheRate(t *testing.T) {
	p := New(Options{Policy: policy.New(policy.Settings{Kind: policy.KindTiers}), Budget: 10})
	for i := range 1000 {
		p.Add(storage.Feed{ID: feedID(i), URL: fmt.Sprintf("http://host%d.example/", i)}, noon.Add(-time.Minute))
	}
	got := 0
	for i := range 300 { // half a minute
		got += len(popAll(p, noon.Add(time.Duration(i)*100*time.Millisecond)))
	}
	if got < 300 || got > 300+20 {
		t.Errorf("got %d feeds in 30 s at 10 a second, want some 300", got)
	}
}

func TestRecall_LostFeedIsDueAgain(t *testing.T) {
	p := planOf(10, 5)
	first := popAll(p, noon)
	lost := first[0]
	if got := p.Recall(noon.Add(time.Minute), func(f *Feed) bool { return f == lost }); len(got) != 1 || got[0] != lost {
		t.Errorf("got %v recalled, want the lost feed", ids(got))
	}
	checkConsistent(t, p)
	if got := p.Recall(noon.Add(time.Minute), func(*Feed) bool { return true }); len(got) != 4 {
		t.Errorf("got %v recalled, want the other four", ids(got))
	}
	checkConsistent(t, p)
	if got := popAll(p, noon.Add(time.Minute)); len(got) != 5 {
		t.Errorf("got %v dispatched, want one of each host", ids(got))
	}
}

func TestPlan_SecondPollsAreSpread(t *testing.T) {
	const n = 1000
	p := planOf(n, n)
	popAll(p, noon)
	hours := map[time.Duration]int{}
	for _, f := range p.feeds {
		p.Observe(observation(f, subjects.Nothing, noon), noon) // a cold feed: every hour
		wait := f.State.Next.Sub(noon)
		if wait < 57*time.Minute || wait > 126*time.Minute {
			t.Errorf("got the second poll after %v, want after one to two hours", wait)
		}
		hours[wait.Truncate(15*time.Minute)]++
	}
	for quarter, feeds := range hours {
		if feeds > n/3 {
			t.Errorf("got %d of %d feeds due within the quarter of an hour from %v on, want them spread", feeds, n, quarter)
		}
	}
	checkConsistent(t, p)
}

func TestObserve_DecidesTheNextPoll(t *testing.T) {
	seen := noon.Add(3 * time.Second)
	for _, test := range []struct {
		outcome    subjects.Outcome
		retryAfter time.Duration
		interval   time.Duration // 0: never
		validators string        // of the stored document afterwards
		failures   int
	}{
		{outcome: subjects.Stored, interval: time.Hour, validators: `"new"`}, // no items were observed
		{outcome: subjects.Nothing, interval: time.Hour, validators: `"new"`},
		{outcome: subjects.Unchanged, interval: 20 * time.Minute, validators: `"new"`},
		{outcome: subjects.Failed, interval: 40 * time.Minute, validators: `"old"`, failures: 1},
		{outcome: subjects.Failed, retryAfter: 3 * time.Hour, interval: 3 * time.Hour, validators: `"old"`, failures: 1},
		{outcome: subjects.Failed, retryAfter: time.Second, interval: 40 * time.Minute, validators: `"old"`, failures: 1},
		{outcome: subjects.Gone, validators: `"old"`, failures: 1},
	} {
		p := planOf(1, 1)
		f := popAll(p, noon)[0]
		f.State.ETag, f.State.LastModified, f.State.BodyHash, f.State.Polled = `"old"`, "yesterday", "old hash", noon.Add(-time.Hour)
		p.counts.Polled++
		o := observation(f, test.outcome, seen)
		o.RetryAfter, o.Error, o.Class, o.Weight = test.retryAfter, "why", "class", 1
		if got := p.Observe(o, seen); got != f {
			t.Fatalf("%s: got %v, want the changed feed", test.outcome, got)
		}
		checkConsistent(t, p)
		s := f.State
		wait := s.Next.Sub(seen)
		if low, high := test.interval*94/100, test.interval*106/100; test.interval > 0 && (wait < low || wait > high) || test.interval == 0 && !s.Next.IsZero() {
			t.Errorf("%s: got the next poll after %v, want about %v", test.outcome, wait, test.interval)
		}
		if s.Failures != test.failures || s.ETag != test.validators || s.Changed.IsZero() == (test.outcome == subjects.Stored) {
			t.Errorf("%s: got %d failures, ETag %s, changed %v; want %+v", test.outcome, s.Failures, s.ETag, s.Changed, test)
		}
		if (s.LastModified == "today") != (s.ETag == `"new"`) || (s.BodyHash == "new hash") != (s.ETag == `"new"`) {
			t.Errorf("%s: got validators %q, %q and %q, want all of one document", test.outcome, s.ETag, s.LastModified, s.BodyHash)
		}
		if s.Crawl != "" || !s.Polled.Equal(seen) || s.Outcome != test.outcome || s.Error != "why" || s.Reason == "" {
			t.Errorf("%s: got %+v, want it waiting, with the outcome recorded", test.outcome, s)
		}
	}
}

func TestObserve_LateOrDuplicateIsIgnored(t *testing.T) {
	p := planOf(1, 1)
	f := popAll(p, noon)[0]
	first := observation(f, subjects.Stored, noon)

	// The first poll is treated as lost and the second one is in flight when the observation of the first
	// arrives.
	later := noon.Add(subjects.InFlightTimeout)
	p.Recall(later, func(*Feed) bool { return true })
	popAll(p, later)
	out := *f.State
	if got := p.Observe(first, later); got != nil || !reflect.DeepEqual(*f.State, out) {
		t.Errorf("got %+v after an observation of a lost poll, want %+v", f.State, out)
	}
	second := observation(f, subjects.Unchanged, noon.Add(-time.Hour)) // the fetching agent's clock may be behind
	if p.Observe(second, later) != f {
		t.Error("the observation of the current poll was ignored")
	}
	after := *f.State
	for _, o := range []subjects.Observation{first, second, observation(f, subjects.Failed, later.Add(time.Hour))} {
		if got := p.Observe(o, later.Add(time.Minute)); got != nil || !reflect.DeepEqual(*f.State, after) {
			t.Errorf("got %+v after late observation %s of %q, want %+v", f.State, o.Outcome, o.Crawl, after)
		}
	}
	for _, outcome := range []subjects.Outcome{subjects.Stored, subjects.Refresh} {
		if got := p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: "unknown"}, Outcome: outcome}, noon); got != nil {
			t.Errorf("got %v for %s of a missing feed, want nil", got, outcome)
		}
	}
	checkConsistent(t, p)
}

func TestObserve_GoneFeedIsDueOnlyAfterRefresh(t *testing.T) {
	p := planOf(1, 1)
	f := popAll(p, noon)[0]
	p.Observe(observation(f, subjects.Gone, noon), noon)
	checkConsistent(t, p)
	if got := popAll(p, noon.AddDate(100, 0, 0)); got != nil {
		t.Error("got a gone feed due after 100 years, want never")
	}
	p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: f.FeedID}, Outcome: subjects.Refresh}, noon.Add(time.Minute))
	checkConsistent(t, p)
	if got := popAll(p, noon.Add(time.Minute)); len(got) != 1 {
		t.Error("got a gone feed not due after a refresh")
	}
}

func TestObserve_RefreshClearsValidators(t *testing.T) {
	refresh := subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID(0)}, Outcome: subjects.Refresh}
	for _, inFlight := range []bool{false, true} {
		p := planOf(1, 1)
		f := popAll(p, noon)[0]
		o := observation(f, subjects.Stored, noon)
		p.Observe(o, noon)
		now := f.State.Next
		if inFlight {
			popAll(p, now)
			o = observation(f, subjects.Unchanged, now)
		}
		if p.Observe(refresh, now) != f || f.State.ETag+f.State.LastModified+f.State.BodyHash != "" {
			t.Errorf("in flight %t: got %+v after a refresh, want no validators", inFlight, f.State)
		}
		p.Observe(o, now) // of the poll in flight with the old validators
		popped := popAll(p, now.Add(spacing))
		checkConsistent(t, p)
		if len(popped) != 1 || p.Tasks(f.tier, popped, now)[0].Feeds[0].ETag != "" {
			t.Errorf("in flight %t: got %v dispatched with ETag %q, want the feed without validators", inFlight, ids(popped), f.State.ETag)
		}
	}
}

func TestAdd_RemovedFeedStartsFresh(t *testing.T) {
	p := planOf(2, 1)
	f := popAll(p, noon)[0]
	late := observation(f, subjects.Stored, noon)
	p.Remove(f.FeedID)
	p.Remove("never there")
	checkConsistent(t, p)
	if p.Has(f.FeedID) || p.Observe(late, noon) != nil {
		t.Error("the removed feed is still in the plan")
	}
	added := p.Add(storage.Feed{ID: f.FeedID, URL: f.State.URL}, noon.Add(time.Second))
	if added == nil || p.Add(storage.Feed{ID: f.FeedID, URL: f.State.URL}, noon) != nil {
		t.Fatalf("got %+v, want a new feed, added once", added)
	}
	// The items of this observation were removed with the feed. With its validators stored, the document
	// would never be read again.
	if p.Observe(late, noon.Add(2*time.Second)) != nil || added.State.ETag != "" {
		t.Errorf("got %+v after an observation from before the removal, want no validators", added.State)
	}
	checkConsistent(t, p)
}

// reload returns a plan built from the states that p would have written, in random order.
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
		states = append(states, subjects.FeedState{FeedID: f.FeedID, State: s})
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

func TestReissue_RebuildsTaskFromStates(t *testing.T) {
	p := planOf(300, 170)
	now := noon.Add(123456 * time.Microsecond)
	tier := p.feeds[feedID(0)].tier
	first := p.Tasks(tier, p.PopDue(tier, now), now)[0]
	second := p.Tasks(tier, p.PopDue(tier, now), now)[0]
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		fresh := reload(t, p, r)
		checkConsistent(t, fresh)
		for _, want := range []subjects.Crawl{first, second} {
			got, ok := fresh.Reissue(want.ID(), now)
			if !ok || got.ID() != want.ID() || !reflect.DeepEqual(got, want) {
				t.Fatalf("got %v, %t; want the dispatched task", got, ok)
			}
		}
	}
	f := p.feeds[first.Feeds[5].FeedID]
	p.Observe(observation(f, subjects.Unchanged, now), now)
	for _, id := range []string{first.ID(), "", "unknown"} {
		if got, ok := p.Reissue(id, now); ok {
			t.Errorf("got %v for task %q, want none", got, id)
		}
	}
}

func TestLoad_DuplicateStateCountsOnce(t *testing.T) {
	p := planOf(3, 1)
	f := p.feeds[feedID(1)]
	newer := *f.State
	newer.ETag = "newer"
	p.Load(subjects.FeedState{FeedID: f.FeedID, State: &newer})
	checkConsistent(t, p)
	if p.Len() != 3 || p.feeds[f.FeedID].State.ETag != "newer" {
		t.Errorf("got %d feeds and %+v, want three, and the newer state", p.Len(), p.feeds[f.FeedID])
	}
}

func TestLoad_KeepsSpacingAfterRestart(t *testing.T) {
	p := planOf(50, 5)
	now := noon
	for range 20 {
		for _, f := range popAll(p, now) {
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
		for _, f := range popAll(fresh, now) {
			if now.Before(next[f.FeedID]) {
				t.Fatalf("feed %s: got a poll at %v, want not before %v", f.FeedID, now, next[f.FeedID])
			}
			fresh.Observe(notModified(f, now), now)
			next[f.FeedID] = f.State.Next
		}
	}
}

// After random operations the plan is consistent, has at most one request in flight for a host, and can be
// rebuilt from its written states.
func TestPlan_StaysConsistent(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := planOf(60, 9)
		now := noon
		requested := map[*host]*Feed{}
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
				p.Recalibrate(now)
				p.RecordPolls(now)
			case 5, 6:
				for _, f := range popAll(p, now) {
					if out := requested[f.host]; out != nil && out != f && p.inFlight[out.FeedID] == out && slices.Contains(f.host.inFlight, out) {
						t.Fatalf("host %s: got two requests at the same time", f.host.Name)
					}
					requested[f.host] = f
				}
			default:
				for _, f := range p.inFlight {
					outcomes := []subjects.Outcome{subjects.Fetched, subjects.Stored, subjects.Nothing, subjects.Unchanged, subjects.Failed, subjects.Gone}
					o := observation(f, outcomes[r.IntN(len(outcomes))], now)
					if o.Outcome == subjects.Failed {
						o.Class, o.Weight = []string{"timeout", "http 5xx"}[r.IntN(2)], 0.25
					}
					o.Dates = []int64{now.Add(-time.Duration(r.IntN(1e13))).Unix()}
					p.Observe(o, now)
					break
				}
			}
			if step%100 == 0 {
				checkConsistent(t, p)
				checkConsistent(t, reload(t, p, r))
			}
		}
		checkConsistent(t, p)
	}
}
