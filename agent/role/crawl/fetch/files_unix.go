//go:build unix

package fetch

import (
	"math"
	"syscall"
)

// maxOpenFiles returns the process's limit of open files and connections.
func maxOpenFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return minOpenFiles
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) // RLIM_INFINITY has all bits set
}
