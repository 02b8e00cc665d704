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

func TestTrace_ScheduleToIndex(t *testing.T) {
	t.Parallel()
	collector := &tracetest.Collector{}
	collected := httptest.NewServer(collector)
	t.Cleanup(collected.Close)
	web := httptest.NewServer(simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour)))
	t.Cleanup(web.Close)
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Trace.To = config.Address(collected.URL)
	r := start(t, c)
	r.add(web.URL)
	r.waitIdle(testItems)
	r.stop()

	spans := collector.Spans()
	byID := map[string]tracetest.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	// pathTo returns the names of the spans from the root to s; none below a task that was delivered again, as
	// happens on a busy machine.
	pathTo := func(s tracetest.Span) string {
		var names []string
		for is := true; is; s, is = byID[s.Parent] {
			if attempt := s.Attributes["feedmesh.attempt"]; attempt != "" && attempt != "1" {
				return ""
			}
			names = append(names, s.Name)
		}
		slices.Reverse(names)
		return strings.Join(names, " ")
	}
	paths := map[string]int{}
	for _, s := range spans {
		paths[pathTo(s)]++
		for key, value := range s.Attributes {
			if strings.Contains(value, "://") || strings.Contains(value, "/feed/") {
				t.Errorf("%s of %s: got %q, want no address, because it may contain secrets", key, s.Name, value)
			}
		}
		if root := byID[s.Parent]; s.Parent != "" && root.Trace != s.Trace {
			t.Errorf("%s: got another trace than its parent %s", s.Name, root.Name)
		}
	}
	const stored = "schedule crawl parse prepare classify cluster store"
	for path, want := range map[string]int{
		"schedule crawl fetch":        testFeeds,
		stored:                        testFeeds,
		stored + " store transaction": testFeeds,
		stored + " index":             testFeeds,
		stored + " observe":           testFeeds,
	} {
		if paths[path] != want {
			t.Errorf("got path %q %d times, want %d, once for each feed; all: %v", path, paths[path], want, paths)
		}
	}
	if paths[stored+" index index put"] == 0 {
		t.Errorf("got %v, want the index put inside the index span", paths)
	}
	for _, s := range spans {
		if s.Name == "index" && (s.Attributes["feedmesh.verdict"] != "done" || s.Attributes["feedmesh.queue"] != "index" ||
			s.Attributes["feedmesh.attempt"] != "1" || s.Attributes["feedmesh.task"] == "" || s.Attributes["feedmesh.waited_seconds"] == "") {
			t.Errorf("got %v, want verdict, queue, attempt, task and waiting time", s.Attributes)
		}
		if s.Name == "fetch" && (s.Attributes["server.address"] != "127.0.0.1" || s.Attributes["http.response.status_code"] != "200") {
			t.Errorf("got %v, want host and status", s.Attributes)
		}
	}
}
