package memory

import "golang.org/x/sys/unix"

// machine returns how many bytes of memory the machine has. It asks the kernel:
// a service may see nothing in /proc but its own processes.
func machine() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return unknown
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}
