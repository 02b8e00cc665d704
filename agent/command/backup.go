package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"

	agentbackup "feedmesh/agent/backup"
	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage/backup"
)

// A backupCommand stores a backup of a running node.
type backupCommand struct {
	query
	To string `arg:"" placeholder:"FILE|DIR" help:"New file, or folder for a file named after the time."`
}

// Help implements kong's HelpProvider.
func (backupCommand) Help() string {
	return `Makes a consistent copy of the store and the schedule while the node runs:
feeds, items, rules, tokens, corrections, marks, views, stories, and
when each feed is polled next. It is one SQLite file, whatever the store is.
The index is not in it: it is built from the store.

    agent backup /backups/

Scheduled backups have settings instead: agent run --backup-to DIR.
Restore a backup with: agent restore FILE`
}

// Run implements the command.
func (c *backupCommand) Run(ctx context.Context, p *program) error {
	path := c.To
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		path = filepath.Join(path, agentbackup.FileName(time.Now()))
	}
	if _, err := os.Stat(path); err == nil {
		return usageError("%s exists: choose another name", path)
	}
	api, err := c.client(p)
	if err != nil {
		return err
	}
	info, err := download(ctx, api, path, p.bar(-1, "making the backup", true, progressbar.OptionShowBytes(true)))
	if err != nil {
		return err
	}
	return c.print(p, backupAnswer{path, info}, func(pg *page) {
		pg.printf("%s: %s, %d feeds, %d items; verified\n", path, size(info.Size), info.Rows["feeds"], info.Rows["items"])
	})
}

// A backupAnswer is the output with --json.
type backupAnswer struct {
	File string `json:"file"`
	backup.Info
}

// download makes a backup and stores it at path when it is complete and verified.
func download(ctx context.Context, api *client.Client, path string, bar *progressbar.ProgressBar) (info backup.Info, err error) {
	defer bar.Clear()
	file, err := client.Download(ctx, api, wire.MakeBackup, wire.None{})
	if err != nil {
		return info, err
	}
	defer file.Body.Close()
	partial := path + ".partial"
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return info, err
	}
	defer func() {
		if err != nil {
			os.Remove(partial)
		}
	}()
	bar.Describe("receiving")
	bar.ChangeMax64(file.Size)
	_, err = io.Copy(io.MultiWriter(f, bar), file.Body)
	if err = errors.Join(err, f.Close()); err != nil {
		return info, fmt.Errorf("receive the backup: %w", err)
	}
	if info, err = backup.Verify(ctx, partial); err != nil {
		return info, err
	}
	return info, backup.Commit(partial, path)
}

// A restoreCommand restores a backup.
type restoreCommand struct {
	Settings settings `embed:""`
	File     string   `arg:"" help:"Backup to restore."`
	Schedule bool     `default:"true" negatable:"" help:"Restore the state of the schedule, too; without it every feed is polled once."`
}

// Help implements kong's HelpProvider.
func (restoreCommand) Help() string {
	return `Restores a backup to the store and the schedule that the settings name, while no
agent runs. Give the same settings as to agent run. The store must be empty. It
may be of another kind than the one that the backup was made of:

    agent restore --data ./new backup.db
    agent restore --store postgres://USER:PASSWORD@HOST/DATABASE backup.db

The next start builds the search index from the store. An interrupted restore
leaves the store empty: repeat it.`
}

// Run implements the command.
func (c *restoreCommand) Run(ctx context.Context, p *program) error {
	cfg := config.Config(c.Settings)
	if err := validate(cfg); err != nil {
		return err
	}
	cfg.Log.Level = "warn"
	info, err := node.Restore(ctx, cfg, node.RestoreOptions{
		Options: node.Options{Version: p.version, Log: newLog(p.err, cfg.Log)}, File: c.File, NoSchedule: !c.Schedule,
	})
	if err != nil {
		return err
	}
	pg := p.page()
	pg.printf("restored the backup of %s UTC: %d feeds, %d items\n", info.Made.Format("2006-01-02 15:04"), info.Rows["feeds"], info.Rows["items"])
	if !c.Schedule || info.Values == 0 {
		pg.printf("every feed is polled once after the start\n")
	}
	pg.printf("the next start builds the search index from the store: start the agent\n")
	return nil
}
