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

// need skips the test with a message if a tool is not installed.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: %s is not installed; run tests/engines/install", tool)
		}
	}
}

// output returns the output of a command; the test fails if the command fails.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestAlerts_PassRuleTests(t *testing.T) {
	need(t, "promtool")
	output(t, "promtool", "check", "rules", "prometheus/alerts.yaml")
	output(t, "promtool", "test", "rules", "prometheus/alerts_test.yaml")
}

func TestService_ValidAndHardened(t *testing.T) {
	need(t, "systemd-analyze")
	const path = "systemd/agent.service"
	// systemd-analyze verify requires an existing program.
	unit := filepath.Join(t.TempDir(), "agent.service")
	text := strings.Replace(read(t, path), "ExecStart=/usr/local/bin/agent", "ExecStart=/bin/true", 1)
	if err := os.WriteFile(unit, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := output(t, "systemd-analyze", "verify", unit); out != "" {
		t.Errorf("systemd-analyze verify failed:\n%s", out)
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

// The agent runs under strace without systemd. Every system call must be permitted by the service, and no
// memory may be both writable and executable. With -D strace is the child, and the process is the agent.
func TestService_AllowsSystemCallsOfAgent(t *testing.T) {
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
			t.Errorf("agent calls %s, which the service does not allow", call)
		}
	}
	if found := regexp.MustCompile(`.*PROT_WRITE\|PROT_EXEC.*|mprotect.*PROT_EXEC.*`).Find(log); found != nil {
		t.Errorf("agent makes memory executable: %s", found)
	}
	if families := found(`socket\((AF_[A-Z0-9]+)`, string(log)); slices.ContainsFunc(families, func(f string) bool {
		return !slices.Contains([]string{"AF_INET", "AF_INET6", "AF_UNIX"}, f)
	}) {
		t.Errorf("agent opens sockets of families %v", families)
	}
}

// calls returns the system calls of a systemd call set, including nested sets.
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
