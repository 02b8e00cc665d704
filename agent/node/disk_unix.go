//go:build unix

package node

import "golang.org/x/sys/unix"

// FreeBytes returns the free space on dir's disk for an unprivileged user.
func FreeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
