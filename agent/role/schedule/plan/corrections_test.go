package plan

import (
	"testing"
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// polledPlan returns a plan whose feeds were polled at noon.
func polledPlan(n, hosts int) *Plan {
	p := planOf(n, hosts)
	for len(p.inFlight) > 0 || p.Overdue(noon) > 0 {
		for _, f := range popAll(p, noon) {
			p.Observe(notModified(f, noon), noon)
		}
		for _, h := range p.hosts { // without waiting for the spacing
			h.LastRequest, h.notBefore = time.Time{}, time.Time{}
			p.updateReady(h)
		}
	}
	return p
}

// Feeds that wait for their host are overdue, but nothing is wrong with the schedule.
func TestDispatchable_LeavesOutFeedsThatWaitForTheirHost(t *testing.T) {
	p := planOf(4, 2)
	waiting := p.feeds[feedID(0)].host
	waiting.notBefore = noon.Add(time.Minute)
	p.updateReady(waiting)
	if overdue, n := p.Overdue(noon), p.Dispatchable(noon); overdue != 4 || n != 2 {
		t.Errorf("got %d overdue feeds, %d of them dispatchable; want 4 and 2", overdue, n)
	}
	if n := p.Dispatchable(noon.Add(time.Minute)); n != 4 {
		t.Errorf("got %d dispatchable feeds a minute later, want 4", n)
	}
	popAll(p, noon.Add(time.Minute))
	if overdue, n := p.Overdue(noon.Add(time.Minute)), p.Dispatchable(noon.Add(time.Minute)); overdue != 2 || n != 0 {
		t.Errorf("got %d overdue feeds, %d of them dispatchable while each host has a request in flight; want 2 and 0", overdue, n)
	}
}

// waits returns the time until each feed is due.
func waits(p *Plan, now time.Time) map[string]time.Duration {
	all := map[string]time.Duration{}
	for id, f := range p.feeds {
		all[id] = f.State.Next.Sub(now)
	}
	return all
}

func TestShift_FeedsStayDueAfterTheSameTime(t *testing.T) {
	for _, d := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, 20_000 * time.Hour} {
		p := polledPlan(200, 20)
		p.Add(storage.Feed{ID: "new", URL: "http://new.example/"}, noon)
		out := popAll(p, noon)
		before := waits(p, noon)
		now := noon.Add(d)
		p.Shift(d)
		checkConsistent(t, p)
		for id, wait := range waits(p, now) {
			if wait != before[id] {
				t.Errorf("jump by %v: %s is due after %v, want %v as before", d, id, wait, before[id])
			}
		}
		if n := p.Overdue(now); n != 0 {
			t.Errorf("jump by %v: %d feeds are overdue, want none", d, n)
		}
		if got := p.Recall(now, func(f *Feed) bool { return now.Sub(f.Dispatched) > time.Hour && !f.Dispatched.IsZero() }); len(got) != 0 || len(out) != 1 {
			t.Errorf("jump by %v: %d of %d feeds in flight count as lost", d, len(got), len(out))
		}
	}
}

// States that were written while a clock was an hour ahead, or contain any time at all, do not delay a feed beyond
// its policy's interval.
func TestClamp_FeedsOfAWrongClockAreDueWithinTheirInterval(t *testing.T) {
	reference := polledPlan(1, 1).feeds[feedID(0)].State.Next.Sub(noon)
	for _, c := range []struct {
		what         string
		polled, next time.Time
		clamped      bool
	}{
		{"an hour ahead", noon.Add(time.Hour), noon.Add(time.Hour + 30*time.Minute), true},
		{"years ahead", noon.AddDate(50, 0, 0), noon.AddDate(50, 0, 1), true},
		{"due in a thousand years", noon, noon.AddDate(1000, 0, 0), true},
		{"polled in the future, due soon", noon.Add(time.Hour), noon.Add(time.Minute), true},
		{"as decided", noon, noon.Add(30 * time.Minute), false},
		{"after a long Retry-After", noon, noon.Add(6 * 24 * time.Hour), false},
		{"after a first poll, whose longest interval was spread", noon, noon.Add(policy.MaxWait + maxSpread), false},
		{"overdue", noon.Add(-time.Hour), noon.Add(-time.Minute), false},
		{"never", noon, time.Time{}, false},
		{"clocks differ a little", noon.Add(10 * time.Second), noon.Add(30 * time.Minute), false},
	} {
		p := newPlan()
		p.Load(subjects.FeedState{FeedID: "f", State: &subjects.State{URL: "http://a.example/", Tier: subjects.Warm, Polled: c.polled, Next: c.next, Status: 304, Outcome: subjects.Unchanged}})
		p.LoadHost(subjects.Host{Name: "a.example", LastRequest: c.polled})
		clamped := p.Clamp(noon)
		checkConsistent(t, p)
		next := p.feeds["f"].State.Next
		switch {
		case !c.clamped:
			if len(clamped) != 0 || !next.Equal(c.next) {
				t.Errorf("%s: due at %v, want it unchanged", c.what, next)
			}
		case len(clamped) != 1 || next.After(noon.Add(2*reference)) || next.After(c.next):
			t.Errorf("%s: due at %v, want it within the interval of about %v", c.what, next, reference)
		case p.feeds["f"].host.notBefore.After(noon.Add(time.Minute)):
			t.Errorf("%s: its host waits until %v", c.what, p.feeds["f"].host.notBefore)
		}
	}
}

func TestObserve_ClockOfTheCrawlerAhead(t *testing.T) {
	p := planOf(1, 1)
	f := popAll(p, noon)[0]
	p.Observe(notModified(f, noon.Add(time.Hour)), noon)
	if f.State.Polled.After(noon) {
		t.Errorf("polled at %v, want at most now", f.State.Polled)
	}
}
