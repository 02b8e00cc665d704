// Package embedded runs a NATS server with JetStream inside this process. [Start] starts a [Server];
// [Server.Connect] connects to it in memory. A single server opens no port; the servers of several agents can
// form a [Cluster]. Its files are bounded by [Options], its memory for streams by 64 MiB.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Server is a NATS server in this process. Its methods may be called concurrently.
type Server struct {
	nats      atomic.Pointer[server.Server]
	settings  *server.Options
	log       *slog.Logger
	login     []nats.Option // for connections from this process
	clustered bool
	observed  observer

	recoveryTimeout time.Duration
}

// Options are the parameters of a [Server].
type Options struct {
	Dir        string       // folder of the JetStream files
	MaxFile    int64        // maximum size of these files in bytes
	MaxMessage int32        // maximum size of a message in bytes
	Cluster    *Cluster     // its cluster; nil: a single server
	Log        *slog.Logger // receives the server's log

	RecoveryTimeout time.Duration // maximum time to recover the files; 0: 5 minutes
}

// Start starts a server and returns when it is ready; a cluster server may still wait for others: see
// [Server.Healthy].
//
// Each message is synced to disk before it is acknowledged (sync_interval: always). The default, a sync every
// two minutes, loses acknowledged messages on a power failure. The cost is one fsync a message, and the mesh
// sends few and large messages.
func Start(o Options) (*Server, error) {
	settings := &server.Options{
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
	s := &Server{settings: settings, log: o.Log, clustered: o.Cluster != nil, recoveryTimeout: cmp.Or(o.RecoveryTimeout, recoveryTimeout)}
	if s.clustered {
		login, err := o.Cluster.join(settings)
		if err != nil {
			return nil, fmt.Errorf("embedded NATS server: %w", err)
		}
		s.login = []nats.Option{login}
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// start starts the server with its settings.
func (s *Server) start() error {
	next, err := server.NewServer(s.settings.Clone())
	if err != nil {
		return fmt.Errorf("embedded NATS server: %w", err)
	}
	log := &logger{to: s.log}
	next.SetLoggerV2(log, false, false, false)
	if err := s.recoverFiles(next); err != nil {
		return err
	}
	if why := log.fatal.Load(); why != nil {
		next.Shutdown()
		return fmt.Errorf("embedded NATS server in %s: %s", s.settings.StoreDir, *why)
	}
	if !next.ReadyForConnections(30*time.Second) || !next.JetStreamEnabled() {
		next.Shutdown()
		return errors.New("embedded NATS server: not ready after 30 s: see its warnings above")
	}
	s.nats.Store(next)
	err = s.readRecord()
	if err == nil {
		_, err = s.Lost()
	}
	if err != nil {
		s.log.Warn("streams not compared with their last state", "err", err)
	}
	return nil
}

// Restart stops the server and starts it again with the same files. Connections of this process are restored by
// themselves. After an error the server is stopped, and Restart may be called again.
func (s *Server) Restart() error {
	if err := s.Close(); err != nil {
		return err
	}
	return s.start()
}

// InProcessConn implements [nats.InProcessConnProvider] for the server of the last start.
func (s *Server) InProcessConn() (net.Conn, error) { return s.nats.Load().InProcessConn() }

// Connect returns a new in-process connection to the server.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	opts = append(opts, s.login...)
	conn, err := nats.Connect("", append(opts, nats.InProcessServer(s))...)
	if err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	return conn, nil
}

// Healthy returns nil if the server can read and write its streams, or the error. After its disk was full a
// server stays unhealthy until [Server.Restart]. For a cluster server Healthy reports only failures that a restart
// can repair, not the absence of other servers.
func (s *Server) Healthy() error {
	if status := s.nats.Load().Healthz(&server.HealthzOptions{JSEnabledOnly: s.clustered}); status.Error != "" {
		return fmt.Errorf("embedded NATS server: %s", status.Error)
	}
	return nil
}

// Close stops the server and returns when its files are closed.
func (s *Server) Close() error {
	last := s.nats.Load()
	if err := s.record(last); err != nil {
		s.log.Warn("state of the streams not recorded", "err", err)
	}
	last.Shutdown()
	last.WaitForShutdown()
	return nil
}

// logger forwards the server's warnings and errors; notices become debug messages. A fatal error of the start
// is logged only here, and stored for Start to return.
type logger struct {
	to    *slog.Logger
	fatal atomic.Pointer[string]
}

func (l *logger) Noticef(format string, v ...any) { l.to.Debug("nats: " + fmt.Sprintf(format, v...)) }

// Warnf forwards a warning. After a kill the server rebuilds each stream's index from its messages, without
// loss and without action by an operator; that warning is logged at debug level.
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
