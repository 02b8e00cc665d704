package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// history is where results are kept, a folder for each day.
const history = "bench/results"

var errMissing = errors.New("not all could be measured")

// runAll runs the parts that the arguments name, or the suite, and prints what they
// measured. The suite's results are kept, those of others if a folder is given.
func runAll(ctx context.Context, args []string, folder string) error {
	all, err := asked(args)
	if err != nil {
		return err
	}
	if len(args) == 0 && folder == "" {
		folder = history
	}
	r := results{Machine: thisMachine(ctx)}
	var faults []error
	for _, one := range all {
		rows, err := runAsProcess(ctx, one)
		for i := range rows {
			rows[i].Commit = r.Machine.Commit
		}
		r.Rows = append(r.Rows, rows...)
		if errors.Is(err, errNotMeant) {
			return nil
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%w: %s: %w", errMissing, one[0], err))
		}
		if ctx.Err() != nil {
			return errors.Join(faults...)
		}
	}
	r.print(os.Stdout)
	if folder != "" {
		faults = append(faults, r.keep(folder))
		fmt.Fprintf(os.Stderr, "results are in %s\n", filepath.Join(folder, r.day()))
	}
	return errors.Join(faults...)
}

// asked returns the parts to run, each with its name and its arguments.
func asked(args []string) (all [][]string, err error) {
	for _, arg := range args {
		if _, is := partNamed(arg); is {
			all = append(all, []string{arg})
		} else if len(all) == 0 {
			return nil, fmt.Errorf("there is no part %q; -h names all", arg)
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

// errNotMeant is that a part was only asked for its flags.
var errNotMeant = errors.New("its flags were printed")

// runAsProcess runs a part as a process, and returns its rows. If the part fails,
// the last of them says why.
func runAsProcess(ctx context.Context, nameAndArgs []string) (rows []Row, err error) {
	err = inFolder(func(dir string) error {
		rows, err = runTo(ctx, filepath.Join(dir, "rows"), nameAndArgs)
		return err
	})
	return rows, err
}

// runTo runs a part as a process that writes its rows to a file.
func runTo(ctx context.Context, path string, nameAndArgs []string) ([]Row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-rows", path}, nameAndArgs...)...)
	var said lastLine
	cmd.Stdout, cmd.Stderr = os.Stderr, io.MultiWriter(os.Stderr, &said)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	fmt.Fprintf(os.Stderr, "\n%s\n", strings.Join(nameAndArgs, " "))
	failed := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitHelp {
		return nil, errNotMeant
	}
	rows, err := readRows(path)
	if failed != nil {
		rows = append(rows, Row{What: "the part", Error: said.text(failed)})
	}
	command := "just bench " + strings.Join(nameAndArgs, " ")
	for i := range rows {
		rows[i].Part, rows[i].Command = nameAndArgs[0], command
	}
	return rows, errors.Join(failed, err)
}

// readRows reads the rows that a part wrote; none if it wrote no file.
func readRows(path string) (rows []Row, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); ; {
		var r Row
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return rows, fmt.Errorf("read rows: %w", err)
		}
		rows = append(rows, r)
	}
}

// lastLine keeps the last line that is written to it: why a process failed.
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
