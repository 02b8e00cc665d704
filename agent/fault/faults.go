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
)

// FEEDMESH_CRASH_AT=POINT:N kills the process at the N-th call of that Point; FEEDMESH_REDELIVER=0.2
// redelivers a fifth of the completed tasks.
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
