package role

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/fetch"
)

// A connection is left open where another request follows it soon, as far as one can
// tell, and nowhere else.
func TestConnectionsAreKeptForHostsThatAreAskedOften(t *testing.T) {
	const first, second, alone = "http://a.example/1", "http://a.example/2", "http://b.example/1"
	var last []string // fetches after which nothing more is expected
	w := &web{pages: map[string]func(fetch.Request) (fetch.Document, error){}}
	for _, url := range []string{first, second, alone} {
		w.pages[url] = func(r fetch.Request) (fetch.Document, error) {
			if r.Last {
				last = append(last, url)
			}
			return unchanged(r)
		}
	}
	c, _ := crawlerOf(w, 1)
	now := noon
	c.clock = func() time.Time { return now }
	for _, poll := range []struct {
		name string
		at   time.Duration
		urls []string
		want []string
	}{
		{"of two feeds the first is followed by the other", 0, []string{first, second}, []string{second}},
		{"a host asked for the first time", time.Second, []string{alone}, []string{alone}},
		{"hosts that were asked seconds ago", 2 * time.Second, []string{first, alone}, nil},
		{"hosts that were asked before, and just so", 20 * time.Second, []string{first, alone}, nil},
		{"hosts that were asked a minute ago", 80 * time.Second, []string{first, second, alone}, []string{second, alone}},
	} {
		last, now = nil, noon.Add(poll.at)
		if err := c.Receive(t.Context(), crawlOf(poll.urls...)); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(last); !slices.Equal(last, poll.want) {
			t.Errorf("%s: got %q as the last ones, want %q", poll.name, last, poll.want)
		}
	}
}

func TestOnlySoManyHostsAreRememberedToBeAsked(t *testing.T) {
	var o often
	for round := range 3 {
		for i := range 3 * oftenHosts {
			if o.ask(fmt.Sprintf("host%d.example", i), noon) {
				t.Fatalf("round %d: host %d is remembered after %d others", round, i, 3*oftenHosts-1)
			}
		}
	}
	if len(o.now) > oftenHosts || len(o.before) > oftenHosts {
		t.Errorf("got %d and %d hosts remembered, want at most %d each", len(o.now), len(o.before), oftenHosts)
	}
	if i := 3*oftenHosts - 1; !o.ask(fmt.Sprintf("host%d.example", i), noon) {
		t.Error("the host asked last is not remembered")
	}
}
