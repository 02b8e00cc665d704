package node

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A node without a network reports it in its log, its status, its pages and its readiness, and no feed counts as failing.
func TestRun_NoNetwork(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Listen = freeAddr(t)
	r := start(t, c)
	var urls []string
	for i := range 12 { // names without addresses
		urls = append(urls, fmt.Sprintf("https://host%d.invalid/feed", i))
	}
	if in, err := client.Call(t.Context(), r.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls}}); err != nil || in.Added != len(urls) {
		t.Fatalf("got %+v, %v; want all feeds added", in, err)
	}
	const words = "polling is paused: no host answers, so this machine seems to have no network: check its connection and name server"
	var s wire.Status
	eventually(t, "the status says that polling is paused", func() bool {
		var err error
		if s, err = client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{}); err != nil {
			t.Fatal(err)
		}
		return len(s.Stalled) > 0
	})
	if !strings.Contains(s.Stalled[0], words) || s.Feeds.Failing != 0 || s.Feeds.Polled != 0 {
		t.Errorf("got %+v, want %q and no feed that was polled or fails", s, words)
	}
	at := "http://" + c.Listen
	if resp, body := request(t, at+"/readyz"); resp.StatusCode != 200 || !strings.Contains(body, words) {
		t.Errorf("readiness: got %s %s, want a warning", resp.Status, body)
	}
	for _, path := range []string{"/", "/feeds", "/mesh"} {
		eventually(t, path+" says it", func() bool {
			_, body := request(t, at+path, "Accept", "text/html")
			return strings.Contains(body, words)
		})
	}
	for _, line := range []string{`msg="network outage started, polling paused"`, `what="polling is paused" remedy="no host answers, so this machine seems to have no network`, `items_searchable=0 stalled="since `} {
		eventually(t, "the log has "+line, func() bool { return strings.Contains(r.log.String(), line) })
	}
}
