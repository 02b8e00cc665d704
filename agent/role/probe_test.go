package role

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/fetch"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func TestACrawlerProbesProxiesAndTellsOfAllAtOnce(t *testing.T) {
	w := &web{dead: map[string]error{"http://u:p@b:1": &fetch.Error{Class: fetch.ClassProxy, Err: errors.New("connection refused")}}}
	c, out := crawlerOf(w, 1)
	task := subjects.Crawl{Tier: subjects.Hot, Ways: []subjects.Way{{ID: "a", URL: "http://a:1"}, {ID: "b", URL: "http://u:p@b:1"}}, Asked: noon}
	if err := c.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	seen := only(t, out, subjects.Observes)
	if seen.From != "probe/"+task.ID() || len(seen.Observations) != 2 || len(w.fetched) != 0 {
		t.Fatalf("got %+v and %d fetches, want word of both proxies alone", seen, len(w.fetched))
	}
	a, b := seen.Observations[0], seen.Observations[1]
	if a.Outcome != subjects.Probed || a.Way != "a" || a.Dead != nil || a.Error != "" || a.FeedID != "" {
		t.Errorf("got %+v of the one that works", a)
	}
	if b.Outcome != subjects.Probed || b.Way != "b" || !slices.Equal(b.Dead, []string{"b"}) || b.Error != "connection refused" || b.Class != "proxy" {
		t.Errorf("got %+v of the dead one", b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Receive(ctx, task); err == nil || len(out.messages) != 0 {
		t.Errorf("got %v and %d messages without time, want an error alone", err, len(out.messages))
	}
	for range 20 { // it may or may not find a slot first
		if o, err := c.probeOne(ctx, task.ID(), task.Ways[0]); err == nil {
			t.Fatalf("got %+v without time, want no word of the proxy", o)
		}
	}
}

// A probing has a schedule on a real server, a crawler, and a real proxy.
type probing struct {
	*rig
	schedule *scheduler
	crawler  *crawler
	out      *outbox
	addr     string       // of the proxy
	asked    atomic.Value // of the proxy: for which host, last
}

func newProbing(t *testing.T) *probing {
	r := newRig(t)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	client := fetch.New(fetch.Options{UserAgent: "test", Timeout: 10 * time.Second, MaxBody: 1 << 20, MaxPacked: 1 << 20, Parallel: 1, ProxyAllow: loopback})
	t.Cleanup(client.Close)
	p := &probing{rig: r}
	p.crawler, p.out = crawlerOf(nil, 4)
	p.crawler.fetch, p.crawler.clock = client, r.clock
	return p
}

// serveProxy has the proxy answer until stop: where it was before, if it was.
func (p *probing) serveProxy() (stop func()) {
	p.t.Helper()
	if p.addr == "" {
		p.addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
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
	p.t.Cleanup(server.Close)
	return server.Close
}

// round has the schedule hand out probes, crawls them, and returns how many there
// were and what the bucket has of the proxy then.
func (p *probing) round() (probes int, known subjects.Proxy) {
	p.t.Helper()
	ctx := p.t.Context()
	err := p.schedule.probe(ctx)
	for _, task := range p.crawls() {
		if len(task.Feeds) > 0 || task.Tier != subjects.Hot {
			p.t.Errorf("got %+v, want hot probes only", task)
		}
		probes += len(task.Ways)
		err = errors.Join(err, p.crawler.Receive(ctx, task))
	}
	p.purge()
	err = errors.Join(err, p.schedule.observe(ctx, sent(p.t, p.out, subjects.Observes)), p.schedule.keepLearned(ctx))
	k, loadErr := p.mesh.Proxy(ctx, "eu")
	if err = errors.Join(err, loadErr); err != nil || k == nil {
		p.t.Fatalf("got %+v, %v of the proxy", k, err)
	}
	return probes, *k
}

func TestAProxyThatDiesRestsAndComesBackByAProbe(t *testing.T) {
	p := newProbing(t)
	stop := p.serveProxy()
	store := storeWith(t)
	if err := store.PutProxy(t.Context(), storage.Proxy{ID: "eu", URL: "http://me:s3cret@" + p.addr}); err != nil {
		t.Fatal(err)
	}
	p.schedule = p.scheduler(store)
	if n, k := p.round(); n != 1 || !k.Passed.Equal(p.clock()) || k.Failures != 0 || p.asked.Load() != "no-such-host.invalid:443" {
		t.Fatalf("a new one: got %d probes, %+v, asked for %v; want one, passed, and no site asked", n, k, p.asked.Load())
	}
	p.pass(4 * time.Minute)
	if n, _ := p.round(); n != 0 {
		t.Errorf("got %d probes after four minutes, want none yet", n)
	}

	stop()
	p.pass(time.Minute)
	n, k := p.round()
	if n != 1 || k.Failures != 1 || !k.Until.Equal(p.clock().Add(time.Minute)) || !strings.Contains(k.Why, "connection refused") || strings.Contains(k.Why, "s3cret") {
		t.Fatalf("a dead one: got %d probes, %+v; want a rest of a minute, and why", n, k)
	}

	// Another schedule takes over, and knows that it rests.
	p.schedule = p.scheduler(store)
	p.pass(59 * time.Second)
	if n, _ := p.round(); n != 0 {
		t.Errorf("got %d probes while it rests, want none", n)
	}
	p.pass(time.Second)
	if n, k := p.round(); n != 1 || k.Failures != 2 || !k.Until.Equal(p.clock().Add(2*time.Minute)) {
		t.Errorf("still dead: got %d probes, %+v; want a rest of two minutes", n, k)
	}

	p.serveProxy()
	p.pass(2 * time.Minute)
	if n, k := p.round(); n != 1 || k.Failures != 0 || !k.Until.IsZero() || !k.Passed.Equal(p.clock()) {
		t.Errorf("back: got %d probes, %+v; want it to work", n, k)
	}
}

func TestProbesDoNotAddToALongQueue(t *testing.T) {
	p := newProbing(t)
	p.serveProxy()
	store := storeWith(t)
	if err := store.PutProxy(t.Context(), storage.Proxy{ID: "eu", URL: "http://me:s3cret@" + p.addr}); err != nil {
		t.Fatal(err)
	}
	p.schedule = p.scheduler(store)
	for i := range crawlAhead {
		task := subjects.Crawl{Tier: subjects.Cold, Feeds: []subjects.Target{{FeedID: fmt.Sprint(i)}}}
		if err := subjects.Publish(t.Context(), p.mesh, subjects.Crawls, task); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.schedule.probe(t.Context()); err != nil || len(p.crawls()) != crawlAhead {
		t.Errorf("got %d tasks, %v; want no more than the %d there were", len(p.crawls()), err, crawlAhead)
	}
	p.purge()
	if n, _ := p.round(); n != 1 {
		t.Errorf("got %d probes when there is room, want 1", n)
	}
}
