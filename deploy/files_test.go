// Package deploy_test tests the deployment files: it runs NATS servers with these configurations, and agents
// with their permissions.
package deploy_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"feedmesh/agent/role"
	"feedmesh/config"
)

// read returns a file of this folder.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// found returns the distinct matches of the expression's first group.
func found(expression, text string) []string {
	var all []string
	for _, match := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// knownSettings returns the flags and the environment variables of the program.
func knownSettings(t *testing.T) (flags, variables []string) {
	t.Helper()
	type settings config.Config // without the method that kong would call to validate them
	var cli struct {
		Config   kong.ConfigFlag
		Settings settings `embed:""`
	}
	k, err := kong.New(&cli, config.Types()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range k.Model.Flags {
		flags, variables = append(flags, "--"+flag.Name), append(variables, flag.Envs...)
	}
	return flags, variables
}

func TestFiles_SettingsExist(t *testing.T) {
	flags, variables := knownSettings(t)
	for _, path := range []string{"README.md", "Dockerfile", "compose.yaml", "systemd/agent.service", "packages/agent.env", "nats/feedmesh.conf", "nats/leaf.conf"} {
		text := read(t, path)
		for _, name := range found(`(FEEDMESH_[A-Z_]+)`, text) {
			if !slices.Contains(variables, name) {
				t.Errorf("%s: unknown setting %s", path, name)
			}
		}
		for _, line := range found(`(?m)^[ #]*(?:feedmesh|agent) (--.*)$`, text) {
			for _, flag := range found(`(--[a-z-]+)`, line) {
				if !slices.Contains(flags, flag) {
					t.Errorf("%s: unknown flag %s", path, flag)
				}
			}
		}
	}
}

func TestCompose_MountedFilesExist(t *testing.T) {
	text := read(t, "compose.yaml")
	made := found(`"(nats-[a-z]+|nats\.conf|postgres|pgpass|meilisearch|search-key|secret-key|token)"`, read(t, "secrets/main.go"))
	for _, user := range append([]string{"all"}, role.Names(role.All)...) {
		made = append(made, "nats-"+user)
	}
	for _, path := range append(found(`[{ ]file: ([^ }]+)`, text), found(`dockerfile: deploy/([^ }]+)`, text)...) {
		secret, is := strings.CutPrefix(path, "secrets/")
		if is && !slices.Contains(made, secret) {
			t.Errorf("no program creates the secret %s", path)
		}
		if _, err := fs.Stat(os.DirFS("."), path); !is && err != nil {
			t.Error(err)
		}
	}
	for _, secret := range found(`/run/secrets/([a-z-]+)`, text) {
		if !strings.Contains(text, "\n  "+secret+": { file: secrets/") {
			t.Errorf("secret %s not declared", secret)
		}
	}
}

// metrics returns the names of the program's metrics.
func metrics(t *testing.T) []string {
	t.Helper()
	var code strings.Builder
	err := fs.WalkDir(os.DirFS(".."), "agent", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			code.WriteString(read(t, filepath.Join("..", path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found(`"(feedmesh_[a-z_]+)"`, code.String())
}

// checkMetrics checks that the metrics of queries exist, and that there are at least as many as given.
func checkMetrics(t *testing.T, name, queries string, least int) {
	t.Helper()
	all := metrics(t)
	used := found(`(feedmesh_[a-z_]+)`, queries)
	if len(used) < least {
		t.Errorf("%s: got metrics %v, want %d at least", name, used, least)
	}
	for _, metric := range used {
		base := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(metric, "")
		if !slices.Contains(all, metric) && !slices.Contains(all, base) {
			t.Errorf("%s: unknown metric %s", name, metric)
		}
	}
}

func TestDashboardAndAlerts_MetricsExist(t *testing.T) {
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(read(t, "grafana/feedmesh.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"alerts.yaml": read(t, "prometheus/alerts.yaml"), "alerts_test.yaml": read(t, "prometheus/alerts_test.yaml")}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			texts["feedmesh.json"] += target.Expr + "\n"
		}
	}
	for name, text := range texts {
		checkMetrics(t, name, text, 10)
	}
}
