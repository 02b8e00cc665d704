//go:build !linux

package meilisearchd

import "syscall"

// attributes returns none: other kernels do not end a child with its parent. See [Server.stopFormer].
func attributes() *syscall.SysProcAttr { return nil }
