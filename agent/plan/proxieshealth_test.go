package plan

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// twoProxies returns a plan with a feed that may go by the proxies a and b.
func twoProxies() (*Plan, *Feed) {
	p := planOf(1, 1)
	p.SetProxies([]storage.Proxy{{ID: "a", URL: "http://a:1"}, {ID: "b", URL: "http://b:1"}})
	return p, p.feeds[feedID(0)]
}

// goesBy reports whether the feed would go by the proxy a.
func goesBy(p *Plan, f *Feed, at time.Time) bool {
	return slices.ContainsFunc(p.proxies.ways(f, at), func(w subjects.Way) bool { return w.ID == "a" })
}

// probes returns the IDs of the proxies that are probed, which count as probed.
func probes(p *Plan, at time.Time) (ids []string) {
	due := p.Probes(at)
	p.Probed(due, at)
	for _, w := range due {
		ids = append(ids, w.ID)
	}
	return ids
}

// probed tells of the end of a probe; an empty why is that of one that was passed.
func probed(p *Plan, id, why string, at time.Time) {
	o := subjects.Observation{Receipt: subjects.Receipt{Way: id, Fetched: at}, Outcome: subjects.Probed}
	if why != "" {
		o.Dead, o.Class, o.Error = []string{id}, "proxy", why
	}
	p.ObserveProbe(o, at)
}

// dead is word of a feed that could not go by the proxy a.
func dead(f *Feed, at time.Time) subjects.Observation {
	o := failure(f, "proxy", at)
	o.Way, o.Dead, o.Error = "a", []string{"a"}, "connection refused"
	return o
}

func TestADeadProxyRestsLongerEachTimeUntilItPassesAProbe(t *testing.T) {
	p, f := twoProxies()
	now := noon
	probes(p, now) // both are new
	for i, rest := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		rest *= time.Minute
		if i == 0 {
			p.proxies.note(dead(f, now), now)
			p.proxies.note(dead(f, now), now) // another feed says so at the same time
		} else {
			probed(p, "a", "connection refused", now)
		}
		if k := p.proxies.known["a"]; k.Failures != i+1 || !k.Until.Equal(now.Add(rest)) || k.Why != "connection refused" {
			t.Fatalf("failure %d: got %+v, want a rest of %v", i+1, k.Proxy, rest)
		}
		now = now.Add(rest)
		if got := probes(p, now.Add(-1)); slices.Contains(got, "a") {
			t.Errorf("probed before its rest is over")
		}
		if goesBy(p, f, now) {
			t.Errorf("a feed goes by it after its rest, want a probe first")
		}
		if got := probes(p, now); !slices.Contains(got, "a") {
			t.Fatalf("got %v probed after a rest of %v, want it among them", got, rest)
		}
		if got := probes(p, now.Add(leastRest-1)); slices.Contains(got, "a") {
			t.Errorf("probed again while the probe is under way")
		}
	}
	probed(p, "a", "", now)
	if k := p.proxies.known["a"]; !goesBy(p, f, now) || k.Failures != 0 || k.Why != "" || !k.Passed.Equal(now) {
		t.Errorf("got %+v, want it back", k.Proxy)
	}
}

func TestAGoodUseEndsARest(t *testing.T) {
	p, f := twoProxies()
	p.proxies.note(dead(f, noon), noon)
	now := noon.Add(time.Second)
	o := notModified(f, now)
	o.Way = "a"
	p.proxies.note(o, now)
	if k := p.proxies.known["a"]; !goesBy(p, f, now) || k.Failures != 0 || !k.Used.Equal(now) {
		t.Errorf("got %+v, want it back", k.Proxy)
	}
	// That a host was not reached by it is no good use.
	p.proxies.note(dead(f, now), now)
	o = failure(f, "connect", now)
	o.Way = "a"
	p.proxies.note(o, now)
	if goesBy(p, f, now) {
		t.Error("it brought no answer: want it to rest")
	}
}

func TestRestsGrowForWhatProbesDoNotSee(t *testing.T) {
	p, f := twoProxies()
	now := noon
	probes(p, now)
	for i := range 5 {
		p.proxies.note(dead(f, now), now)
		rest := time.Minute << i
		if got := p.proxies.known["a"].Until; !got.Equal(now.Add(rest)) {
			t.Fatalf("failure %d: got a rest until %v, want %v", i+1, got, rest)
		}
		now = now.Add(rest)
		probes(p, now)
		probed(p, "a", "", now)
		if k := p.proxies.known["a"]; !goesBy(p, f, now) || k.Failures != i+1 {
			t.Fatalf("got %+v, want it tried again, and its failures remembered", k.Proxy)
		}
	}
}

