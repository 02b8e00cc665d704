package docs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tests/engines"
)

// A shell executes commands as a new user would, in an empty folder.
type shell struct {
	t       *testing.T
	program string // the agent, which stands for "go run ./agent" and "agent"
	folder  string
	env     []string
	api     *client.Client
	replace *strings.Replacer
}

func TestREADME_CommandsWorkInAnEmptyFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts nodes")
	}
	s := newShell(t)
	executed := 0
	for _, command := range commands(read(t, filepath.Join(root, "README.md"))) {
		executed++
		t.Logf("$ %s", command)
		arguments := strings.Fields(s.replace.Replace(command))
		switch {
		case command == "npx --yes rust-just test":
			s.dryRun("test")
		case strings.HasPrefix(command, "just "):
			s.dryRun(strings.TrimPrefix(command, "just "))
		case command == "go run ./agent":
			s.startNode()
		case strings.HasPrefix(command, "go run ./agent --simulate"):
			s.simulate(arguments[3:])
		case strings.HasPrefix(command, "go run ./agent search"):
			s.until(arguments[3:], "postgres replication explained")
		case command == "go run ./agent doctor":
			s.doctor()
		case strings.HasPrefix(command, "go run ./agent"):
			s.run(arguments[3:]...)
		case strings.HasPrefix(command, "agent --nats"):
			s.startMember(arguments[1:])
		case strings.HasPrefix(command, "agent feeds test"):
			s.run("feeds", "test", s.replace.Replace("https://example.org/feed.xml"), "--compare")
		default:
			t.Errorf("the test cannot execute %q: teach it, or remove the command", command)
		}
	}
	if executed < 12 {
		t.Errorf("found %d commands in the README, want at least 12", executed)
	}
}

var inline = regexp.MustCompile("`((?:go run \\./agent|agent|just) [^`]+|go run \\./agent)`")

// commands returns the commands of a document's shell blocks and inline code, in
// their order, without comments.
func commands(document string) []string {
	var found []string
	inCode := false
	for line := range strings.Lines(document) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			inCode = !inCode && strings.HasPrefix(trimmed, "```sh")
			continue
		}
		if inCode {
			if command, _, _ := strings.Cut(trimmed, " #"); command != "" {
				found = append(found, strings.TrimSpace(command))
			}
			continue
		}
		for _, code := range inline.FindAllStringSubmatch(line, -1) {
			if code[1] != "just --list" {
				found = append(found, code[1])
			}
		}
	}
	return found
}

const document = `<rss version="2.0"><channel><title>Databases</title><link>https://example.org/</link>
<item><title>Postgres replication explained</title><link>https://example.org/replication</link><description>How replicas follow.</description></item>
</channel></rss>`

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, folder: t.TempDir(), program: filepath.Join(t.TempDir(), "agent")}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", s.program, "feedmesh/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, document) }))
	t.Cleanup(web.Close)
	list := fmt.Sprintf(`<opml version="2.0"><body><outline text="Databases"><outline type="rss" xmlUrl="%s/other.xml"/></outline></body></opml>`, web.URL)
	if err := os.WriteFile(filepath.Join(s.folder, "subscriptions.opml"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	listen := s.listen()
	s.env = append(os.Environ(),
		"FEEDMESH_LISTEN="+listen, "FEEDMESH_API=http://"+listen, "FEEDMESH_STARTER=false", "FEEDMESH_ALLOW_NET=127.0.0.0/8,::1/128")
	var err error
	if s.api, err = client.NewClient("http://"+listen, ""); err != nil {
		t.Fatal(err)
	}
	servers, err := engines.StartNATS(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, server := range servers.Servers {
			server.Kill()
		}
	})
	s.replace = strings.NewReplacer("https://example.org/feed.xml", web.URL+"/feed.xml", "nats://host:4222", servers.URLs()[0])
	return s
}

