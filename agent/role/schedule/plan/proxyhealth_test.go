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

// twoProxies returns a plan with a feed that may use the proxies a and b.
func twoProxies() (*Plan, *Feed) {
	p := planOf(1, 1)
	p.SetProxies([]storage.Proxy{{ID: "a", URL: "http://a:1"}, {ID: "b", URL: "http://b:1"}})
	return p, p.feeds[feedID(0)]
}

// usesProxy reports whether the feed's routes contain proxy a.
func usesProxy(p *Plan, f *Feed, at time.Time) bool {
	return slices.ContainsFunc(p.proxies.routes(f, at), func(w subjects.Route) bool { return w.ID == "a" })
}

// probes returns the IDs of the proxies to probe, and records the probes.
func probes(p *Plan, at time.Time) (ids []string) {
	due := p.Probes(at)
	p.Probed(due, at)
	for _, w := range due {
		ids = append(ids, w.ID)
	}
	return ids
}

// probed records the result of a probe; it passed if reason is empty.
func probed(p *Plan, id, reason string, at time.Time) {
	o := subjects.Observation{Receipt: subjects.Receipt{ProxyID: id, Fetched: at}, Outcome: subjects.Probed}
	if reason != "" {
		o.FailedProxies, o.Class, o.Error = []string{id}, "proxy", reason
	}
	p.ObserveProbe(o, at)
}

// proxyFailure returns an observation of a fetch that failed because of proxy a.
func proxyFailure(f *Feed, at time.Time) subjects.Observation {
	o := failure(f, "proxy", at)
	o.ProxyID, o.FailedProxies, o.Error = "a", []string{"a"}, "connection refused"
	return o
}

func TestProxy_RestGrowsUntilAProbePasses(t *testing.T) {
	p, f := twoProxies()
	now := noon
	probes(p, now) // both are new
	for i, rest := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		rest *= time.Minute
		if i == 0 {
			p.proxies.record(proxyFailure(f, now), now)
			p.proxies.record(proxyFailure(f, now), now) // another feed reports it at the same time
		} else {
			probed(p, "a", "connection refused", now)
		}
		if k := p.proxies.states["a"]; k.Failures != i+1 || !k.RestUntil.Equal(now.Add(rest)) || k.Reason != "connection refused" {
			t.Fatalf("failure %d: got %+v, want a rest of %v", i+1, k.Proxy, rest)
		}
		now = now.Add(rest)
		if got := probes(p, now.Add(-1)); slices.Contains(got, "a") {
			t.Errorf("got a probe before the end of the rest")
		}
		if usesProxy(p, f, now) {
			t.Errorf("got the proxy used after its rest, want a probe first")
		}
		if got := probes(p, now); !slices.Contains(got, "a") {
			t.Fatalf("got probes of %v after a rest of %v, want proxy a included", got, rest)
		}
		if got := probes(p, now.Add(minRest-1)); slices.Contains(got, "a") {
			t.Errorf("got another probe while one is in progress")
		}
	}
	probed(p, "a", "", now)
	if k := p.proxies.states["a"]; !usesProxy(p, f, now) || k.Failures != 0 || k.Reason != "" || !k.ProbePassed.Equal(now) {
		t.Errorf("got %+v, want the proxy in use", k.Proxy)
	}
}

func TestProxy_SuccessfulRequestEndsRest(t *testing.T) {
	p, f := twoProxies()
	p.proxies.record(proxyFailure(f, noon), noon)
	now := noon.Add(time.Second)
	o := notModified(f, now)
	o.ProxyID = "a"
	p.proxies.record(o, now)
	if k := p.proxies.states["a"]; !usesProxy(p, f, now) || k.Failures != 0 || !k.LastUsed.Equal(now) {
		t.Errorf("got %+v, want the proxy in use", k.Proxy)
	}
	// A request that did not reach its host does not prove that the proxy works.
	p.proxies.record(proxyFailure(f, now), now)
	o = failure(f, "connect", now)
	o.ProxyID = "a"
	p.proxies.record(o, now)
	if usesProxy(p, f, now) {
		t.Error("got the proxy in use after a request without response, want it resting")
	}
}

func TestProxy_RestGrowsDespitePassedProbes(t *testing.T) {
	p, f := twoProxies()
	now := noon
	probes(p, now)
	for i := range 5 {
		p.proxies.record(proxyFailure(f, now), now)
		rest := time.Minute << i
		if got := p.proxies.states["a"].RestUntil; !got.Equal(now.Add(rest)) {
			t.Fatalf("failure %d: got a rest until %v, want %v", i+1, got, rest)
		}
		now = now.Add(rest)
		probes(p, now)
		probed(p, "a", "", now)
		if k := p.proxies.states["a"]; !usesProxy(p, f, now) || k.Failures != i+1 {
			t.Fatalf("got %+v, want the proxy in use with its failures kept", k.Proxy)
		}
	}
}

