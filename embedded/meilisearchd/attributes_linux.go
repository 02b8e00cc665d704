package meilisearchd

import "syscall"

// attributes lets the kernel kill the program when this process is killed, and keeps the interrupt of a terminal from it:
// the agent stops it last.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
