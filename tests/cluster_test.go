package tests

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"feedmesh/agent/node"
	"feedmesh/agent/simulate"
	"feedmesh/config"
	"feedmesh/subjects"
)

// member runs an agent without the api role, until the test or stop ends.
func member(t *testing.T, c config.Config) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- node.Run(ctx, c, node.Options{Version: "member", Log: slog.New(slog.DiscardHandler), Ready: func(addr string) { ready <- addr }})
	}()
	go func() {
		select {
		case <-ready:
		case <-time.After(startTimeout):
			t.Error("a member did not start within", startTimeout)
		}
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("a member ended with: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// agents waits until the mesh has a number of agents.
func agents(t *testing.T, n *running, want int) {
	t.Helper()
	for deadline := time.Now().Add(startTimeout); len(n.status().Agents) != want; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %d agents after %v, want %d", len(n.status().Agents), startTimeout, want)
		}
	}
}

// Three agents store the mesh's queues on their embedded NATS servers, and continue after one of them has
// failed.
func TestMesh_ThreeEmbeddedServers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	addrs := []string{freeAddr(t), freeAddr(t), freeAddr(t)}
	var each []config.Config
	for i := range addrs {
		c := settings(t.TempDir())
		c.Servers = config.Servers{Listen: addrs[i], Peers: addrs, Secret: "s3cret"}
		c.Roles = []string{"crawl", "prepare", "classify"}
		each = append(each, c)
	}
	each[0].Roles = []string{"schedule", "parse", "cluster", "store", "index", "api"}
	member(t, each[1])
	stop := member(t, each[2])
	n := start(t, each[0], nil)
	agents(t, n, 3)

	const feeds, items = 40, 5
	feedServer := simulate.NewFeedServer(2*feeds, items, time.Now())
	base := serve(t, feedServer)
	for i := range feeds {
		n.add(base + feedServer.Path(i))
	}
	if end := n.waitSettled(); end.Items != feeds*items {
		t.Errorf("got %d items, want %d", end.Items, feeds*items)
	}
	stop()
	for i := range feeds {
		n.add(base + feedServer.Path(feeds+i))
	}
	if end := n.waitSettled(); end.Items != 2*feeds*items {
		t.Errorf("got %d items when one agent was gone, want %d", end.Items, 2*feeds*items)
	}
	member(t, each[2]) // it rejoins the others
	agents(t, n, 3)
	for _, q := range n.status().Queues {
		if q.Queue == subjects.QuarantineStream && q.Tasks > 0 {
			t.Errorf("got %d tasks in quarantine, want none", q.Tasks)
		}
	}
}
