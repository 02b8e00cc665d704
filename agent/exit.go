package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"feedmesh/agent/client"
)

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

// printDone prints a line for each success; %s in words stands for the name.
func (q query) printDone(p *program, d bulkResult, words string) {
	q.print(p, d, func(pg *page) {
		for _, name := range d.Done {
			pg.printf(words+"\n", name)
		}
	})
}

type failedItem struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// each calls do for each name and prints the errors. An error of one name does not stop the others, but each
// returns early if the context is cancelled
// or the node does not respond.
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
