package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"feedmesh/config"
	"feedmesh/storage"
)

// A dependency is an engine outside of this process.
type dependency struct {
	check string // name of its health check, such as "store"
	kind  string // such as "PostgreSQL"
	hosts string // such as "db.example:5432"
}

// outside returns the dependency at addresses.
func outside(check, kind string, addresses ...config.Address) dependency {
	var hosts []string
	for _, address := range addresses {
		if u, err := url.Parse(string(address)); err == nil {
			hosts = append(hosts, u.Host)
		}
	}
	return dependency{check, kind, strings.Join(hosts, ", ")}
}

func (d dependency) String() string { return d.kind + " at " + d.hosts }

// A wait is the wait of a start for a dependency.
type wait struct {
	dependency
	since time.Time
	err   error // of the last attempt or retry to open it; nil before the first has failed
}

// brief names the dependency without its hosts.
func (w wait) brief() string { return "waits for " + w.kind + w.start() }

// full names the dependency with its hosts.
func (w wait) full() string { return "waits for " + w.dependency.String() + w.start() }

// detail returns the dependency, the error of the last retry, and the remedy.
func (w wait) detail() string {
	if w.err != nil {
		return fmt.Sprintf("%s: %v", w.full(), w.err)
	}
	return w.full() + ": no answer yet: check that it runs, and its address"
}

func (w wait) start() string { return " since " + w.since.UTC().Format("15:04:05") + " UTC" }

// startup is the state of a node that starts. Its methods may be called concurrently.
type startup struct {
	mu      sync.Mutex
	current *wait // nil: none
}

// theMesh is the dependency on NATS after the connection.
var theMesh = dependency{"mesh", "NATS", "this agent"}

const (
	retryInterval = 2 * time.Second // delay before a retry to open a dependency
	quietWait     = 2 * time.Second // a wait up to this long is not logged
	reportWait    = time.Minute     // interval of the log messages of a longer wait
)

// await opens a dependency, and retries while it is unavailable: an agent started during an outage waits like the
// agents that run already.
func (s *startup) await(ctx context.Context, log *slog.Logger, d dependency, open func() error) error {
	s.begin(d)
	defer s.end()
	logged, stop := make(chan bool), make(chan struct{})
	go func() { logged <- s.logWait(log, stop) }()
	err := s.retry(ctx, open)
	close(stop)
	if <-logged && err == nil {
		log.Info("dependency recovered", "name", d.String())
	}
	return err
}

// retry calls open until it returns another error than [storage.ErrUnavailable].
func (s *startup) retry(ctx context.Context, open func() error) error {
	for {
		err := open()
		if !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		s.failed(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}

// logWait logs a long wait until it stops, and reports whether it logged anything.
func (s *startup) logWait(log *slog.Logger, stop <-chan struct{}) (logged bool) {
	for delay := quietWait; ; delay = reportWait {
		select {
		case <-stop:
			return logged
		case <-time.After(delay):
		}
		if w, waits := s.wait(); waits {
			log.Warn("dependency unavailable, startup waits", "name", w.dependency.String(), "since", w.since, "err", w.err, "next_message_in", reportWait)
			logged = true
		}
	}
}

func (s *startup) begin(d dependency) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = &wait{dependency: d, since: time.Now()}
}

func (s *startup) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = nil
}

// failed stores why the wait goes on.
func (s *startup) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.err = err
}

// wait returns the current wait, and whether there is one.
func (s *startup) wait() (w wait, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return wait{}, false
	}
	return *s.current, true
}
