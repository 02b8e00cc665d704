package crawl

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work/worktest"
)

// A connection stays open only if another request is expected soon.
func TestRecentHosts_KeepsConnections(t *testing.T) {
	const first, second, alone = "http://a.example/1", "http://a.example/2", "http://b.example/1"
	var last []string // fetches after which no other is expected
	w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
	for _, url := range []string{first, second, alone} {
		w.pages[url] = func(r fetch.Request) (fetch.Document, error) {
			if r.Close {
				last = append(last, url)
			}
			return unchanged(r)
		}
	}
	c, _ := crawlerOf(w, 1)
	now := worktest.Noon
	c.clock = func() time.Time { return now }
	for _, poll := range []struct {
		name string
		at   time.Duration
		urls []string
		want []string
	}{
		{"two feeds of a host: only the last closes", 0, []string{first, second}, []string{second}},
		{"first request to a host", time.Second, []string{alone}, []string{alone}},
		{"hosts requested seconds ago", 2 * time.Second, []string{first, alone}, nil},
		{"hosts requested 20 s ago", 20 * time.Second, []string{first, alone}, nil},
		{"hosts requested a minute ago", 80 * time.Second, []string{first, second, alone}, []string{second, alone}},
	} {
		last, now = nil, worktest.Noon.Add(poll.at)
		if err := c.Receive(t.Context(), crawlOf(poll.urls...)); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(last); !slices.Equal(last, poll.want) {
			t.Errorf("%s: got %q marked as last, want %q", poll.name, last, poll.want)
		}
	}
}

func TestRecentHosts_IsBounded(t *testing.T) {
	var o recentHosts
	for round := range 3 {
		for i := range 3 * maxRecentHosts {
			if o.visit(fmt.Sprintf("host%d.example", i), worktest.Noon) {
				t.Fatalf("round %d: got host %d cached after %d others", round, i, 3*maxRecentHosts-1)
			}
		}
	}
	if len(o.current) > maxRecentHosts || len(o.previous) > maxRecentHosts {
		t.Errorf("got %d and %d hosts cached, want at most %d each", len(o.current), len(o.previous), maxRecentHosts)
	}
	if i := 3*maxRecentHosts - 1; !o.visit(fmt.Sprintf("host%d.example", i), worktest.Noon) {
		t.Error("the last requested host is not cached")
	}
}
