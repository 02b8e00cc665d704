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

// minFree is how much room the data folder's disk must have: below it nothing
// new is fetched. It leaves the engines room to finish and clean up; they do
// not all come back from a disk that is truly full.
const minFree = 64 << 20

func (n *node) path(name string) string { return filepath.Join(n.config.Data, name) }

// needsData reports whether this node keeps files at all.
func (n *node) needsData() bool {
	return len(n.config.NATS) == 0 ||
		n.config.Store == "" && n.needs(func(r role.Role) bool { return r.Store }) ||
		n.config.Search == "" && n.needs(func(r role.Role) bool { return r.Index })
}

// openData makes the data folder ours alone.
func (n *node) openData() error {
	dir := n.config.Data
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("can't make the data folder: %w: choose another with --data", err)
	}
	if err := n.room(); err != nil {
		return err
	}
	lock := flock.New(n.path("lock"))
	ours, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("can't write to the data folder: %w: choose another with --data, or make it writable", err)
	}
	if !ours {
		return fmt.Errorf("the data folder %s is in use by another agent: stop that one, or choose another folder with --data", dir)
	}
	n.opened(closer(lock.Unlock))
	return nil
}

// room returns nil if the data folder's disk has room for new items.
func (n *node) room() error {
	if !n.needsData() {
		return nil
	}
	free, err := FreeBytes(n.config.Data)
	if err != nil {
		return fmt.Errorf("can't see how full the disk of %s is: %w", n.config.Data, err)
	}
	if free < minFree {
		return fmt.Errorf("the disk of the data folder %s is full: %v free, at least %v are needed: free some, or choose another folder with --data",
			n.config.Data, config.Bytes(free>>20<<20), config.Bytes(minFree))
	}
	return nil
}

// listen opens the address that a flag gives.
func listen(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: if another agent runs there, stop it; else choose another address with %s", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s may not be listened on by this user: choose a port above 1023 with %s", addr, flag)
	case err != nil:
		return nil, fmt.Errorf("can't listen on %s: %w: choose another address with %s", addr, err, flag)
	}
	return l, nil
}
