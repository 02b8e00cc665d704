package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"feedmesh/agent/role"
	"feedmesh/config"
)

// minFree is the minimum of free space on the disk of the data folder; below it fetching pauses. It leaves
// the engines space to finish and clean up; not all of them recover from a full disk.
const minFree = 64 << 20

func (n *node) path(name string) string { return filepath.Join(n.config.Data, name) }

// needsData reports whether this node needs a data folder.
func (n *node) needsData() bool {
	return len(n.config.NATS) == 0 ||
		n.config.Store == "" && n.needs(func(r role.Role) bool { return r.Store }) ||
		n.config.Search == "" && n.needs(func(r role.Role) bool { return r.Index })
}

// openData creates the data folder and locks it for this process.
func (n *node) openData() error {
	dir := n.config.Data
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("create the data folder: %w: choose another with --data", err)
	}
	if err := n.checkDiskSpace(); err != nil {
		return err
	}
	lock := flock.New(n.path("lock"))
	ours, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("write to the data folder: %w: choose another with --data, or make it writable", err)
	}
	if !ours {
		return fmt.Errorf("the data folder %s is in use by another agent: stop that one, or choose another folder with --data", dir)
	}
	n.closeLater(closer(lock.Unlock))
	return nil
}

// checkDiskSpace returns nil if the disk of the data folder has space for new items.
func (n *node) checkDiskSpace() error {
	if !n.needsData() {
		return nil
	}
	free, err := FreeBytes(n.config.Data)
	if err != nil {
		return fmt.Errorf("read the free space of the disk of %s: %w", n.config.Data, err)
	}
	if free < minFree {
		return fmt.Errorf("the disk of the data folder %s is full: %v free, at least %v required: free some space, or choose another folder with --data",
			n.config.Data, config.Bytes(free>>20<<20), config.Bytes(minFree))
	}
	return nil
}

// listen listens on the address of a flag.
func listen(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: if another agent runs there, stop it; else choose another address with %s", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no permission to listen on %s: choose a port above 1023 with %s", addr, flag)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w: choose another address with %s", addr, err, flag)
	}
	return l, nil
}
