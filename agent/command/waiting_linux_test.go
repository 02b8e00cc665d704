package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
)

// terminal returns both ends of a new terminal.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}

// A command on a terminal prints what it waits for; in a script it prints only its result.
func TestCommand_PrintsWhatItWaitsFor(t *testing.T) {
	isolate(t)
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-answer
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"version":"v"}`))
	}))
	defer server.Close()
	keyboard, screen := terminal(t)
	var out bytes.Buffer
	p := &program{version: "test", out: &out, err: screen}
	ended := make(chan int, 1)
	go func() { ended <- p.run(t.Context(), []string{"status", "--api", server.URL}) }()
	line, err := bufio.NewReader(keyboard).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "agent: waiting for the node at "+server.URL {
		t.Errorf("got %q, %v; want what the command waits for", line, err)
	}
	close(answer)
	if code := <-ended; code != 0 || !strings.Contains(out.String(), "version") {
		t.Errorf("got code %d, %q; want the answer", code, out.String())
	}
	script, err := remote{API: server.URL}.client(&program{err: &out})
	if err != nil || script.Waiting != nil {
		t.Errorf("without a terminal: %v, and a wait is printed: %t", err, script.Waiting != nil)
	}
}

// A node that starts is described in its own words, by every command that calls it.
func TestCommand_NodeStarts(t *testing.T) {
	isolate(t)
	const reason = "feedmesh is starting: waits for PostgreSQL at db.example:5432 since 12:00:00 UTC"
	checks := []wire.Check{{Name: "agent", Detail: "starting"}, {Name: "store", Detail: "waits for PostgreSQL at db.example:5432 since 12:00:00 UTC: connection refused"}}
	server := rest.New(service.New(service.Deps{Checks: func(context.Context) []wire.Check { return checks }}), rest.Options{Metrics: http.NotFoundHandler()})
	at := httptest.NewServer(server.Unavailable(func(bool) string { return reason }, console.Unavailable))
	defer at.Close()
	t.Setenv("FEEDMESH_API", at.URL)
	for _, args := range [][]string{{"status"}, {"feeds", "list"}, {"search", "x"}, {"feeds", "add", "https://a.example/"}, {"reindex"}, {"rules", "show", "classify"}} {
		do(t, "", args...).check(t, 1, "", reason)
	}
	do(t, "https://a.example/\n", "feeds", "import", "-").check(t, 1, "", reason)
	do(t, "", "doctor").check(t, 1, "waits for PostgreSQL at db.example:5432 since 12:00:00 UTC: connection refused", "")
}

// doctor ends within its bounds where all that it checks accepts connections and never answers.
func TestDoctor_EverythingHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: waits for the bounds of the checks")
	}
	isolate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host := l.Addr().String()
	began := time.Now()
	s := do(t, "", "doctor", "--api", "http://"+host, "--nats", "nats://"+host, "--store", "postgres://u:p@"+host+"/d", "--search", "meilisearch://"+host)
	s.check(t, 1, "http://"+host+" accepts connections but does not respond: check the node's log, or restart it", "")
	for _, name := range []string{"api", "nats", "store", "search"} {
		if !strings.Contains(s.out, "FAILED   "+name) && !strings.Contains(s.out, "FAILED  "+name) {
			t.Errorf("got %s, want that %s failed", s.out, name)
		}
	}
	if took := time.Since(began); took > 35*time.Second {
		t.Errorf("took %v, want 30 s at most", took)
	}
	t.Logf("took %v", time.Since(began).Round(100*time.Millisecond))
}
