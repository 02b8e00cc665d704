package engines

import (
	"runtime"
	"syscall"
)

// attributes lets the process end with this one, and run as another user.
func attributes(user uint32) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if user != 0 {
		a.Credential = &syscall.Credential{Uid: user, Gid: user}
	}
	return a
}

// hold keeps the current thread until the returned function is called.
func hold() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
