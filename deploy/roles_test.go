package deploy_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/client"
	"feedmesh/agent/mesh"
	"feedmesh/agent/role"
	roleapi "feedmesh/agent/role/api"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work"
	"feedmesh/agent/simulate"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/classify/query"
	"feedmesh/classify/spam"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/storage/sqlite"
	"feedmesh/subjects"
)

var loopback = config.Networks("127.0.0.0/8")

// domain returns the value of --nats-domain for a user.
func domain(user string) string {
	if user == "crawl" {
		return "feedmesh"
	}
	return ""
}

// join joins the mesh as the user.
func (c *cluster) join(t *testing.T, user string) *mesh.Mesh {
	t.Helper()
	conn := c.connect(t, user, func(err error) { t.Errorf("user %s: %v", user, err) })
	m, err := mesh.Join(t.Context(), mesh.Options{
		Agent: user, Conn: conn, Partitions: partitions, Domain: domain(user), Log: quiet, Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatalf("user %s: %v", user, err)
	}
	return m
}

var quiet = slog.New(slog.DiscardHandler)

// Each role runs as the user of its name, over one store and one index, like an agent of its own.
func TestRoles_WorkAsTheirOwnUsers(t *testing.T) {
	c := startCluster(t)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	index := enginetest.Index(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group errgroup.Group
	defer func() {
		cancel()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	}()
	for _, r := range role.All {
		env := c.env(t, r.Name, store, index)
		env.Serve = func(ctx context.Context, h http.Handler) error { return rest.Serve(ctx, l, h, env.Log) }
		group.Go(func() error { return r.Run(ctx, env) })
		group.Go(func() error { return beat(ctx, env.Mesh, r.Name) })
	}
	api, err := client.NewClient("http://"+l.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Call(ctx, api, wire.SetProxy, wire.SetProxyRequest{ID: "dead", Body: wire.ProxySetting{URL: "http://127.0.0.1:1", Hosts: []string{"refuses.example"}}}); err != nil {
		t.Fatal(err)
	}
	farm := simulate.NewFeedServer(10, 5, time.Now())
	article := "<p>" + strings.Repeat("Only the page of this item says that it is about zanzibars. ", 20) + "</p>"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/full.xml":
			fmt.Fprint(w, "<rss><channel><item><title>The page says</title><link>/full.html</link></item></channel></rss>")
		case "/full.html":
			fmt.Fprint(w, "<!DOCTYPE html><html><body>"+article+"</body></html>")
		default:
			farm.ServeHTTP(w, r)
		}
	}))
	defer web.Close()
	if _, err := client.Call(ctx, api, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{web.URL + "/full.xml"}, Tags: []string{"full"}}}); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for i := range 10 {
		host := []string{"127.0.0.1", "localhost"}[i%2]
		urls = append(urls, strings.Replace(web.URL, "127.0.0.1", host, 1)+farm.Path(i))
	}
	if subjects.PartitionOf(urls[0], partitions) == subjects.PartitionOf(urls[1], partitions) {
		t.Fatal("all feeds are in one partition of the schedule")
	}
	if _, err := client.Call(ctx, api, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls}}); err != nil {
		t.Fatal(err)
	}
	var status wire.Status
	wait(t, "all items are searchable, and all agents known", func() bool {
		status, err = client.Call(ctx, api, wire.GetStatus, wire.None{})
		return err == nil && status.Items == 51 && status.Indexed == 51 && len(status.Agents) == len(role.All)
	})
	feeds, err := client.Call(ctx, api, wire.ListFeeds, wire.FeedSearch{Limit: 20})
	if err != nil || len(feeds.Feeds) != 11 || slices.ContainsFunc(feeds.Feeds, func(f wire.Feed) bool { return f.State == nil }) {
		t.Errorf("got %+v, %v; want 11 feeds with their states in the schedule", feeds.Feeds, err)
	}
	wait(t, "a dead proxy is seen to be dead", func() bool {
		list, err := client.Call(ctx, api, wire.ListProxies, wire.None{})
		return err == nil && len(list.Proxies) == 1 && list.Proxies[0].Health.State == wire.ProxyRests
	})
	marks, watching := make(chan subjects.Event, 1), c.join(t, "api")
	group.Go(func() error {
		if err := watching.SubscribeEvents(ctx, func() {}, func(e subjects.Event) {
			if e.Kind == subjects.MarksChanged {
				select {
				case marks <- e:
				default:
				}
			}
		}); ctx.Err() == nil {
			return err
		}
		return nil
	})
	wait(t, "a mark is published", func() bool {
		read := true
		if _, err := client.Call(ctx, api, wire.MarkItems, wire.MarkItemsRequest{Body: wire.Marks{IDs: []string{"missing"}, Read: &read}}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-marks:
			return true
		case <-time.After(time.Second):
			return false
		}
	})
	for _, lane := range subjects.Languages {
		if _, held := status.Active["cluster-"+lane]; !held {
			t.Errorf("got no holder of lease cluster-%s: %v", lane, status.Active)
		}
	}
	if _, held := status.Active[subjects.PageQueue.Name]; !held {
		t.Errorf("got no holder of lease pages: %v", status.Active)
	}
	if found, err := index.Search(ctx, storage.Query{Where: query.Text{Words: "zanzibars"}, Limit: 10}); err != nil || len(found.Hits) != 1 {
		t.Errorf("got %v, %v for a word of an item's page, want the item", found, err)
	}
	for _, q := range status.Queues {
		if q.Queue == subjects.QuarantineStream && q.Tasks > 0 {
			t.Errorf("got %d tasks in quarantine, want none", q.Tasks)
		}
	}
}

