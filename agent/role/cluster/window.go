package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"feedmesh/classify/near"
)

// windowFolder returns the folder of the files that contain the older items of the windows. Each new clusterer writes
// its own; nothing in the folder is needed after the process.
func windowFolder(data string) string { return filepath.Join(data, "window") }

// A windowFile is a file without a name, or removed when it is closed where open files can't be removed.
type windowFile struct{ *os.File }

func (f windowFile) Close() error {
	err := f.File.Close()
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// newWindowFile returns a function that creates files in a folder.
func newWindowFile(folder string) func() (near.File, error) {
	return func() (near.File, error) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		file, err := os.CreateTemp(folder, "*.items")
		if err != nil {
			return nil, err
		}
		os.Remove(file.Name()) // repeated by Close where it fails
		return windowFile{file}, nil
	}
}
