package machines_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"feedmesh/tests/engines"
	"feedmesh/tests/machines"
)

// A program on a machine reaches a server of this machine by a link with a delay and at its loopback address, from an address
// of its own, and uses no more than its share of a core.
func TestMachine(t *testing.T) {
	network, err := machines.NewNetwork(1)
	if errors.Is(err, machines.ErrUnavailable) {
		t.Skipf("NOT TESTED: %v", err)
	}
	if _, missing := exec.LookPath("curl"); missing != nil {
		t.Skipf("NOT TESTED: %v", missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	})
	m, err := network.Add(0.1)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("link", func(t *testing.T) { checkLink(t, network, m) })
	t.Run("loopback", func(t *testing.T) { checkLoopback(t, m) })
	t.Run("share", func(t *testing.T) { checkShare(t, m) })
}

// start starts a shell command on a machine, which ends with the test.
func start(t *testing.T, m *machines.Machine, args ...string) *engines.Process {
	t.Helper()
	p := &engines.Process{Name: args[0], Path: "/bin/sh", Args: append([]string{"-c"}, args...)}
	m.On(p)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// serveHello serves at an address of this machine and returns the URL; clients gets the addresses of its clients.
func serveHello(t *testing.T, host string) (address string, clients chan string) {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	clients = make(chan string, 9)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		clients <- host
		fmt.Fprint(w, "hello")
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String(), clients
}

func checkLoopback(t *testing.T, m *machines.Machine) {
	address, clients := serveHello(t, "127.1.0.1")
	get := start(t, m, `curl -s "$0"`, "http://"+address)
	if !get.Wait(20*time.Second) || get.ExitCode() != 0 || get.Log() != "hello" {
		t.Fatalf("got exit code %d and %q", get.ExitCode(), get.Log())
	}
	if from := <-clients; from != m.Address {
		t.Errorf("the request came from %s, want %s", from, m.Address)
	}
}

func checkLink(t *testing.T, network *machines.Network, m *machines.Machine) {
	address, _ := serveHello(t, "127.0.0.1")
	const delay = 40 * time.Millisecond
	link, err := network.Link(address, delay)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	get := start(t, m, `curl -s -w ' %{time_total}' "$0"`, "http://"+link.Address)
	if !get.Wait(20*time.Second) || get.ExitCode() != 0 {
		t.Fatalf("got exit code %d and %q", get.ExitCode(), get.Log())
	}
	var body string
	var took float64
	if _, err := fmt.Sscan(get.Log(), &body, &took); err != nil || body != "hello" || took < 2*delay.Seconds() {
		t.Errorf("got %q, want hello after two delays of %v", get.Log(), delay)
	}
}

func checkShare(t *testing.T, m *machines.Machine) {
	busy := start(t, m, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; cat /proc/$$/stat")
	began := time.Now()
	if !busy.Wait(time.Minute) {
		t.Fatal("not done within a minute")
	}
	elapsed := time.Since(began)
	fields := strings.Fields(busy.Log())
	var user, system int // in 1/100 s
	fmt.Sscan(fields[13], &user)
	fmt.Sscan(fields[14], &system)
	if used := time.Duration(user+system) * 10 * time.Millisecond; used > elapsed/5 {
		t.Errorf("used %v in %v, want a tenth", used, elapsed)
	}
}
