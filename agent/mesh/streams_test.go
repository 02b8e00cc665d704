package mesh

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/embedded"
	"feedmesh/subjects"
)

// addresses returns n free loopback addresses.
func addresses(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

// Streams have one replica while the cluster has two servers, and three replicas
// as soon as it has three.
func TestStreams_ReplicatedToJoiningServers(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: a cluster of three servers takes seconds to form")
	}
	t.Parallel()
	dir, addrs := t.TempDir(), addresses(t, 3)
	launch := func(i int) *embedded.Server {
		s, err := embedded.Start(embedded.Options{
			Dir: filepath.Join(dir, fmt.Sprint(i)), MaxFile: subjects.MaxBytes(1) * 2, MaxMessage: subjects.MaxMessage,
			Cluster: &embedded.Cluster{Listen: addrs[i], Peers: addrs, Secret: "s3cret"}, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	first := launch(0)
	launch(1)
	conn, err := first.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	m, err := Join(t.Context(), Options{Agent: "a", Conn: conn, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	replicas := func() int {
		s, err := m.js.Stream(t.Context(), subjects.CrawlQueue.Name)
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().Config.Replicas
	}
	if got := replicas(); got != 1 {
		t.Errorf("got %d replicas on two servers, want 1", got)
	}
	launch(2)
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if n, err := m.declare(t.Context()); err == nil && n == 3 {
			break
		}
	}
	if got := replicas(); got != 3 {
		t.Errorf("got %d replicas on three servers, want 3", got)
	}
	// An agent that detects fewer servers reduces neither replicas nor file storage.
	if err := subjects.Declare(t.Context(), m.js, 1, 1); err != nil {
		t.Fatal(err)
	}
	if got := replicas(); got != 3 {
		t.Errorf("got %d replicas after an agent requested 1, want 3", got)
	}
	for _, name := range []string{subjects.LeaseBucket, subjects.AgentBucket} {
		s, err := m.js.Stream(t.Context(), "KV_"+name)
		if err != nil {
			t.Fatal(err)
		}
		if cfg := s.CachedInfo().Config; cfg.Storage != jetstream.FileStorage || cfg.Replicas != 3 {
			t.Errorf("bucket %s: got %d replicas in %v, want 3 on disk, because an emptied memory may win a vote", name, cfg.Replicas, cfg.Storage)
		}
	}
}
