// Package meshtest provides a mesh on a real NATS server for tests.
package meshtest

import (
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/embedded/embeddedtest"
)

// New returns the mesh of a single agent, on a server of its own.
func New(t testing.TB) *mesh.Mesh {
	t.Helper()
	return Join(t, embeddedtest.Connect(t, embeddedtest.Start(t)), "tests")
}

// Join returns the mesh of an agent on an existing connection.
func Join(t testing.TB, conn *nats.Conn, agent string) *mesh.Mesh {
	t.Helper()
	m, err := mesh.Join(t.Context(), mesh.Options{
		Agent: agent, Conn: conn, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
