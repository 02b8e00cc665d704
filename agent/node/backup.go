package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nuid"
	"github.com/prometheus/client_golang/prometheus"

	agentbackup "feedmesh/agent/backup"
	"feedmesh/agent/fault"
	"feedmesh/agent/mesh"
	"feedmesh/agent/role"
	"feedmesh/agent/role/work"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage/backup"
	"feedmesh/storage/postgres"
	"feedmesh/storage/tables"
	"feedmesh/subjects"
)

// RestoreOptions are the parameters of [Restore] besides the configuration.
type RestoreOptions struct {
	Options
	File       string // the backup
	NoSchedule bool   // restore the store only: every feed is polled once
}

// Restore restores a backup to the store and the schedule of the settings, while no agent runs. The store must be
// empty; what the schedule has is replaced. The store is restored last, whole or not at all: until then a start finds
// a full schedule beside an empty store and is refused.
func Restore(ctx context.Context, c config.Config, o RestoreOptions) (_ backup.Info, err error) {
	stat, err := os.Stat(o.File)
	if err != nil {
		return backup.Info{}, err
	}
	if c.Servers.Listen != "" && !o.NoSchedule {
		return backup.Info{}, errors.New("the embedded NATS servers of a cluster run only with their agents: restore with --no-schedule, then every feed is polled once")
	}
	c.Roles = []string{"all"}
	roles, err := role.Select(c.Roles)
	if err != nil {
		return backup.Info{}, err
	}
	r := &restore{node{
		process: process{config: c, options: o.Options, roles: roles, self: subjects.Agent{ID: nuid.Next()}},
		env:     &role.Env{Env: &work.Env{Metrics: prometheus.NewRegistry()}},
	}}
	defer func() { err = errors.Join(err, r.close()) }()
	partial, err := r.openFolder(stat.Size())
	if err != nil {
		return backup.Info{}, err
	}
	if err := r.checkStoreFile(ctx); err != nil {
		return backup.Info{}, err
	}
	copied, err := backup.Open(ctx, o.File, partial)
	if err != nil {
		return backup.Info{}, err
	}
	defer func() { err = errors.Join(err, copied.Remove()) }()
	replaceSchedule := func(context.Context) error { return nil }
	if !o.NoSchedule {
		m, err := r.joinAlone(ctx)
		if err != nil {
			return backup.Info{}, err
		}
		replaceSchedule = func(ctx context.Context) error {
			err := m.ReplaceSchedule(ctx, func(ctx context.Context, each func(bucket, key string, value []byte) error) error {
				return copied.Values(ctx, func(bucket, key string, value []byte) error {
					fault.Point("restored value")
					return each(bucket, key, value)
				})
			})
			if err != nil {
				return fmt.Errorf("restore the schedule: %w", err)
			}
			fault.Point("restored schedule")
			return nil
		}
	}
	if err := r.restoreStore(ctx, copied, replaceSchedule); err != nil {
		return copied.Info, err
	}
	return copied.Info, r.checkKeys(ctx)
}

// restore is a node that restores a backup and runs no roles.
type restore struct{ node }

// checkKeys logs whether the key of the restored passwords is missing.
func (r *restore) checkKeys(ctx context.Context) error {
	if err := (engines{&r.process, r.env, nil}).openStore(ctx); err != nil {
		return fmt.Errorf("open the restored store: %w", err)
	}
	if err := openSecrets(r.config, r.env.Store).Check(ctx); err != nil {
		r.options.Log.Warn("key of passwords missing", "err", err)
	}
	return nil
}

// openFolder returns the path for a working copy of so many bytes: in the data folder, if the settings need one.
func (r *restore) openFolder(size int64) (partial string, err error) {
	dir := r.config.Data
	if r.needsData() {
		err = r.openData()
	} else if dir, err = os.MkdirTemp("", "feedmesh-restore-"); err == nil {
		r.closeLater(closer(func() error { return os.RemoveAll(dir) }))
	}
	if err != nil {
		return "", err
	}
	free, err := FreeBytes(dir)
	if err != nil {
		return "", err
	}
	if free < size+2*minFree {
		return "", fmt.Errorf("the disk of %s has too little space to restore the backup: %v free, %v required",
			dir, config.Bytes(free>>20<<20), config.Bytes((size+2*minFree)>>20<<20))
	}
	return filepath.Join(dir, restoreFile), nil
}

