//go:build !faults

// Package fault injects faults for tests. Built with the tag "faults" it crashes the agent or redelivers
// tasks as the environment requests; without the tag it does nothing.
package fault

import "time"

// Point is a named point where a test may kill the process.
func Point(string) {}

// Redeliver reports whether a completed task is to be delivered once more.
func Redeliver() bool { return false }

// Now returns the system time.
func Now() time.Time { return time.Now() }
