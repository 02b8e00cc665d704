package deploy_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage"
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
	api, _ := startStoppable(t, s)
	return api
}

// startStoppable runs an agent until the test ends or stop is called.
func startStoppable(t *testing.T, s config.Config) (api *client.Client, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	log := slog.New(slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	go func() {
		done <- node.Run(ctx, s, node.Options{Version: "test", Log: log, Ready: func(addr string) { ready <- addr }})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the agent with roles %v ended with: %v", s.Roles, err)
		}
	})
	t.Cleanup(stop)
	select {
	case addr := <-ready:
		if addr == "" {
			return nil, stop
		}
		client, err := client.NewClient("http://"+addr, "")
		if err != nil {
			t.Fatal(err)
		}
		return client, stop
	case err := <-done:
		done <- nil
		t.Fatalf("the agent with roles %v did not start: %v", s.Roles, err)
	case <-time.After(time.Minute):
		t.Fatalf("the agent with roles %v did not start within a minute", s.Roles)
	}
	return nil, stop
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
	leaf, edge := c.startLeaf(t, link.addr)
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

// startLeaf starts a leaf node of the cluster at an address, and returns the configuration of a crawler that connects to it.
func (c *cluster) startLeaf(t *testing.T, hub string) (*server.Server, config.Config) {
	t.Helper()
	t.Setenv("HUB", "nats-leaf://crawl:"+c.password("crawl")+"@"+hub)
	o := c.load("leaf.conf")
	o.Port, o.HTTPPort = server.RANDOM_PORT, server.RANDOM_PORT
	o.LeafNode.ReconnectInterval = 200 * time.Millisecond
	leaf := run(t, o)
	t.Cleanup(leaf.Shutdown)
	edge := config.Default()
	edge.Data, edge.AllowNet, edge.Roles = filepath.Join(t.TempDir(), "none"), loopback, []string{"crawl"}
	edge.NATS, edge.NATSLogin.NATSDomain = []config.Address{config.Address(leaf.ClientURL())}, "feedmesh"
	wait(t, "the leaf node reaches the hub", func() bool { return leaf.NumLeafNodes() == 1 })
	return leaf, edge
}

// The host serves the crawlers of one place, and refuses all others.
func TestRegion_FetchesWhatOthersAreRefused(t *testing.T) {
	c := startCluster(t)
	home := startAgent(t, c.settings(t, "all", "schedule", "crawl", "parse", "prepare", "classify", "cluster", "store", "index", "api"))
	_, edge := c.startLeaf(t, hostPort(c.options[0].LeafNode.Port))
	edge.Region, edge.Contact = "us", "https://us.example"
	proxy := wire.SetProxyRequest{ID: "away", Body: wire.ProxySetting{URL: "region:us"}}
	if _, err := client.Call(t.Context(), home, wire.SetProxy, proxy); err != nil {
		t.Fatal(err)
	}
	farm := simulate.NewFeedServer(10, 5, time.Now())
	var refused atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.UserAgent(), "us.example") {
			refused.Add(1)
			http.Error(w, "not in your country", http.StatusUnavailableForLegalReasons)
			return
		}
		farm.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	var urls []string
	for i := range 10 {
		urls = append(urls, web.URL+farm.Path(i))
	}

	// Without a crawler in the region, the feeds fail.
	if _, err := client.Call(t.Context(), home, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls}}); err != nil {
		t.Fatal(err)
	}
	wait(t, "all feeds are refused", func() bool {
		s, err := client.Call(t.Context(), home, wire.GetStatus, wire.None{})
		return err == nil && s.Feeds.Failing == 10
	})
	_, leave := startStoppable(t, edge)
	wait(t, "the region has crawlers", func() bool {
		all, err := client.Call(t.Context(), home, wire.ListProxies, wire.None{})
		return err == nil && all.Proxies[0].Health.State == wire.ProxyWorks
	})
	for _, url := range urls {
		if _, err := client.Call(t.Context(), home, wire.RefreshFeed, wire.ByID{ID: storage.FeedID(url)}); err != nil {
			t.Fatal(err)
		}
	}
	searchable(t, home, farm)
	wait(t, "no feed fails", func() bool {
		s, err := client.Call(t.Context(), home, wire.GetStatus, wire.None{})
		return err == nil && s.Feeds.Failing == 0
	})
	// The route that worked is used first: no further direct requests.
	before := refused.Load()
	farm.Publish()
	wait(t, "all new items are served", func() bool { return len(farm.Served()) == 10*6 })
	searchable(t, home, farm)
	if n := refused.Load() - before; n > 0 {
		t.Errorf("got %d further refused requests, want none", n)
	}

	// A feed with the region as its only route waits until it has a crawler again, and the status reports the region.
	away := "away"
	if _, err := client.Call(t.Context(), home, wire.SetFeed, wire.SetFeedRequest{ID: storage.FeedID(urls[0]), Body: wire.FeedChange{Proxy: &away}}); err != nil {
		t.Fatal(err)
	}
	leave()
	wait(t, "the status names the region", func() bool {
		s, err := client.Call(t.Context(), home, wire.GetStatus, wire.None{})
		return err == nil && slices.ContainsFunc(s.Stalled, func(p string) bool { return strings.Contains(p, "region us") })
	})
	startAgent(t, edge)
	farm.Publish()
	wait(t, "all feeds are read again", func() bool { return len(farm.Served()) == 10*7 })
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
