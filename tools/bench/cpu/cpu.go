// Package cpu reads the CPU time of this process.
package cpu

import (
	"syscall"
	"time"
)

// Time returns the CPU time of this process.
func Time() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
