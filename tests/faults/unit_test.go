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

// A unit is a process that is started again a second after it ended, as systemd
// would, unless it was told to stop.
type unit struct {
	*engines.Process
	start func() error // and return when it serves

	mu     sync.Mutex // of all below, and held while it is started or ended
	wanted bool
	gone   bool         // it is not to run again
	ours   bool         // whether we ended it
	since  time.Time    // when we started it, zero if we did not yet
	up     bool         // whether it serves, as far as known
	fell   atomic.Int64 // times it ended without our doing
}

// newUnit returns a unit that is to run.
func newUnit(p *engines.Process, start func() error) *unit {
	return &unit{Process: p, start: start, wanted: true, up: p.Running()}
}

// restartAfter is how long a process stays down.
const restartAfter = time.Second

// supervise starts the process whenever it does not run, until ctx ends.
func (u *unit) supervise(ctx context.Context, say func(format string, args ...any)) {
	ran := u.Running()
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if u.Running() {
			ran = true
			continue
		}
		u.mu.Lock()
		wanted, ours, gone := u.wanted, u.ours, u.gone
		u.up = false
		u.mu.Unlock()
		if gone {
			return
		}
		if ran {
			if !ours {
				u.fell.Add(1)
				say("%s ended by itself, code %d: %s", u.Name, u.ExitCode(), lastLines(u.Log(), 3))
			}
			ran = false
			time.Sleep(restartAfter)
		}
		if wanted && ctx.Err() == nil {
			u.begin(say)
			ran = true
		}
	}
}

func (u *unit) begin(say func(format string, args ...any)) {
	u.mu.Lock()
	if !u.wanted {
		u.mu.Unlock()
		return
	}
	u.ours, u.since = false, time.Now()
	u.mu.Unlock()
	err := u.start()
	if err != nil {
		say("start %s: %s", u.Name, lastLines(err.Error(), 3))
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

// end sends a signal that ends the process, after which it is started again.
func (u *unit) end(s syscall.Signal) {
	u.mu.Lock()
	u.ours = true
	u.mu.Unlock()
	u.Signal(s)
	u.Wait(time.Minute)
}

// halt ends the process by a signal and keeps it down until it is resumed. It
// reports whether that was done within the time; if not, it is killed.
func (u *unit) halt(s syscall.Signal, within time.Duration) bool {
	u.mu.Lock()
	u.ours, u.wanted = true, false
	u.mu.Unlock()
	return u.Stop(s, within) == nil
}

// dismiss halts the process for good.
func (u *unit) dismiss(within time.Duration) bool {
	defer func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.gone = true
	}()
	return u.halt(syscall.SIGTERM, within)
}

// resume has a halted process started again.
func (u *unit) resume() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wanted = true
}

// set restarts the process with other environment, after it has finished its work
// in hand.
func (u *unit) set(env ...string) {
	u.halt(syscall.SIGTERM, time.Minute)
	u.Env = env
	u.resume()
}

// memory returns the bytes of memory that the process occupies, 0 if it does not
// run.
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

// openFiles returns how many files and connections the process has open, 0 if it does
// not run.
func (u *unit) openFiles() int {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", u.ID()))
	if err != nil {
		return 0
	}
	return len(open)
}

// age returns how long ago the process was started.
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
