// Package meshtest provides a mesh on a real NATS server for tests.
package meshtest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/embedded/embeddedtest"
	"feedmesh/subjects"
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

// Journal opens the journal of the schedule's states, whose former owner can't write to it any more after the next write.
func Journal(t testing.TB, m *mesh.Mesh) *mesh.Journal {
	t.Helper()
	j, err := m.OpenJournal(t.Context(), 0, 1, func(subjects.FeedState) {})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// PutStates writes states of feeds past the schedule.
func PutStates(t testing.TB, m *mesh.Mesh, states ...subjects.FeedState) {
	t.Helper()
	if err := TryPutStates(t.Context(), m, states...); err != nil {
		t.Fatal(err)
	}
}

// TryPutStates is [PutStates] where the write may fail.
func TryPutStates(ctx context.Context, m *mesh.Mesh, states ...subjects.FeedState) error {
	stored := map[string]*subjects.State{}
	j, err := m.OpenJournal(ctx, 0, 1, func(f subjects.FeedState) { stored[f.FeedID] = f.State })
	if err != nil {
		return err
	}
	return j.Put(ctx, states, func(feedID string) *subjects.State { return stored[feedID] })
}
