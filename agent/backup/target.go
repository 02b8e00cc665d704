package backup

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"feedmesh/config"
	"feedmesh/storage/backup"
)

// A target stores backups under their names.
type target interface {
	// list returns the names of all stored files.
	list(ctx context.Context) ([]string, error)

	// workFolder returns the folder in which a backup is made before it is stored.
	workFolder() (string, error)

	// store stores the complete file at path, whole or not at all. The file may be gone then.
	store(ctx context.Context, path, name string) error

	// size returns the size of a stored file in bytes.
	size(ctx context.Context, name string) (int64, error)

	remove(ctx context.Context, name string) error
}

// openTarget returns the target that the settings name. temporary is the folder of files before they are sent.
func openTarget(c config.Backup, temporary string) (target, error) {
	if !c.Remote() {
		return folder(c.To), nil
	}
	u, err := url.Parse(c.To)
	if err != nil {
		return nil, err
	}
	return openBucket(c, u.Host, strings.Trim(u.Path, "/"), temporary)
}

// A folder is a target on a local disk.
type folder string

func (f folder) list(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// workFolder returns the folder itself, so that a finished file is only renamed. Only its owner may read it.
func (f folder) workFolder() (string, error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return "", fmt.Errorf("create the folder of backups: %w", err)
	}
	return string(f), nil
}

func (f folder) store(_ context.Context, path, name string) error {
	return backup.Commit(path, filepath.Join(string(f), name))
}

func (f folder) size(_ context.Context, name string) (int64, error) {
	stat, err := os.Stat(filepath.Join(string(f), name))
	if err != nil {
		return 0, err
	}
	return stat.Size(), nil
}

func (f folder) remove(_ context.Context, name string) error {
	return os.Remove(filepath.Join(string(f), name))
}
