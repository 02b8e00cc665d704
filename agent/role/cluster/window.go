package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"feedmesh/classify/near"
)

// windowLimit describes a window that is shorter than set, because more items arrive in that time than it may contain. It is
// empty if there is none.
func (c *clusterer) windowLimit() string {
	var short []string
	for _, part := range []struct {
		what string
		span time.Duration
		max  string
	}{
		{"stories", c.stories.Span(), fmt.Sprintf("%d events", c.maxEvents())},
		{"duplicates", c.near.Span(), fmt.Sprintf("%d items", c.settings.MaxItems)},
	} {
		if part.span < c.window {
			short = append(short, fmt.Sprintf("%s within %s instead of %s, since more than %s arrive in that time", part.what, hours(part.span), hours(c.window), part.max))
		}
	}
	if len(short) == 0 {
		return ""
	}
	return fmt.Sprintf("items of language %s are compared for %s: raise --cluster-memory, now %v", c.partition, strings.Join(short, ", and for "), c.memory)
}

// hours formats a duration in hours and minutes.
func hours(d time.Duration) string {
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

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
