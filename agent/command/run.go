package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"

	"feedmesh/agent/node"
	"feedmesh/agent/role"
	"feedmesh/config"
	"feedmesh/storage"
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
	if errors.Is(err, storage.ErrDamaged) {
		err = exitError{err, exitUsage} // the same after a restart
	}
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

// settings is [config.Config] without its Validate method, so that kong does not call it: `agent config` must
// print invalid settings too.
type settings config.Config

// A settingsCommand prints the effective settings.
type settingsCommand struct {
	Settings settings `embed:""`
}

// Help implements kong's HelpProvider.
func (settingsCommand) Help() string {
	return `The output is a settings file for --config:

    agent config > feedmesh.toml

Check a settings file before starting a node with it:

    agent config --config feedmesh.toml > /dev/null`
}

// Run implements the command.
func (c *settingsCommand) Run(p *program, k *kong.Context) error {
	sections := config.Sections()
	pg, section := p.page(), ""
	for _, flag := range k.Selected().Flags {
		name := flag.Name
		for _, s := range sections {
			if rest, is := strings.CutPrefix(name, s+"-"); is {
				name = rest
				if section != s {
					section = s
					pg.printf("[%s]\n\n", s)
				}
			}
		}
		pg.printf("# %s\n# %s\n", flag.Help, strings.Join(flag.Envs, ", "))
		pg.printf("%s\n\n", setting(name, flag.Target))
	}
	return validate(config.Config(c.Settings))
}

// setting formats a setting as a line of TOML. Values with secrets are commented out, so that the hidden form
// is not read back as the value.
func setting(name string, value reflect.Value) string {
	var v any
	comment := ""
	switch x := value.Interface().(type) {
	case config.Secret:
		if x != "" {
			return "# " + name + " is set (hidden)"
		}
		v = ""
	case config.Address:
		if v = x.String(); v != string(x) {
			comment = "# "
		}
	case []config.Address:
		shown := make([]string, len(x))
		for i, address := range x {
			if shown[i] = address.String(); shown[i] != string(address) {
				comment = "# "
			}
		}
		v = shown
	case fmt.Stringer:
		v = x.String()
	default:
		v = x
	}
	line, err := toml.Marshal(map[string]any{name: v})
	if err != nil {
		return "# " + name + " cannot be formatted: " + err.Error()
	}
	return comment + strings.TrimSpace(string(line))
}
