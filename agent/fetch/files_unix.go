//go:build unix

package fetch

import (
	"math"
	"syscall"
)

// openFiles returns how many files and connections this process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return leastFiles
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) // all ones: no limit
}
