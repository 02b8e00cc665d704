//go:build !faults

// Package fault lets tests break an agent at a certain point: built with the tag
// "faults", it does what the environment says; built without, nothing.
package fault

// Point marks a point at which a process may be made to die.
func Point(string) {}

// Redeliver reports whether a task that is done is to be delivered once more.
func Redeliver() bool { return false }
