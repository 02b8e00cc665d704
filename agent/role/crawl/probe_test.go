package crawl

import (
	"context"
	"errors"
	"slices"
	"testing"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/subjects"
)

func TestProbe_ReportsAllProxiesTogether(t *testing.T) {
	w := &web{proxyErrors: map[string]error{"http://u:p@b:1": &fetch.Error{Class: fetch.ClassProxy, Err: errors.New("connection refused")}}}
	c, out := crawlerOf(w, 1)
	task := subjects.Crawl{Tier: subjects.Hot, Probes: []subjects.Route{{ID: "a", URL: "http://a:1"}, {ID: "b", URL: "http://u:p@b:1"}}, ProbesDue: worktest.Noon}
	if err := c.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	seen := worktest.Only(t, out, subjects.ObserveQueue)
	if seen.Source != "probe/"+task.ID() || len(seen.Observations) != 2 || len(w.fetched) != 0 {
		t.Fatalf("got %+v and %d fetches, want observations of both proxies only", seen, len(w.fetched))
	}
	a, b := seen.Observations[0], seen.Observations[1]
	if a.Outcome != subjects.Probed || a.ProxyID != "a" || a.FailedProxies != nil || a.Error != "" || a.FeedID != "" {
		t.Errorf("working proxy: got %+v", a)
	}
	if b.Outcome != subjects.Probed || b.ProxyID != "b" || !slices.Equal(b.FailedProxies, []string{"b"}) || b.Error != "connection refused" || b.Class != "proxy" {
		t.Errorf("failed proxy: got %+v", b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Receive(ctx, task); err == nil || len(out.Messages) != 0 {
		t.Errorf("after the deadline: got %v and %d messages, want only an error", err, len(out.Messages))
	}
	for range 20 { // it may or may not get a slot first
		if o, err := c.probeOne(ctx, task.ID(), task.Probes[0]); err == nil {
			t.Fatalf("after the deadline: got %+v, want no observation of the proxy", o)
		}
	}
}
