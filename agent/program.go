package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"feedmesh/agent/node"
	"feedmesh/config"
)

// A cli is the command line.
type cli struct {
	Config  kong.ConfigFlag `placeholder:"FILE" help:"File with settings, in TOML; agent config shows how it looks."`
	Version versionFlag     `env:"-" help:"Print the version."`

	Run        runCommand        `cmd:"" default:"withargs" help:"Play roles in the mesh; alone, be the whole of it. What agent does when no command is named."`
	Settings   settingsCommand   `cmd:"" name:"config" help:"Print the settings that run would use, secrets hidden, and what is wrong with them."`
	Feeds      feedsCommand      `cmd:"" help:"Add, list, look at, refresh and remove feeds."`
	Imports    importsCommand    `cmd:"" help:"Look at lists of feeds that are being taken in."`
	Proxies    proxiesCommand    `cmd:"" help:"List, add, change and remove proxies."`
	Searches   searchesCommand   `cmd:"" help:"List, save and remove searches, which are feeds as well."`
	Tokens     tokensCommand     `cmd:"" help:"List, make and remove what clients may show."`
	Rules      rulesCommand      `cmd:"" help:"Look at and change the rules by which items are made."`
	Search     searchCommand     `cmd:"" help:"Find items."`
	Items      itemsCommand      `cmd:"" help:"Print one item, whole, what repeats it, and say what it is about."`
	Spam       spamCommand       `cmd:"" help:"Look at spam, and say what is spam and what is not."`
	Classify   classifyCommand   `cmd:"" help:"Measure rules and model on labelled items, and train a model."`
	Near       nearCommand       `cmd:"" help:"Measure how items that repeat one another are found."`
	Stories    storiesCommand    `cmd:"" help:"Look at what belongs together, split and join it, and measure how well items are grouped."`
	Status     statusCommand     `cmd:"" help:"Print how the mesh is: feeds, items, queues, agents."`
	Quarantine quarantineCommand `cmd:"" help:"Look after tasks that failed all their tries."`
	Reindex    reindexCommand    `cmd:"" help:"Compare the search index with the store and repair it, while serving."`
	Simulate   simulateCommand   `cmd:"" help:"Simulate feeds and what reads them."`
	Doctor     doctorCommand     `cmd:"" help:"Find out what is wrong, and say what to do about it."`
	Completion completionCommand `cmd:"" help:"Print a script that completes agent's command line in a shell."`
}

// A program is what a command stands on besides its flags.
type program struct {
	in       io.Reader
	out, err io.Writer
	node     func(context.Context, config.Config, node.Options) error
	lookup   func(ctx context.Context, host string) ([]string, error)
}

// errDone says that a flag has done all there was to do.
var errDone = errors.New("done")

// run parses and runs a command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	out := &sink{Writer: p.out}
	p.out = out
	parsed, err := p.parser(ctx, args).Parse(args)
	switch {
	case errors.Is(err, errDone):
		return 0
	case err != nil:
		p.sayAll(errors.New(plainly.Replace(err.Error())))
		p.say("%s --help tells more", commandOf(err))
		return misused
	}
	err = errors.Join(parsed.Run(), out.err)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		p.say("interrupted")
		return interrupted
	}
	p.sayAll(err)
	return exitCode(err)
}

// plainly puts into plain words what kong says in a programmer's.
var plainly = strings.NewReplacer(
	"a valid 64 bit int", "a whole number", "a valid 64 bit uint", "a whole number",
	"expected duration", "expected a duration like 30s", " (string)", "",
)

// commandOf returns the command that kong understood before an error.
func commandOf(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if command := parse.Context.Selected(); command != nil {
			return command.FullPath()
		}
	}
	return "agent"
}

func (p *program) parser(ctx context.Context, args []string) *kong.Kong {
	options := append(config.Types(),
		kong.Name("agent"),
		kong.Description("feedmesh reads feeds and makes what they publish findable. Without a command, agent runs a node."),
		kong.Writers(p.out, p.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(printHelp),
		kong.Configuration(readSettings),
		kong.Bind(p),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		// A first word can only be a command. Without a default one to give it
		// to, kong says which command may have been meant.
		options = append(options, kong.PostBuild(func(k *kong.Kong) error { k.Model.DefaultCmd = nil; return nil }))
	}
	return kong.Must(&cli{}, options...)
}

func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	return errors.Join(kong.DefaultHelpPrinter(options, ctx), errDone)
}

// readSettings reads a configuration file.
func readSettings(r io.Reader) (kong.Resolver, error) {
	name := "settings"
	if file, is := r.(*os.File); is {
		name = file.Name()
	}
	settings, err := config.File(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return settingsFile{settings, name}, nil
}

// A settingsFile names itself where it is wrong.
type settingsFile struct {
	kong.Resolver
	name string
}

// Validate implements [kong.Resolver].
func (f settingsFile) Validate(app *kong.Application) error {
	if err := f.Resolver.Validate(app); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// A versionFlag prints the version.
type versionFlag bool

// BeforeReset is called by kong when the flag is given.
func (versionFlag) BeforeReset(p *program) error {
	p.page().printf("feedmesh %s\n", version)
	return errDone
}
