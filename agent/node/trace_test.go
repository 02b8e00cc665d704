package node

import (
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/simulate"
	"feedmesh/agent/trace/tracetest"
	"feedmesh/config"
)

func TestOneTraceShowsTheWayFromScheduleToIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it takes some seconds with a whole node")
	}
	t.Parallel()
	collector := &tracetest.Collector{}
	collected := httptest.NewServer(collector)
	t.Cleanup(collected.Close)
	web := httptest.NewServer(simulate.NewFarm(farmFeeds, farmEntries, time.Now().Add(-time.Hour)))
	t.Cleanup(web.Close)
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Trace.To = config.Address(collected.URL)
	r := start(t, c)
	r.add(web.URL)
	r.settled(farmItems)
	r.stop()

	spans := collector.Spans()
	byID := map[string]tracetest.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	// wayTo returns the names of the steps up to this one.
	wayTo := func(s tracetest.Span) string {
		var names []string
		for is := true; is; s, is = byID[s.Parent] {
			names = append(names, s.Name)
		}
		slices.Reverse(names)
		return strings.Join(names, " ")
	}
	ways := map[string]int{}
	for _, s := range spans {
		ways[wayTo(s)]++
		for key, value := range s.Attributes {
			if strings.Contains(value, "://") || strings.Contains(value, "/feed/") {
				t.Errorf("%s of %s is %q, want no address: there may be secrets in it", key, s.Name, value)
			}
		}
		if root := byID[s.Parent]; s.Parent != "" && root.Trace != s.Trace {
			t.Errorf("%s is not in the trace of %s", s.Name, root.Name)
		}
	}
	const stored = "schedule crawl parse prepare classify cluster store"
	for way, want := range map[string]int{
		"schedule crawl fetch":        farmFeeds,
		stored:                        farmFeeds,
		stored + " store transaction": farmFeeds,
		stored + " index":             farmFeeds,
		stored + " observe":           farmFeeds,
	} {
		if ways[way] != want {
			t.Errorf("got the way %q %d times, want %d, once for each feed; all: %v", way, ways[way], want, ways)
		}
	}
	if ways[stored+" index index put"] == 0 {
		t.Errorf("got %v, want a put into the index within its step", ways)
	}
	for _, s := range spans {
		if s.Name == "index" && (s.Attributes["feedmesh.verdict"] != "done" || s.Attributes["feedmesh.queue"] != "index" ||
			s.Attributes["feedmesh.attempt"] != "1" || s.Attributes["feedmesh.task"] == "" || s.Attributes["feedmesh.waited_seconds"] == "") {
			t.Errorf("got %v, want what became of the task, and how long it waited", s.Attributes)
		}
		if s.Name == "fetch" && (s.Attributes["server.address"] != "127.0.0.1" || s.Attributes["http.response.status_code"] != "200") {
			t.Errorf("got %v, want the host and the status", s.Attributes)
		}
	}
}
