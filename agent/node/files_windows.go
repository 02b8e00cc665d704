package node

import (
	"golang.org/x/sys/windows"
)

// hideNewFiles does nothing: files have the permissions of their folder.
func hideNewFiles() {}

func hideFiles(string) (hidden int, err error) { return 0, nil }

// FreeBytes returns the free space on dir's disk for this user.
func FreeBytes(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(free), nil
}
