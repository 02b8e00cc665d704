// Package meshtest gives tests a mesh on a real NATS server.
package meshtest

import (
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/embedded/embeddedtest"
)

// New returns the part in a mesh that an agent has that is alone in it.
func New(t testing.TB) *mesh.Mesh {
	t.Helper()
	return Join(t, embeddedtest.Connect(t, embeddedtest.Start(t)), "tests")
}

// Join returns the part of an agent in the mesh behind a connection.
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
