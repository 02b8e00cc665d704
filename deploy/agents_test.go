package deploy_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// settings returns the configuration of an agent that joins the cluster as the user.
func (c *cluster) settings(t *testing.T, user string, roles ...string) config.Config {
	s := config.Default()
	s.Schedule.HostSpacing = 0
	s.Data, s.Listen, s.Starter, s.AllowNet, s.Roles = t.TempDir(), "127.0.0.1:0", false, loopback, roles
	s.Schedule.Interval = time.Second
	for _, url := range strings.Split(c.urls(), ",") {
		s.NATS = append(s.NATS, config.Address(url))
	}
	s.NATSLogin = config.NATSLogin{NATSUser: user, NATSPassword: config.Secret(c.password(user)), NATSDomain: domain(user)}
	return s
}

// startAgent runs an agent until the test ends, and returns a client of its API if it has one.
func startAgent(t *testing.T, s config.Config) *client.Client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	log := slog.New(slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	go func() {
		done <- node.Run(ctx, s, node.Options{Version: "test", Log: log, Ready: func(addr string) { ready <- addr }})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the agent with roles %v ended with: %v", s.Roles, err)
		}
	})
	select {
	case addr := <-ready:
		if addr == "" {
			return nil
		}
		client, err := client.NewClient("http://"+addr, "")
		if err != nil {
			t.Fatal(err)
		}
		return client
	case err := <-done:
		done <- nil
		t.Fatalf("the agent with roles %v did not start: %v", s.Roles, err)
	case <-time.After(time.Minute):
		t.Fatalf("the agent with roles %v did not start within a minute", s.Roles)
	}
	return nil
}

func TestAgents_JoinWithTheirUsers(t *testing.T) {
	c := startCluster(t)
	home := startAgent(t, c.settings(t, "all", "schedule", "parse", "cluster", "store", "index", "api"))
	startAgent(t, c.settings(t, "crawl", "crawl"))
	startAgent(t, c.settings(t, "prepare", "prepare"))
	startAgent(t, c.settings(t, "classify", "classify"))
	farm := grow(t, home, 10, 5)
	searchable(t, home, farm)
}

// grow starts a test feed server with the given number of items a feed, and imports its feeds.
func grow(t *testing.T, api *client.Client, feeds, items int) *simulate.FeedServer {
	t.Helper()
	farm := simulate.NewFeedServer(feeds, items, time.Now())
	web := httptest.NewServer(farm)
	t.Cleanup(web.Close)
	var urls []string
	for i := range feeds {
		urls = append(urls, web.URL+farm.Path(i))
	}
	if _, err := client.Call(t.Context(), api, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls}}); err != nil {
		t.Fatal(err)
	}
	return farm
}

// searchable waits until all published items are searchable.
func searchable(t *testing.T, api *client.Client, farm *simulate.FeedServer) {
	t.Helper()
	wait(t, "all items served are searchable", func() bool {
		s, err := client.Call(t.Context(), api, wire.GetStatus, wire.None{})
		served := int64(len(farm.Served()))
		return err == nil && served > 0 && s.Feeds.Polled == s.Feeds.Stored && s.Items >= served && s.Indexed == s.Items
	})
}

func TestLeafNode_CrawlerResumesAfterCut(t *testing.T) {
	c := startCluster(t)
	home := startAgent(t, c.settings(t, "all", "schedule", "parse", "prepare", "classify", "cluster", "store", "index", "api"))
	link := startLink(t, hostPort(c.options[0].LeafNode.Port))
	t.Setenv("HUB", "nats-leaf://crawl:"+c.password("crawl")+"@"+link.addr)
	o := c.load("leaf.conf")
	o.Port, o.HTTPPort = server.RANDOM_PORT, server.RANDOM_PORT
	o.LeafNode.ReconnectInterval = 200 * time.Millisecond
	leaf := run(t, o)
	t.Cleanup(leaf.Shutdown)
	edge := config.Default()
	edge.Data, edge.AllowNet, edge.Roles = filepath.Join(t.TempDir(), "none"), loopback, []string{"crawl"}
	edge.NATS, edge.NATSLogin.NATSDomain = []config.Address{config.Address(leaf.ClientURL())}, "feedmesh"
	wait(t, "the leaf node reaches the hub", func() bool { return leaf.NumLeafNodes() == 1 })
	startAgent(t, edge)

	farm := grow(t, home, 10, 20)
	searchable(t, home, farm)
	for range 3 {
		farm.Publish()
		link.cut()
		wait(t, "the leaf node has lost the hub", func() bool { return leaf.NumLeafNodes() == 0 })
		farm.Publish() // while the link is cut
		link.mend()
		searchable(t, home, farm)
	}
	wait(t, "all that was published is served", func() bool { return len(farm.Served()) == 10*(20+6) })
	searchable(t, home, farm)
}

// link is a proxy that forwards bytes to a server until it is cut.
type link struct {
	addr string

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

func startLink(t *testing.T, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{addr: l.Addr().String()}
	t.Cleanup(func() { l.Close(); k.cut() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil || !k.keep(in, out) {
				in.Close()
				continue
			}
			go io.Copy(in, out)
			go io.Copy(out, in)
		}
	}()
	return k
}

// keep registers a connection, to close it when the link is cut.
func (k *link) keep(conns ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.conns = append(k.conns, conns...)
	if k.isCut {
		k.closeAll()
	}
	return !k.isCut
}

func (k *link) closeAll() {
	for _, conn := range k.conns {
		conn.Close()
	}
	k.conns = nil
}

func (k *link) cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.isCut = true
	k.closeAll()
}

func (k *link) mend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.isCut = false
}
