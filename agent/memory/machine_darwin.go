package memory

import "golang.org/x/sys/unix"

// machine returns the memory size of the machine in bytes.
func machine() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return unknown
	}
	return int64(size)
}
