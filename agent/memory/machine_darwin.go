package memory

import "golang.org/x/sys/unix"

// machine returns how many bytes of memory the machine has.
func machine() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return unknown
	}
	return int64(size)
}
