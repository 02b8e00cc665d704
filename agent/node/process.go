package node

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"feedmesh/agent/role"
	"feedmesh/agent/role/work"
	"feedmesh/config"
	"feedmesh/embedded/meilisearchd"
	"feedmesh/storage/meilisearch"
	"feedmesh/subjects"
)

// Options are the parameters of [Run] besides the configuration.
type Options struct {
	Version string
	Log     *slog.Logger
	Clock   work.Clock        // nil: the real clock
	Ready   func(addr string) // called once when all roles run, with the API's address; may be nil
}

// A process is the base of the parts of a node: its settings and roles, and the resources that it has open.
type process struct {
	config    config.Config
	options   Options
	roles     []role.Role
	self      subjects.Agent // heartbeat record of this process
	resources []io.Closer    // open resources in the order of opening

	search   *meilisearchd.Server // nil unless this process runs Meilisearch
	embedder meilisearch.Embedder // of --search-embedder

	certificates certificates // of the listeners
}

// closer adapts a function to [io.Closer].
type closer func() error

func (c closer) Close() error { return c() }

func (p *process) closeLater(c io.Closer) { p.resources = append(p.resources, c) }

// close closes the open resources in reverse order.
func (p *process) close() error {
	var faults []error
	for i := len(p.resources) - 1; i >= 0; i-- {
		faults = append(faults, p.resources[i].Close())
	}
	return errors.Join(faults...)
}

// needs reports whether a role of the node has the property.
func (p *process) needs(what func(role.Role) bool) bool { return slices.ContainsFunc(p.roles, what) }

// minFree is the minimum of free space on the disk of the data folder; below it fetching pauses. It leaves
// the engines space to finish and clean up; not all of them recover from a full disk.
const minFree = 64 << 20

func (p *process) path(name string) string { return filepath.Join(p.config.Data, name) }

// needsData reports whether this node needs a data folder.
func (p *process) needsData() bool {
	return len(p.config.NATS) == 0 || p.config.TLS.ACMEHost != "" ||
		p.config.Store == "" && p.needs(func(r role.Role) bool { return r.Store }) ||
		(p.config.Search == "" || p.config.Search == config.OwnMeilisearch) && p.needs(func(r role.Role) bool { return r.Index })
}

// openData creates the data folder and locks it for this process. Only its user may read what is in it: the
// passwords of feeds are.
func (p *process) openData() error {
	dir := p.config.Data
	hideNewFiles()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w: choose another with --data", err)
	}
	if hidden, err := hideFiles(dir); err != nil {
		p.options.Log.Warn("the data folder may be readable by other users", "folder", dir, "err", err)
	} else if hidden > 1 { // more than the new folder
		p.options.Log.Info("files of the data folder were accessible to other users and are hidden now", "folder", dir, "files", hidden)
	}
	if err := p.checkDiskSpace(); err != nil {
		return err
	}
	lock := flock.New(p.path("lock"))
	ours, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("write to the data folder: %w: choose another with --data, or make it writable", err)
	}
	if !ours {
		return fmt.Errorf("the data folder %s is in use by another agent: stop that one, or choose another folder with --data", dir)
	}
	p.closeLater(closer(lock.Unlock))
	return nil
}

// minWrite is the minimum of free space for what users change. It is less than minFree, so that they can still make
// space where polling has paused.
const minWrite = 16 << 20

// checkDiskSpace returns nil if the disk of the data folder has space for new items.
func (p *process) checkDiskSpace() error { return p.checkFree(minFree) }

// checkWritable returns nil if the disk of the data folder has space for what users change.
func (p *process) checkWritable() error { return p.checkFree(minWrite) }

func (p *process) checkFree(least int64) error {
	if !p.needsData() {
		return nil
	}
	free, err := FreeBytes(p.config.Data)
	if err != nil {
		return fmt.Errorf("read the free space of the disk of %s: %w", p.config.Data, err)
	}
	if free < least {
		return fmt.Errorf("the disk of the data folder %s is full: %v free, at least %v required: free some space, or choose another folder with --data",
			p.config.Data, config.Bytes(free>>20<<20), config.Bytes(least))
	}
	return nil
}

// uptime returns the time since boot, or nil if the node does not run on the system clock.
func (p *process) uptime() func() time.Duration {
	if p.options.Clock != nil {
		return nil
	}
	return sinceBoot
}
