package rest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

func TestProxies_ListHealth(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	before := now.Add(-time.Minute)
	w.Mesh.Proxies = map[string]*subjects.Proxy{
		"a": {ID: "a", LastUsed: now, ProbePassed: before, ProbeSent: before},
		"b": {ID: "b", LastUsed: before, Failures: 3, Reason: "connection refused", RestUntil: now.Add(time.Minute)},
		"c": {ID: "c", ProbePassed: before, Failures: 1, InUse: true, Reason: "it refuses"},
		"d": {ID: "d", ProbeSent: now},
	}
	want := map[string]wire.ProxyHealth{
		"a": {State: wire.ProxyWorks, Used: now, Passed: before},
		"b": {State: wire.ProxyRests, Used: before, Failures: 3, Why: "connection refused", Until: now.Add(time.Minute)},
		"c": {State: wire.ProxyDoubtful, Passed: before, Failures: 1, Why: "it refuses"},
		"d": {State: wire.ProxyUnknown},
		"e": {State: wire.ProxyUnknown},
	}
	for id := range want {
		if a := w.request(t, "PUT", "/api/proxies/"+id, `{"url":"http://proxy.example:3128"}`); a.StatusCode != 200 {
			t.Fatalf("%s: got %d %s", id, a.StatusCode, a.body)
		}
	}
	got := map[string]wire.ProxyHealth{}
	for _, p := range getJSON[wire.Proxies](t, w, "/api/proxies").Proxies {
		got[p.ID] = *p.Health
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Without the mesh they are listed all the same.
	w.Mesh.Broken = errors.New("the mesh is unavailable")
	for _, p := range getJSON[wire.Proxies](t, w, "/api/proxies").Proxies {
		if *p.Health != (wire.ProxyHealth{State: wire.ProxyUnknown, Why: "the mesh is unavailable"}) {
			t.Errorf("%s: got %+v, want it unknown, and why", p.ID, p.Health)
		}
	}
}

func TestProxies_ChangesArePublished(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for i, method := range []string{"PUT", "DELETE"} {
		w.request(t, method, "/api/proxies/eu", `{"url":"http://proxy.example:3128"}`)
		told := servicetest.Published(t, w.Mesh, subjects.ObserveQueue)
		if len(told) != i+1 || told[i].Observations[0].Outcome != subjects.Changed || told[i].Observations[0].FeedID != "" {
			t.Errorf("%s: got %+v, want one message to the schedule", method, told)
		}
	}
}
