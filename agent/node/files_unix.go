//go:build unix

package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// hideNewFiles denies other users access to all files that this process creates from now on.
func hideNewFiles() { unix.Umask(0o077) }

// hideFiles denies other users access to a folder and all files in it, which an older version or a copy may have
// left readable. It returns the number of files that they could access.
func hideFiles(dir string) (hidden int, err error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return 0, err
	}
	var errs []error
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 { // the mode is that of its target, which may be elsewhere
			return nil
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			hidden++
			err = os.Chmod(path, info.Mode().Perm()&0o700)
		}
		errs = append(errs, err)
		return nil
	})
	return hidden, errors.Join(append(errs, err)...)
}

// FreeBytes returns the free space on dir's disk for an unprivileged user.
func FreeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
