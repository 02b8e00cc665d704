package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedmesh/tests/engines"
)

// need skips the test, aloud, where a tool is not installed.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here: tests/engines/install installs it", tool)
		}
	}
}

// output returns what a command prints, and fails if it does.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestAlertsRaiseWhatTheyShould(t *testing.T) {
	need(t, "promtool")
	output(t, "promtool", "check", "rules", "prometheus/alerts.yaml")
	output(t, "promtool", "test", "rules", "prometheus/alerts_test.yaml")
}

func TestServiceIsSoundAndHardened(t *testing.T) {
	need(t, "systemd-analyze")
	const path = "systemd/feedmesh.service"
	// verify wants the program to be there.
	unit := filepath.Join(t.TempDir(), "feedmesh.service")
	text := strings.Replace(read(t, path), "ExecStart=/usr/local/bin/feedmesh", "ExecStart=/bin/true", 1)
	if err := os.WriteFile(unit, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := output(t, "systemd-analyze", "verify", unit); out != "" {
		t.Errorf("systemd-analyze verify says:\n%s", out)
	}
	out := output(t, "systemd-analyze", "security", "--offline=true", path)
	level := regexp.MustCompile(`exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(out)
	if level == nil {
		t.Fatalf("no exposure level in:\n%s", out)
	}
	if got, err := strconv.ParseFloat(level[1], 64); err != nil || got > 2 {
		t.Errorf("got exposure level %s, want 2.0 at most", level[1])
	}
}

// The agent runs here without systemd, under strace: each call it makes must be
// one that the service allows, and no memory both written and executed. With -D
// strace stands aside, and the process is the agent.
func TestAgentStaysWithinItsService(t *testing.T) {
	need(t, "systemd-analyze", "strace")
	dir := t.TempDir()
	agent, trace := filepath.Join(dir, "agent"), filepath.Join(dir, "trace")
	output(t, "go", "build", "-o", agent, "../agent")
	port := freePort(t)
	p := &engines.Process{
		Name: "agent under strace",
		Args: []string{"-D", "-f", "-qq", "-o", trace, agent, "--data", filepath.Join(dir, "data"), "--listen", hostPort(port), "--starter=false"},
	}
	var err error
	if p.Path, err = exec.LookPath("strace"); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if err := p.Ready(time.Minute, func() error { return exec.Command(agent, "status", "--api", "http://"+hostPort(port)).Run() }); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(syscall.SIGINT, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	var log []byte
	wait(t, "strace has written all", func() bool {
		log, err = os.ReadFile(trace)
		return err == nil && strings.Contains(string(log), "exit_group(0")
	})
	allowed := slices.Concat(calls(t, "@system-service"), calls(t, "@default"))
	forbidden := slices.Concat(calls(t, "@privileged"), calls(t, "@resources"))
	for _, call := range found(`(?m)^\d+ +([a-z0-9_]+)\(`, string(log)) {
		if !slices.Contains(allowed, call) || slices.Contains(forbidden, call) {
			t.Errorf("the agent calls %s, which its service does not allow", call)
		}
	}
	if found := regexp.MustCompile(`.*PROT_WRITE\|PROT_EXEC.*|mprotect.*PROT_EXEC.*`).Find(log); found != nil {
		t.Errorf("the agent makes memory executable: %s", found)
	}
	if families := found(`socket\((AF_[A-Z0-9]+)`, string(log)); slices.ContainsFunc(families, func(f string) bool {
		return !slices.Contains([]string{"AF_INET", "AF_INET6", "AF_UNIX"}, f)
	}) {
		t.Errorf("the agent opens sockets of %v", families)
	}
}

// calls returns the system calls of one of systemd's sets, and of those in it.
func calls(t *testing.T, set string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(output(t, "systemd-analyze", "syscall-filter", set)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line == set || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "@"):
			all = append(all, calls(t, line)...)
		default:
			all = append(all, line)
		}
	}
	return all
}
