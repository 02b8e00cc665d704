//go:build unix

package node

import "golang.org/x/sys/unix"

// hideNewFiles denies other users access to all files that this process creates from now on.
func hideNewFiles() { unix.Umask(0o077) }