func TestAnIdleProxyIsProbedOnceAPeriod(t *testing.T) {
	p, f := twoProxies()
	if got := probes(p, noon); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("got %v of new proxies, want both", got)
	}
	count := map[string]int{}
	for at := noon.Add(time.Second); at.Before(noon.Add(time.Hour)); at = at.Add(time.Second) {
		if at.Second() == 0 {
			o := notModified(f, at)
			o.Way = "a"
			p.proxies.note(o, at)
		}
		for _, id := range probes(p, at) {
			count[id]++
			probed(p, id, "", at.Add(time.Second))
		}
	}
	if count["a"] != 0 || count["b"] < 10 || count["b"] > 11 {
		t.Errorf("got %v probes in an hour, want none of the one in use, and one in five minutes of the other", count)
	}
}

func TestOneTaskProbesNoMoreThanItMay(t *testing.T) {
	p := newPlan()
	var all []storage.Proxy
	for i := range subjects.MaxFeeds + 10 {
		all = append(all, storage.Proxy{ID: fmt.Sprint("p", i), URL: "http://p:1"})
	}
	p.SetProxies(all)
	if a, b := len(probes(p, noon)), len(probes(p, noon)); a != subjects.MaxFeeds || b != 10 {
		t.Errorf("got %d and %d probes, want %d and the rest", a, b, subjects.MaxFeeds)
	}
}

func TestFeedsTryARestedProxyIfNobodyProbes(t *testing.T) {
	p, f := twoProxies()
	p.proxies.note(dead(f, noon), noon)
	now := noon.Add(leastRest)
	for i := range probesUnheard {
		if goesBy(p, f, now) {
			t.Fatalf("a feed goes by it after %d probes without a word", i)
		}
		if got := probes(p, now); !slices.Contains(got, "a") {
			t.Fatalf("got %v probed, want it among them", got)
		}
		now = now.Add(leastRest)
	}
	if !goesBy(p, f, now) {
		t.Error("crawlers do not probe: want feeds to try it, as its rest is over")
	}
	p.proxies.note(dead(f, now), now)
	if goesBy(p, f, now.Add(2*leastRest-1)) {
		t.Error("it failed again: want it left alone for two minutes")
	}
}

func TestAProxyAtAnotherAddressBeginsAnew(t *testing.T) {
	p, f := twoProxies()
	probes(p, noon)
	p.proxies.note(dead(f, noon), noon)
	same := slices.Clone(p.proxies.all)
	p.SetProxies(same)
	if goesBy(p, f, noon) {
		t.Error("it is as it was: want it to rest")
	}
	other := slices.Clone(same)
	other[0].URL = "http://a:2"
	p.SetProxies(other)
	if got := probes(p, noon); !goesBy(p, f, noon) || !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %v probed, want the one that was changed, and feeds to go by it", got)
	}
	p.SetProxies(other[1:])
	probed(p, "a", "", noon) // too late
	if learned := p.LearnedOfProxies(); slices.ContainsFunc(learned, func(x subjects.Proxy) bool { return x.ID == "a" }) {
		t.Errorf("got %+v, want nothing of one that is gone", learned)
	}
}

func TestProxiesAreNotJudgedInAnOutage(t *testing.T) {
	p := planOf(60, 60)
	p.SetProxies([]storage.Proxy{{ID: "a", URL: "http://a:1"}})
	for _, f := range takeAll(p, noon) {
		p.Observe(failure(f, "connect", noon), noon)
	}
	if p.Outage().IsZero() {
		t.Fatal("nobody answers: want an outage")
	}
	if got := p.Probes(noon); got != nil {
		t.Errorf("got %v to be probed, want none", got)
	}
	probed(p, "a", "connection refused", noon) // it was under way
	if k := p.proxies.known["a"]; k.Failures != 0 {
		t.Errorf("got %+v, want no failure counted", k.Proxy)
	}
}

func TestWhatIsKnownOfProxiesOutlivesItsSchedule(t *testing.T) {
	p, f := twoProxies()
	probes(p, noon)
	probed(p, "b", "", noon)
	p.proxies.note(dead(f, noon), noon)
	learned := p.LearnedOfProxies()
	if again := p.LearnedOfProxies(); len(learned) != 2 || again != nil {
		t.Fatalf("got %+v, then %+v, want both once", learned, again)
	}
	next := planOf(1, 1)
	for _, k := range append(learned, subjects.Proxy{ID: "gone", Failures: 1}) {
		next.LoadProxy(k)
	}
	next.SetProxies(p.proxies.all)
	slices.SortFunc(learned, func(a, b subjects.Proxy) int { return len(a.Why) - len(b.Why) })
	want := []subjects.Proxy{
		{ID: "b", Passed: noon, Asked: noon},
		{ID: "a", Asked: noon, Failures: 1, InUse: true, Why: "connection refused", Until: noon.Add(time.Minute)},
	}
	if !reflect.DeepEqual(learned, want) {
		t.Errorf("got %+v, want %+v", learned, want)
	}
	if got := probes(next, noon.Add(time.Minute-1)); got != nil || goesBy(next, next.feeds[feedID(0)], noon) || next.proxies.known["gone"] != nil {
		t.Errorf("got %v probed, want nothing done that was done before", got)
	}
}