func (s *shell) listen() string {
	s.t.Helper()
	port, err := engines.FreePort()
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// dryRun looks whether a recipe exists and its dependencies are found. The test is
// itself part of the recipe test, so it cannot be executed here.
func (s *shell) dryRun(recipe string) {
	s.t.Helper()
	just := exec.Command("npx", "--yes", "rust-just", "--dry-run", recipe)
	just.Dir = root
	if out, err := just.CombinedOutput(); err != nil {
		s.t.Errorf("just %s: %v\n%s", recipe, err, out)
	}
}

// startNode starts a node that runs until the test ends, and waits until it answers.
func (s *shell) startNode() {
	s.t.Helper()
	p := &engines.Process{Name: "node", Path: s.program, Dir: s.folder, Env: s.env}
	if err := p.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { p.Stop(syscall.SIGTERM, time.Minute) })
	s.wait(p, func(wire.Status) bool { return true }, s.api)
}

func (s *shell) wait(p *engines.Process, ok func(wire.Status) bool, api *client.Client) {
	s.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if status, err := client.Call(s.t.Context(), api, wire.GetStatus, wire.None{}); err == nil && ok(status) {
			return
		} else if !p.Running() || time.Now().After(deadline) {
			s.t.Fatalf("the agent does not reach the expected state (%v):\n%s", err, p.Log())
		}
	}
}

// simulate starts a node of its own, as another shell would, and waits for items.
func (s *shell) simulate(arguments []string) {
	s.t.Helper()
	client, env := s.other()
	p := &engines.Process{Name: "simulation", Path: s.program, Args: arguments, Dir: s.folder, Env: env}
	if err := p.Start(); err != nil {
		s.t.Fatal(err)
	}
	defer p.Stop(syscall.SIGTERM, time.Minute)
	s.wait(p, func(status wire.Status) bool { return status.Items > 0 }, client)
}

// startMember starts an agent of a mesh. The first one serves the API and is waited for there; another one, with
// fewer roles, is waited for in the status of the first.
func (s *shell) startMember(arguments []string) {
	s.t.Helper()
	client, env := s.other()
	p := &engines.Process{Name: "member", Path: s.program, Args: append(arguments, "--data", s.t.TempDir()), Dir: s.folder, Env: env}
	if err := p.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { p.Stop(syscall.SIGTERM, time.Minute) })
	agents := 2
	if !slices.Contains(arguments, "--roles") {
		agents, s.api = 1, client
	}
	s.wait(p, func(status wire.Status) bool { return len(status.Agents) == agents }, s.api)
}

// other returns a client and the environment of another agent on this machine.
func (s *shell) other() (*client.Client, []string) {
	s.t.Helper()
	listen := s.listen()
	client, err := client.NewClient("http://"+listen, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return client, []string{"FEEDMESH_LISTEN=" + listen, "FEEDMESH_STARTER=false", "FEEDMESH_ALLOW_NET=127.0.0.0/8,::1/128"}
}

// doctor executes the check of the node. Only the check of public names may fail: a machine of tests may have no
// Internet.
func (s *shell) doctor() {
	s.t.Helper()
	out, err := s.execute("doctor")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "FAILED") && !strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(line, "FAILED")), "dns") {
			s.t.Errorf("agent doctor: %v\n%s", err, out)
			return
		}
	}
	if !strings.Contains(out, "node: store") {
		s.t.Errorf("agent doctor did not check the node: %v\n%s", err, out)
	}
}

// run executes a command of the agent, which must succeed, and returns its output.
func (s *shell) run(arguments ...string) string {
	s.t.Helper()
	out, err := s.execute(arguments...)
	if err != nil {
		s.t.Errorf("agent %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return out
}

// execute executes a command of the agent and returns its output on both streams.
func (s *shell) execute(arguments ...string) (string, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, s.program, arguments...)
	command.Dir, command.Env = s.folder, s.env
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	return out.String(), err
}

// until executes a command until its output contains a text.
func (s *shell) until(arguments []string, text string) {
	s.t.Helper()
	out := ""
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if out = s.run(arguments...); strings.Contains(strings.ToLower(out), text) {
			return
		}
	}
	s.t.Errorf("agent %s does not print %q within three minutes:\n%s", strings.Join(arguments, " "), text, out)
}