func TestProbes_IdleProxyOncePerPeriod(t *testing.T) {
	p, f := twoProxies()
	if got := probes(p, noon); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("got probes of %v, want both new proxies", got)
	}
	count := map[string]int{}
	for at := noon.Add(time.Second); at.Before(noon.Add(time.Hour)); at = at.Add(time.Second) {
		if at.Second() == 0 {
			o := notModified(f, at)
			o.ProxyID = "a"
			p.proxies.record(o, at)
		}
		for _, id := range probes(p, at) {
			count[id]++
			probed(p, id, "", at.Add(time.Second))
		}
	}
	if count["a"] != 0 || count["b"] < 10 || count["b"] > 11 {
		t.Errorf("got %v probes in an hour, want none of the used proxy, and one in five minutes of the idle one", count)
	}
}

func TestProbes_AreBounded(t *testing.T) {
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

func TestProxy_UsedAfterUnansweredProbes(t *testing.T) {
	p, f := twoProxies()
	p.proxies.record(proxyFailure(f, noon), noon)
	now := noon.Add(minRest)
	for i := range maxUnansweredProbes {
		if usesProxy(p, f, now) {
			t.Fatalf("got the proxy used after %d unanswered probes", i)
		}
		if got := probes(p, now); !slices.Contains(got, "a") {
			t.Fatalf("got probes of %v, want proxy a included", got)
		}
		now = now.Add(minRest)
	}
	if !usesProxy(p, f, now) {
		t.Error("got the proxy unused after unanswered probes, want feeds to try it")
	}
	p.proxies.record(proxyFailure(f, now), now)
	if usesProxy(p, f, now.Add(2*minRest-1)) {
		t.Error("got the proxy used after another failure, want a rest of two minutes")
	}
}

func TestSetProxies_NewAddressResetsState(t *testing.T) {
	p, f := twoProxies()
	probes(p, noon)
	p.proxies.record(proxyFailure(f, noon), noon)
	same := slices.Clone(p.proxies.all)
	p.SetProxies(same)
	if usesProxy(p, f, noon) {
		t.Error("got the proxy in use, want its rest kept")
	}
	other := slices.Clone(same)
	other[0].URL = "http://a:2"
	p.SetProxies(other)
	if got := probes(p, noon); !usesProxy(p, f, noon) || !slices.Equal(got, []string{"a"}) {
		t.Errorf("got probes of %v, want the changed proxy, in use by feeds", got)
	}
	p.SetProxies(other[1:])
	probed(p, "a", "", noon) // too late
	if learned := p.TakeProxies(); slices.ContainsFunc(learned, func(x subjects.Proxy) bool { return x.ID == "a" }) {
		t.Errorf("got %+v, want no state of a removed proxy", learned)
	}
}

func TestProxy_NotJudgedInAnOutage(t *testing.T) {
	p := planOf(60, 60)
	p.SetProxies([]storage.Proxy{{ID: "a", URL: "http://a:1"}})
	for _, f := range popAll(p, noon) {
		p.Observe(failure(f, "connect", noon), noon)
	}
	if p.Outage().IsZero() {
		t.Fatal("got no outage although no host responds")
	}
	if got := p.Probes(noon); got != nil {
		t.Errorf("got probes of %v, want none", got)
	}
	probed(p, "a", "connection refused", noon) // it was in flight
	if k := p.proxies.states["a"]; k.Failures != 0 {
		t.Errorf("got %+v, want no failure counted", k.Proxy)
	}
}

func TestProxy_StateIsRestored(t *testing.T) {
	p, f := twoProxies()
	probes(p, noon)
	probed(p, "b", "", noon)
	p.proxies.record(proxyFailure(f, noon), noon)
	learned := p.TakeProxies()
	if again := p.TakeProxies(); len(learned) != 2 || again != nil {
		t.Fatalf("got %+v, then %+v, want both once", learned, again)
	}
	next := planOf(1, 1)
	for _, k := range append(learned, subjects.Proxy{ID: "gone", Failures: 1}) {
		next.LoadProxy(k)
	}
	next.SetProxies(p.proxies.all)
	slices.SortFunc(learned, func(a, b subjects.Proxy) int { return len(a.Reason) - len(b.Reason) })
	want := []subjects.Proxy{
		{ID: "b", ProbePassed: noon, ProbeSent: noon},
		{ID: "a", ProbeSent: noon, Failures: 1, InUse: true, Reason: "connection refused", RestUntil: noon.Add(time.Minute)},
	}
	if !reflect.DeepEqual(learned, want) {
		t.Errorf("got %+v, want %+v", learned, want)
	}
	if got := probes(next, noon.Add(time.Minute-1)); got != nil || usesProxy(next, next.feeds[feedID(0)], noon) || next.proxies.states["gone"] != nil {
		t.Errorf("got probes of %v, want the restored state: none due", got)
	}
}
