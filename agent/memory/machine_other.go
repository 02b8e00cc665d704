//go:build !linux && !darwin

package memory

// machine returns the memory size of the machine in bytes.
func machine() int64 { return unknown }
