package crawl

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/config"
	"feedmesh/subjects"
)

func TestBodyCache_PassesBodiesFromCrawlToParse(t *testing.T) {
	document := worktest.RSS("a b c", worktest.Plainly)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(worktest.Compressed(t, []byte(document)))
	}))
	t.Cleanup(site.Close)
	client := fetch.New(fetch.Options{Timeout: time.Minute, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 1,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(client.Close)
	out, news := &worktest.Outbox{}, &worktest.Outbox{}
	env := &work.Env{
		Mesh: new(mesh.Mesh), Store: worktest.StoreWith(t, site.URL), Fetch: client, Metrics: prometheus.NewRegistry(),
		Config: config.Config{Crawl: config.Crawl{Parallel: 1, MaxBody: 20 << 20}},
	}
	defer env.Bodies.AddReader()()
	c, p := NewActor(env, out), parse.NewActor(env, news)
	if err := c.Receive(t.Context(), crawlOf(site.URL)); err != nil {
		t.Fatal(err)
	}
	task := worktest.Sent(t, out, subjects.ParseQueue)[0]
	body := task.Body
	task.Body = nil // so that only the cache has it
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	task.Body = body // a cached body is taken once: a retry decompresses the task's body
	if err := p.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	prepares := worktest.Sent(t, news, subjects.PrepareQueue)
	for i, prepare := range prepares {
		if got := worktest.Titles(prepare.Entries); got != "a b c " {
			t.Errorf("attempt %d: got entries %q, want a, b and c", i+1, got)
		}
	}
	if len(prepares) != 2 {
		t.Errorf("got %d documents parsed, want 2", len(prepares))
	}
	// An unchanged document is not cached.
	again := crawlOf(site.URL)
	again.Feeds[0].BodyHash = task.BodyHash
	if err := c.Receive(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if env.Bodies.Take(task.BodyHash) != nil {
		t.Error("got an unchanged document in the cache")
	}
}
