package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"feedmesh/agent/api"
)

// Exit codes besides 0.
const (
	failed      = 1
	misused     = 2 // the command line, a setting or a file is wrong
	partly      = 3 // some of several were done
	interrupted = 130
)

// A fault is an error with the exit code it ends the program with. Its text is
// empty if all there is to say has been said.
type fault struct {
	error
	code int
}

func (f fault) Unwrap() error { return f.error }

var errSaid = errors.New("")

// wrong returns the error of a user who asked for what can't be.
func wrong(format string, args ...any) error { return fault{fmt.Errorf(format, args...), misused} }

// exitCode returns the code that an error ends the program with.
func exitCode(err error) int {
	var f fault
	if errors.As(err, &f) {
		return f.code
	}
	var p *api.Problem
	if errors.As(err, &p) {
		switch p.Status {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			return misused
		}
	}
	return failed
}

// A deed says what became of the arguments of a command that takes several.
type deed struct {
	Done   []string      `json:"done"`
	Failed []failedThing `json:"failed"`
}

// printDone prints what was done, in words in which %s stands for the name.
func (q query) printDone(p *program, d deed, words string) {
	q.print(p, d, func(pg *page) {
		for _, name := range d.Done {
			pg.printf(words+"\n", name)
		}
	})
}

type failedThing struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// each does something to each of several things, and says of those that failed
// why. What is wrong with one does not keep the others from being done, but it
// ends where there is no answer at all.
func (p *program) each(ctx context.Context, names []string, do func(name string) error) (deed, error) {
	d := deed{Done: []string{}, Failed: []failedThing{}}
	worst := misused
	for _, name := range names {
		err := do(name)
		var refusal *api.Problem
		var mine fault
		switch {
		case err == nil:
			d.Done = append(d.Done, name)
			continue
		case ctx.Err() != nil, !errors.As(err, &refusal) && !errors.As(err, &mine):
			return d, err
		}
		d.Failed = append(d.Failed, failedThing{name, err.Error()})
		if text := err.Error(); strings.Contains(text, name) {
			p.say("%s", text)
		} else {
			p.say("%s: %s", name, text)
		}
		worst = min(worst, exitCode(err))
	}
	switch {
	case len(d.Failed) == 0:
		return d, nil
	case len(d.Done) > 0:
		return d, fault{errSaid, partly}
	}
	return d, fault{errSaid, worst}
}
