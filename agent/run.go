package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"feedmesh/agent/node"
	"feedmesh/agent/role"
	"feedmesh/config"
)

// A runCommand plays roles.
type runCommand struct {
	Settings  settings `embed:""`
	ListRoles bool     `help:"Print the roles there are, and what they do."`
}

// Help implements kong's HelpProvider.
func (runCommand) Help() string {
	return `Alone, with everything embedded and all files in ./data:

    agent

A member of a mesh that helps with what needs no store:

    agent --roles crawl,prepare,classify --nats nats://host:4222

Every flag can also be set in the environment, as named below, and in a file (--config). A flag wins over the environment, that over the file. The first SIGINT or SIGTERM lets work in hand finish; the second ends at once.`
}

// Run implements the command.
func (c *runCommand) Run(ctx context.Context, p *program) error {
	if c.ListRoles {
		p.page().table(func(row func(...any)) {
			for _, r := range role.All {
				row(r.Name, r.Does)
			}
		})
		return nil
	}
	cfg := config.Config(c.Settings)
	if err := faults(cfg); err != nil {
		return err
	}
	log := newLog(p.err, cfg.Log)
	slog.SetDefault(log) // for libraries that write to the standard one
	err := p.node(ctx, cfg, node.Options{Version: version, Log: log})
	if err == nil || cfg.Log.Format != "json" || errors.Is(err, context.Canceled) {
		return err
	}
	log.Error("the agent ends", "err", err) // a reader of JSON would stumble over our words
	return fault{errSaid, exitCode(err)}
}

// faults returns all that is wrong with the settings.
func faults(c config.Config) error {
	_, unknown := role.Select(c.Roles)
	if err := errors.Join(c.Validate(), unknown); err != nil {
		return fault{err, misused}
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
