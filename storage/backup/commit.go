package backup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Commit gives a finished file its final name, in the same folder, after it and then its name are on disk: after a
// power failure there is the whole file or none of that name.
func Commit(from, to string) error {
	err := syncPath(from)
	if err == nil {
		err = os.Rename(from, to)
	}
	if err == nil && runtime.GOOS != "windows" { // it can't sync folders
		err = syncPath(filepath.Dir(to))
	}
	return err
}

// syncPath writes a file or a folder to disk.
func syncPath(path string) error {
	flag := os.O_RDWR
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
