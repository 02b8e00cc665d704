//go:build faults

// Package fault lets tests break an agent at a certain point: built with the tag
// "faults", it does what the environment says; built without, nothing.
package fault

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// FEEDMESH_CRASH_AT=POINT:N has the process die when it passes a point for the
// N-th time; FEEDMESH_REDELIVER=0.2 has a fifth of the tasks that are done come
// again.
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

// Point marks a point at which a process may be made to die.
func Point(name string) {
	if name == crashAt && passed.Add(1) == crashCount {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // it is on its way
	}
}

// Redeliver reports whether a task that is done is to be delivered once more.
func Redeliver() bool { return redeliver > 0 && rand.Float64() < redeliver }
