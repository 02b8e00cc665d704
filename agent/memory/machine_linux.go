package memory

import "golang.org/x/sys/unix"

// machine returns the memory size of the machine in bytes. It uses a system call, because a service may have
// a restricted /proc.
func machine() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return unknown
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}
