// Package command runs the programs under tools: it parses their command lines with kong and defines their
// output, errors and exit codes.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes besides 0.
const (
	exitFailure = 1
	exitUsage   = 2 // an argument or an input file is wrong
)

// Output is where a command writes its results (Out) and its notices (Err). Commands take it as an argument
// of Run.
type Output struct{ Out, Err io.Writer }

// JSON writes v in one line to Out.
func (o *Output) JSON(v any) error {
	e := json.NewEncoder(o.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// A usage is an error with exit code 2.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// Usage returns an error with exit code 2: a wrong argument or input file.
func Usage(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

// errDone ends parsing after --help has printed its output.
var errDone = errors.New("done")

// Main runs the command that os.Args select in cli, a struct with the tags of kong, and exits. SIGINT and
// SIGTERM cancel the context.
func Main(name, description string, cli any) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(Run(ctx, &Output{os.Stdout, os.Stderr}, name, description, cli, os.Args[1:]))
}

// Run is Main with arguments and output of its own. It returns the exit code.
func Run(ctx context.Context, o *Output, name, description string, cli any, args []string) int {
	err := run(ctx, o, name, description, cli, args)
	switch {
	case err == nil, errors.Is(err, errDone):
		return 0
	case errors.As(err, new(usage)):
		fmt.Fprintf(o.Err, "%s: %v\n", name, err)
		return exitUsage
	}
	fmt.Fprintf(o.Err, "%s: %v\n", name, err)
	return exitFailure
}

func run(ctx context.Context, o *Output, name, description string, cli any, args []string) error {
	parser, err := kong.New(cli,
		kong.Name("go run ./tools/"+name),
		kong.Description(description),
		kong.Writers(o.Out, o.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(func(options kong.HelpOptions, ctx *kong.Context) error {
			return errors.Join(kong.DefaultHelpPrinter(options, ctx), errDone)
		}),
		kong.Bind(o),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return usage{err}
	}
	return parsed.Run()
}
