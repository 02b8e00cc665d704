package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/tests/chromium"
)

// programs is the folder of the program under test, which is built once for all tests.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "feedmesh-tests"); err != nil {
		panic(err)
	}
	code := m.Run()
	chromium.Close()
	os.RemoveAll(programs)
	os.Exit(code)
}

var built = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(programs, "agent")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "../agent").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the agent: %w\n%s", err, out)
	}
	return path, nil
})

// build returns the path of the program.
func build(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// freeAddr returns a free address of this machine.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A process is a node as a separate process.
type process struct {
	*running
	cmd *exec.Cmd
	log *bytes.Buffer // read after it has ended
}

// spawn starts the program on a data folder and waits until it serves.
func spawn(t *testing.T, program, dir, addr string, flags ...string) *process {
	t.Helper()
	api, err := client.NewClient("http://"+addr, "")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{running: &running{Client: api, t: t}, log: new(bytes.Buffer)}
	p.cmd = exec.Command(program, append([]string{"--data", dir, "--listen", addr, "--starter=false", "--allow-net", "127.0.0.0/8", "--schedule-host-spacing", "0s"}, flags...)...)
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := client.Call(ctx, p.Client, wire.GetStatus, wire.None{})
		cancel()
		if err == nil {
			return p
		}
		if time.Now().After(deadline) {
			p.kill()
			t.Fatalf("the agent does not serve after %v: %v\n%s", startTimeout, err, p.log)
		}
	}
}

// kill kills the process, like a power failure.
func (p *process) kill() {
	p.cmd.Process.Signal(syscall.SIGKILL)
	p.cmd.Wait()
}

func TestKill_TwentyKillsLoseAndDuplicateNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two minutes")
	}
	t.Parallel()
	const feeds, items, kills = 500, 20, 20
	program, dir, addr := build(t), t.TempDir(), freeAddr(t)
	feedServer := simulate.NewFeedServer(feeds, items, time.Now().Add(-time.Hour))
	base := serve(t, feedServer)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	var list strings.Builder
	for i := range feeds {
		fmt.Fprintln(&list, base+feedServer.Path(i))
	}
	p := spawn(t, program, dir, addr)
	if in, err := p.ImportFeeds(t.Context(), strings.NewReader(list.String())); err != nil || in.Added != feeds {
		t.Fatalf("got %d feeds added, %v; want %d", in.Added, err, feeds)
	}
	for i := range kills {
		time.Sleep(time.Duration(random.IntN(900)) * time.Millisecond)
		st := p.status()
		p.kill()
		t.Logf("kill %2d: %d feeds polled, %d items stored, %d searchable", i+1, st.Feeds.Polled, st.Items, st.Indexed)
		p = spawn(t, program, dir, addr)
	}
	end := p.waitSettled()

	var got []string
	for _, item := range p.items() {
		got = append(got, item.URL)
	}
	want := feedServer.Served()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %d items in store and index, want exactly the %d that were served", len(got), len(want))
	}
	if len(want) != feeds*items || end.Items != int64(len(want)) || end.Indexed != end.Items {
		t.Errorf("got %d served, %d stored, %d indexed; want %d of each", len(want), end.Items, end.Indexed, feeds*items)
	}
	for range 50 {
		i, seq := random.IntN(feeds), random.IntN(items)
		found, err := client.Call(t.Context(), p.Client, wire.SearchItems, wire.Search{Query: simulate.UniqueWord(i, seq), Limit: 10, Sort: "best"})
		if err != nil || len(found.Items) != 1 || found.Items[0].URL != simulate.Link(i, seq) {
			t.Errorf("search for entry %d of feed %d: got %d items, %v; want the entry", seq, i, found.Total, err)
		}
	}
	requests, full := feedServer.Count()
	t.Logf("%d requests, %d of them for whole documents, for %d feeds and %d kills", requests, full, feeds, kills)
}

