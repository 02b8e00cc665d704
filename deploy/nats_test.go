package deploy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"feedmesh/subjects"
)

// cluster is three NATS servers with nats/feedmesh.conf on this machine.
type cluster struct {
	t       *testing.T
	dir     string
	options []*server.Options
	servers []*server.Server
}

// partitions is the number of partitions of the schedule.
const partitions = 2

// startCluster runs a cluster until the test ends.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	ports := []int{freePort(t), freePort(t), freePort(t)}
	c.makeSecrets(hostPort(ports[0]), hostPort(ports[1]), hostPort(ports[2]))
	for i, name := range []string{"nats-1", "nats-2", "nats-3"} {
		t.Setenv("NATS_NAME", name)
		o := c.load("feedmesh.conf")
		place(o, filepath.Join(c.dir, name), freePort(t), ports[i], freePort(t))
		c.options = append(c.options, o)
	}
	for _, o := range c.options {
		c.servers = append(c.servers, run(t, o))
	}
	for _, s := range c.servers {
		wait(t, "the servers find each other", func() bool { return s.JetStreamIsCurrent() && s.NumRoutes() > 0 })
	}
	t.Cleanup(func() {
		for _, s := range c.servers {
			s.Shutdown()
			s.WaitForShutdown()
		}
	})
	return c
}

func (c *cluster) makeSecrets(servers ...string) {
	c.t.Helper()
	output(c.t, "go", "run", "./secrets", "--dir", filepath.Join(c.dir, "secrets"), "--servers", strings.Join(servers, ","))
}

// place moves a server to the loopback address and a folder of its own.
func place(o *server.Options, dir string, port, cluster, leaf int) {
	o.StoreDir = dir
	o.Host, o.Port, o.HTTPPort = "127.0.0.1", port, 0
	o.Cluster.Host, o.Cluster.Port = "127.0.0.1", cluster
	o.LeafNode.Host, o.LeafNode.Port = "127.0.0.1", leaf
}

// load parses a configuration file with its secrets beside it, as in deploy.
func (c *cluster) load(name string) *server.Options {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join("nats", name))
	if err != nil {
		c.t.Fatal(err)
	}
	path := filepath.Join(c.dir, "nats", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
		c.t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	o.NoSigs, o.NoLog = true, true
	if o.JetStreamMaxStore > 0 {
		o.JetStreamMaxStore = subjects.MaxBytes(partitions) * 5 / 4 // max_file is for one partition
	}
	return o
}

func (c *cluster) password(user string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "secrets", "nats-"+user))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

func (c *cluster) urls() string {
	var all []string
	for _, s := range c.servers {
		all = append(all, s.ClientURL())
	}
	return strings.Join(all, ",")
}

// connect connects as the user. complain receives asynchronous errors of the servers.
func (c *cluster) connect(t *testing.T, user string, complain func(error)) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(c.urls(), nats.UserInfo(user, c.password(user)), nats.CustomInboxPrefix("_INBOX."+user),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { complain(err) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func run(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS server not ready")
	}
	return s
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout after a minute: %s", what)
		}
	}
}
