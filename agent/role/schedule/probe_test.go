package schedule

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/crawl"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A probeFixture has a schedule on a real server, a crawler, and a real proxy.
type probeFixture struct {
	*testbed
	schedule *scheduler
	crawler  mesh.Actor[subjects.Crawl]
	out      *worktest.Outbox
	addr     string       // of the proxy
	asked    atomic.Value // the last host requested from the proxy
}

func newProbing(t *testing.T) *probeFixture {
	r := newTestbed(t)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	client := fetch.New(fetch.Options{UserAgent: "test", Timeout: 10 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 1, ProxyAllow: loopback})
	t.Cleanup(client.Close)
	env := r.Env(r.Mesh)
	env.Fetch, env.Config.Crawl.Parallel = client, 4
	out := &worktest.Outbox{}
	return &probeFixture{testbed: r, crawler: crawl.NewActor(env, out), out: out}
}

// serveProxy starts the proxy at its previous address, if any, until stop.
func (p *probeFixture) serveProxy() (stop func()) {
	p.T.Helper()
	if p.addr == "" {
		p.addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		p.T.Fatal(err)
	}
	p.addr = l.Addr().String()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Store(r.Host)
		if r.Header.Get("Proxy-Authorization") == "" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	p.T.Cleanup(server.Close)
	return server.Close
}

// round dispatches and crawls probes, and returns their number and the stored state of the proxy.
func (p *probeFixture) round() (probes int, stored subjects.Proxy) {
	p.T.Helper()
	ctx := p.T.Context()
	err := p.schedule.probe(ctx)
	for _, task := range p.crawls() {
		if len(task.Feeds) > 0 || task.Tier != subjects.Hot {
			p.T.Errorf("got %+v, want hot probes only", task)
		}
		probes += len(task.Probes)
		err = errors.Join(err, p.crawler.Receive(ctx, task))
	}
	p.purge()
	err = errors.Join(err, p.schedule.observe(ctx, worktest.Sent(p.T, p.out, subjects.ObserveQueue)), p.schedule.saveHistory(ctx))
	k, loadErr := p.Mesh.Proxy(ctx, "eu")
	if err = errors.Join(err, loadErr); err != nil || k == nil {
		p.T.Fatalf("state of the proxy: got %+v, %v", k, err)
	}
	return probes, *k
}

func TestProbe_FailedProxyRecovers(t *testing.T) {
	p := newProbing(t)
	stop := p.serveProxy()
	store := worktest.StoreWith(t)
	if err := storage.Proxies(store).Put(t.Context(), storage.Proxy{ID: "eu", URL: "http://me:s3cret@" + p.addr}); err != nil {
		t.Fatal(err)
	}
	p.schedule = p.scheduler(store)
	if n, k := p.round(); n != 1 || !k.ProbePassed.Equal(p.Clock()) || k.Failures != 0 || p.asked.Load() != "no-such-host.invalid:443" {
		t.Fatalf("new proxy: got %d probes, %+v, requested host %v; want one passed probe and no site requested", n, k, p.asked.Load())
	}
	p.Advance(4 * time.Minute)
	if n, _ := p.round(); n != 0 {
		t.Errorf("got %d probes after four minutes, want none", n)
	}

	stop()
	p.Advance(time.Minute)
	n, k := p.round()
	if n != 1 || k.Failures != 1 || !k.RestUntil.Equal(p.Clock().Add(time.Minute)) || !strings.Contains(k.Reason, "connection refused") || strings.Contains(k.Reason, "s3cret") {
		t.Fatalf("failed proxy: got %d probes, %+v; want a rest of a minute with a reason", n, k)
	}

	// Another schedule takes over and loads the proxy's rest.
	p.schedule = p.scheduler(store)
	p.Advance(59 * time.Second)
	if n, _ := p.round(); n != 0 {
		t.Errorf("got %d probes during the rest, want none", n)
	}
	p.Advance(time.Second)
	if n, k := p.round(); n != 1 || k.Failures != 2 || !k.RestUntil.Equal(p.Clock().Add(2*time.Minute)) {
		t.Errorf("still failing: got %d probes, %+v; want a rest of two minutes", n, k)
	}

	p.serveProxy()
	p.Advance(2 * time.Minute)
	if n, k := p.round(); n != 1 || k.Failures != 0 || !k.RestUntil.IsZero() || !k.ProbePassed.Equal(p.Clock()) {
		t.Errorf("recovered: got %d probes, %+v; want it in use", n, k)
	}
}

func TestProbe_SkippedForALongQueue(t *testing.T) {
	p := newProbing(t)
	p.serveProxy()
	store := worktest.StoreWith(t)
	if err := storage.Proxies(store).Put(t.Context(), storage.Proxy{ID: "eu", URL: "http://me:s3cret@" + p.addr}); err != nil {
		t.Fatal(err)
	}
	p.schedule = p.scheduler(store)
	for i := range maxQueuedCrawls {
		task := subjects.Crawl{Tier: subjects.Cold, Feeds: []subjects.Target{{FeedID: fmt.Sprint(i)}}}
		if err := subjects.Publish(t.Context(), p.Mesh, subjects.CrawlQueue, task); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.schedule.probe(t.Context()); err != nil || len(p.crawls()) != maxQueuedCrawls {
		t.Errorf("got %d tasks, %v; want no more than the initial %d", len(p.crawls()), err, maxQueuedCrawls)
	}
	p.purge()
	if n, _ := p.round(); n != 1 {
		t.Errorf("got %d probes below the limit, want 1", n)
	}
}
