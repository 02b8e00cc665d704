// Package commandtest runs the commands of package command in tests.
package commandtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/tools/command"
)

// A Result is the outcome of a command.
type Result struct {
	Code     int
	Out, Err string
}

// Do runs the command that args select in cli.
func Do(t *testing.T, cli any, args ...string) Result {
	t.Helper()
	var out, err bytes.Buffer
	code := command.Run(t.Context(), &command.Output{Out: &out, Err: &err}, "test", "", cli, args)
	return Result{code, out.String(), err.String()}
}

// Check fails the test if the exit code differs, or if standard output or standard error lacks a text.
func (r Result) Check(t *testing.T, code int, out, err string) {
	t.Helper()
	if r.Code != code || !strings.Contains(r.Out, out) || !strings.Contains(r.Err, err) {
		t.Errorf("got code %d, stdout %q, stderr %q; want %d, %q, %q", r.Code, r.Out, r.Err, code, out, err)
	}
}

// Write writes a file in a temporary folder and returns its path.
func Write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
