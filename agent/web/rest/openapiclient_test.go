package rest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"feedmesh/storage"
)

// npm executes programs of the packages in tests/engines, in a folder in which TypeScript finds them.
type npm struct {
	t      *testing.T
	folder string
}

// newNPM returns a temporary folder with the OpenAPI descriptions of a testbed. It skips the test
// where a package is not installed.
func newNPM(t *testing.T, w *testbed, packages ...string) npm {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Node.js")
	}
	modules, err := filepath.Abs("../../../tests/engines/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		if _, err := os.Stat(filepath.Join(modules, p)); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: %s is not installed; run just engines", p)
		}
	}
	n := npm{t, t.TempDir()}
	if err := os.Symlink(modules, filepath.Join(n.folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"openapi.json", "openapi-3.0.json"} {
		n.write(version, []byte(w.request(t, "GET", "/"+version, "").body))
	}
	return n
}

func (n npm) write(name string, data []byte) {
	n.t.Helper()
	if err := os.WriteFile(filepath.Join(n.folder, name), data, 0o600); err != nil {
		n.t.Fatal(err)
	}
}

// node executes a script and returns its standard output.
func (n npm) node(script string, arguments ...string) []byte {
	n.t.Helper()
	var out, messages strings.Builder
	c := exec.CommandContext(n.t.Context(), "node", append([]string{script}, arguments...)...)
	c.Dir, c.Stdout, c.Stderr = n.folder, &out, &messages
	c.Env = append(os.Environ(), "NO_COLOR=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if err := c.Run(); err != nil {
		n.t.Fatalf("node %s %s: %v\n%s%s", script, strings.Join(arguments, " "), err, out.String(), messages.String())
	}
	return []byte(out.String())
}

func TestOpenAPI_LinterFindsNothing(t *testing.T) {
	t.Parallel()
	n := newNPM(t, newTestbed(t), "@redocly/cli")
	for _, options := range [][]string{
		{"openapi.json"},
		{"openapi-3.0.json", "--skip-rule=spec-ref-siblings"}, // version 3.0 ignores descriptions beside $ref
	} {
		var report struct {
			Totals struct{ Errors, Warnings int }
		}
		out := n.node("node_modules/@redocly/cli/bin/cli.js", append([]string{"lint", "--format=json"}, options...)...)
		if err := json.Unmarshal(out, &report); err != nil || report.Totals.Errors+report.Totals.Warnings != 0 {
			t.Errorf("%s: got %d errors, %d warnings, %v, want none:\n%s", options[0], report.Totals.Errors, report.Totals.Warnings, err, out)
		}
	}
}

func TestOpenAPI_GeneratedClientListsFeeds(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	n := newNPM(t, w, "openapi-typescript", "openapi-fetch", "typescript")
	program, err := os.ReadFile("testdata/listfeeds.mts")
	if err != nil {
		t.Fatal(err)
	}
	n.write("listfeeds.mts", program)
	n.node("node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "api.d.ts")
	n.node("node_modules/typescript/bin/tsc", "--strict", "--skipDefaultLibCheck",
		"--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "listfeeds.mts")

	var got struct {
		Feeds   []storage.Feed
		Problem struct {
			Status int
			Detail string
		}
	}
	if err := json.Unmarshal(n.node("listfeeds.mjs", w.URL), &got); err != nil {
		t.Fatal(err)
	}
	stored, err := w.Store.FindFeeds(t.Context(), storage.FeedQuery{Limit: 100})
	if err != nil || len(stored) != 3 {
		t.Fatalf("got %d feeds of the store, %v, want 3", len(stored), err)
	}
	for _, f := range stored {
		if !slices.ContainsFunc(got.Feeds, func(g storage.Feed) bool {
			return g.ID == f.ID && g.URL == f.URL && g.Title == f.Title && g.Added.Equal(f.Added) && slices.Equal(g.Tags, f.Tags)
		}) {
			t.Errorf("the client did not list feed %+v; got %+v", f, got.Feeds)
		}
	}
	if len(got.Feeds) != len(stored) || got.Problem.Status != 404 || got.Problem.Detail == "" {
		t.Errorf("got %d feeds and problem %+v, want %d feeds and the problem of a missing feed", len(got.Feeds), got.Problem, len(stored))
	}
}
