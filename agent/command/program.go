// Package command is the command line: `agent run` and the commands that ask a running node.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/config"
)

// A cli is the command line as kong parses it.
type cli struct {
	Config  kong.ConfigFlag `placeholder:"FILE" help:"Settings file in TOML; agent config prints an example."`
	Version versionFlag     `env:"-" help:"Print the version."`

	Run           runCommand           `cmd:"" default:"withargs" help:"Run a node that plays roles in the mesh, by default all of them. This is the default command."`
	Settings      settingsCommand      `cmd:"" name:"config" help:"Print and check the effective settings, with secrets hidden."`
	Feeds         feedsCommand         `cmd:"" help:"Add, list, show, refresh and remove feeds."`
	Imports       importsCommand       `cmd:"" help:"List, show and cancel imports of feed lists."`
	Proxies       proxiesCommand       `cmd:"" help:"List, add, change and remove proxies."`
	Views         viewsCommand         `cmd:"" help:"List, save, read and remove views: selections of items that are evaluated as items arrive."`
	Subscriptions subscriptionsCommand `cmd:"" help:"Send the new items of views by webhooks, mail, chat and NATS subjects, and show what was sent."`
	Tokens        tokensCommand        `cmd:"" help:"List, create and remove API tokens."`
	People        peopleCommand        `cmd:"" help:"List, add, change and remove the people who log in."`
	Rules         rulesCommand         `cmd:"" help:"Show, edit, test and apply the rules that build and label items."`
	Search        searchCommand        `cmd:"" help:"Search items."`
	Items         itemsCommand         `cmd:"" help:"Show an item, list its duplicates, and correct its labels."`
	Spam          spamCommand          `cmd:"" help:"List spam, and mark items as spam or not spam."`
	Stories       storiesCommand       `cmd:"" help:"List, show, split and join stories."`
	Briefing      briefingCommand      `cmd:"" help:"Print a short text about the top stories or a view, each sentence with its items."`
	Status        statusCommand        `cmd:"" help:"Show the status of the mesh: feeds, items, queues, agents."`
	Mesh          meshCommand          `cmd:"" help:"Estimate the machines of a mesh; take agents out of work, and let them work again."`
	Keep          keepCommand          `cmd:"" help:"Show how long items are kept and the next purge, or try a limit."`
	Quarantine    quarantineCommand    `cmd:"" help:"List, replay and drop tasks that failed all deliveries."`
	Reindex       reindexCommand       `cmd:"" help:"Compare the search index with the store and repair it; searches stay available."`
	Backup        backupCommand        `cmd:"" help:"Make a backup of store and schedule while the node runs."`
	Restore       restoreCommand       `cmd:"" help:"Restore a backup, while no agent runs."`
	Doctor        doctorCommand        `cmd:"" help:"Check this node and its dependencies, and suggest fixes."`
	MCP           mcpCommand           `cmd:"" name:"mcp" help:"Serve the tools of a running node to a model's program, over standard input and output."`
	Completion    completionCommand    `cmd:"" help:"Print a shell completion script."`
	Compare       compareCommand       `cmd:"" name:"parse-with-gofeed" hidden:"" help:"Parse a document with gofeed, in a process with limits."`
}

// Main runs the command line of this process and exits.
func Main(version string) {
	p := &program{
		version: version, in: os.Stdin, out: os.Stdout, err: os.Stderr,
		node: node.Run, lookup: net.DefaultResolver.LookupHost,
	}
	ctx := untilSignal(context.Background(), p.err, os.Exit)
	os.Exit(p.run(ctx, os.Args[1:]))
}

// untilSignal returns a context that is cancelled by the first SIGINT or SIGTERM. The second signal exits the
// program immediately.
func untilSignal(ctx context.Context, stderr io.Writer, exit func(int)) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(stderr, "agent: stopped immediately; unfinished work will be retried")
		exit(exitInterrupted)
	}()
	return ctx
}

