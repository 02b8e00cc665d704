// Package embeddedtest gives tests a real NATS server.
package embeddedtest

import (
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"

	"feedmesh/embedded"
)

// Room for all streams there are, and for the largest task.
const (
	maxFile    = 16 << 30
	maxMessage = 8 << 20
)

// Start starts a server that ends with the test.
func Start(t testing.TB) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir(), MaxFile: maxFile, MaxMessage: maxMessage, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

// Connect returns a connection to a server that ends with the test.
func Connect(t testing.TB, server *embedded.Server) *nats.Conn {
	t.Helper()
	conn, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
