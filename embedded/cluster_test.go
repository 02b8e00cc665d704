package embedded

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// addresses returns n addresses of this machine that nobody listens on.
func addresses(t *testing.T, n int) []string {
	t.Helper()
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

// member returns the options of the server with the first of the addresses.
func member(dir, secret string, addrs ...string) Options {
	o := options(dir)
	o.Cluster = &Cluster{Listen: addrs[0], Peers: addrs[1:], Secret: secret}
	return o
}

// eventually waits until do succeeds.
func eventually(t *testing.T, what string, do func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err = do(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not within 2 minutes: %v", what, err)
}

func TestCluster_ToleratesLossOfOneServer(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: the servers take a while to find each other")
	}
	t.Parallel()
	dir, addrs := t.TempDir(), addresses(t, 3)
	var servers []*Server
	for i := range addrs {
		o := member(filepath.Join(dir, fmt.Sprint(i)), "s3cret", append(addrs[i:i+1:i+1], addrs...)...)
		servers = append(servers, start(t, o))
	}
	js := connect(t, servers[0])
	cfg := jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}, MaxBytes: 1 << 20, Replicas: 3}
	eventually(t, "make a stream of three copies", func() error {
		_, err := js.CreateOrUpdateStream(t.Context(), cfg)
		return err
	})
	for lost := range servers {
		if err := servers[lost].Healthy(); err != nil {
			t.Errorf("server %d: got %v, want it well", lost, err)
		}
		servers[lost].Close()
		other := connect(t, servers[(lost+1)%3])
		eventually(t, "publish without one server", func() error {
			_, err := other.Publish(t.Context(), "s", fmt.Append(nil, lost), jetstream.WithMsgID(fmt.Sprint(lost)))
			return err
		})
		servers[lost] = start(t, member(filepath.Join(dir, fmt.Sprint(lost)), "s3cret", append(addrs[lost:lost+1:lost+1], addrs...)...))
		eventually(t, "have all copies current again", func() error {
			s, err := other.Stream(t.Context(), "s")
			if err != nil {
				return err
			}
			for _, r := range s.CachedInfo().Cluster.Replicas {
				if !r.Current || r.Offline {
					return fmt.Errorf("%s is not current", r.Name)
				}
			}
			return nil
		})
	}
	s, err := connect(t, servers[1]).Stream(t.Context(), "s")
	if err != nil || s.CachedInfo().State.Msgs != 3 || s.CachedInfo().Config.Replicas != 3 {
		t.Errorf("got %+v, %v; want three messages, in three copies", s.CachedInfo(), err)
	}
}

// rejections counts the log lines about rejected servers.
type rejections struct {
	atomic.Int32
	text string // of these lines
}

func (r *rejections) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(r.text)) {
		r.Add(1)
	}
	return len(line), nil
}

func TestCluster_RejectsWrongSecret(t *testing.T) {
	t.Parallel()
	addrs := addresses(t, 2)
	rejected := rejections{text: "authentication error"}
	o := member(t.TempDir(), "s3cret", addrs[0], addrs[1])
	o.Log = slog.New(slog.NewTextHandler(&rejected, nil))
	inside := start(t, o)
	start(t, member(t.TempDir(), "guess", addrs[1], addrs[0]))
	eventually(t, "the other server is rejected, and again when it retries", func() error {
		if n := rejected.Load(); n < 3 {
			return fmt.Errorf("rejected %d times", n)
		}
		return nil
	})
	if n := inside.nats.Load().NumRoutes(); n != 0 {
		t.Errorf("got %d routes, want none", n)
	}
}

func TestCluster_RejectsOtherLocalClients(t *testing.T) {
	t.Parallel()
	s := start(t, member(t.TempDir(), "s3cret", addresses(t, 2)...))
	host, _, err := net.SplitHostPort(s.nats.Load().Addr().String())
	if err != nil || host != "127.0.0.1" {
		t.Errorf("it listens on %v, %v; want this machine only", s.nats.Load().Addr(), err)
	}
	conn, err := net.Dial("tcp", s.nats.Load().Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprint(conn, "CONNECT {\"verbose\":false}\r\nPING\r\n")
	answer := make([]byte, 4096)
	got := ""
	for {
		n, err := conn.Read(answer)
		got += string(answer[:n])
		if err != nil {
			break
		}
	}
	if want := "'Authorization Violation'"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestCluster_InvalidAddress(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"", "host", "host:port"} {
		if s, err := Start(member(t.TempDir(), "", addr)); err == nil {
			s.Close()
			t.Errorf("%q: got no error", addr)
		}
	}
}
