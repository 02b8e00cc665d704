//go:build faults

// Package fault injects faults for tests. Built with the tag "faults" it crashes the agent or redelivers
// tasks as the environment requests; without the tag it does nothing.
package fault

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// FEEDMESH_CRASH_AT=POINT:N kills the process at the N-th call of that Point; FEEDMESH_REDELIVER=0.2
// redelivers a fifth of the completed tasks; FEEDMESH_CLOCK=FILE shifts the clock by the duration in the file.
var (
	crashAt, crashCount = crashPoint()
	passed              atomic.Int64
	redeliver, _        = strconv.ParseFloat(os.Getenv("FEEDMESH_REDELIVER"), 64)
)

func crashPoint() (string, int64) {
	point, count, _ := strings.Cut(os.Getenv("FEEDMESH_CRASH_AT"), ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		n = 1
	}
	return point, n
}

// Point is a named point where a test may kill the process.
func Point(name string) {
	if name == crashAt && passed.Add(1) == crashCount {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal arrives
	}
}

// Redeliver reports whether a completed task is to be delivered once more.
func Redeliver() bool { return redeliver > 0 && rand.Float64() < redeliver }

var (
	clockFile  = os.Getenv("FEEDMESH_CLOCK")
	clockShift atomic.Int64 // as last read, in nanoseconds
	clockRead  atomic.Int64 // time of that, since started
	started    = time.Now()
)

// clockReread is the interval at which the file of the shift is read again.
const clockReread = 50 * time.Millisecond

// Now returns the system time, shifted. It is a wall clock only, as after a jump.
func Now() time.Time {
	now := time.Now()
	if clockFile == "" {
		return now
	}
	if at, last := int64(time.Since(started)), clockRead.Load(); (last == 0 || at-last > int64(clockReread)) && clockRead.CompareAndSwap(last, at) {
		text, err := os.ReadFile(clockFile)
		if d, parseErr := time.ParseDuration(strings.TrimSpace(string(text))); err == nil && parseErr == nil {
			clockShift.Store(int64(d))
		}
	}
	return now.Round(0).Add(time.Duration(clockShift.Load()))
}