// A program holds the dependencies of commands besides their flags. Tests replace them.
type program struct {
	version  string
	in       io.Reader
	out, err io.Writer
	node     func(context.Context, config.Config, node.Options) error
	lookup   func(ctx context.Context, host string) ([]string, error)
}

// errDone ends parsing after a flag such as --help or --version has printed its output.
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
		p.printError(errors.New(plainErrors.Replace(err.Error())))
		p.notice("run %s --help for usage", commandOf(err))
		return exitUsage
	}
	err = errors.Join(parsed.Run(), out.err)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		p.notice("interrupted")
		return exitInterrupted
	}
	p.printError(err)
	return exitCode(err)
}

// plainErrors replaces Go terms in kong's error messages with plain words.
var plainErrors = strings.NewReplacer(
	"a valid 64 bit int", "a whole number", "a valid 64 bit uint", "a whole number",
	"expected duration", "expected a duration like 30s", " (string)", "",
)

// commandOf returns the path of the command that kong had selected before an error.
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
		kong.Description("feedmesh collects feeds and makes their items searchable. Without a command, agent runs a node."),
		kong.Writers(p.out, p.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(printHelp),
		kong.Configuration(readSettings),
		planDefaults,
		kong.Bind(p),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		// A first argument without a dash can only be a command. Without a default command kong suggests the
		// nearest command name.
		options = append(options, kong.PostBuild(func(k *kong.Kong) error { k.Model.DefaultCmd = nil; return nil }))
	}
	return kong.Must(&cli{}, options...)
}

func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	return errors.Join(kong.DefaultHelpPrinter(options, ctx), errDone)
}

// readSettings reads a configuration file and adds its name to errors.
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

// A settingsFile adds the file's name to validation errors.
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
	p.page().printf("feedmesh %s\n", p.version)
	return errDone
}

// Exit codes besides 0.
const (
	exitFailure     = 1
	exitUsage       = 2 // the command line, a setting or a file is wrong
	exitPartial     = 3 // some arguments succeeded, some failed
	exitInterrupted = 130
)

// An exitError is an error with an exit code. Its text is empty if the error has been printed already.
type exitError struct {
	error
	code int
}

func (f exitError) Unwrap() error { return f.error }

var errReported = errors.New("")

// usageError returns an error with exit code 2: wrong arguments, settings or files.
func usageError(format string, args ...any) error {
	return exitError{fmt.Errorf(format, args...), exitUsage}
}

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	var f exitError
	if errors.As(err, &f) {
		return f.code
	}
	var p *client.Problem
	if errors.As(err, &p) {
		switch p.Status {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			return exitUsage
		}
	}
	return exitFailure
}

// A bulkResult lists which arguments of a command succeeded and which failed.
type bulkResult struct {
	Done   []string     `json:"done"`
	Failed []failedItem `json:"failed"`
}

type failedItem struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// each calls do for each name and prints the errors, as [query.each] does.
func (p *program) each(ctx context.Context, names []string, do func(name string) error) (bulkResult, error) {
	d := bulkResult{Done: []string{}, Failed: []failedItem{}}
	worst := exitUsage
	for _, name := range names {
		err := do(name)
		var refusal *client.Problem
		var withCode exitError
		switch {
		case err == nil:
			d.Done = append(d.Done, name)
			continue
		case ctx.Err() != nil, !errors.As(err, &refusal) && !errors.As(err, &withCode):
			return d, err
		}
		d.Failed = append(d.Failed, failedItem{name, err.Error()})
		if text := err.Error(); strings.Contains(text, name) {
			p.notice("%s", text)
		} else {
			p.notice("%s: %s", name, text)
		}
		worst = min(worst, exitCode(err))
	}
	switch {
	case len(d.Failed) == 0:
		return d, nil
	case len(d.Done) > 0:
		return d, exitError{errReported, exitPartial}
	}
	return d, exitError{errReported, worst}
}
