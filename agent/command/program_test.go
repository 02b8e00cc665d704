package command

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"feedmesh/agent/node"
	"feedmesh/agent/service"
	"feedmesh/config"
	"feedmesh/subjects"
)

// TestMain lets the test binary run as a program with a node that waits for signals.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_STUCK_NODE") == "" {
		os.Exit(m.Run())
	}
	p := &program{out: os.Stdout, err: os.Stderr, node: func(ctx context.Context, _ config.Config, o node.Options) error {
		o.Log.Info("runs")
		<-ctx.Done()
		o.Log.Info("drains")
		if os.Getenv("TEST_STUCK_NODE") == "drained" {
			return nil
		}
		select {}
	}}
	os.Exit(p.run(untilSignal(context.Background(), os.Stderr, os.Exit), []string{"run"}))
}

// signalled starts a node that exits as requested and sends it signals, each after the effect of the previous
// one. It returns the exit code.
func signalled(t *testing.T, how string, signals ...os.Signal) (int, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals to send")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_STUCK_NODE="+how)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	await := func(text string) {
		for buf := make([]byte, 4096); !strings.Contains(all.String(), text); {
			n, err := stderr.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}
	marks := []string{"msg=runs", "msg=drains"}
	for i, s := range signals {
		await(marks[i])
		cmd.Process.Signal(s)
	}
	await("nothing says this")
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), all.String()
}

func TestUntilSignal_FirstSignalDrains(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if code, log := signalled(t, "drained", s); code != 0 {
			t.Errorf("after %v the code is %d: %s", s, code, log)
		}
	}
}

func TestUntilSignal_SecondSignalExits(t *testing.T) {
	code, log := signalled(t, "stuck", syscall.SIGTERM, os.Interrupt)
	if code != 130 || !strings.Contains(log, "agent: stopped immediately") {
		t.Errorf("the code is %d, the log %q", code, log)
	}
}

// An interruptingMesh calls interrupt when its queues are requested the second time: a command waits for them.
type interruptingMesh struct {
	service.Mesh
	left      *atomic.Int64
	interrupt context.CancelFunc
}

func (m interruptingMesh) Depths(ctx context.Context) ([]subjects.Depth, error) {
	if m.left.Add(-1) == 0 {
		m.interrupt()
	}
	return m.Mesh.Depths(ctx)
}

func TestInterruptedCommand_ExitCode130(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	left := new(atomic.Int64)
	left.Store(2)
	w := newTestbed(t, func(d *service.Deps) { d.Mesh = interruptingMesh{d.Mesh, left, cancel} })
	w.Mesh.Queues[0].Tasks = 1 << 40
	var out, err strings.Builder
	p := &program{out: &out, err: &err}
	code := p.run(ctx, []string{"reindex", "--api", w.URL})
	if code != 130 || !strings.Contains(err.String(), "the reindex continues in the node") {
		t.Errorf("got %d, %q", code, err.String())
	}
}

func TestRun_PassesSettings(t *testing.T) {
	isolate(t)
	var got config.Config
	p := &program{node: func(_ context.Context, c config.Config, o node.Options) error {
		got = c
		o.Log.Debug("hello")
		log.Print("a library says this")
		return errors.New("the disk is full: free some")
	}}
	s := doWith(t, p, "--roles", "crawl,parse", "--nats", "nats://h:4222", "--log-format=json", "--log-level=debug", "--no-starter")
	s.check(t, 1, "", `"err":"the disk is full: free some"`)
	lines := strings.Split(strings.TrimSpace(s.err), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("got %q, want one JSON object a line", line)
		}
	}
	if len(lines) != 3 || !strings.Contains(lines[0], `"msg":"hello"`) || !strings.Contains(lines[1], `"msg":"a library says this"`) {
		t.Errorf("the log is %q, want the debug message, what a library says, and how it ended", s.err)
	}
	want := config.Default()
	want.Roles, want.NATS, want.Log = []string{"crawl", "parse"}, []config.Address{"nats://h:4222"}, config.Log{Format: "json", Level: "debug"}
	if strings.Join(got.Roles, ",") != "crawl,parse" || !slices.Equal(got.NATS, want.NATS) || got.Log != want.Log || got.Starter {
		t.Errorf("the node got %+v", got)
	}
}

func TestRun_ReportsAllErrors(t *testing.T) {
	isolate(t)
	p := &program{node: func(context.Context, config.Config, node.Options) error {
		t.Error("the node was started")
		return nil
	}}
	s := doWith(t, p, "--roles", "all,crawl,sweep", "--crawl-timeout=-1s", "--listen", "0.0.0.0:8080")
	s.check(t, 2, "", "agent: crawl.timeout: -1s is not positive\n")
	for _, want := range []string{"agent: roles: \"all\" cannot be combined", "agent: roles: unknown role \"sweep\"", "agent: listen: 0.0.0.0:8080"} {
		if !strings.Contains(s.err, want) {
			t.Errorf("stderr lacks %q: %s", want, s.err)
		}
	}
}

func TestRun_VersionHelpAndRoles(t *testing.T) {
	isolate(t)
	t.Setenv("FEEDMESH_VERSION", "1.2.3") // container images may set it; it is not a flag
	do(t, "", "--version").check(t, 0, "feedmesh test", "")
	do(t, "", "--help").check(t, 0, "feeds import", "")
	do(t, "", "search", "--help").check(t, 0, "agent search go release --after 7d", "")
	do(t, "", "--list-roles").check(t, 0, "crawl     fetch", "")
	do(t, "", "run", "--list-roles").check(t, 0, "schedule  decide", "")
}

func TestCommands_HelpHasExample(t *testing.T) {
	p := &program{}
	for _, command := range p.parser(t.Context(), nil).Model.Leaves(true) {
		if command.Help == "" || !strings.Contains(command.Detail, "    agent") {
			t.Errorf("%s has the help %q and the details %q", command.FullPath(), command.Help, command.Detail)
		}
	}
}

func TestSink_LostOutputFails(t *testing.T) {
	isolate(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	var commandOutput strings.Builder
	p := &program{out: full, err: &commandOutput}
	if code := p.run(t.Context(), []string{"--list-roles"}); code != 1 || !strings.Contains(commandOutput.String(), "write output") {
		t.Errorf("got %d, %q", code, commandOutput.String())
	}
}