// restoreFile is the name of the working copy of a backup in the data folder.
const restoreFile = "restore.partial"

// checkRestore returns an error if an interrupted restore left the store empty. It removes what a restore left that
// was interrupted later.
func checkRestore(p *process, empty bool) error {
	path := p.path(restoreFile)
	if _, err := os.Stat(path); !p.needsData() || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !empty {
		return os.Remove(path)
	}
	return fmt.Errorf("a restore was interrupted, the store is empty: repeat agent restore, or delete %s to start without the backup", path)
}

// checkStoreFile returns an error if the SQLite store of the data folder has records.
func (r *restore) checkStoreFile(ctx context.Context) error {
	path := r.path("store.db")
	if _, err := os.Stat(path); r.config.Store != "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	empty, err := backup.IsEmpty(ctx, path)
	switch {
	case err != nil:
		return fmt.Errorf("move %s away first: %w", path, err)
	case !empty:
		return fmt.Errorf("%s has records: restore into an empty folder, or move it away first", path)
	}
	return nil
}

// heartbeatWait is how long the heartbeat of an agent that was killed may remain.
const heartbeatWait = subjects.AgentExpiry + 5*time.Second

// joinAlone joins the mesh, and returns an error if an agent runs in it.
func (r *restore) joinAlone(ctx context.Context) (*mesh.Mesh, error) {
	if err := r.openMesh(ctx); err != nil {
		return nil, err
	}
	m := r.env.Mesh
	for started := time.Now(); ; {
		agents, err := m.Agents(ctx)
		if err != nil {
			return nil, err
		}
		if len(agents) == 0 {
			return m, nil
		}
		if time.Since(started) > heartbeatWait {
			return nil, fmt.Errorf("agent %s runs on %s: stop all agents of the mesh first", agents[0].ID, agents[0].Host)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// restoreStore calls first when the store is known to be empty, and then fills it.
func (r *restore) restoreStore(ctx context.Context, from *backup.Copy, first func(context.Context) error) error {
	if url := string(r.config.Store); url != "" {
		store, err := postgres.Open(ctx, url)
		if err != nil {
			return err
		}
		r.closeLater(store)
		return store.Import(ctx, func(ctx context.Context, each func(tables.Copy) error) error {
			if err := first(ctx); err != nil {
				return err
			}
			return from.Tables(ctx, func(t tables.Copy) error {
				fault.Point("restored table")
				return each(t)
			})
		})
	}
	if err := first(ctx); err != nil {
		return err
	}
	return from.MoveTo(ctx, r.path("store.db"))
}

// addBackups gives the API what makes backups of the store and the schedule.
func (n *node) addBackups() error {
	if !n.needs(func(r role.Role) bool { return r.Listens }) {
		return nil
	}
	o := agentbackup.Options{
		Schedule: n.env.Mesh.CopySchedule, Program: n.options.Version, Free: FreeBytes, Folder: n.config.Data, Log: n.options.Log,
	}
	if !n.needsData() {
		folder, err := agentbackup.NewTemporaryFolder(os.TempDir())
		if err != nil {
			return err
		}
		n.closeLater(folder)
		o.Folder = folder.Path
	}
	switch store := n.env.Store.(type) {
	case *postgres.Store:
		o.Store, o.Size = backup.Store{Engine: "postgresql", Export: store.Export}, store.Size
	default:
		file := n.path("store.db")
		o.Store, o.Size = backup.Store{Engine: "sqlite", File: file}, func(context.Context) (int64, error) { return sizeOf(file, file+"-wal") }
	}
	maker := agentbackup.New(o)
	n.env.MakeBackup = maker.Make
	n.env.BackupState = func() *wire.BackupState { return maker.State(n.env.Backups) }
	if n.config.Backup.To == "" {
		return nil
	}
	var err error
	n.env.Backups, err = agentbackup.NewSchedule(maker, agentbackup.ScheduleOptions{
		Settings: n.config.Backup, StoreID: n.self.Store, Metrics: n.env.Metrics, Single: n.env.Mesh.Single,
	})
	return err
}

// sizeOf returns the size of the files together; missing ones have none.
func sizeOf(files ...string) (size int64, err error) {
	for _, name := range files {
		stat, err := os.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if err == nil {
			size += stat.Size()
		}
	}
	return size, nil
}
