package tests

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"feedmesh/agent/node"
	"feedmesh/agent/simulate"
	"feedmesh/config"
)

// outside runs an external NATS server and returns its URL.
func outside(t *testing.T) []config.Address {
	t.Helper()
	host, port, err := net.SplitHostPort(freeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	o := &server.Options{Host: host, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: 8 << 20}
	fmt.Sscan(port, &o.Port)
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return []config.Address{config.Address(s.ClientURL())}
}

func TestMesh_AgentsShareTheWork(t *testing.T) {
	t.Parallel()
	nats := outside(t)
	home := settings(t.TempDir())
	home.NATS, home.Roles = nats, []string{"schedule", "parse", "cluster", "store", "index", "api"}
	edge := settings(t.TempDir())
	edge.NATS, edge.Roles = nats, []string{"crawl", "prepare", "classify"} // roles without a store

	n := start(t, home, nil)
	feedServer := simulate.NewFeedServer(50, 10, time.Now())
	base := serve(t, feedServer)
	for i := range 50 {
		n.add(base + feedServer.Path(i))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- node.Run(ctx, edge, node.Options{Version: "edge", Log: slog.New(slog.DiscardHandler)})
	}()
	end := n.waitSettled()
	if end.Items != 500 || len(end.Agents) != 2 {
		t.Errorf("got %d items by %d agents, want 500 by 2", end.Items, len(end.Agents))
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the edge agent ended with: %v", err)
	}
}

func TestMesh_HasOneStore(t *testing.T) {
	t.Parallel()
	nats := outside(t)
	first := settings(t.TempDir())
	first.NATS = nats
	n := start(t, first, nil)
	within(t, startTimeout, "the node is an agent of the mesh", func() bool { return len(n.status().Agents) > 0 })
	second := settings(t.TempDir())
	second.NATS = nats
	err := node.Run(t.Context(), second, node.Options{Version: "second", Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "--roles") {
		t.Errorf("got %v for a second store in the mesh, want an error with a remedy", err)
	}
}
