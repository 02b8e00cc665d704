package command

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"feedmesh/agent/node"
	"feedmesh/agent/role"
	"feedmesh/config"
)

// A runCommand runs a node.
type runCommand struct {
	Settings  settings `embed:""`
	ListRoles bool     `help:"List the roles and their tasks."`
}

// Help implements kong's HelpProvider.
func (runCommand) Help() string {
	return `A single node with everything embedded and all files in ./data:

    agent

A worker node of a mesh, with roles that need no store:

    agent --roles crawl,prepare,classify --nats nats://host:4222

Every flag can also be set by the environment variable named below, and in a file (--config). Flags override the environment, the environment overrides the file. The first SIGINT or SIGTERM waits for work in progress; the second exits immediately.`
}

// Run implements the command.
func (c *runCommand) Run(ctx context.Context, p *program) error {
	if c.ListRoles {
		p.page().table(func(row func(...any)) {
			for _, r := range role.All {
				row(r.Name, r.Description)
			}
		})
		return nil
	}
	cfg := config.Config(c.Settings)
	if err := validate(cfg); err != nil {
		return err
	}
	log := newLog(p.err, cfg.Log)
	slog.SetDefault(log) // for libraries that use the default logger
	err := p.node(ctx, cfg, node.Options{Version: p.version, Log: log})
	if err == nil || cfg.Log.Format != "json" || errors.Is(err, context.Canceled) {
		return err
	}
	log.Error("agent failed", "err", err) // plain text on stderr would break JSON log parsers
	return exitError{errReported, exitCode(err)}
}

// validate returns all errors of the settings, joined, with exit code 2.
func validate(c config.Config) error {
	_, unknownRoles := role.Select(c.Roles)
	if err := errors.Join(c.Validate(), unknownRoles); err != nil {
		return exitError{err, exitUsage}
	}
	return nil
}

func newLog(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