// After SIGTERM the work in progress finishes; none of it is repeated.
func TestKill_TermSignalDrains(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	t.Parallel()
	program, dir, addr := build(t), t.TempDir(), freeAddr(t)
	feedServer := simulate.NewFeedServer(200, 20, time.Now().Add(-time.Hour))
	base := serve(t, feedServer)
	var urls []string
	for i := range 200 {
		urls = append(urls, base+feedServer.Path(i))
	}
	p := spawn(t, program, dir, addr)
	p.add(urls...)
	within(t, settleTimeout, "an item is stored", func() bool { return p.status().Items > 0 })
	began := time.Now()
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("got %v after SIGTERM, want exit code 0\n%s", err, p.log)
	}
	if elapsed := time.Since(began); elapsed > 30*time.Second {
		t.Errorf("took %v to drain, want at most 30 s", elapsed)
	}
	p = spawn(t, program, dir, addr, "--log-level", "debug")
	end := p.waitSettled()
	if end.Items != 200*20 || end.Indexed != end.Items {
		t.Errorf("got %d items, %d indexed; want %d", end.Items, end.Indexed, 200*20)
	}
	if requests, _ := feedServer.Count(); requests != 200 {
		t.Errorf("got %d requests for 200 feeds, want each fetched once", requests)
	}
}

// run runs the program and returns its output and its exit code.
func run(t *testing.T, program string, args ...string) (stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var output bytes.Buffer
	cmd.Stderr = &output
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return output.String(), cmd.ProcessState.ExitCode()
}

func TestBadInput_IsRejectedWithAMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	t.Parallel()
	program, dir, addr := build(t), t.TempDir(), freeAddr(t)
	p := spawn(t, program, dir, addr)
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	web := file("page.html", "<!DOCTYPE html><html><body>hello</body></html>")
	wrong := file("wrong.toml", "[crawl]\ntimeout = \"-1s\"\nparalel = 3\n")
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		messages []string
	}{
		{"a port in use", []string{"--data", t.TempDir(), "--listen", addr}, 1, []string{addr, "in use", "--listen"}},
		{"a data folder in use", []string{"--data", dir, "--listen", freeAddr(t)}, 1, []string{dir, "in use", "--data"}},
		{"an unknown role", []string{"--roles", "crawl,dance"}, 2, []string{`"dance"`, "schedule"}},
		{"contradictory settings", []string{"--roles", "all,crawl", "--crawl-timeout", "0s", "--listen", "0.0.0.0:80"}, 2, []string{"roles", "crawl.timeout", "token"}},
		{"a file of wrong settings", []string{"--config", wrong}, 2, []string{"crawl-paralel"}},
		{"a file that is not OPML", []string{"feeds", "import", web, "--api", "http://" + addr}, 2, []string{"page.html", "web page"}},
		{"a URL that is none", []string{"feeds", "add", "ftp://example.org/x", "--api", "http://" + addr}, 2, []string{"ftp://example.org/x", "http"}},
		{"a feed that is not there", []string{"feeds", "show", "nosuchfeed", "--api", "http://" + addr}, 1, []string{"nosuchfeed", "not found"}},
		{"no node to talk to", []string{"status", "--api", "http://" + freeAddr(t)}, 1, []string{"running"}},
	} {
		output, code := run(t, program, c.args...)
		if code != c.code {
			t.Errorf("%s: got exit code %d, want %d: %s", c.name, code, c.code, output)
		}
		for _, want := range c.messages {
			if !strings.Contains(output, want) {
				t.Errorf("%s: got %q, want %q in it", c.name, output, want)
			}
		}
	}
	if st := p.status(); st.Feeds.Stored != 0 {
		t.Errorf("got %d feeds after bad input only, want none", st.Feeds.Stored)
	}
}

// A private address is accepted, because names are resolved only by the fetch; its status shows the error.
func TestFetch_PrivateAddressesAreRejected(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.AllowNet = nil
	n := start(t, c, nil)
	feedServer := simulate.NewFeedServer(1, 1, time.Now())
	n.add(serve(t, feedServer)+feedServer.Path(0), "http://169.254.169.254/latest/meta-data", "http://localhost:1/feed")
	n.waitSettled()
	n.eachFeed(func(f wire.Feed) {
		if f.State.Class != "blocked" || !strings.Contains(f.State.Error, "--allow-net") && !strings.Contains(f.State.Error, "port") {
			t.Errorf("%s: got %q (%s), want blocked, with a remedy", f.URL, f.State.Error, f.State.Class)
		}
	})
	if requests, _ := feedServer.Count(); requests != 0 {
		t.Errorf("got %d requests at a private address, want none", requests)
	}
}
