//go:build linux

package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"feedmesh/tests/engines"
)

// A unit is a process that is restarted a second after it ended, as by systemd, unless it was stopped.
type unit struct {
	*engines.Process
	start func() error // start returns when the process serves

	mu          sync.Mutex // protects the fields below; held during start and stop
	wantRunning bool
	gone        bool         // it must not be restarted
	ours        bool         // whether the test ended it
	since       time.Time    // last start, zero before the first
	up          bool         // whether it serves, by the last check
	crashes     atomic.Int64 // number of unexpected ends

	isolated atomic.Bool // a fault keeps it from its peers or clients
}

// newUnit returns a unit that is to run.
func newUnit(p *engines.Process, start func() error) *unit {
	return &unit{Process: p, start: start, wantRunning: true, up: p.Running()}
}

// restartAfter is the time that a process stays down.
const restartAfter = time.Second

// supervise starts the process whenever it does not run, until ctx ends.
func (u *unit) supervise(ctx context.Context, logf func(format string, args ...any)) {
	ran := u.Running()
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if u.Running() {
			ran = true
			continue
		}
		u.mu.Lock()
		wantRunning, ours, gone := u.wantRunning, u.ours, u.gone
		u.up = false
		u.mu.Unlock()
		if gone {
			return
		}
		if ran {
			if !ours {
				u.crashes.Add(1)
				logf("%s exited unexpectedly, code %d: %s", u.Name, u.ExitCode(), lastLines(u.Log(), 3))
			}
			ran = false
			time.Sleep(restartAfter)
		}
		if wantRunning && ctx.Err() == nil {
			u.begin(logf)
			ran = true
		}
	}
}

func (u *unit) begin(logf func(format string, args ...any)) {
	u.mu.Lock()
	if !u.wantRunning {
		u.mu.Unlock()
		return
	}
	u.ours, u.since = false, time.Now()
	u.mu.Unlock()
	err := u.start()
	if err != nil {
		logf("start %s: %s", u.Name, lastLines(err.Error(), 3))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.up = err == nil
}

// serves reports whether the process is up and ready.
func (u *unit) serves() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.up && u.Running()
}

// end ends the process with a signal; supervise restarts it.
func (u *unit) end(s syscall.Signal) {
	u.mu.Lock()
	u.ours = true
	u.mu.Unlock()
	u.Signal(s)
	u.Wait(time.Minute)
}

// halt ends the process with a signal and keeps it down until resume. It reports whether it ended before the
// timeout; otherwise it is killed.
func (u *unit) halt(s syscall.Signal, within time.Duration) bool {
	u.mu.Lock()
	u.ours, u.wantRunning = true, false
	u.mu.Unlock()
	return u.Stop(s, within) == nil
}

// dismiss stops the process permanently.
func (u *unit) dismiss(within time.Duration) bool {
	defer func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.gone = true
	}()
	return u.halt(syscall.SIGTERM, within)
}

// resume restarts a halted process.
func (u *unit) resume() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wantRunning = true
}

// set restarts the process with another environment, after it has finished its work in progress.
func (u *unit) set(env ...string) {
	u.halt(syscall.SIGTERM, time.Minute)
	u.Env = env
	u.resume()
}

// replace restarts the process with another program.
func (u *unit) replace(program string) {
	u.halt(syscall.SIGTERM, time.Minute)
	u.Path = program
	u.resume()
}

// memory returns the resident memory of the process in bytes, 0 if it does not run.
func (u *unit) memory() int64 {
	if !u.Running() {
		return 0
	}
	pages, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", u.ID()))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(pages)
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return n * int64(os.Getpagesize())
}

// maxOpenFiles returns the number of open files and connections of the process, 0 if it does not run.
func (u *unit) openFiles() int {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", u.ID()))
	if err != nil {
		return 0
	}
	return len(open)
}

// age returns the time since the process was started.
func (u *unit) age() time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return time.Since(u.since)
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	b := bytes.TrimSpace([]byte(text))
	at := len(b)
	for range n {
		if at = bytes.LastIndexByte(b[:max(at, 0)], '\n'); at < 0 {
			return string(b)
		}
	}
	return string(b[at+1:])
}
