// Package embedded runs a NATS server with JetStream inside this process, which
// talks to it in memory. Alone it listens on no port; several agents' servers
// can form a cluster.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// A Server is a NATS server in this process.
type Server struct {
	nats      *server.Server
	login     []nats.Option // for connections within this process
	clustered bool
}

// Options say how a [Server] is to run.
type Options struct {
	Dir        string       // where JetStream keeps its files
	MaxFile    int64        // the most bytes they may take
	MaxMessage int32        // the largest message, in bytes
	Cluster    *Cluster     // the servers it is one of; nil: it is alone
	Log        *slog.Logger // what it warns of
}

// Start starts a server and returns when it can be used; one of a cluster, when
// it is looking for the others: see [Server.Healthy].
//
// Each message is on disk before it is acknowledged (sync_interval: always).
// The default, a sync every two minutes, loses acknowledged messages when the
// power fails; what the stricter one costs is one fsync a message, of which we
// send few and large ones.
func Start(o Options) (*Server, error) {
	opts := &server.Options{
		ServerName:             "feedmesh",
		DontListen:             true,
		NoSigs:                 true,
		JetStream:              true,
		StoreDir:               o.Dir,
		SyncAlways:             true,
		JetStreamMaxStore:      o.MaxFile,
		JetStreamMaxMemory:     64 << 20,
		MaxPayload:             o.MaxMessage,
		DisableJetStreamBanner: true,
	}
	result := &Server{clustered: o.Cluster != nil}
	if result.clustered {
		login, err := o.Cluster.join(opts)
		if err != nil {
			return nil, fmt.Errorf("embedded NATS server: %w", err)
		}
		result.login = []nats.Option{login}
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	result.nats = s
	log := &logger{to: o.Log}
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	if why := log.fatal.Load(); why != nil {
		s.Shutdown()
		return nil, fmt.Errorf("embedded NATS server in %s: %s", o.Dir, *why)
	}
	if !s.ReadyForConnections(30*time.Second) || !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, errors.New("embedded NATS server: not ready after 30 s; its warnings above say why")
	}
	return result, nil
}

// Connect returns a new connection to the server, within this process.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	opts = append(opts, s.login...)
	conn, err := nats.Connect("", append(opts, nats.InProcessServer(s.nats))...)
	if err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	return conn, nil
}

// Healthy returns nil if the server can read and write its streams, else what
// is wrong. After its disk was full it never can again until it is restarted.
// Of a server in a cluster it says only what a restart would mend: that others
// are away is not its fault.
func (s *Server) Healthy() error {
	if status := s.nats.Healthz(&server.HealthzOptions{JSEnabledOnly: s.clustered}); status.Error != "" {
		return fmt.Errorf("embedded NATS server: %s", status.Error)
	}
	return nil
}

// Close stops the server and returns when its files are closed.
func (s *Server) Close() error {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	return nil
}

// logger passes on what an operator should know: warnings and errors. What the
// server reports of its daily life is for debugging. What it can't start for,
// it says here only; that is for our caller.
type logger struct {
	to    *slog.Logger
	fatal atomic.Pointer[string]
}

func (l *logger) Noticef(format string, v ...any) { l.to.Debug("nats: " + fmt.Sprintf(format, v...)) }

// Warnf passes on a warning. After a kill each stream is read anew from its
// messages, as its index is older than these: that is the server's way to lose
// nothing, and no one has to do anything about it.
func (l *logger) Warnf(format string, v ...any) {
	level := slog.LevelWarn
	if strings.Contains(format, "Recovering stream state from index errored") {
		level = slog.LevelDebug
	}
	l.to.Log(context.Background(), level, "nats: "+fmt.Sprintf(format, v...))
}

func (l *logger) Errorf(format string, v ...any) { l.to.Error("nats: " + fmt.Sprintf(format, v...)) }
func (l *logger) Debugf(string, ...any)          {}
func (l *logger) Tracef(string, ...any)          {}

func (l *logger) Fatalf(format string, v ...any) {
	why := fmt.Sprintf(format, v...)
	l.fatal.Store(&why)
}
