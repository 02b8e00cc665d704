package worktest

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/role/work"
	"feedmesh/config"
	"feedmesh/embedded"
	"feedmesh/embedded/embeddedtest"
)

// A Testbed is a real server with an agent, and a clock that the test advances.
type Testbed struct {
	T     *testing.T
	Conn  *nats.Conn
	JS    jetstream.JetStream
	Mesh  *mesh.Mesh // used by the tests
	now   atomic.Int64
	serve *embedded.Server
}

// NewTestbed starts a server. It skips short tests.
func NewTestbed(t *testing.T) *Testbed {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: runs a NATS server for seconds")
	}
	t.Parallel()
	r := &Testbed{T: t, serve: embeddedtest.Start(t)}
	r.now.Store(Noon.UnixMicro())
	r.Mesh, r.Conn = r.Join("tests")
	js, err := jetstream.New(r.Conn)
	if err != nil {
		t.Fatal(err)
	}
	r.JS = js
	return r
}

// Join joins the mesh as an agent.
func (r *Testbed) Join(agent string) (*mesh.Mesh, *nats.Conn) {
	r.T.Helper()
	conn := embeddedtest.Connect(r.T, r.serve)
	return meshtest.Join(r.T, conn, agent), conn
}

// Clock is the clock of all agents, which the test advances.
func (r *Testbed) Clock() time.Time { return time.UnixMicro(r.now.Load()) }

// Advance advances the clock.
func (r *Testbed) Advance(d time.Duration) { r.now.Add(d.Microseconds()) }

// Env returns the environment of an agent, whose clock is that of the testbed.
func (r *Testbed) Env(m *mesh.Mesh) *work.Env {
	return &work.Env{
		Config: config.Config{Schedule: config.Schedule{Policy: policy.KindTiers}},
		Mesh:   m, Clock: r.Clock, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		CheckDiskSpace: func() error { return nil },
	}
}

// JoinAlone joins as a process that has the server for itself.
func (r *Testbed) JoinAlone(agent string) *mesh.Mesh {
	r.T.Helper()
	m, err := mesh.Join(r.T.Context(), mesh.Options{
		Agent: agent, Conn: embeddedtest.Connect(r.T, r.serve), Alone: true, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		r.T.Fatal(err)
	}
	return m
}
