//go:build !linux

package engines

import "syscall"

// attributes does nothing: other kernels do not end children with their parent, and tests do not run as root.
func attributes(uint32) *syscall.SysProcAttr { return nil }

func hold() func() { return func() {} }