// The user of crawlers gets the confirmations that its tasks are in progress: without them an exclusive task ends.
func TestCrawler_ExtendsItsTasks(t *testing.T) {
	c := startCluster(t)
	queue := subjects.CrawlQueue
	queue.AckWait = 2 * time.Second
	task := subjects.Crawl{Tier: subjects.Hot, Feeds: []subjects.Target{{FeedID: "a", URL: "http://a.example/feed"}}}
	if err := subjects.Publish(t.Context(), c.join(t, "schedule"), queue, task); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	actor := mesh.ActorFunc[subjects.Crawl](func(attempt context.Context, _ subjects.Crawl) error {
		defer cancel()
		select {
		case <-attempt.Done():
			t.Error("the attempt ended")
		case <-time.After(2 * queue.AckWait):
		}
		return nil
	})
	if err := mesh.Serve(ctx, c.join(t, "crawl"), queue, subjects.CrawlPartition(subjects.Hot, ""), actor, 1); err != nil {
		t.Error(err)
	}
}

// beat publishes an agent with one role until ctx ends, as a node does.
func beat(ctx context.Context, m *mesh.Mesh, name string) error {
	for {
		if err := m.Heartbeat(ctx, subjects.Agent{ID: name, Roles: []string{name}}); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: publish heartbeat: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

func (c *cluster) env(t *testing.T, user string, store storage.Store, index storage.Index) *role.Env {
	settings := config.Default()
	settings.AllowNet, settings.Schedule.HostSpacing = loopback, 0
	labels := &classify.Classifier{Rules: classify.ShippedRules(), Spam: spam.Default()}
	settings.PublicURL, settings.FullText = "http://127.0.0.1", []string{"full"}
	client := fetch.New(fetch.Options{UserAgent: "test", Timeout: 10 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 8, Allow: []netip.Prefix{loopback[0].Prefix}})
	t.Cleanup(client.Close)
	return &role.Env{Env: &work.Env{
		Config: settings, Mesh: c.join(t, user), Store: store, Index: index, Fetch: client, Post: client,
		Log:     slog.New(slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Metrics: prometheus.NewRegistry(), Workers: 2, CheckDiskSpace: func() error { return nil },
		Classifier: func() *classify.Classifier { return labels },
	}, Options: roleapi.Options{
		Checks: func(context.Context) []wire.Check { return nil }, MetricsPage: http.NotFoundHandler(),
	}}
}

// logTo writes the warnings of an agent to the test's log.
type logTo struct{ t *testing.T }

func (l logTo) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil { // the log of a finished test must not be written
		l.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}
