// Package meilisearchd runs the program meilisearch as a child process, with its files in one folder, and starts it
// again when it ends. [Start] returns a [Server], whose URL and key are those of its dashboard too.
package meilisearchd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	minDelay    = time.Second // before the program is started again; it doubles with each attempt
	maxDelay    = time.Minute // maximum delay; a program that ran longer is started again after minDelay
	startWait   = 10 * time.Second
	stopTimeout = 8 * time.Second // from SIGTERM until the program is killed

	// maxIndexingMemory bounds the memory that Meilisearch prepares for each of its tasks: by default two thirds of the
	// machine's.
	maxIndexingMemory = "512MiB"
)

// Options are the parameters of [Start].
type Options struct {
	Dir string // folder of the program's files, made if it is missing; only one process may use it
	Log *slog.Logger
}

// A Server is a Meilisearch server of this process. Its methods may be called concurrently.
type Server struct {
	program string
	dir     string // absolute
	key     string
	port    int
	log     *slog.Logger
	stop    context.CancelFunc
	stopped chan struct{}         // closed when the program has ended for good
	ended   atomic.Pointer[error] // why the program does not run; nil while it runs
}

// Start starts the program, and returns when it answers, or after startWait. Its errors state what to do. Without an
// error the caller must close the server.
func Start(ctx context.Context, o Options) (*Server, error) {
	program, err := find(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{program: program, log: o.Log, stopped: make(chan struct{})}
	if s.dir, err = filepath.Abs(o.Dir); err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err == nil {
		s.key, err = readKey(s.path("key"))
	}
	if err == nil {
		s.port, err = readPort(s.path("port"))
	}
	if err != nil {
		return nil, fmt.Errorf("start Meilisearch: %w", err)
	}
	if err := s.stopFormer(ctx); err != nil {
		return nil, fmt.Errorf("start Meilisearch: %w", err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go s.supervise(running)
	if err := s.await(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// URL returns the address of the server and its dashboard. It stays the same.
func (s *Server) URL() string { return "http://" + s.address() }

// Key returns the master key.
func (s *Server) Key() string { return s.key }

// Running returns nil if the program runs, else why it ended.
func (s *Server) Running() error {
	if err := s.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// Close stops the program and waits for its end, for at most stopTimeout.
func (s *Server) Close() error {
	s.stop()
	<-s.stopped
	return nil
}

func (s *Server) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }

// await waits until the program answers or has ended, for at most startWait: a large index takes long to open.
func (s *Server) await(ctx context.Context) error {
	timeout := time.After(startWait)
	for {
		if err := s.Running(); err != nil {
			return err
		}
		if s.accepts(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout:
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// supervise runs the program until ctx ends.
func (s *Server) supervise(ctx context.Context) {
	defer close(s.stopped)
	for delay := minDelay; ; delay = min(2*delay, maxDelay) {
		started := time.Now()
		err := s.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(started) > maxDelay {
			delay = minDelay
		}
		s.ended.Store(&err)
		s.log.Warn("Meilisearch ended, restart follows", "err", err, "delay", delay)
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
	}
}

// run runs the program until it ends, and returns why. When ctx ends it stops the program.
func (s *Server) run(ctx context.Context) error {
	if err := s.stopFormer(ctx); err != nil { // one that began to listen after Start
		return fmt.Errorf("start Meilisearch: %w", err)
	}
	// On Linux the program is killed when the thread that started it exits: see attributes.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out := &output{log: s.log}
	cmd := exec.CommandContext(ctx, s.program, s.arguments()...)
	cmd.Dir, cmd.Env = s.dir, s.environment()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = stopTimeout
	cmd.Cancel = func() error {
		if runtime.GOOS == "windows" { // it has no SIGTERM
			return cmd.Process.Kill()
		}
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Meilisearch: %w", err)
	}
	s.ended.Store(nil)
	if err := os.WriteFile(s.path("pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		s.log.Warn("process ID of Meilisearch not written", "err", err)
	}
	err := cmd.Wait()
	_ = os.Remove(s.path("pid"))
	return s.explain(err, out.reason())
}

// explain returns why the program ended, and the remedy where one is known; reason is its own message, if any.
func (s *Server) explain(err error, reason string) error {
	state := "exit status 0"
	if err != nil {
		state = err.Error()
	}
	remedy := ""
	if strings.Contains(reason, "database version") {
		remedy = fmt.Sprintf(": stop the agent, delete the folder %s and start the agent: the index is built again from the store", s.path("data"))
	}
	return fmt.Errorf("the program meilisearch ended: %s%s", cmp.Or(reason, state), remedy)
}

// arguments returns the arguments of the program. Only the environment "development" serves the dashboard.
func (s *Server) arguments() []string {
	return []string{
		"--http-addr", s.address(), "--env", "development", "--no-analytics", "--log-level", "ERROR", // it warns of each rejected request
		"--max-indexing-memory", maxIndexingMemory,
		"--db-path", s.path("data"), "--dump-dir", s.path("dumps"), "--snapshot-dir", s.path("snapshots"),
	}
}

// environment returns the environment of the program: the key, which other users could read in an argument, and that of
// this process without its secrets and without other settings of Meilisearch.
func (s *Server) environment() []string {
	env := []string{"MEILI_MASTER_KEY=" + s.key, "NO_COLOR=1"}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MEILI_") && !strings.HasPrefix(variable, "FEEDMESH_") {
			env = append(env, variable)
		}
	}
	return env
}

// accepts reports whether a Meilisearch with the key of this folder answers at the address.
func (s *Server) accepts(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/keys", nil)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK && isListOfKeys(response.Body)
}
