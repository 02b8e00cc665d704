package mesh_test

import (
	"testing"
	"time"

	"feedmesh/subjects"
)

func TestProxies_Stored(t *testing.T) {
	m := newRig(t).join("a")
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	want := subjects.Proxy{ID: "eu-1", LastUsed: at, ProbeSent: at, Failures: 2, InUse: true, Reason: "connection refused", RestUntil: at.Add(time.Minute)}
	for _, k := range []subjects.Proxy{{ID: "eu-1"}, want} { // in place of what was there
		if err := m.PutProxies(t.Context(), []subjects.Proxy{k, {ID: "us"}}); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]subjects.Proxy{}
	if err := m.LoadProxies(t.Context(), func(k subjects.Proxy) { got[k.ID] = k }); err != nil || len(got) != 2 || got["eu-1"] != want {
		t.Errorf("got %+v, %v; want both", got, err)
	}
	if k, err := m.Proxy(t.Context(), "eu-1"); err != nil || k == nil || *k != want {
		t.Errorf("single proxy: got %+v, %v; want %+v", k, err, want)
	}
	if k, err := m.Proxy(t.Context(), "unknown"); k != nil || err != nil {
		t.Errorf("missing proxy: got %+v, %v; want neither", k, err)
	}
}
