//go:build unix

// Package cputime measures computations in tests, whose time on the clock depends on what else the machine does.
package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used returns the user CPU time of this process, of all its goroutines.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}
