// Package embeddedtest starts NATS servers for tests.
package embeddedtest

import (
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"

	"feedmesh/embedded"
)

// Sufficient for all streams and for the largest task.
const (
	maxFile    = 16 << 30
	maxMessage = 8 << 20
)

// Start starts a server that is closed at the end of the test.
func Start(t testing.TB) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir(), MaxFile: maxFile, MaxMessage: maxMessage, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

// Connect returns a connection to a server, closed at the end of the test.
func Connect(t testing.TB, server *embedded.Server) *nats.Conn {
	t.Helper()
	conn, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
