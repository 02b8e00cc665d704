package main

import (
	"context"
	"errors"
	"feedmesh/tools/bench/report"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// history is the folder of stored results, with a folder for each day.
const history = "results"

var errMissing = errors.New("some parts failed")

// runAll runs the parts named by the arguments, or the suite, and prints the results. Results of the suite
// are stored, others only if a folder is given.
func runAll(ctx context.Context, args []string, folder string) error {
	all, err := selectedParts(args)
	if err != nil {
		return err
	}
	if len(args) == 0 && folder == "" {
		folder = history
	}
	r := report.Results{Machine: thisMachine(ctx)}
	var faults []error
	for _, one := range all {
		rows, err := runAsProcess(ctx, one)
		for i := range rows {
			rows[i].Commit = r.Machine.Commit
		}
		r.Rows = append(r.Rows, rows...)
		if errors.Is(err, errHelpOnly) {
			return nil
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%w: %s: %w", errMissing, one[0], err))
		}
		if ctx.Err() != nil {
			return errors.Join(faults...)
		}
	}
	r.Print(os.Stdout)
	if folder != "" {
		faults = append(faults, r.Keep(folder))
		fmt.Fprintf(os.Stderr, "results are in %s\n", filepath.Join(folder, r.Day()))
	}
	return errors.Join(faults...)
}

// selectedParts returns the parts to run, each with its name and its arguments.
func selectedParts(args []string) (all [][]string, err error) {
	for _, arg := range args {
		if _, is := partNamed(arg); is {
			all = append(all, []string{arg})
		} else if len(all) == 0 {
			return nil, fmt.Errorf("no part %q; -h lists all", arg)
		} else {
			all[len(all)-1] = append(all[len(all)-1], arg)
		}
	}
	if len(args) > 0 {
		return all, nil
	}
	for _, p := range parts {
		if p.suite {
			all = append(all, []string{p.name})
		}
	}
	return all, nil
}

// errHelpOnly reports that a part only printed its flags.
var errHelpOnly = errors.New("flags printed")

// runAsProcess runs a part as a process, and returns its rows. If the part fails, the last row contains the
// reason.
func runAsProcess(ctx context.Context, nameAndArgs []string) (rows []report.Row, err error) {
	err = inFolder(func(dir string) error {
		rows, err = runTo(ctx, filepath.Join(dir, "rows"), nameAndArgs)
		return err
	})
	return rows, err
}

// runTo runs a part as a process that writes its rows to a file.
func runTo(ctx context.Context, path string, nameAndArgs []string) ([]report.Row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-rows", path}, nameAndArgs...)...)
	var stderr lastLine
	cmd.Stdout, cmd.Stderr = os.Stderr, io.MultiWriter(os.Stderr, &stderr)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	fmt.Fprintf(os.Stderr, "\n%s\n", strings.Join(nameAndArgs, " "))
	failed := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitHelp {
		return nil, errHelpOnly
	}
	rows, err := report.ReadRows(path)
	if failed != nil {
		rows = append(rows, report.Row{What: "the part", Error: stderr.text(failed)})
	}
	command := "just bench " + strings.Join(nameAndArgs, " ")
	for i := range rows {
		rows[i].Part, rows[i].Command = nameAndArgs[0], command
	}
	return rows, errors.Join(failed, err)
}

// lastLine buffers the last line written to it, usually a process's error.
type lastLine struct{ line []byte }

func (l *lastLine) Write(b []byte) (int, error) {
	l.line = append(l.line, b...)
	text := strings.TrimRight(string(l.line), "\n")
	l.line = append(l.line[:0], string(l.line)[strings.LastIndexByte(text, '\n')+1:]...)
	return len(b), nil
}

func (l *lastLine) text(failed error) string {
	if line := strings.TrimSpace(strings.TrimPrefix(string(l.line), "bench: ")); line != "" {
		return line
	}
	return failed.Error()
}
